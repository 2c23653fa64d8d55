# SPDX-License-Identifier: Apache-2.0
"""The command `clarion`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clarion import __version__
from clarion.errors import Interrupted, UserError

if TYPE_CHECKING:
    from clarion.engines import Engine

DEMO_ALGORITHMS = ("xcp", "boost", "fast", "cubic", "bbr", "reno")
DEMO_SETTINGS = ("duration=25 s", "measure-from=15 s")  # six runs in four minutes
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 128 + signal.SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; errors are one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except Interrupted as stop:
        return 128 + stop.signal_number
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except UserError as error:
        print(f"clarion: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        return EXIT_FAILED
    except OSError as error:
        print(f"clarion: {error}", file=sys.stderr)
        return EXIT_FAILED
    return status


def _parser() -> argparse.ArgumentParser:
    from clarion_agent.nic import cli as nic_cli
    from clarion_control import cli as controller_cli

    parser = argparse.ArgumentParser(
        prog="clarion",
        description="Experiments with explicit rate feedback and loss causes on emulated paths.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="the scenarios that ship and the algorithms they may name")
    command.set_defaults(command=_list)

    command = commands.add_parser("run", help="run a scenario")
    command.add_argument("scenario", help="a shipped name (see clarion list) or a path to a .yaml file")
    command.add_argument(
        "--sweep", action="append", default=[], metavar="KEY=A,B,...", help="one run per value"
    )
    _add_run_options(command)
    command.set_defaults(command=_run)

    command = commands.add_parser("demo", help=f"geo under {', '.join(DEMO_ALGORITHMS)}")
    _add_run_options(command)
    command.set_defaults(command=_demo)

    command = commands.add_parser("report", help="draw the plots and the page of a result again")
    command.add_argument("directory", type=Path)
    command.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    command.set_defaults(command=_report)

    command = commands.add_parser("compare", help="ratios of two results, with intervals")
    command.add_argument("first", type=Path)
    command.add_argument("second", type=Path)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_compare)

    command = commands.add_parser("doctor", help="what this machine lacks and how to get it")
    command.set_defaults(command=_doctor)

    controller = commands.add_parser("controller", help="one controller for all switches")
    controller_cli.add_controller_commands(controller.add_subparsers(required=True, metavar="COMMAND"))

    token = commands.add_parser("token", help="who may use the controller")
    controller_cli.add_token_commands(token.add_subparsers(required=True, metavar="COMMAND"))

    switch = commands.add_parser("switch", help="P4Runtime in front of the embedded switch")
    _add_switch_commands(switch.add_subparsers(required=True, metavar="COMMAND"))

    nic = commands.add_parser("nic", help="look at an FPGA NIC, and set its ports")
    nic_cli.add_commands(nic.add_subparsers(required=True, metavar="COMMAND"))

    command = commands.add_parser("cleanup", help="remove what killed runs left behind")
    command.set_defaults(command=_cleanup)
    return parser


def _add_switch_commands(commands: Any) -> None:
    from clarion_agent import serve_cli

    command = commands.add_parser("serve", help="serve P4Runtime for the switches of a clarion-switch")
    serve_cli.add_options(command)
    command.set_defaults(command=_switch_serve)


def _add_run_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a field, such as flows.0.count=5",
    )
    command.add_argument(
        "--repeat", type=_positive, default=1, metavar="N", help="runs per point, with seeds in sequence"
    )
    command.add_argument("--seed", type=_natural, metavar="N", help="seed of the first run")
    command.add_argument(
        "--out", type=Path, metavar="DIR", help="where results go (default: out/SCENARIO-TIME)"
    )
    command.add_argument("--json", action="store_true", help="print the summary as JSON, and no progress")
    command.add_argument(
        "--engine",
        default="emu",
        help="the switches: emu (default), the embedded one; bmv2, the P4 program; hls-sim, the FPGA block",
    )
    command.add_argument(
        "--controller", metavar="URL", help="put the switches under this controller for the run"
    )
    command.add_argument("--token-file", type=Path, metavar="FILE", help="with a token for it, of role admin")
    command.add_argument("--controller-ca", type=Path, metavar="PEM", help="who signed its certificate")
    command.add_argument(
        "--tune",
        action="append",
        default=[],
        metavar="POLICY[:NAME=NUMBER,...]",
        help="and switch a policy of its tuner on before each bottleneck",
    )


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 1")
    return int(text)


def _natural(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text}: use a whole number from 0")
    return int(text)


def _list(_: argparse.Namespace) -> int:
    from clarion.algorithms import ALGORITHMS
    from clarion.documents import read, shipped

    print("scenarios:")
    for name, path in shipped().items():
        print(f"  {name:13} {' '.join(read(path)['description'].split())}")
    print("algorithms:")
    for algorithm in ALGORITHMS.values():
        print(f"  {algorithm.name:13} {algorithm.summary}")
    return 0


def _run(options: argparse.Namespace) -> int:
    from clarion.documents import parse_sweep

    return _run_batch(options, options.scenario, [parse_sweep(text) for text in options.sweep])


def _demo(options: argparse.Namespace) -> int:
    options.set = [*DEMO_SETTINGS, *options.set]
    if options.engine != "emu" or options.controller is not None:
        return _run_demo(options)
    from clarion.demo import DemoController

    with DemoController() as controller:
        options.controller, options.token_file = controller.url, controller.token_file
        options.tune = ["noise", *options.tune]
        print(f"dashboard, while the demo runs: {controller.sign_in}", file=sys.stderr)
        return _run_demo(options)


def _run_demo(options: argparse.Namespace) -> int:
    return _run_batch(options, "geo", [("algorithm", list(DEMO_ALGORITHMS))])


def _run_batch(options: argparse.Namespace, scenario: str, sweeps: list[tuple[str, list[object]]]) -> int:
    from clarion import batch, results, tables
    from clarion.documents import locate, parse_assignment, points, read
    from clarion.expectations import missed
    from clarion.progress import stoppable
    from clarion.report import REPORT

    path = locate(scenario)
    settings = [parse_assignment(text) for text in options.set]
    document = read(path)
    if sweeps:
        document["sweep"] = {**document.get("sweep", {}), **dict(sweeps)}
    out = options.out or Path("out", f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}")
    work = batch.Batch(
        path.stem,
        points(path.stem, document, settings),
        options.repeat,
        options.seed,
        out,
        _engine(options),
        quiet=options.json,
    )
    with stoppable():
        error = batch.execute(work)
    summary = results.read_summary(out)
    if options.json:
        print(json.dumps(summary, indent=1))
    else:
        rows = [tables.row(path.stem, summary)] if work.single else summary["rows"]
        print(tables.plain(rows))
        for outcome in work.outcomes:
            for line in missed(outcome.summary):
                print(line)
            warn(outcome.summary)
        print(f"report: {out / REPORT}")
    if isinstance(error, Interrupted):
        print(f"clarion: stopped; partial results are in {out}", file=sys.stderr)
        raise error
    if error is not None:
        print(f"clarion: {error} (partial results are in {out})", file=sys.stderr)
        return EXIT_FAILED
    return 0


def _engine(options: argparse.Namespace) -> Engine:
    """The engine that is asked for, its runs under a controller if one is given."""
    from clarion.engines import engine

    made = engine(options.engine)
    if options.controller is None:
        for name in ("token_file", "controller_ca", "tune"):
            if getattr(options, name):
                raise UserError(f"--{name.replace('_', '-')}: only together with --controller")
        return made
    if options.token_file is None:
        raise UserError("--controller: give a token with --token-file")
    from clarion.controller_link import ControllerLink

    made.put_under(
        ControllerLink.from_options(
            options.controller, options.token_file, options.controller_ca, options.tune
        )
    )
    return made


def warn(summary: dict[str, Any]) -> None:
    """Says so if the machine, not the path, lost packets."""
    dropped = summary["totals"]["unasked_drop_packets"]
    if dropped:
        name = summary["point"] or summary["scenario"]
        print(f"warning: {name}: this machine was too slow and dropped {dropped} packets", file=sys.stderr)


def _report(options: argparse.Namespace) -> int:
    from clarion import batch, plots, report, results, tables

    summary = results.read_summary(options.directory)
    if options.markdown:
        print(tables.markdown(summary.get("rows") or [tables.row(summary["scenario"], summary)]))
        return 0
    if summary["format"] == results.BATCH_FORMAT:
        for run in summary["runs"]:
            plots.draw(options.directory / run["directory"])
            report.write(options.directory / run["directory"])
        batch.redraw(options.directory)
    else:
        plots.draw(options.directory)
        report.write(options.directory)
    print(options.directory / report.REPORT)
    return 0


def _compare(options: argparse.Namespace) -> int:
    from clarion import compare

    entries = compare.compare(options.first, options.second)
    print(json.dumps(entries, indent=1) if options.json else compare.table(entries))
    return 0


def _doctor(_: argparse.Namespace) -> int:
    from clarion import doctor

    findings = doctor.examine()
    for finding in findings:
        print(finding.line)
    return 0 if doctor.ready(findings) else EXIT_FAILED


def _switch_serve(options: argparse.Namespace) -> int:
    from clarion_agent import serve_cli

    return serve_cli.serve(options)


def _cleanup(_: argparse.Namespace) -> int:
    from clarion.cleanup import cleanup
    from clarion.state import left_behind

    done = cleanup()
    print("\n".join(done) if done else "nothing to clean up")
    return EXIT_FAILED if left_behind() else 0
