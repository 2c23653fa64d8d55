# SPDX-License-Identifier: Apache-2.0
"""Processes on the cores of this machine that do jobs; one that dies is replaced and its job done again."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clarion_base import processes

MOST_DEATHS = 3  # of a job's process, from which on the job has failed
GRACE_S = 20.0  # to write what an interrupted run has measured
_READ_BYTES = 1 << 16


@dataclass(eq=False)
class Job:
    """A request to a worker; `tag` tells the caller which it was."""

    tag: Any
    request: dict[str, Any]
    deaths: int = 0


@dataclass(frozen=True)
class Answer:
    """What became of a job: `reason` None if it was done; `interrupted`, the signal that ended it."""

    job: Job
    reason: str | None
    interrupted: int | None = None


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(eq=False)
class Worker:
    """One process of `clarion_lab.tasks.worker`, started at once."""

    process: subprocess.Popen[bytes] = field(init=False)
    job: Job | None = None
    _read: bytes = b""

    def __post_init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 closed by `close`
        self.process = processes.background(
            [sys.executable, "-m", "clarion_lab.tasks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": _path(), "OPENBLAS_NUM_THREADS": "1"},
        )

    def fileno(self) -> int:
        """What to wait for its answer at."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def give(self, job: Job) -> None:
        """Hands it a job; that it is dead shows when its answer is read."""
        assert self.process.stdin is not None
        self.job = job
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(job.request).encode() + b"\n")
            self.process.stdin.flush()

    def read(self) -> dict[str, Any] | None:
        """What it answered, None if there is more to come. EOFError if it is dead."""
        data = os.read(self.fileno(), _READ_BYTES)
        if not data:
            raise EOFError
        self._read += data
        if not self._read.endswith(b"\n"):
            return None
        told, self._read = json.loads(self._read), b""
        assert isinstance(told, dict)
        return told

    def interrupt(self) -> None:
        """Has it end what it does and answer."""
        self.process.terminate()

    def death(self) -> str:
        """How it died."""
        status = self.process.wait()
        if status < 0:
            name = signal.Signals(-status).name
            return f"{name}, perhaps for lack of memory" if status == -signal.SIGKILL else name
        self._errors.seek(0)
        said = processes.last_line(self._errors.read().decode(errors="replace"))
        return said or f"exit status {status}"

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert pipe is not None
                pipe.close()
        self._errors.close()


def _path() -> str:
    """Where this process finds its modules, for another one."""
    return os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)


class Pool:
    """Up to `size` workers, started when there is something to do. Close it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._workers: list[Worker] = []
        self._waiting: deque[Job] = deque()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all processes, whatever they do."""
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def submit(self, job: Job, first: bool = False) -> None:
        """Adds a job to those that wait, `first` before the others."""
        self._waiting.appendleft(job) if first else self._waiting.append(job)

    def drop(self, jobs: Iterable[Job]) -> None:
        """Takes jobs out of those that wait."""
        unwanted = set(map(id, jobs))
        self._waiting = deque(job for job in self._waiting if id(job) not in unwanted)

    def waiting(self) -> list[Job]:
        """The jobs that no worker has yet."""
        return list(self._waiting)

    def busy(self) -> bool:
        """Whether a job is not answered yet."""
        return bool(self._waiting) or any(worker.job for worker in self._workers)

    def wait(self, timeout_s: float) -> list[Answer]:
        """The jobs that are answered, after `timeout_s` at the latest."""
        self._dispatch()
        return self._collect(timeout_s)

    def interrupt(self) -> list[Answer]:
        """Drops the jobs that wait, ends the others, and returns their answers."""
        self._waiting.clear()
        for worker in self._workers:
            if worker.job is not None:
                worker.job.deaths = MOST_DEATHS  # it is not done again
                worker.interrupt()
        deadline_s = time.monotonic() + GRACE_S
        answers = []
        while self.busy() and (left_s := deadline_s - time.monotonic()) > 0:
            answers += self._collect(left_s)
        return answers

    def _dispatch(self) -> None:
        idle = [worker for worker in self._workers if worker.job is None]
        while self._waiting and (idle or len(self._workers) < self._size):
            if idle:
                worker = idle.pop()
            else:
                worker = Worker()
                self._workers.append(worker)
            worker.give(self._waiting.popleft())

    def _collect(self, timeout_s: float) -> list[Answer]:
        answers = []
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker, selectors.EVENT_READ, worker)
            for key, _ in selector.select(timeout_s):
                answer = self._hear(key.data)
                if answer is not None:
                    answers.append(answer)
        return answers

    def _hear(self, worker: Worker) -> Answer | None:
        try:
            told = worker.read()
        except EOFError:
            return self._bury(worker)
        if told is None:
            return None
        job, worker.job = worker.job, None
        assert job is not None
        return Answer(job, told["reason"], told["interrupted"])

    def _bury(self, worker: Worker) -> Answer | None:
        """Its job goes first again, or has failed."""
        how = worker.death()
        worker.close()
        self._workers.remove(worker)
        job = worker.job
        if job is None:
            return None
        job.deaths += 1
        if job.deaths < MOST_DEATHS:
            self.submit(job, first=True)
            return None
        return Answer(job, f"its process died {MOST_DEATHS} times, at last by {how}")
