# SPDX-License-Identifier: Apache-2.0
"""The queue of experiments: checks, stores, runs one after the other, stops, and gives out results. Runs that
were started elsewhere are among them, see `reported`.

A run belongs to the controller that has its directory: several controllers may share a store.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.experiments import files
from clarion_control.experiments.client import Link, RemoteRun, RunnerClient
from clarion_control.experiments.files import ResultFile
from clarion_control.experiments.library import Request, ScenarioLibrary
from clarion_control.experiments.protocol import RunnerError
from clarion_control.experiments.reported import Reported
from clarion_control.model import Action, Actor, Experiment, ExperimentState
from clarion_control.store.clock import now_us

MAX_QUEUED = 100
FILES_NAMED = 1000  # of a record; all can be listed
AWAY_PAUSE_S = 1.0  # between two attempts to reach the runner
SLACK_S = 600.0  # a run that takes this and three times as long as its flows is stuck
FINAL = frozenset(
    {ExperimentState.COMPLETE, ExperimentState.FAILED, ExperimentState.STOPPED, ExperimentState.LOST}
)

_log = logging.getLogger(__name__)


class QueueFullError(UserError):
    """The queue of experiments is full."""


class ElsewhereError(UserError):
    """Another controller of the same store runs the experiment."""


class NoExperimentsError(UserError):
    """This controller runs no experiments."""


class Experiments:
    """Runs of `clarion run`, one at a time. Without a runner it runs none, and shows those of others."""

    def __init__(
        self,
        controller: Controller,
        runner: RunnerClient | None,
        scenarios: ScenarioLibrary,
    ) -> None:
        self.scenarios = scenarios
        self._controller = controller
        self._runner = runner
        self._directory = None if runner is None else runner.results
        self._queue: deque[int] = deque()
        self._asked = asyncio.Event()  # something is in the queue
        self._changed = asyncio.Event()  # replaced at every change
        self._running: int | None = None
        self._child: RemoteRun | None = None
        self._stops: set[int] = set()
        self._line: str | None = None
        self._worker: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._closing = False
        self.reported = Reported(controller, scenarios.summary_file(), self._tell)

    @classmethod
    async def open(
        cls, controller: Controller, runner: RunnerClient | None, scenarios: ScenarioLibrary
    ) -> Experiments:
        """Settles what an earlier controller left and goes on with what waits."""
        made = cls(controller, runner, scenarios)
        if runner is not None:
            ran = await made._settle()
            made._worker = asyncio.create_task(made._work(ran), name="experiments")
        made._watcher = asyncio.create_task(made.reported.watch(), name="runs that report")
        return made

    @property
    def can_run(self) -> bool:
        """Whether this controller runs experiments, and not only shows them."""
        return self._runner is not None

    async def close(self) -> None:
        """Stops the run, if there is one; what waits goes on with the next controller."""
        self._closing = True
        if self._child is not None:
            self._child.stop()
        self._asked.set()
        self._tell()
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
        if self._worker is not None:
            await self._worker
        if self._runner is not None:
            await self._runner.close()

    async def submit(
        self, actor: Actor, scenario: str, engine: str, settings: Mapping[str, Any], repeat: int = 1
    ) -> Experiment:
        """Queues a run; ExperimentFault names the field that cannot be."""
        if self._runner is None:
            raise NoExperimentsError("this controller runs no experiments; start it without --no-experiments")
        request = await asyncio.to_thread(self.scenarios.checked, scenario, engine, settings, repeat)
        if len(self._queue) >= MAX_QUEUED:
            raise QueueFullError(f"{MAX_QUEUED} experiments wait already; stop some, or wait")
        made = await self._controller.records.create_experiment(
            actor, request.scenario, request.engine, request.settings, request.repeat
        )
        try:
            await self._runner.reserve(made)
        except RunnerError as error:
            await self._end(made.id, ExperimentState.FAILED, str(error))
            raise
        self._queue.append(made.id)
        self._asked.set()
        self._tell()
        return made

    async def stop(self, actor: Actor, experiment_id: int) -> Experiment:
        """Stops a run or takes it out of the queue; one that has ended stays as it is. A lost one may go on:
        it learns of it then.
        """
        found = await self._controller.records.experiment(experiment_id)
        may_return = found.is_reported and found.state is ExperimentState.LOST
        if found.state in FINAL and not may_return:
            return found
        if found.state is ExperimentState.RUNNING and not found.is_reported and not self._is_ours(found):
            raise ElsewhereError(f"experiment {experiment_id}: another controller runs it; stop it there")
        await self._controller.records.note(actor, Action.EXPERIMENT_STOP, after={"id": experiment_id})
        if found.is_reported:
            return await self.reported.stop(experiment_id)
        if experiment_id == self._running:
            self._stops.add(experiment_id)
            if self._child is not None:
                self._child.stop()
        elif found.state is ExperimentState.QUEUED:
            with contextlib.suppress(ValueError):
                self._queue.remove(experiment_id)
            return await self._end(experiment_id, ExperimentState.STOPPED)
        return await self._controller.records.experiment(experiment_id)

    async def experiment(self, experiment_id: int) -> Experiment:
        """An experiment, or NotFoundError."""
        return await self._controller.records.experiment(experiment_id)

    async def experiments(self, *, before_id: int | None = None, limit: int = 100) -> list[Experiment]:
        """Experiments, the newest first."""
        return await self._controller.records.experiments(before_id=before_id, limit=limit)

    def progress(self, experiment: Experiment) -> str | None:
        """What the run said last; None unless it runs."""
        if experiment.is_reported:
            return experiment.progress if experiment.state is ExperimentState.RUNNING else None
        return self._line if experiment.id == self._running else None

    async def updates(self, experiment_id: int) -> AsyncIterator[tuple[Experiment, str | None]]:
        """The experiment and what it said last, now and after every change, until it has ended.

        A slow reader misses intermediate states, never the last.
        """
        before: tuple[Experiment, str | None] | None = None
        while True:
            changed = self._changed
            found = await self._controller.records.experiment(experiment_id)
            now = found, self.progress(found)
            if now != before:
                yield now
                before = now
            if now[0].state in FINAL or self._closing:
                return
            await changed.wait()

    async def files(self, experiment_id: int) -> list[files.ResultFile]:
        """The results of an experiment."""
        found = await self._controller.records.experiment(experiment_id)
        if found.is_reported:
            return await self.reported.files(experiment_id)
        return await asyncio.to_thread(self._listing, found)

    async def open_file(self, experiment_id: int, path: str) -> BinaryIO | None:
        """A result, open for reading; None if there is none of that name."""
        found = await self._controller.records.experiment(experiment_id)
        if found.is_reported:
            content = await self.reported.content(experiment_id, path)
            return None if content is None else io.BytesIO(content)
        if self._directory is None:
            return None
        return await asyncio.to_thread(files.open_result, self._place(found), path)

    def _place(self, experiment: Experiment) -> Path:
        """Its directory; the time is for a store that was made anew and counts from 1 again."""
        assert self._directory is not None
        return self._directory / f"{experiment.id}-{experiment.created_us}"

    def _is_ours(self, experiment: Experiment) -> bool:
        """Whether this controller has its directory."""
        return self._directory is not None and self._place(experiment).is_dir()

    def _listing(self, experiment: Experiment) -> list[ResultFile]:
        return [] if self._directory is None else files.listing(self._place(experiment))

    async def _settle(self) -> bool:
        """Fails what an earlier controller was running and queues what waited; whether something ran."""
        ran = False
        waiting: list[int] = []
        before_id: int | None = None
        while page := await self._controller.records.experiments(before_id=before_id, limit=1000):
            for found in page:
                if found.state in FINAL or found.is_reported or not self._is_ours(found):
                    continue
                if found.state is ExperimentState.RUNNING:
                    ran = True
                    await self._end(found.id, ExperimentState.FAILED, "controller restarted")
                else:
                    waiting.append(found.id)
            before_id = page[-1].id
        self._queue.extend(reversed(waiting))
        self._asked.set()
        return ran

    async def _work(self, ran: bool) -> None:
        if ran:
            await self._wake()
        while not self._closing:
            if not self._queue:
                self._asked.clear()
                await self._asked.wait()
                continue
            experiment_id = self._queue.popleft()
            try:
                await self._run(experiment_id)
            except Exception as error:  # the next one may work
                _log.exception("experiment %d", experiment_id)
                with contextlib.suppress(UserError):
                    await self._end(experiment_id, ExperimentState.FAILED, f"controller: {error}")
            finally:
                self._running = None
                self._child = None
                self._line = None
                self._stops.discard(experiment_id)
                self._tell()

    async def _run(self, experiment_id: int) -> None:
        self._running = experiment_id
        if (await self._controller.records.experiment(experiment_id)).state is not ExperimentState.QUEUED:
            return  # stopped by another controller of the same store
        link = await self._reach(experiment_id)
        if link is None:
            if not self._closing:
                await self._end(experiment_id, ExperimentState.STOPPED)
            return
        try:
            await self._follow(experiment_id, link)
        except RunnerError as error:
            await self._end(experiment_id, ExperimentState.FAILED, str(error))
        finally:
            link.close()

    async def _follow(self, experiment_id: int, link: Link) -> None:
        """Runs it over a connection to the runner, and records its end."""
        found = await self._controller.records.update_experiment(
            experiment_id, state=ExperimentState.RUNNING, started_us=now_us()
        )
        self._tell()
        child = self._child = await link.start(found, self._say)
        if self._closing or experiment_id in self._stops:
            child.stop()
        request = Request(found.scenario, found.engine, found.settings, found.repeat)
        limit_s = 3 * await asyncio.to_thread(self.scenarios.expected_s, request) + SLACK_S
        overdue = asyncio.get_running_loop().call_later(limit_s, child.stop)
        try:
            status = await child.wait()
        finally:
            late = overdue.when() <= asyncio.get_running_loop().time()
            overdue.cancel()
        await self._record(experiment_id, status, child, f"stuck for {limit_s:.0f} s" if late else None)

    async def _wake(self) -> None:
        """A runner of this process's own cleans up after the run of an earlier one as it starts."""
        assert self._runner is not None
        with contextlib.suppress(RunnerError):
            (await self._runner.connect()).close()

    async def _reach(self, experiment_id: int) -> Link | None:
        """The runner, waited for; None if the run is not to start any more."""
        assert self._runner is not None
        while not self._closing and experiment_id not in self._stops:
            try:
                return await self._runner.connect()
            except RunnerError as error:
                if self._line != str(error):
                    _log.warning("%s", error)
                    self._say(str(error))
                await asyncio.sleep(AWAY_PAUSE_S)
        return None

    async def _record(self, experiment_id: int, status: int, child: RemoteRun, late: str | None) -> None:
        if status == 0:
            await self._end(experiment_id, ExperimentState.COMPLETE)
        elif experiment_id in self._stops:
            await self._end(experiment_id, ExperimentState.STOPPED)
        elif self._closing:
            await self._end(experiment_id, ExperimentState.FAILED, "controller restarted")
        else:
            said = child.lines[-1].removeprefix("clarion: ") if child.lines else f"exit status {status}"
            await self._end(experiment_id, ExperimentState.FAILED, late or said)

    async def _end(self, experiment_id: int, state: ExperimentState, error: str | None = None) -> Experiment:
        found = await self._controller.records.experiment(experiment_id)
        made = await asyncio.to_thread(self._listing, found)
        named = [file.path for file in made[:FILES_NAMED]]
        ended = await self._controller.records.update_experiment(
            experiment_id, state=state, ended_us=now_us(), error=error, files=named
        )
        self._tell()
        return ended

    def _say(self, line: str) -> None:
        self._line = line
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
