# SPDX-License-Identifier: Apache-2.0
"""Upgrades from every schema that there was, with rows in all tables; on PostgreSQL in
test_controller_postgres.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from sqlalchemy import MetaData

from clarion_control.store import Store, engine
from fakes import controller as fake_controller
from fakes import old_store


async def test_an_upgrade_keeps_every_row_of_every_table(tmp_path: Path) -> None:
    where = fake_controller.store_in(tmp_path)
    for revision in old_store.revisions():
        await asyncio.to_thread(_check_upgrade, where, revision)


def _check_upgrade(where: str, revision: str) -> None:
    database = engine.create(engine.location(where))
    with database.begin() as connection:
        old_store.make(connection, revision)
        old_store.fill(connection)
        tables = old_store.tables(connection)
        before = old_store.rows(connection, tables)
    assert all(len(each) == 1 for each in before.values())
    assert len(before) >= 10, "the schema of the first release had that many tables"
    Store.open(where).dispose()
    with database.begin() as connection:
        assert old_store.rows(connection, tables) == before, revision
        everything = MetaData()
        everything.reflect(connection)
        everything.drop_all(connection)  # for the next one
    database.dispose()
