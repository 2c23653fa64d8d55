# SPDX-License-Identifier: Apache-2.0
"""`clarion run`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from clarion_base import text_table
from clarion_base.commands import EXIT_FAILED, natural, positive
from clarion_base.errors import Interrupted, UserError
from clarion_lab.controller import run_report
from clarion_lab.controller.demo import DemoController
from clarion_lab.controller.registration import Registrar
from clarion_lab.controller.run_report import NoReport, RunReport
from clarion_lab.engines import registry
from clarion_lab.engines.registry import Engine
from clarion_lab.recording import files
from clarion_lab.recording.progress import stoppable
from clarion_lab.results import slowness, tables
from clarion_lab.results.expectations import missed
from clarion_lab.results.report import REPORT
from clarion_lab.run import batch
from clarion_lab.scenario.documents import Document, locate, parse_assignment, parse_sweep, points, read


def add_options(parser: argparse.ArgumentParser) -> None:
    """The scenario, its sweeps, and how it is run."""
    parser.add_argument("scenario", help="a shipped name (see clarion list) or a path to a .yaml file")
    parser.add_argument(
        "--sweep", action="append", default=[], metavar="KEY=A,B,...", help="one run per value"
    )
    add_run_options(parser)
    parser.set_defaults(run=_run)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """How scenarios are run."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a field, such as flows.0.count=5",
    )
    parser.add_argument(
        "--repeat", type=positive, default=1, metavar="N", help="runs per point, with seeds in sequence"
    )
    parser.add_argument("--seed", type=natural, metavar="N", help="seed of the first run")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where results go (default: out/SCENARIO-TIME)"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and no progress")
    parser.add_argument(
        "--engine",
        default="emu",
        help="emu (default), the embedded switch; bmv2, the P4 program; hls-sim, the FPGA block; "
        "sim, virtual time without root",
    )
    parser.add_argument(
        "--controller", metavar="URL", help="put the switches under this controller for the run"
    )
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="with a token for it, of role admin")
    parser.add_argument("--controller-ca", type=Path, metavar="PEM", help="who signed its certificate")
    parser.add_argument(
        "--tune",
        action="append",
        default=[],
        metavar="POLICY[:NAME=NUMBER,...]",
        help="and switch a policy of its tuner on before each bottleneck",
    )


def _run(options: argparse.Namespace) -> int:
    return run_batch(options, options.scenario, [parse_sweep(text) for text in options.sweep])


def run_batch(options: argparse.Namespace, scenario: str, sweeps: list[tuple[str, list[object]]]) -> int:
    """Run all points of a scenario, print the table, and return the exit status. Where it restarts its
    controller and none is given, it has one of its own.
    """
    path = locate(scenario)
    own = options.engine == "emu" and options.controller is None
    if own and any("controller" in restart for restart in _restarts(read(path))):
        with DemoController() as controller:
            options.controller, options.token_file = controller.url, controller.token_file
            options.controller_restart = controller.restart
            return _run_points(options, path, sweeps)
    return _run_points(options, path, sweeps)


def _restarts(document: Document) -> list[Document]:
    """The restarts of a document that may not be valid."""
    given = document.get("restarts")
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _run_points(options: argparse.Namespace, path: Path, sweeps: list[tuple[str, list[object]]]) -> int:
    settings = [parse_assignment(text) for text in options.set]
    registrar = _registrar(options)
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
        _engine(options, registrar),
        quiet=options.json,
    )
    error = _execute(work, _report(options, registrar, work, dict(settings), sweeps))
    _print_summary(options, path.stem, work)
    if isinstance(error, Interrupted):
        print(f"clarion: stopped; partial results are in {out}", file=sys.stderr)
        raise error
    if error is not None:
        print(f"clarion: {error} (partial results are in {out})", file=sys.stderr)
        return EXIT_FAILED
    return 0


def _print_summary(options: argparse.Namespace, name: str, work: batch.Batch) -> None:
    summary = files.read_summary(work.out)
    if options.json:
        print(json.dumps(summary, indent=1))
        return
    print(text_table.plain([tables.row(name, summary)] if work.single else summary["rows"], tables.COLUMNS))
    for outcome in work.outcomes:
        for line in missed(outcome.summary):
            print(line)
        warn(outcome.summary)
    print(f"report: {work.out / REPORT}")


def _execute(work: batch.Batch, report: NoReport) -> BaseException | None:
    """Runs everything and reports it; an error that ended a run is returned."""
    work.said = report.say
    try:
        with stoppable():
            error = batch.execute(work)
    except BaseException as failure:
        report.end(failure, None)
        raise
    report.end(error, lambda: batch.reread(work))
    return error


def _report(
    options: argparse.Namespace,
    registrar: Registrar | None,
    work: batch.Batch,
    settings: dict[str, object],
    sweeps: list[tuple[str, list[object]]],
) -> NoReport:
    """What tells the controller of the run, if it has one."""
    if registrar is None:
        return NoReport()
    shown = {**settings, **{f"sweep.{key}": values for key, values in sweeps}}
    registration = run_report.document(work.name, options.engine, shown, work.repeats, work.out)
    return RunReport(registrar.client, registration)


def _engine(options: argparse.Namespace, registrar: Registrar | None) -> Engine:
    """The engine of that name, its runs under a controller if one is given."""
    made = registry.engine(options.engine)
    if registrar is not None:
        made.use_controller(registrar)
    return made


def _registrar(options: argparse.Namespace) -> Registrar | None:
    """The controller of the options; None without one."""
    if options.controller is None:
        for name in ("token_file", "controller_ca", "tune"):
            if getattr(options, name):
                raise UserError(f"--{name.replace('_', '-')}: only together with --controller")
        return None
    if options.token_file is None:
        raise UserError("--controller: give a token with --token-file")
    return Registrar.from_options(
        options.controller,
        options.token_file,
        options.controller_ca,
        options.tune,
        getattr(options, "controller_restart", None),
    )


def warn(summary: dict[str, Any]) -> None:
    """A warning for each sign that the run measured the machine, not the path."""
    name = summary["point"] or summary["scenario"]
    for sign in slowness.signs(summary):
        print(f"warning: {name}: this machine was too slow: {sign}", file=sys.stderr)
