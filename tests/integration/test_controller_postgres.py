# SPDX-License-Identifier: Apache-2.0
"""The same store and controller on a PostgreSQL server: the unit tests of SQLite again."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from fakes import controller as fake_controller
from fakes import postgres
from unit.controller import test_access as access
from unit.controller import test_controller_facade as facade
from unit.controller import test_tokens as tokens
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


@pytest.mark.parametrize("test", cases_in(store), ids=lambda test: test.__name__)
async def test_store(test: Callable[[Path], Awaitable[None]], database: str, tmp_path: Path) -> None:
    await test(tmp_path)
