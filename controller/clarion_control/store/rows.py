# SPDX-License-Identifier: Apache-2.0
"""Inserts many rows in few steps. SQLAlchemy's expressions would take most of the time of a large fleet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

# In one statement of SQLite, which the driver executes without Python's lock. Row by row it would ask for the
# lock after each, and wait up to 5 ms for it while another thread computes.
ROWS_AT_ONCE = 1000

Row = tuple[Any, ...]


def insert(connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Appends rows to a table."""
    if connection.dialect.name == "postgresql":
        _copy(connection, table, columns, rows)
        return
    for first in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[first : first + ROWS_AT_ONCE]
        statement = _statement(table, tuple(columns), len(some))
        connection.exec_driver_sql(statement, tuple(chain.from_iterable(some)))


def _copy(connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    driver: Any = connection.connection.driver_connection
    failure = connection.dialect.loaded_dbapi.Error
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except failure as error:  # as SQLAlchemy raises what its own statements meet with
        raise DBAPIError.instance(statement, None, error, failure) from error


@lru_cache(2 * ROWS_AT_ONCE)
def _statement(table: str, columns: tuple[str, ...], count: int) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * count)}"
