# SPDX-License-Identifier: Apache-2.0
"""All points of a sweep with all their repeats: directories, aggregate, table and overview plot."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clarion_base.errors import UserError
from clarion_lab.engines.registry import Engine
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.results import plots, report, tables
from clarion_lab.results.key_metrics import estimate_all, key_metrics
from clarion_lab.run.runner import Outcome, run
from clarion_lab.scenario.documents import Point
from clarion_lab.scenario.model import Scenario, build


@dataclass
class Batch:
    """What is to run: scenario points, repeats, and where the results go."""

    name: str
    points: Sequence[Point]
    repeats: int
    seed: int | None
    out: Path
    engine: Engine
    quiet: bool = False
    said: Callable[[str], None] = lambda line: None  # gets every line of progress
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def single(self) -> bool:
        """A single run, whose files are in `out` itself; those of a sweep are not, even of a single value."""
        return len(self.points) == 1 and self.repeats == 1 and not self.points[0].name

    def directory(self, point: Point, repeat: int) -> Path:
        """Where a run leaves its files; repeats are counted from 0."""
        directory = self.out / point.name
        return directory / f"run-{repeat + 1}" if self.repeats > 1 else directory


def check(batch: Batch) -> list[Scenario]:
    """Builds and checks every point before the first one runs."""
    scenarios = [build(batch.name, point.document) for point in batch.points]
    for scenario in scenarios:
        batch.engine.check(scenario)
    return scenarios


def execute(batch: Batch) -> BaseException | None:
    """Runs everything; stops at the first run that does not complete and returns its error."""
    scenarios = check(batch)
    with batch.engine.session():
        prepare(batch.out)
        _announce(batch)
        error = _run_all(batch, scenarios)
        (batch.out / files.UNFINISHED).unlink(missing_ok=True)
        return error


def _announce(batch: Batch) -> None:
    """Lists the directories of all runs, so that those of a killed one are known as results, too."""
    directories = [
        batch.directory(point, repeat) for point in batch.points for repeat in range(batch.repeats)
    ]
    document = {
        "format": files.BATCH_FORMAT,
        "version": files.VERSIONS[files.BATCH_FORMAT],
        "runs": [{"directory": str(directory.relative_to(batch.out))} for directory in directories],
    }
    files.write_json(batch.out / files.UNFINISHED, document)


def _run_all(batch: Batch, scenarios: Sequence[Scenario]) -> BaseException | None:
    for point, scenario in zip(batch.points, scenarios, strict=True):
        for repeat in range(batch.repeats):
            outcome = _run_one(batch, point, scenario, repeat)
            batch.outcomes.append(outcome)
            if not batch.single:
                write_aggregate(batch, scenarios[0].description, outcome)
            if outcome.error is not None:
                return outcome.error
    return None


def _run_one(batch: Batch, point: Point, scenario: Scenario, repeat: int) -> Outcome:
    first_seed = scenario.seed if batch.seed is None else batch.seed
    document = {**scenario.document, "seed": first_seed + repeat}
    labels = {"point": point.name, "settings": dict(point.settings), "repeat": repeat + 1}
    title = " ".join(part for part in (batch.name, point.name) if part)
    if batch.repeats > 1:
        title += f" {repeat + 1}/{batch.repeats}"
    directory = batch.directory(point, repeat)
    progress = Progress(title, batch.quiet, said=batch.said)
    return run(build(batch.name, document), batch.engine, directory, progress, labels)


def prepare(out: Path) -> None:
    """Makes the output directory, or empties it of older results. If it holds anything else: UserError, and
    nothing is deleted.
    """
    try:
        if out.is_dir() and any(out.iterdir()):
            for path in older_results(out):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: {error.strerror}") from error


def older_results(out: Path) -> list[Path]:
    """The files and directories of an earlier run or batch, finished or not, as its summary lists them,
    children before parents. UserError names the first path that is not a result.
    """
    lists = [name for name in (files.SUMMARY, files.UNFINISHED) if (out / name).is_file()]
    if not lists:
        raise UserError(f"--out {out}: holds files that are not results of clarion; use another directory")
    directories = {out}
    for entry in (entry for name in lists for entry in files.read_summary(out, name).get("runs", [])):
        directory = out / entry["directory"]
        if not directory.resolve().is_relative_to(out.resolve()):
            raise UserError(f"--out {out}: its summary names {entry['directory']}, outside of it")
        directories |= {parent for parent in (directory, *directory.parents) if out in parent.parents}
    found = []
    for directory in sorted(directories, key=lambda path: len(path.parts), reverse=True):
        for path in sorted(directory.iterdir()) if directory.is_dir() else ():
            if path not in directories and not files.is_result(path):
                raise UserError(f"--out {out}: {path} is not a result of clarion; move it or use another")
            found.append(path)
    return found


def write_aggregate(batch: Batch, description: str, last: Outcome) -> None:
    """Writes the batch's summary, overview plot and report from the runs so far."""
    summary = aggregate(
        batch.name,
        description,
        [(outcome.directory, outcome.summary) for outcome in batch.outcomes],
        batch.out,
    )
    summary |= {"state": last.summary["state"], "reason": last.summary["reason"]}
    files.write_json(batch.out / files.SUMMARY, summary)
    redraw(batch.out)


