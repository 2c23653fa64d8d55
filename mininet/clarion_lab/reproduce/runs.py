# SPDX-License-Identifier: Apache-2.0
"""Runs experiments: their points as tasks, the finished ones as rows of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clarion_base.errors import UserError
from clarion_lab.reproduce.experiment import OTHER_ENGINE, Experiment, Place, places
from clarion_lab.reproduce.measures import measure
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.traces import Curve, curves
from clarion_lab.tasks.executor import execute
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task

FIRST_SEED = 1  # and one more for each repeat; the same for all senders, so that they are paired


@dataclass(frozen=True)
class Planned:
    """A run of an experiment."""

    experiment: Experiment
    place: Place
    seed: int
    task: Task


@dataclass(frozen=True)
class Found:
    """What the runs of an experiment gave."""

    rows: list[Row] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)


def plan(experiment: Experiment, engine: str) -> Iterator[Planned]:
    """All runs; `engine`: auto for what each series is meant for and its samples, or the one for all."""
    for series in experiment.series:
        for place in places(series):
            used = series.engine if engine == "auto" else engine
            yield from _repeats(experiment, place, used, series.repeats)
            if (
                engine == "auto"
                and series.sample is not None
                and series.sample.takes(place.sender, place.values)
            ):
                yield from _repeats(experiment, place, OTHER_ENGINE[used], series.sample.repeats)


def _repeats(experiment: Experiment, place: Place, engine: str, repeats: int) -> Iterator[Planned]:
    for repeat in range(repeats):
        seed = FIRST_SEED + repeat
        labels = {"point": "", "settings": {}, "repeat": seed}
        document = place.repeated(repeat, seed)
        yield Planned(experiment, place, seed, Task(place.series.scenario, document, engine, labels))


def run(
    planned: Sequence[Planned],
    store: Store,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Found], list[str]]:
    """Results by experiment, and what failed, in words. A run of several experiments is made once."""
    wanted: dict[str, list[Planned]] = {}
    for each in planned:
        wanted.setdefault(each.task.key(), []).append(each)
    found = {each.experiment.id: Found() for each in planned}
    broken: list[str] = []
    done = 0

    def take(task: Task, directory: Path) -> None:
        nonlocal done
        done += 1
        for each in wanted[task.key()]:
            try:
                _take(each, directory, found[each.experiment.id])
            except UserError as error:
                broken.append(f"{each.experiment.id}: {error}")
        if on_progress is not None:
            on_progress(done, len(wanted))

    tasks = [group[0].task for group in wanted.values()]
    failures = execute(tasks, store, jobs=jobs, cluster=cluster, on_done=take)
    broken += [f"{failure.task.name} on {failure.task.engine}: {failure.reason}" for failure in failures]
    return found, list(dict.fromkeys(broken))


def _take(planned: Planned, directory: Path, found: Found) -> None:
    found.rows.append(row(planned, directory))
    if planned.seed == FIRST_SEED and planned.task.engine == planned.place.series.engine:
        found.curves.extend(curves(planned.experiment, planned.place, directory))


def row(planned: Planned, directory: Path) -> Row:
    """The measures of a finished run."""
    place = planned.place
    names: Mapping[str, float] = place.values
    found = measure(directory, place.series.measures, names)
    return Row(place.series.name, place.sender, planned.task.engine, planned.seed, place.values, found)
