# SPDX-License-Identifier: Apache-2.0
"""The store: runs operations on the database, each in one transaction, off the event loop.

An operation is a function whose first argument is the connection; the modules beside this one have them,
one concern each.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL

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
        loop = asyncio.get_running_loop()
        self.operations["change"] += 1
        return await loop.run_in_executor(
            self._change_thread, lambda: self.change_now(operation, *args, **kwargs)
        )

    def change_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`change` for callers without an event loop."""
        with self._writing:
            return self._run(self._changes, True, lambda connection: operation(connection, *args, **kwargs))

    async def append(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation on telemetry."""
        loop = asyncio.get_running_loop()
        self.operations["append"] += 1
        return await loop.run_in_executor(
            self._telemetry_thread, lambda: self.append_now(operation, *args, **kwargs)
        )

    def append_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`append` for a thread of the caller's own."""
        with self._writing:
            return self._run(
                self._telemetry, False, lambda connection: operation(connection, *args, **kwargs)
            )

    def checkpoint(self) -> None:
        """To be called now and then by a thread of the caller's own, so that no change has to do it."""
        with engines.explained(self.url):
            engines.checkpoint(self._reads)

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation that changes nothing."""
        loop = asyncio.get_running_loop()
        self.operations["read"] += 1
        return await loop.run_in_executor(
            self._read_threads, lambda: self.read_now(operation, *args, **kwargs)
        )

    def read_now(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`read` for callers without an event loop."""
        return self._run(self._reads, False, lambda connection: operation(connection, *args, **kwargs))

    def _run(self, engine: Engine, locked: bool, operation: Callable[[Connection], T]) -> T:
        with engines.explained(self.url), engine.begin() as connection:
            if locked:
                engines.lock_writers(connection)
            return operation(connection)
