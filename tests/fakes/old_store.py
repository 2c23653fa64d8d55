# SPDX-License-Identifier: Apache-2.0
"""Stores as earlier versions of Clarion left them: made by their migrations, with rows in every table."""

from __future__ import annotations

import os
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Connection, Double, Integer, MetaData, Table, select
from sqlalchemy.dialects import postgresql

from clarion_control.store import engine, migrate

Rows = dict[str, list[tuple[Any, ...]]]
NUMBERS = (Double, postgresql.DOUBLE_PRECISION)


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrate.MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def revisions() -> list[str]:
    """All schemas that there were, the newest last."""
    return [each.revision for each in ScriptDirectory.from_config(_config()).walk_revisions()][::-1]


def tables(connection: Connection) -> list[Table]:
    """What the database has now, a table that others refer to before these."""
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def make(connection: Connection, revision: str) -> None:
    """Gives an empty database the schema of the revision."""
    command.upgrade(_config(connection), revision)


def fill(connection: Connection) -> None:
    """A row in each table, with a value in each column."""
    for table in tables(connection):
        row: dict[str, Any] = {}
        for column in table.columns:
            if isinstance(column.type, JSON):
                row[column.name] = {"list": [1, None], "text": "\u00e9"}
            elif isinstance(column.type, NUMBERS):
                row[column.name] = 1.5
            else:
                row[column.name] = 1 if isinstance(column.type, Integer) else "text"
        connection.execute(table.insert(), row)


def rows(connection: Connection, wanted: list[Table]) -> Rows:
    """What the tables hold in the columns that they had."""
    return {table.name: [tuple(row) for row in connection.execute(select(table))] for table in wanted}


def age(path: str) -> None:
    """Replaces a SQLite store by one of the schema before the newest with its rows, all still in the log, and
    ends this process as kill -9 would.
    """
    new = engine.create(engine.location(path))
    old = engine.create(engine.location(f"{path}.old"))
    made = old.connect()
    made.exec_driver_sql("PRAGMA wal_autocheckpoint = 0")
    with new.connect() as source:
        make(made, revisions()[-2])
        had = {table.name: table for table in tables(source)}
        for table in tables(made):
            shared = [had[table.name].c[column.name] for column in table.columns]
            for row in source.execute(select(*shared)).mappings():
                made.execute(table.insert(), dict(row))
        made.commit()
    new.dispose()
    for end in ("", "-wal", "-shm"):
        if os.path.exists(f"{path}{end}"):
            os.unlink(f"{path}{end}")
        os.rename(f"{path}.old{end}", f"{path}{end}")
    os._exit(0)
