# SPDX-License-Identifier: Apache-2.0
"""All points of a sweep with all their repeats: directories, aggregate, table and overview plot."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clarion_base.errors import Interrupted, RunFailedError, UserError
from clarion_lab.engines.registry import SIDE_BY_SIDE, Engine
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.results import plots, report, tables
from clarion_lab.results.key_metrics import estimate_all, key_metrics
from clarion_lab.scenario.documents import Point
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.tasks.executor import Execution, Watcher
from clarion_lab.tasks.runner import Outcome, reason_of
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task

UNDER_WAY = "the sweep has not ended"  # why an aggregate is partial, if it was killed
AGGREGATE_SHARE = 0.05  # of the time, at most, goes into aggregates of batches that are not over


@dataclass
class Batch:
    """What is to run: scenario points, repeats, where the results go, and who runs them."""

    name: str
    points: Sequence[Point]
    repeats: int
    seed: int | None
    out: Path
    engine: Engine
    quiet: bool = False
    jobs: int | None = None  # processes at once, of an engine in virtual time; None: one per processor
    cluster: str | None = None  # the address of a Dask scheduler
    store: Store | None = None  # of finished runs
    said: Callable[[str], None] = lambda line: None  # gets every line of progress
    outcomes: list[Outcome] = field(default_factory=list)
    found: list[str] = field(default_factory=list)  # titles of the runs that came from the store

    @property
    def single(self) -> bool:
        """A single run, whose files are in `out` itself; those of a sweep are not, even of a single value."""
        return len(self.points) == 1 and self.repeats == 1 and not self.points[0].name

    def directory(self, point: str, repeat: int) -> Path:
        """Where a run of a point leaves its files; repeats are counted from 1."""
        directory = self.out / point
        return directory / f"run-{repeat}" if self.repeats > 1 else directory

    def directory_of(self, task: Task) -> Path:
        """Where a task of this batch leaves its files."""
        return self.directory(task.labels["point"], task.labels["repeat"])

    def title(self, task: Task) -> str:
        """What a task of this batch is called on the terminal."""
        title = " ".join(part for part in (self.name, task.labels["point"]) if part)
        return f"{title} {task.labels['repeat']}/{self.repeats}" if self.repeats > 1 else title


def check(batch: Batch) -> list[Scenario]:
    """Builds and checks every point before the first one runs. What only workers of a cluster need is left to
    them.
    """
    scenarios = [build(batch.name, point.document) for point in batch.points]
    if batch.cluster is None or batch.engine.name in SIDE_BY_SIDE:
        for scenario in scenarios:
            batch.engine.check(scenario)
    return scenarios


def execute(batch: Batch) -> Interrupted | UserError | None:
    """Runs everything; stops at the first run that does not complete and returns its error. Runs that go on
    beside it are finished, on a cluster taken back.
    """
    scenarios = check(batch)
    with batch.engine.session() if batch.cluster is None else contextlib.nullcontext():
        prepare(batch.out)
        tasks = _tasks(batch, scenarios)
        _announce(batch, tasks)
        error = _run_all(batch, tasks, scenarios[0].description)
        (batch.out / files.UNFINISHED).unlink(missing_ok=True)
        return error


def _tasks(batch: Batch, scenarios: Sequence[Scenario]) -> list[Task]:
    """One for each run, the repeats of a point with seeds in sequence."""
    tasks = []
    for point, scenario in zip(batch.points, scenarios, strict=True):
        first_seed = scenario.seed if batch.seed is None else batch.seed
        for repeat in range(batch.repeats):
            document = {**scenario.document, "seed": first_seed + repeat}
            labels = {"point": point.name, "settings": dict(point.settings), "repeat": repeat + 1}
            tasks.append(Task(batch.name, document, batch.engine.name, labels))
    return tasks


def _announce(batch: Batch, tasks: Sequence[Task]) -> None:
    """Lists the directories of all runs, so that those of a killed one are known as results, too."""
    directories = [str(batch.directory_of(task).relative_to(batch.out)) for task in tasks]
    document = {
        "format": files.BATCH_FORMAT,
        "version": files.VERSIONS[files.BATCH_FORMAT],
        "runs": [{"directory": directory} for directory in directories],
    }
    files.write_json(batch.out / files.UNFINISHED, document)


def _run_all(batch: Batch, tasks: Sequence[Task], description: str) -> Interrupted | UserError | None:
    error: Interrupted | UserError | None = None
    watcher = _Collector(batch, tasks, description)
    execution = Execution(
        tasks,
        batch.store,
        jobs=batch.jobs,
        cluster=batch.cluster,
        watcher=watcher,
        directory_of=batch.directory_of,
        engine=batch.engine,
        in_parent=batch.single,
        stop_at_failure=True,
    )
    try:
        failures = execution.run()
        if failures:
            error = RunFailedError(failures[0].reason)
    except Interrupted as stop:
        error = stop
    except UserError as failure:  # such as of a scheduler that went, or of a full disk
        _finish_failed(watcher, failure)
        if not batch.outcomes:
            raise
        return failure
    watcher.finish(error)
    return error


def _finish_failed(watcher: _Collector, failure: UserError) -> None:
    try:
        watcher.finish(failure)
    except OSError:  # what is on the disk says that the sweep has not ended; why, is worth more than this
        raise failure from None


class _Collector(Watcher):
    """Collects what was run, and writes the aggregate of what there is so far."""

    def __init__(self, batch: Batch, tasks: Sequence[Task], description: str) -> None:
        self._batch = batch
        self._tasks = tasks
        self._description = description
        self._summaries: dict[Path, dict[str, Any]] = {}
        self._counted = Progress(batch.name, batch.quiet, said=batch.said)
        self._next_s = 0.0

    def found(self, task: Task) -> None:
        self._batch.found.append(self._batch.title(task))

    def progress(self, task: Task) -> Progress:
        return Progress(self._batch.title(task), self._batch.quiet, said=self._batch.said)

    def waiting(self, text: str) -> None:
        print(f"clarion: {text}", file=sys.stderr)

    def done(self, task: Task, directory: Path) -> None:
        self._summaries[directory] = files.read_summary(directory)
        if not self._batch.single:
            if task.engine in SIDE_BY_SIDE or self._batch.cluster:
                self._counted.count(len(self._summaries), len(self._tasks))
            self._aggregate_now_and_then()

    def _aggregate_now_and_then(self) -> None:
        begin_s = time.monotonic()
        if begin_s >= self._next_s:
            self._collect(None)
            write_aggregate(self._batch, self._description, "interrupted", UNDER_WAY)
            end_s = time.monotonic()
            self._next_s = end_s + (end_s - begin_s) / AGGREGATE_SHARE

    def finish(self, error: Interrupted | UserError | None) -> None:
        """Takes in what runs left that did not complete, and clears away what has no summary."""
        self._counted.done()
        for task in self._tasks:
            directory = self._batch.directory_of(task)
            if (directory / files.SUMMARY).is_file():
                self._summaries.setdefault(directory, files.read_summary(directory))
            else:
                files.remove_results(directory)
                with contextlib.suppress(OSError):  # it is not there, or not empty
                    directory.rmdir()
        self._collect(error)
        if self._batch.outcomes and not self._batch.single:
            states = {type(None): "complete", Interrupted: "interrupted"}
            state = states.get(type(error), "failed")
            write_aggregate(self._batch, self._description, state, reason_of(error))

    def _collect(self, error: Interrupted | UserError | None) -> None:
        directories = [self._batch.directory_of(task) for task in self._tasks]
        self._batch.outcomes = [
            Outcome(
                directory,
                self._summaries[directory],
                None if self._summaries[directory]["state"] == "complete" else error,
            )
            for directory in directories
            if directory in self._summaries
        ]


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


def write_aggregate(batch: Batch, description: str, state: str, reason: str | None) -> None:
    """Writes the batch's summary, overview plot and report from the runs so far."""
    summary = aggregate(
        batch.name,
        description,
        [(outcome.directory, outcome.summary) for outcome in batch.outcomes],
        batch.out,
    )
    summary |= {"state": state, "reason": reason}
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
