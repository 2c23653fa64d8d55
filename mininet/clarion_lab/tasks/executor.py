# SPDX-License-Identifier: Apache-2.0
"""Executes tasks: what the store has is taken from there, the rest is run where it can be and kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_base.errors import Interrupted, UserError
from clarion_lab.engines import registry
from clarion_lab.engines.registry import Engine
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.tasks import worker
from clarion_lab.tasks.cluster import Cluster
from clarion_lab.tasks.pool import Job, Pool, processors
from clarion_lab.tasks.publish import publish
from clarion_lab.tasks.runner import show
from clarion_lab.tasks.single import Serial
from clarion_lab.tasks.store import Store, write_bytes
from clarion_lab.tasks.task import Task

POLL_S = 0.2  # between two looks at the request to stop


@dataclass(frozen=True)
class Failure:
    """A task that did not complete, and why, in one line."""

    task: Task
    reason: str


class Watcher:
    """What is told while tasks are executed; here nothing is done with it."""

    def found(self, task: Task) -> None:
        """The store has it."""

    def done(self, task: Task, directory: Path) -> None:
        """Complete: in the store, or in the directory that was asked for."""

    def failed(self, failure: Failure) -> None:
        """Did not complete."""

    def waiting(self, text: str) -> None:
        """Nothing goes on until something outside has changed."""

    def progress(self, task: Task) -> Progress:
        """Of a run in this process."""
        return Progress(task.name, quiet=True)


class _OnDone(Watcher):
    def __init__(self, on_done: Callable[[Task, Path], None]) -> None:
        self._on_done = on_done

    def done(self, task: Task, directory: Path) -> None:
        self._on_done(task, directory)


def execute(
    tasks: Sequence[Task],
    store: Store,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    on_done: Callable[[Task, Path], None] | None = None,
) -> list[Failure]:
    """Runs what the store lacks, on `jobs` processors of this machine (default: all that may be used) or on
    the Dask cluster at the address `cluster`. `on_done` is called once per task, cached ones too, with the
    directory of the finished run. Returns the failures. Interrupted after SIGINT or SIGTERM; what is finished
    then is in the store, and no process is left. UserError if the cluster or the store cannot be used.
    """
    watcher = Watcher() if on_done is None else _OnDone(on_done)
    return Execution(tasks, store, jobs=jobs, cluster=cluster, watcher=watcher).run()


class Execution:
    """Some tasks on their way.

    `directory_of`: where each result has to be, with plots and report; without it there are the entries of
    the store. `engine`: one that is set up and checked, whose session is held, for all that runs here;
    without it each task's is made. `in_parent`: everything runs in this process.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        store: Store | None,
        *,
        jobs: int | None = None,
        cluster: str | None = None,
        watcher: Watcher | None = None,
        directory_of: Callable[[Task], Path] | None = None,
        engine: Engine | None = None,
        in_parent: bool = False,
        stop_at_failure: bool = False,
    ) -> None:
        assert store is not None or directory_of is not None
        self._tasks = tasks
        self._store = store
        self._cluster_address = cluster
        self._watcher = watcher or Watcher()
        self._directory_of = directory_of
        self._engine = engine
        self._in_parent = in_parent
        self._stop_at_failure = stop_at_failure
        self._failures: list[Failure] = []
        self._told: set[int] = set()  # the ids of the tasks that the watcher knows the end of
        self._pool = Pool(jobs or processors())
        self._cluster: Cluster | None = None
        self._check_stop = Progress("", quiet=True).check

    def run(self) -> list[Failure]:
        """Until all tasks are done or have failed."""
        with self._pool:
            groups = list(self._groups())
            missing = [group for group in groups if not self._take_found(group)]
            here = [group for group in missing if self._runs_here(group[0])]
            try:
                with self._connected(missing):
                    for group in missing:
                        if not self._runs_here(group[0]):
                            self._submit(group)
                    self._work_off()
                    self._run_here(here)
                    self._work_off()
            except (Interrupted, KeyboardInterrupt):
                self._end()
                raise
            self._fail_untold()
        return self._failures

    def _groups(self) -> Iterator[list[Task]]:
        """Tasks of one key, which are run once. Without a store each is on its own."""
        if self._store is None:
            yield from ([task] for task in self._tasks)
            return
        groups: dict[str, list[Task]] = {}
        for task in self._tasks:
            groups.setdefault(task.key(), []).append(task)
        yield from groups.values()

    def _take_found(self, group: list[Task]) -> bool:
        self._check_stop()
        entry = None if self._store is None else self._store.find(group[0])
        if entry is None:
            return False
        for task in group:
            self._watcher.found(task)
        self._deliver(group, entry)
        return True

    def _runs_here(self, task: Task) -> bool:
        if self._cluster_address is not None:
            return False
        return self._in_parent or task.engine not in registry.SIDE_BY_SIDE

    @contextlib.contextmanager
    def _connected(self, missing: list[list[Task]]) -> Iterator[None]:
        """While inside, the cluster if it is needed."""
        if self._cluster_address is None or not missing:
            yield
            return
        with Cluster(self._cluster_address, self._watcher.waiting) as self._cluster:
            yield

    def _submit(self, group: list[Task]) -> None:
        if self._cluster is not None:
            self._cluster.submit(group[0], group)
            return
        directory = self._directory_of(group[0]) if self._directory_of else None
        store = self._store.directory if self._store else None
        self._pool.submit(Job(group, worker.request(worker.RUN, group[0], directory, store)))

    def _work_off(self) -> None:
        """Until nothing is left on the pool and on the cluster."""
        while self._pool.busy() or (self._cluster is not None and self._cluster.busy()):
            self._check_stop()
            waits_for_cluster = self._cluster is not None and self._cluster.busy()
            for answer in self._pool.wait(0 if waits_for_cluster else POLL_S):
                self._take_answer(answer.job, answer.reason)
            if self._cluster is not None and waits_for_cluster:
                for group, told in self._cluster.wait(POLL_S):
                    self._take_told(group, told)

    def _take_answer(self, job: Job, reason: str | None) -> None:
        group: list[Task] = job.tag
        if reason is not None:
            self._fail(group, reason)
        elif job.request["do"] == worker.PUBLISH:
            self._done(group[0], Path(job.request["directory"]))
        else:
            self._take_run(group)

    def _take_run(self, group: list[Task]) -> None:
        """The first task of a group has been run on this machine."""
        others = group
        if self._directory_of is not None:
            self._done(group[0], self._directory_of(group[0]))
            others = group[1:]
        if others:
            self._deliver(others, self._entry(group[0]))

    def _entry(self, task: Task) -> Path:
        """That of a run which has just been kept."""
        assert self._store is not None
        entry = self._store.find(task)
        if entry is None:
            raise UserError(f"cache {self._store.directory}: what was just kept is damaged; check the disk")
        return entry

    def _take_told(self, group: list[Task], told: dict[str, Any]) -> None:
        """What came back from the cluster."""
        if told["reason"] is not None:
            if self._directory_of is not None:
                directory = self._directory_of(group[0])
                write_bytes(directory, told["files"])
                if files.SUMMARY in told["files"]:
                    show(directory)
            self._fail(group, told["reason"])
            return
        assert self._store is not None
        self._deliver(group, self._store.add_bytes(group[0], told["files"]))

    def _deliver(self, group: list[Task], entry: Path) -> None:
        """Tells of runs that are in the store, once they are where they have to be."""
        for task in group:
            if self._directory_of is None:
                self._done(task, entry)
            elif self._in_parent:
                publish(task, entry, self._directory_of(task))
                self._done(task, self._directory_of(task))
            else:
                request = worker.request(worker.PUBLISH, task, self._directory_of(task), entry=entry)
                self._pool.submit(Job([task], request), first=True)

    def _done(self, task: Task, directory: Path) -> None:
        self._told.add(id(task))
        self._watcher.done(task, directory)

    def _fail_untold(self) -> None:
        """A task that got lost on its way would be missing from the results without a word: it has failed."""
        if self._stop_at_failure and self._failures:
            return  # the rest was dropped
        for task in self._tasks:
            if id(task) not in self._told:
                self._fail([task], "internal error: it neither ended nor failed; run again, and report this")

    def _fail(self, group: list[Task], reason: str) -> None:
        for task in group:
            self._told.add(id(task))
            failure = Failure(task, reason)
            self._failures.append(failure)
            self._watcher.failed(failure)
        if self._stop_at_failure:
            self._pool.drop([job for job in self._pool.waiting() if job.request["do"] == worker.RUN])
            if self._cluster is not None:
                self._cluster.drop_waiting()

    def _end(self) -> None:
        """After the request to stop: what has completed meanwhile is told of."""
        for answer in self._pool.interrupt():
            group, directory = answer.job.tag, answer.job.request["directory"]
            if answer.reason is None:
                self._done(group[0], Path(directory) if directory else self._entry(group[0]))

    def _run_here(self, groups: list[list[Task]]) -> None:
        """One after the other in this process."""
        serial = Serial(self._store, self._directory_of, self._watcher.progress, self._engine)
        group_of = {id(group[0]): group for group in groups}
        for task, error in serial.run([group[0] for group in groups]):
            group = group_of[id(task)]
            if error is None:
                self._take_run(group)
                continue
            self._fail(group, str(error))
            if self._stop_at_failure:
                return
