# SPDX-License-Identifier: Apache-2.0
"""The commands behind `make hls-synth` and `make hls-verilog`."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.paths import ROOT
from clarion_base.steps import Steps, complain
from clarion_contract import boards
from clarion_contract.boards import Board
from clarion_synth import area, bambu, circuits, rtl, table, tools, vitis
from clarion_synth.circuits import Circuit
from clarion_synth.table import Row
from clarion_synth.tools import Tool

VERILOG = ROOT / "build" / "hls" / "verilog"


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
    """Synthesise every function, hold its clocks and period, and play the block's tests with them."""
    tool = tools.find((options.tool,) if options.tool else tools.VITIS + tools.BAMBU)
    if tool is None:
        missing = f"{options.tool} is not on PATH" if options.tool else tools.NONE
        print(f"hls-synth: nothing to do: {missing}")
        return 0
    steps, board = Steps(options.dry_run), boards.load(options.board)
    folder = VERILOG / board.name
    rows = _make_all(steps, tool, board, folder, options.only)
    wrong = None if options.only else rtl.play(steps, folder)
    missed = [row.number for row in rows if row.missed]
    told = ([f"missed: {'; '.join(missed)}"] if missed else []) + ([wrong] if wrong else [])
    if told:
        raise UserError("; ".join(told))
    return 0


def verilog(options: argparse.Namespace) -> int:
    """Make Verilog of every function for a card."""
    tool = tools.find()
    if tool is None:
        complain("hls-verilog", f"{tools.NONE}; install Vitis HLS and source its settings64.sh, or bambu")
        return 2
    board = boards.load(options.board)
    rows = _make_all(Steps(options.dry_run), tool, board, VERILOG / board.name, None)
    if missed := [row.number for row in rows if row.missed]:
        raise UserError(f"missed: {'; '.join(missed)}")
    return 0


def mapped(options: argparse.Namespace) -> int:
    """Map shell and functions to UltraScale+ with Yosys: area, and depth of logic."""
    board = boards.load(options.board)
    rows = area.rows(Steps(options.dry_run), VERILOG / board.name, options.buckets, options.only)
    if rows:
        print(table.text(rows))
    return 0


def _make_all(steps: Steps, tool: Tool, board: Board, folder: Path, only: list[str] | None) -> list[Row]:
    functions = circuits.chosen(only)
    if not steps.dry_run and not only:
        shutil.rmtree(folder, ignore_errors=True)  # or what an earlier run left is taken for this one's
    if not steps.dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    make = vitis.make if tool.is_vitis else bambu.make
    made = [make(steps, tool, function, board, folder) for function in functions]
    if steps.dry_run:
        return []
    rows = [row for circuit in made for row in rows_of(circuit, 1e9 / board.clock_hz, tool.is_vitis)]
    print(table.text(rows))
    return rows


def rows_of(circuit: Circuit, clock_ns: float, is_vitis: bool) -> list[Row]:
    """Hold what a tool says of a function against what the shell is laid out for."""
    function = circuit.function
    budget = circuits.budget_ns(clock_ns) if is_vitis else clock_ns
    return [
        Row(f"{function.name}: latency, clocks", function.latency, circuit.latency, circuit.limit),
        Row(f"{function.name}: interval, clocks", function.interval, circuit.interval),
        Row(f"{function.name}: estimated clock period, ns", budget, circuit.clock_ns, "without routing"),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clarion_synth", description="synthesis of the FPGA block's functions"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in (("synth", synthesise), ("verilog", verilog), ("area", mapped)):
        command = commands.add_parser(name, help=(action.__doc__ or "").splitlines()[0])
        command.set_defaults(action=action)
        command.add_argument("--board", choices=boards.names(), default="u55c")
        command.add_argument("--dry-run", action="store_true", help="only show the commands")
        if name == "synth":
            command.add_argument(
                "--tool", choices=tools.VITIS + tools.BAMBU, help="default: the first on PATH"
            )
        if name != "verilog":
            command.add_argument(
                "--only", action="append", metavar="NAME", help="not all functions or modules"
            )
        if name == "area":
            command.add_argument("--buckets", type=int, choices=area.BUCKETS, default=area.BUCKETS[0])
    return parser
