# SPDX-License-Identifier: Apache-2.0
"""One task: run it and keep it, and many of them one after the other in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clarion_base.errors import Interrupted, UserError
from clarion_lab.engines import registry
from clarion_lab.engines.registry import Engine
from clarion_lab.recording.progress import Progress
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.tasks.runner import Outcome, run
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task


class _NotCompleteError(Exception):
    """A run that is not kept."""


def run_and_keep(
    task: Task,
    engine: Engine,
    scenario: Scenario,
    directory: Path | None,
    store: Store | None,
    progress: Progress,
    draw: bool = True,
) -> Outcome:
    """Runs a task in `directory`, with plots and a report there if `draw`, or for the store alone. What
    completes is kept in the store if there is one.
    """
    if directory is not None:
        outcome = run(scenario, engine, directory, progress, task.labels, draw)
        if store is not None and outcome.error is None:
            store.add(task, directory)
        return outcome
    assert store is not None
    with contextlib.suppress(_NotCompleteError), store.making(task) as made:
        outcome = run(scenario, engine, made, progress, task.labels, draw=False)
        if outcome.error is not None:
            raise _NotCompleteError
    return outcome


class Serial:
    """Runs in this process, one at a time. `engine`: for all tasks, set up and checked, its session held;
    without it each task's is made.
    """

    def __init__(
        self,
        store: Store | None,
        directory_of: Callable[[Task], Path] | None,
        progress_of: Callable[[Task], Progress],
        engine: Engine | None,
    ) -> None:
        self._store = store
        self._directory_of = directory_of
        self._progress_of = progress_of
        self._engine = engine

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, UserError | None]]:
        """Each task as it is over, with what it failed of. Interrupted ends all; the partial results of the
        run are in its directory then.
        """
        if self._engine is not None:
            yield from self._run_all(
                self._engine, [(task, build(task.name, task.document)) for task in tasks]
            )
            return
        for name in dict.fromkeys(task.engine for task in tasks):
            yield from self._in_session(name, [task for task in tasks if task.engine == name])

    def _in_session(self, name: str, tasks: Sequence[Task]) -> Iterator[tuple[Task, UserError | None]]:
        engine = registry.engine(name)
        ready = []
        for task in tasks:
            try:
                scenario = build(task.name, task.document)
                engine.check(scenario)
                ready.append((task, scenario))
            except UserError as error:
                yield task, error
        with contextlib.ExitStack() as stack:
            try:
                if ready:
                    stack.enter_context(engine.session())
            except UserError as error:  # the machine is taken
                yield from ((task, error) for task, _ in ready)
                return
            yield from self._run_all(engine, ready)

    def _run_all(
        self, engine: Engine, ready: Sequence[tuple[Task, Scenario]]
    ) -> Iterator[tuple[Task, UserError | None]]:
        for task, scenario in ready:
            directory = self._directory_of(task) if self._directory_of else None
            progress = self._progress_of(task)
            progress.check()
            outcome = run_and_keep(task, engine, scenario, directory, self._store, progress)
            if isinstance(outcome.error, Interrupted):
                raise outcome.error
            yield task, outcome.error
