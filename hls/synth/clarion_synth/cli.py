# SPDX-License-Identifier: Apache-2.0
"""The two commands behind `make hls-synth` and `make hls-ip`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import Steps, complain
from clarion_contract import boards
from clarion_contract.sizes import power_of_two
from clarion_synth import bambu, csynth, table, targets, tools, vitis
from clarion_synth.tools import Tool
from clarion_synth.vitis import Design

BUCKETS = (2, 65536)
QUEUE_BEATS = (256, 65536)


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    action: Callable[[argparse.Namespace], int] = options.action
    try:
        return action(options)
    except UserError as error:
        complain(f"hls-{options.command}", error)
        return 1


def synthesise(options: argparse.Namespace) -> int:
    """Synthesise with what there is; a miss is a failure where the result goes into a bitstream."""
    tool = tools.find((options.tool,) if options.tool else tools.VITIS + tools.BAMBU)
    if tool is None:
        print(f"hls-synth: nothing to do: {_missing(options.tool)}")
        return 0
    if not tool.is_vitis:
        bambu.report(
            Steps(options.dry_run), boards.load(options.board), targets.load(), options.only, options.map
        )
        return 0
    return 0 if _all_held(options, tool, export=False) else 1


def package(options: argparse.Namespace) -> int:
    """Make the IPs that a bitstream is built of."""
    tool = tools.find(tools.VITIS)
    if tool is None:
        missing = f"none of {', '.join(tools.VITIS)} is on PATH"
        complain("hls-ip", f"{missing}; install Vitis HLS and source its settings64.sh")
        return 2
    return 0 if _all_held(options, tool, export=True) else 1


def _missing(name: str | None) -> str:
    return f"{name} is not on PATH" if name else tools.NONE


def _all_held(options: argparse.Namespace, tool: Tool, export: bool) -> bool:
    steps = Steps(options.dry_run)
    wanted = targets.load()
    board = boards.load(options.board)
    rows: list[table.Row] = []
    results: list[Path] = []
    for top in wanted.tops:
        design = Design(top, board, options.buckets, options.queue_beats, wanted)
        if export and not steps.dry_run:
            design.archive.unlink(missing_ok=True)  # or the one of an earlier run is taken for this one's
            design.archive.parent.mkdir(parents=True, exist_ok=True)
        results.append(vitis.run(steps, tool, design, export))
        if not steps.dry_run:
            rows += vitis.rows(design, csynth.read_all(results[-1] / "report"))
            if export:
                vitis.require_archive(design)
    if rows:
        print(table.text(rows))
    wrong = None if export else vitis.simulate(steps, board, options.buckets, results)
    missed = [row.number for row in rows if row.missed]
    if missed or wrong:
        told = [f"missed: {'; '.join(missed)}"] if missed else []
        raise UserError("; ".join([*told, wrong] if wrong else told))
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="clarion_synth", description="synthesis of the FPGA block")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in (("synth", synthesise), ("ip", package)):
        command = commands.add_parser(name, help=(action.__doc__ or "").splitlines()[0])
        command.set_defaults(action=action)
        command.add_argument("--board", choices=boards.names(), default="u55c")
        command.add_argument("--buckets", type=power_of_two(*BUCKETS), default=4096, help="of each port")
        command.add_argument("--queue-beats", type=power_of_two(*QUEUE_BEATS), default=4096)
        command.add_argument("--dry-run", action="store_true", help="only show the commands")
        if name == "synth":
            command.add_argument("--tool", choices=tools.VITIS + tools.BAMBU, help="default: the first")
            command.add_argument("--map", action="store_true", help="with bambu: area by Yosys, takes long")
            command.add_argument("--only", action="append", metavar="UNIT", help="with bambu: not all units")
    return parser
