# SPDX-License-Identifier: Apache-2.0
"""An asyncio client: commands in turn, events between their replies, a new connection for one that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from clarion_base import tasks
from clarion_base.faults import FaultError
from clarion_contract.target import TargetError, TargetFaultError
from clarion_switch import protocol
from clarion_switch.protocol import Json

LINES_AT_A_TIME = 8  # then other tasks have their turn: a second's hellos of many switches come together
REPLY_TIMEOUT_S = 2.0
RETRY_S = 0.1


class ControlSocket:
    """One connection to a clarion-switch process."""

    def __init__(self, path: Path, on_event: Callable[[str, Any], None]) -> None:
        self.path = path
        self._on_event = on_event
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: deque[asyncio.Future[Json]] = deque()
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connects for the first time; OSError if no process listens."""
        self._keeper = asyncio.create_task(self._receive(await self._connect()), name=f"receive {self.path}")

    def keep(self, on_connected: Callable[[], Awaitable[None]]) -> None:
        """From now on reconnects when the connection breaks, and calls `on_connected` each time."""
        receiving = self._keeper
        assert receiving is not None
        self._keeper = asyncio.create_task(self._keep(receiving, on_connected), name=f"keep {self.path}")

    async def close(self) -> None:
        """Ends the connection."""
        if self._keeper is not None:
            await tasks.end(self._keeper)
        self._disconnect()

    async def ask(self, command: Mapping[str, Any]) -> Json:
        """The reply to one command. TargetFaultError if it is refused, TargetError if there is no reply."""
        if self._writer is None:
            raise TargetError("clarion-switch does not answer", gone=True)
        try:
            line = protocol.encode(command)
            return protocol.checked(await self._exchange(self._writer, line))
        except FaultError as error:
            raise TargetFaultError(error.fault) from None

    async def _exchange(self, writer: asyncio.StreamWriter, line: bytes) -> Json:
        reply: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting.append(reply)
        writer.write(line)
        try:
            return await asyncio.wait_for(asyncio.shield(reply), REPLY_TIMEOUT_S)
        except asyncio.TimeoutError:
            self._disconnect()  # replies carry no number: later ones could not be matched to their commands
            raise TargetError("clarion-switch does not answer", gone=True) from None

    async def _connect(self) -> asyncio.StreamReader:
        reader, self._writer = await asyncio.open_unix_connection(
            str(self.path), limit=protocol.LINE_LIMIT_BYTES
        )
        return reader

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        """Until the connection ends."""
        with contextlib.suppress(OSError, ValueError):
            lines = 0
            while line := await reader.readline():  # which does not wait while there are any
                self._take(json.loads(line))
                lines += 1
                if lines % LINES_AT_A_TIME == 0:
                    await asyncio.sleep(0)
        self._disconnect()

    def _take(self, message: Json) -> None:
        kind = protocol.event(message)
        if kind is not None:
            self._on_event(kind, message[kind])
        elif self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_result(message)

    def _disconnect(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        while self._waiting:
            reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(TargetError("clarion-switch went away", gone=True))

    async def _keep(self, receiving: asyncio.Task[None], on_connected: Callable[[], Awaitable[None]]) -> None:
        try:
            while True:
                await receiving
                while True:
                    try:
                        reader = await self._connect()
                        break
                    except OSError:
                        await asyncio.sleep(RETRY_S)
                receiving = asyncio.create_task(self._receive(reader), name=f"receive {self.path}")
                with contextlib.suppress(TargetError):  # gone again: the next round
                    await on_connected()
        finally:
            await tasks.end(receiving)
