# SPDX-License-Identifier: Apache-2.0
"""The runner: the one place where runs are started, for a controller that needs no rights of its own.

It trusts its asker with nothing but the choice of a shipped scenario and of settings, which it checks again.
Where results go, with which rights a run works, and what is executed is the runner's alone.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from clarion_base.errors import UserError
from clarion_control.experiments import protocol
from clarion_control.experiments.child import CLARION, STOP_GRACE_S, Child, run_command
from clarion_control.experiments.library import ScenarioLibrary
from clarion_control.experiments.protocol import Place, Run, RunnerError

MAX_ASKERS = 16
ASK_S = 60.0  # for an asker to say what it wants
WAITING_BYTES = 64 * 1024  # of lines for an asker that does not read; it misses what comes then
LEFTOVER_TRIES = 60  # a run that went with its runner needs time to take itself down
LEFTOVER_PAUSE_S = 1.0
_INTERRUPTED = 128 + signal.SIGTERM

_log = logging.getLogger(__name__)


class Runner:
    """Runs of `clarion run`, one at a time, for askers of these users."""

    def __init__(
        self,
        results: Path,
        scenarios: ScenarioLibrary,
        users: Collection[int],
        *,
        clarion: Sequence[str] = CLARION,
        grace_s: float = STOP_GRACE_S,
        ask_s: float = ASK_S,
    ) -> None:
        self._results = results
        self._scenarios = scenarios
        self._users = users
        self._clarion = tuple(clarion)
        self._grace_s = grace_s
        self._ask_s = ask_s
        self._home = results / "home"
        self._unfinished = results / "unfinished"  # there while a run is
        self._turn = asyncio.Lock()
        self._runs: set[_Run] = set()
        self._askers: set[asyncio.Task[None]] = set()
        self._idle: set[asyncio.Task[None] | None] = set()  # of them, those that have not asked yet
        self._recovery: asyncio.Task[None] | None = None
        self._closing = False

    async def serve(self, listener: socket.socket) -> None:
        """Begins to serve at a listening socket, and to clean up after a runner that was killed."""
        self._home.mkdir(0o700, exist_ok=True)
        if self._unfinished.exists():
            await self._turn.acquire()
            self._recovery = asyncio.create_task(self._recover(), name="clean up")
        self._server = await asyncio.start_unix_server(
            self._accept, sock=listener, limit=protocol.MAX_ASKED_BYTES
        )

    async def close(self) -> None:
        """Stops all runs, and returns when they have taken themselves down."""
        self._closing = True
        self._server.close()
        for asker in self._idle:
            if asker is not None:
                asker.cancel()
        for run in self._runs:
            run.stop()
        waits = {*self._askers, *([self._recovery] if self._recovery else [])}
        await asyncio.gather(*waits, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asker = asyncio.create_task(self._attend(reader, writer), name="an asker")
        self._askers.add(asker)
        asker.add_done_callback(self._askers.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._admit(writer)
            writer.write(protocol.telling("results", str(self._results)))
            message = protocol.asked(await self._request(reader))
            if isinstance(message, Run):
                writer.write(protocol.telling("ended", await self._run(message, reader, writer)))
            else:
                self._reserve(message)
                writer.write(protocol.telling("reserved", True))
        except UserError as error:
            _log.warning("refused: %s", error)
            writer.write(protocol.telling("refused", str(error)))
        except ConnectionError:
            pass
        except Exception:  # the next asker may fare better
            _log.exception("a request")
            writer.write(protocol.telling("refused", "the runner failed; its log says why"))
        finally:
            writer.close()

    def _admit(self, writer: asyncio.StreamWriter) -> None:
        user = protocol.peer_uid(writer.get_extra_info("socket"))
        if user not in self._users:
            raise RunnerError(f"user {user} may not ask this runner; its option --user names who may")
        if len(self._askers) > MAX_ASKERS:
            raise RunnerError(f"{MAX_ASKERS} ask at once already")

    async def _request(self, reader: asyncio.StreamReader) -> bytes:
        """What is asked; RunnerError if it does not come, or is too long."""
        self._idle.add(asyncio.current_task())
        try:
            return await asyncio.wait_for(reader.readuntil(), self._ask_s)
        except asyncio.TimeoutError:
            raise RunnerError(f"nothing was asked for {self._ask_s:g} s") from None
        except asyncio.LimitOverrunError:
            raise RunnerError(
                f"a request has at most {protocol.MAX_ASKED_BYTES} bytes, in one line"
            ) from None
        except asyncio.IncompleteReadError:
            raise RunnerError("the asker went away") from None
        finally:
            self._idle.discard(asyncio.current_task())

    def _place(self, place: Place) -> Path:
        return self._results / f"{place.experiment}-{place.created_us}"

    def _reserve(self, place: Place) -> None:
        try:
            self._place(place).mkdir(0o750)
        except OSError as error:
            raise RunnerError(f"no directory for results: {error.strerror}") from error

    async def _run(self, asked: Run, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        """Runs it and returns its exit status. A word of the asker, or its end, stops it."""
        request = await asyncio.to_thread(
            self._scenarios.checked, asked.scenario, asked.engine, asked.settings, asked.repeat
        )
        place = self._place(asked)
        if not place.is_dir() or any(place.iterdir()):
            raise RunnerError(f"experiment {asked.experiment}: its directory is not reserved, or has results")

        def say(line: str) -> None:
            if writer.transport.get_write_buffer_size() < WAITING_BYTES:
                writer.write(protocol.telling("said", line))

        run = _Run(run_command(self._clarion, request, place), self._home, say, self._grace_s)
        self._runs.add(run)
        word = asyncio.create_task(reader.read(1), name="its asker's word")
        await asyncio.sleep(0)  # for a word that came with the request, or soon after
        if word.done():
            run.stop()
        working = asyncio.create_task(self._work(run), name="a run")
        try:
            if self._closing:
                run.stop()
            await asyncio.wait([working, word], return_when=asyncio.FIRST_COMPLETED)
            run.stop()
            return await working
        finally:
            word.cancel()
            await asyncio.gather(word, return_exceptions=True)
            self._runs.discard(run)

    async def _work(self, run: _Run) -> int:
        async with self._turn:
            if run.stopping:
                return _INTERRUPTED
            self._unfinished.touch()
            status = await run.work()
            if status < 0:  # killed: what it could not take down itself
                await self._clean_up()
            self._unfinished.unlink(missing_ok=True)
            return status

    async def _recover(self) -> None:
        try:
            await self._clean_up()
            self._unfinished.unlink(missing_ok=True)
        finally:
            self._turn.release()

    async def _clean_up(self) -> None:
        """`clarion cleanup`, which refuses as long as a run still takes itself down."""
        for _ in range(LEFTOVER_TRIES):
            child = await Child.start([*self._clarion, "cleanup"], self._home, lambda _: None)
            if await child.wait() == 0 or self._closing:
                return
            await asyncio.sleep(LEFTOVER_PAUSE_S)
        _log.warning("clarion cleanup does not succeed: %s", child.lines[-1] if child.lines else "no reason")


class _Run:
    """One run, which may be stopped before it begins."""

    def __init__(
        self, command: Sequence[str], home: Path, said: Callable[[str], None], grace_s: float
    ) -> None:
        self._command = command
        self._home = home
        self._said = said
        self._grace_s = grace_s
        self._child: Child | None = None
        self.stopping = False

    def stop(self) -> None:
        """Begins to stop it."""
        self.stopping = True
        if self._child is not None:
            self._child.stop(self._grace_s)

    async def work(self) -> int:
        """Starts it and waits for its end; its exit status."""
        self._child = await Child.start(self._command, self._home, self._said)
        if self.stopping:
            self._child.stop(self._grace_s)
        try:
            return await self._child.wait()
        finally:
            await self._child.finish()
