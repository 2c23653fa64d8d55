# SPDX-License-Identifier: Apache-2.0
"""A `clarion run` as a child process: what it says, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from clarion_control.experiments.library import Request
from clarion_control.experiments.rights import UMASK, confined, environment

CLARION = (sys.executable, "-m", "clarion")
STOP_GRACE_S = 60.0  # to take a network down, and to draw plots of what there is
LINE_CHARACTERS = 500
LINES_KEPT = 20
_ENDS = re.compile(r"[\r\n]+")


def run_command(clarion: Sequence[str], request: Request, out: Path) -> list[str]:
    """The command that runs it."""
    settings = [part for text in request.settings for part in ("--set", text)]
    return [
        *clarion, "run", request.scenario, "--engine", request.engine, "--repeat", str(request.repeat),
        *settings, "--out", str(out),
    ]  # fmt: skip


class Child:
    """A process that we started, in a process group of its own."""

    def __init__(self, process: asyncio.subprocess.Process, said: Callable[[str], None]) -> None:
        self._process = process
        self._said = said
        self._reader = asyncio.create_task(self._read())
        self._stopping: asyncio.Task[None] | None = None
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)

    @classmethod
    async def start(cls, command: Sequence[str], home: Path, said: Callable[[str], None]) -> Child:
        """Starts it with the rights of runs; `said` gets every line of its stderr."""
        process = await asyncio.create_subprocess_exec(
            *confined(command),
            cwd="/",  # the first place where its Python looks for modules
            env=environment(home),
            umask=UMASK,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return cls(process, said)

    async def wait(self) -> int:
        """Its exit status, once it has ended and everything that it said was read."""
        status = await self._process.wait()
        # A grandchild may hold the pipe open; its output is not needed.
        await asyncio.wait([self._reader], timeout=1)
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        return status

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Begins to stop it: SIGTERM, and SIGKILL if it has not ended after the grace period.

        Not SIGINT, which a runner that a shell put into the background ignores, and its children with it.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(grace_s))

    async def finish(self) -> None:
        """Nothing of ours waits for it any more."""
        if self._stopping is not None:
            self._stopping.cancel()
            await asyncio.gather(self._stopping, return_exceptions=True)

    async def _stop(self, grace_s: float) -> None:
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), grace_s)
        except asyncio.TimeoutError:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        """To its whole group. Until we have its exit status, nothing else can have its number."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    async def _read(self) -> None:
        assert self._process.stderr is not None
        rest = ""
        while data := await self._process.stderr.read(4096):
            *lines, rest = _ENDS.split(rest + data.decode(errors="replace"))
            rest = rest[-LINE_CHARACTERS:]
            for line in lines:
                self._take(line)
        self._take(rest)

    def _take(self, line: str) -> None:
        text = line.strip()[:LINE_CHARACTERS]
        if text:
            self.lines.append(text)
            self._said(text)
