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
from clarion_lab.engines.registry import SIDE_BY_SIDE, Engine
from clarion_lab.recording import files
from clarion_lab.recording.progress import stoppable
from clarion_lab.results import slowness, tables
from clarion_lab.results.expectations import missed
from clarion_lab.results.report import REPORT
from clarion_lab.run import batch
from clarion_lab.scenario.documents import Document, locate, parse_assignment, parse_sweep, points, read
from clarion_lab.tasks.store import Store

FOUND_NAMED = 20  # runs from the cache that are named


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
    parser.add_argument(
        "--capture",
        action="store_true",
        help="keep the packets of every link as pcapng, with the cause of each loss as a comment",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and no progress")
    parser.add_argument(
        "--engine",
        default="emu",
        help="emu (default), the embedded switch; bmv2, the P4 program; hls-sim, the FPGA block; "
        "sim, virtual time without root",
    )
    _add_executor_options(parser)
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


def _add_executor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="runs at once, on engine sim (default: one per processor)"
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="run on this Dask cluster, such as tcp://10.0.0.1:8786"
    )
    parser.add_argument(
        "--cache",
        action=argparse.BooleanOptionalAction,
        help="take finished runs from the cache, keep new ones there (default: sweeps and repeats on engine "
        "sim, and all on a cluster; single runs and real time are run anew)",
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
    if options.capture:
        document["capture"] = True
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
        jobs=options.jobs,
        cluster=options.cluster,
    )
    work.store = _store(options, work)
    error = _execute(work, _report(options, registrar, work, dict(settings), sweeps))
    if not work.outcomes:  # not one run has left anything
        if isinstance(error, Interrupted):
            raise error
        print(f"clarion: {error}", file=sys.stderr)
        return EXIT_FAILED
    _print_summary(options, path.stem, work)
    if isinstance(error, Interrupted):
        print(f"clarion: stopped; partial results are in {out}", file=sys.stderr)
        raise error
    if error is not None:
        print(f"clarion: {error} (partial results are in {out})", file=sys.stderr)
        return EXIT_FAILED
    return 0


def _store(options: argparse.Namespace, work: batch.Batch) -> Store | None:
    """The cache, if this batch uses it."""
    captures = any(point.document.get("capture") for point in work.points)
    if options.cluster is not None:
        if options.controller is not None:
            raise UserError(
                "--cluster: a controller has switches of this machine only; leave one of them out"
            )
        if captures:
            raise UserError("--cluster: captures stay where they are made; leave one of them out")
        if options.cache is False:
            raise UserError("--no-cache: not with --cluster, whose results come through the cache")
        return Store.default()
    if options.controller is not None:
        if options.cache:
            raise UserError("--cache: what a controller did is not in it; leave out --controller")
        return None
    if captures:
        if options.cache:
            raise UserError("--cache: captures are not in it; leave out --capture")
        return None
    wanted = options.cache
    if wanted is None:
        wanted = work.engine.name in SIDE_BY_SIDE and not work.single
    return Store.default() if wanted else None


def _print_found(work: batch.Batch) -> None:
    """Which runs were not run, but taken from the cache."""
    if work.found:
        names = ", ".join(work.found[:FOUND_NAMED])
        more = len(work.found) - FOUND_NAMED
        rest = f" and {more} more" if more > 0 else ""
        print(f"from the cache ({len(work.found)} of {len(work.outcomes)} runs): {names}{rest}")


def _print_summary(options: argparse.Namespace, name: str, work: batch.Batch) -> None:
    summary = files.read_summary(work.out)
    if options.json:
        print(json.dumps(summary, indent=1))
        return
    print(text_table.plain([tables.row(name, summary)] if work.single else summary["rows"], tables.COLUMNS))
    _print_found(work)
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
    report.end(error, (lambda: batch.reread(work)) if work.outcomes else None)
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
