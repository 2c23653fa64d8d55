# SPDX-License-Identifier: Apache-2.0
"""The store: runs operations on the database, each in one transaction, off the event loop.

An operation is a function whose first argument is the connection; the modules beside this one have them,
one concern each.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from clarion_control.errors import StoreError
from clarion_control.store import engine as engines
from clarion_control.store import migrate

READERS = 4

P = ParamSpec("P")
T = TypeVar("T")
Operation = Callable[Concatenate[Connection, P], T]


class Store:
    """One database. Changes are made one at a time and are on disk when they return; telemetry has a
    connection of its own and may lose its last second with the machine's power, not with the process.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.operations = {"change": 0, "append": 0, "read": 0}  # so far, by kind
        # A SQLite file has one writer at a time. Those of this process wait for each other here, where one
        # goes on as soon as the other has ended: SQLite itself would look again only after a while.
        self._writing = threading.Lock() if engines.is_sqlite(url) else contextlib.nullcontext()
        self._changes = engines.create(url, begin="BEGIN IMMEDIATE")
        self._telemetry = engines.create(url, begin="BEGIN IMMEDIATE", durable=False)
        self._reads = engines.create(url, connections=READERS + 1)  # one for `checkpoint`
        self._change_thread = ThreadPoolExecutor(1, "store-change")
        self._telemetry_thread = ThreadPoolExecutor(1, "store-telemetry")
        self._read_threads = ThreadPoolExecutor(READERS, "store-read")
        self._failures: dict[Engine, tuple[float, str]] = {}  # the last: when, and what

    @classmethod
    def open(cls, where: str | None = None) -> Store:
        """Opens the database, creates it if need be, and brings it to the newest schema."""
        store = cls(engines.location(where))
        try:
            migrate.upgrade(store._changes)
        except BaseException:
            store.dispose()
            raise
        return store

    async def close(self) -> None:
        """Waits for running operations and closes all connections."""
        await asyncio.to_thread(self.dispose)

    def dispose(self) -> None:
        """`close` for callers without an event loop."""
        for thread in (self._telemetry_thread, self._change_thread, self._read_threads):
            thread.shutdown()
        for engine in (self._telemetry, self._changes, self._reads):
            engine.dispose()

    async def change(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation that changes settings; it happens wholly, or not at all.

        If the caller is cancelled meanwhile, it may happen all the same.
        """
        self.operations["change"] += 1
        return await self._in(
            self._change_thread,
            self._changes,
            True,
            lambda connection: operation(connection, *args, **kwargs),
        )

    def change_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`change` for callers without an event loop."""
        return self._run(self._changes, True, lambda connection: operation(connection, *args, **kwargs))

    async def append(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation on telemetry."""
        self.operations["append"] += 1
        return await self._in(
            self._telemetry_thread,
            self._telemetry,
            False,
            lambda connection: operation(connection, *args, **kwargs),
        )

    def append_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`append` for a thread of the caller's own."""
        return self._run(self._telemetry, False, lambda connection: operation(connection, *args, **kwargs))

    def checkpoint(self) -> None:
        """To be called now and then by a thread of the caller's own, so that no change has to do it."""
        with engines.explained(self.url):
            engines.checkpoint(self._reads)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation that changes nothing."""
        self.operations["read"] += 1
        return await self._in(
            self._read_threads,
            self._reads,
            False,
            lambda connection: operation(connection, *args, **kwargs),
        )

    def read_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`read` for callers without an event loop."""
        return self._run(self._reads, False, lambda connection: operation(connection, *args, **kwargs))

    async def _in(
        self, threads: ThreadPoolExecutor, engine: Engine, locked: bool, operation: Callable[[Connection], T]
    ) -> T:
        asked_s = time.monotonic()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(threads, lambda: self._in_turn(asked_s, engine, locked, operation))

    def _in_turn(
        self, asked_s: float, engine: Engine, locked: bool, operation: Callable[[Connection], T]
    ) -> T:
        """What has waited behind an operation for which the database did not answer fails with it: else each
        would wait for as long again.
        """
        failed_s, reason = self._failures.get(engine, (asked_s, ""))
        if asked_s < failed_s:
            raise StoreError(reason)
        try:
            return self._run(engine, locked, operation)
        except StoreError as error:
            if isinstance(error.__cause__, OperationalError):
                self._failures[engine] = time.monotonic(), str(error)
            raise

    def _run(self, engine: Engine, locked: bool, operation: Callable[[Connection], T]) -> T:
        turn = contextlib.nullcontext() if engine is self._reads else self._writing
        with turn, engines.explained(self.url), engine.begin() as connection:
            if locked:
                engines.lock_writers(connection)
            return operation(connection)
