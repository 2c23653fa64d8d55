# SPDX-License-Identifier: Apache-2.0
"""`clarion reproduce`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from clarion_base import text_table
from clarion_base.commands import EXIT_FAILED, positive
from clarion_base.errors import UserError
from clarion_lab.recording.progress import stoppable
from clarion_lab.reproduce import page, plots, table, traces
from clarion_lab.reproduce.experiment import ENGINES, NOTE, QUESTIONS, Experiment, chosen, load
from clarion_lab.reproduce.runs import Found, Planned, plan, run
from clarion_lab.reproduce.verdict import in_order, meant, verdict
from clarion_lab.tasks.store import Store

TABLES = "reproduction"  # the tables and pictures, beside the pages
TITLES = {"reproduction": "Which published claims hold", QUESTIONS: "Today's questions"}  # by page


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which experiments, and how they are run."""
    parser.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="experiments such as S0-fig5, papers such as S0, or files; all if none",
    )
    parser.add_argument(
        "--engine",
        choices=("auto", *ENGINES),
        default="auto",
        help="auto (default): what each experiment needs; sim or emu: that one for all that it can run",
    )
    parser.add_argument("--quick", action="store_true", help="fewer points and repeats, marked as such")
    parser.add_argument(
        "--out", type=Path, default=Path("out", "reproduce"), metavar="DIR", help="where pages go"
    )
    parser.add_argument(
        "--from", dest="tables", type=Path, metavar="DIR", help="run nothing: judge the tables of DIR again"
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="points at a time (default: all processors)"
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="run points on this Dask cluster")
    parser.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    paths = list(chosen(options.ids).values())
    broken: list[str] = []
    tables: Path = options.tables or options.out / TABLES
    if options.tables is None:
        broken = _run(options, [load(path, options.quick) for path in paths])
    entries = judged_again(paths, tables, options.out / TABLES)
    if not entries:
        raise UserError(f"{tables}: no table of these experiments there")
    written = write(entries, options.out)
    _print(entries, written)
    for line in broken:
        print(f"clarion: {line}", file=sys.stderr)
    return EXIT_FAILED if broken else 0


def _run(options: argparse.Namespace, experiments: Sequence[Experiment]) -> list[str]:
    """Runs what is to run, and writes the tables; what failed, in words."""
    planned, skipped = _planned(experiments, options.engine)
    for line in skipped:
        print(line, file=sys.stderr)
    with stoppable():
        found, broken = run(
            planned, Store.default(), jobs=options.jobs, cluster=options.cluster, on_progress=_progress
        )
    for each in experiments:
        notes = {"id": each.id, "quick": "yes" if options.quick else "no"}
        results = found.get(each.id, Found())
        table.write(_table(options.out / TABLES, each), results.rows, notes)
        traces.write(_traces(options.out / TABLES, each), results.curves)
    return broken


def _planned(experiments: Sequence[Experiment], engine: str) -> tuple[list[Planned], list[str]]:
    """What can run here, and what cannot: real hosts need root."""
    planned, skipped = [], []
    for each in experiments:
        runs = list(plan(each, engine))
        possible = [one for one in runs if one.task.engine == "sim" or os.geteuid() == 0]
        if len(possible) < len(runs):
            skipped.append(f"{each.id}: {len(runs) - len(possible)} runs need root for engine emu: left out")
        planned += possible
    return planned, skipped


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rrun {done} of {total}", end=end, file=sys.stderr, flush=True)
    elif done == total or done % 50 == 0:
        print(f"run {done} of {total}", file=sys.stderr, flush=True)


def _table(directory: Path, experiment: Experiment) -> Path:
    return directory / f"{experiment.id.lower()}.parquet"


def _traces(directory: Path, experiment: Experiment) -> Path:
    return directory / f"{experiment.id.lower()}.traces.parquet"


def judged_again(paths: Sequence[Path], tables: Path, pictures: Path) -> list[page.Entry]:
    """The experiments of these files that have a table, each with the verdict that it gives, drawn anew."""
    found = (_judged_again(load(path), path, tables, pictures) for path in paths)
    return [entry for entry in found if entry is not None]


def _judged_again(experiment: Experiment, path: Path, tables: Path, pictures: Path) -> page.Entry | None:
    results = _table(tables, experiment)
    if not results.is_file():
        return None
    rows, notes = table.read(results)
    quick = notes.get("quick") == "yes"
    if quick:
        experiment = load(path, quick=True)
    rows = in_order(experiment, rows)
    picture = pictures / results.with_suffix(".png").name
    curves = traces.read(_traces(tables, experiment))
    drawn = plots.draw(experiment, meant(experiment, rows), curves, picture)
    return page.Entry(experiment, rows, verdict(experiment, rows, quick), quick, picture if drawn else None)


def write(entries: Sequence[page.Entry], out: Path) -> list[Path]:
    """The pages of claims and of questions, if there are any."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, title in TITLES.items():
        shown = [entry for entry in entries if (entry.experiment.paper == QUESTIONS) == (name == QUESTIONS)]
        if shown:
            written += [out / f"{name}.md", out / f"{name}.html"]
            written[-2].write_text(page.markdown(shown, title, TABLES))
            written[-1].write_text(page.html(shown, title))
    return written


def _print(entries: Sequence[page.Entry], written: Sequence[Path]) -> None:
    rows = [
        [entry.experiment.id, entry.verdict.text + (" (quick)" if entry.quick else ""), _held(entry)]
        for entry in entries
    ]
    print(text_table.plain(rows, ["experiment", "verdict", "criteria that hold"]))
    print(f"pages: {', '.join(map(str, written))}")


def _held(entry: page.Entry) -> str:
    asked = [judged for judged in entry.verdict.judged if judged.criterion.kind != NOTE]
    return f"{sum(judged.holds for judged in asked)} of {len(asked)}"
