# SPDX-License-Identifier: Apache-2.0
"""The controller's side of the runner: reserves places for results, starts runs and hears them."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clarion_control.experiments import protocol
from clarion_control.experiments.library import settings_object
from clarion_control.experiments.own_runner import OwnRunner
from clarion_control.experiments.protocol import Reserve, Run, RunnerAwayError, RunnerError
from clarion_control.model import Experiment

ANSWER_S = 60.0  # a runner that was just started imports its modules
LINES_KEPT = 20


class RunnerClient:
    """Asks the runner at a socket, or without one a runner of its own, which starts when it is needed."""

    def __init__(self, results: Path, socket: Path | None = None) -> None:
        self._results = results
        self._socket = socket
        self._own = OwnRunner(results) if socket is None else None

    @property
    def results(self) -> Path:
        """Where results are."""
        return self._results

    async def connect(self) -> Link:
        """A connection for one thing to ask; RunnerAwayError if there is no runner."""
        name = "its own runner" if self._own is not None else f"the runner at {self._socket}"
        address = await self._own.address() if self._own is not None else str(self._socket)
        try:
            reader, writer = await asyncio.open_unix_connection(address, limit=protocol.MAX_TOLD_BYTES)
        except OSError as error:
            raise RunnerAwayError(
                f"{name} does not answer ({error.strerror or error}); start it: clarion runner"
            ) from error
        link = Link(reader, writer)
        try:
            await self._greet(link, name, protocol.peer_uid(writer.get_extra_info("socket")))
        except BaseException:
            link.close()
            raise
        return link

    async def reserve(self, experiment: Experiment) -> None:
        """A directory for its results; RunnerError if there is none."""
        link = await self.connect()
        try:
            await link.ask(Reserve(experiment=experiment.id, created_us=experiment.created_us))
            await link.hear("reserved")
        finally:
            link.close()

    async def close(self) -> None:
        """Ends a runner of this process."""
        if self._own is not None:
            await self._own.close()

    async def _greet(self, link: Link, name: str, user: int) -> None:
        if user not in (0, os.geteuid()):
            raise RunnerError(f"{name} is of user {user}; it has to be root's")
        theirs = await link.hear("results")
        if os.path.realpath(theirs) != os.path.realpath(self._results):
            raise RunnerError(
                f"{name} keeps results in {theirs}, this controller looks in {self._results}; give --results "
                "there and --experiments here the same directory"
            )


class Link:
    """A connection to a runner that has said where its results go."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, message: Reserve | Run) -> None:
        """Says what is wanted."""
        try:
            self._writer.write(protocol.asking(message))
            await self._writer.drain()
        except ConnectionError:
            pass  # what it said last is still to be read

    async def hear(self, kind: str) -> Any:
        """The runner's next word, which is of this kind; RunnerError if it refuses."""
        try:
            heard, value = await asyncio.wait_for(self.next(), ANSWER_S)
        except asyncio.TimeoutError:
            raise RunnerAwayError(f"the runner does not answer for {ANSWER_S:.0f} s") from None
        if heard != kind:
            raise RunnerError(f"the runner says {heard!r} for {kind!r}; is it of another version?")
        return value

    async def next(self) -> tuple[str, Any]:
        """The runner's next word and its kind; RunnerError if it refuses or has gone."""
        try:
            return protocol.told(await self._reader.readline())
        except ConnectionError as error:
            raise RunnerAwayError(f"the runner has gone: {error.strerror}") from error

    async def start(self, experiment: Experiment, said: Callable[[str], None]) -> RemoteRun:
        """Starts the experiment; `said` gets every line that it says."""
        await self.ask(
            Run(
                experiment=experiment.id,
                created_us=experiment.created_us,
                scenario=experiment.scenario,
                engine=experiment.engine,
                settings=settings_object(experiment.settings),
                repeat=experiment.repeat,
            )
        )
        return RemoteRun(self, said)

    def stop(self) -> None:
        """Has the run stopped."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(protocol.STOP)

    def close(self) -> None:
        """Ends the connection; a run on it is stopped."""
        self._writer.close()


class RemoteRun:
    """A run of the runner, over a connection of its own."""

    def __init__(self, link: Link, said: Callable[[str], None]) -> None:
        self._link = link
        self._said = said
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)

    async def wait(self) -> int:
        """Its exit status, once it has ended; RunnerError if it was refused or the runner has gone."""
        while True:
            kind, value = await self._link.next()
            if kind == "ended":
                return int(value)
            if kind == "said":
                self.lines.append(str(value))
                self._said(str(value))

    def stop(self) -> None:
        """Begins to stop it; the runner kills it if it does not end."""
        self._link.stop()
