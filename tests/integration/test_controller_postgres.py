# SPDX-License-Identifier: Apache-2.0
"""The same store and controller on a PostgreSQL server: the unit tests of SQLite again."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection

from clarion_control.errors import StoreError
from clarion_control.fleet.recorder import Recorder
from clarion_control.store import Store, audit
from fakes import controller as fake_controller
from fakes import postgres
from fakes.controller import until
from unit.controller import test_access as access
from unit.controller import test_controller_facade as facade
from unit.controller import test_recorder as recorder
from unit.controller import test_tokens as tokens
from unit.store import test_migrations as migrations
from unit.store import test_store as store

pytestmark = [
    pytest.mark.skipif(postgres.programs() is None, reason="no PostgreSQL server (apt install postgresql)"),
]

SQLITE_ONLY = {
    "test_the_file_is_nobody_elses_business",
    "test_a_directory_is_no_store",
    "test_a_file_of_something_else",
    "test_the_password_is_not_shown",
}


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Postgres]:
    with postgres.server() as running:
        yield running


@pytest.fixture
def database(server: postgres.Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database, in place of the tests' SQLite file."""
    url = server.new_database()
    monkeypatch.setattr(fake_controller, "store_in", lambda _: url)
    return url


def cases_in(module: object) -> list[Callable[[Path], Awaitable[None]]]:
    """The tests of a module that need a directory only."""
    return [
        value
        for name, value in vars(module).items()
        if name.startswith("test_")
        and name not in SQLITE_ONLY
        and not hasattr(value, "pytestmark")
        and list(inspect.signature(value).parameters) == ["tmp_path"]
    ]


@pytest.mark.parametrize("test", cases_in(facade), ids=lambda test: test.__name__)
async def test_controller(test: Callable[[Path], Awaitable[None]], database: str, tmp_path: Path) -> None:
    await test(tmp_path)


@pytest.mark.parametrize("test", [*cases_in(tokens), *cases_in(access)], ids=lambda test: test.__name__)
async def test_tokens(test: Callable[[Path], Awaitable[None]], database: str, tmp_path: Path) -> None:
    await test(tmp_path)


@pytest.mark.parametrize("test", cases_in(recorder), ids=lambda test: test.__name__)
async def test_recorder(test: Callable[[Path], Awaitable[None]], database: str, tmp_path: Path) -> None:
    await test(tmp_path)


async def test_reports_outlast_a_lost_connection(database: str, tmp_path: Path) -> None:
    """The server ends all connections between two batches, as a restart does; the next one is a new one."""
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    async with fake_controller.open_store(tmp_path) as opened:
        keeper = Recorder(opened, 3600)
        keeper.start()
        keeper.add(recorder.SWITCH.uid, recorder.intervals(0, 10))
        await until(lambda: keeper.waiting == 0)
        with psycopg.connect(database) as connection:
            connection.execute(ended + " AND datname = current_database()")
        keeper.add(recorder.SWITCH.uid, recorder.intervals(10, 10))
        await keeper.close()
        assert await recorder.stored(opened) == list(range(20))
        assert keeper.lost == 0


@pytest.mark.parametrize("test", [*cases_in(store), *cases_in(migrations)], ids=lambda test: test.__name__)
async def test_store(test: Callable[[Path], Awaitable[None]], database: str, tmp_path: Path) -> None:
    await test(tmp_path)


async def test_a_controller_that_stands_still_does_not_keep_the_others_from_the_store(database: str) -> None:
    """As after SIGSTOP in the middle of a change: the server ends that transaction."""
    locked, go_on = threading.Event(), threading.Event()

    def stand_still(connection: Connection) -> int:
        locked.set()
        assert go_on.wait(60)
        return audit.last_id(connection)

    first = await asyncio.to_thread(Store.open, database)
    second = await asyncio.to_thread(Store.open, database)
    try:
        stopped = asyncio.create_task(first.change(stand_still))
        await asyncio.to_thread(locked.wait, 60)
        assert await second.change(audit.last_id) == 0
        go_on.set()
        with pytest.raises(StoreError):
            await stopped
        assert await first.change(audit.last_id) == 0
    finally:
        go_on.set()
        await first.close()
        await second.close()