def redraw(out: Path) -> None:
    """Draws the overview plot and the report of a batch from its files."""
    summary = files.read_summary(out)
    series = []
    for entry in summary["runs"]:
        if entry["repeat"] == 1:
            flows = files.read_table(out / entry["directory"] / files.FLOWS)
            series.append((entry["point"] or entry["name"], plots.total_rate(flows, 1.0)))
    plots.overview(out / "overview.png", series)
    report.write(out)


def reread(batch: Batch) -> dict[str, Any]:
    """The summary that a batch has left, also of a single run in the form of a batch."""
    summary = files.read_summary(batch.out)
    if summary["format"] == files.BATCH_FORMAT:
        return summary
    made = aggregate(batch.name, summary["description"], [(batch.out, summary)], batch.out)
    return made | {"state": summary["state"], "reason": summary["reason"]}


def aggregate(
    name: str, description: str, runs: Iterable[tuple[Path, dict[str, Any]]], out: Path
) -> dict[str, Any]:
    """The summary of a batch: every run's key numbers, and mean, sd and 95 % interval over repeats per
    point.
    """
    entries = [_entry(directory, summary, out) for directory, summary in runs]
    points: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        points.setdefault(entry["point"], []).append(entry)
    rows = []
    estimates = {}
    for point, members in points.items():
        label = point or name
        estimates[point] = estimate_all([member["metrics"] for member in members])
        rows.append(members[0]["row"] if len(members) == 1 else tables.spread_row(label, estimates[point]))
    return {
        "format": files.BATCH_FORMAT,
        "version": files.VERSIONS[files.BATCH_FORMAT],
        "scenario": name,
        "description": description,
        "rows": rows,
        "points": [
            {"point": point, "settings": points[point][0]["settings"], "metrics": found}
            for point, found in estimates.items()
        ],
        "runs": entries,
    }


def _entry(directory: Path, summary: dict[str, Any], out: Path) -> dict[str, Any]:
    point = summary["point"]
    name = point or summary["scenario"]
    return {
        "name": f"{name} run {summary['repeat']}" if directory.name.startswith("run-") else name,
        "point": point,
        "settings": summary["settings"],
        "repeat": summary["repeat"],
        "seed": summary["seed"],
        "engine": summary["engine"],
        "senders": sorted({flow["algorithm"] for flow in summary["flows"]}),
        "directory": str(directory.relative_to(out)),
        "state": summary["state"],
        "metrics": key_metrics(summary),
        "expectations": summary["expectations"],
        "row": tables.row(name, summary),
    }
