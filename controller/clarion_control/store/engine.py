# SPDX-License-Identifier: Apache-2.0
"""From a path or URL to database engines: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, SQLAlchemyError

from clarion_control.errors import StoreError, UnstorableError

DEFAULT = "/var/lib/clarion/controller.db"  # CLARION_STORE names another
BUSY_TIMEOUT_MS = 30_000  # how long one writer of a SQLite file waits for another
# Of the log of a SQLite file, from which on whoever commits has to empty it; `checkpoint` does so before.
LONGEST_LOG_PAGES = 50_000
# A PostgreSQL that is out of reach costs a request seconds, not the minutes after which TCP gives up.
REACH = {
    "connect_timeout": 2,  # s
    "tcp_user_timeout": 3000,  # ms
    "keepalives_idle": 1,  # s
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
# And a controller that it cannot reach any more must not keep the others from the lock.
LIMITS = {
    "tcp_keepalives_idle": "2s",
    "tcp_keepalives_interval": "1s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "5s",
    "idle_in_transaction_session_timeout": "3s",
    "lock_timeout": "6s",
    "statement_timeout": "30s",
}
WRITERS_LOCK = 0x636C6172696F6E  # key of PostgreSQL's advisory lock ("clarion"): one change at a time


def location(text: str | None) -> URL:
    """The database URL of --store or CLARION_STORE, which is the path of a SQLite file or a URL."""
    text = text or os.environ.get("CLARION_STORE") or DEFAULT
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).absolute()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise StoreError("store: not a URL; use postgresql://USER@HOST/DATABASE or a path") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and (not url.database or url.database == ":memory:"):
        raise StoreError("store: has to be a file: it is read over several connections")
    if url.drivername not in ("sqlite", "postgresql+psycopg"):
        raise StoreError(f"store: {url.drivername}: use a path (SQLite) or a postgresql:// URL")
    return url


def shown(url: URL) -> str:
    """The URL for messages, without the password."""
    return url.database or "sqlite" if is_sqlite(url) else url.render_as_string(hide_password=True)


def is_sqlite(url: URL) -> bool:
    """Whether the URL is of a SQLite file."""
    return url.get_backend_name() == "sqlite"


def create(url: URL, *, begin: str = "BEGIN", durable: bool = True, connections: int = 1) -> Engine:
    """An engine. On SQLite transactions start with `begin`, and a durable one is on disk when it ends."""
    if not is_sqlite(url):
        return _postgresql(url, connections)
    if url.database:
        _make_parent(Path(url.database))
    engine = sqlalchemy.create_engine(url, pool_size=connections, max_overflow=0, pool_timeout=60)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver must not begin transactions by itself
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute(f"PRAGMA wal_autocheckpoint = {LONGEST_LOG_PAGES}")
        cursor.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def checkpoint(engine: Engine) -> None:
    """Moves what is in the log of a SQLite file to the file, while others read and write."""
    if is_sqlite(engine.url):
        with contextlib.closing(engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")


def _postgresql(url: URL, connections: int) -> Engine:
    reach = {name: value for name, value in REACH.items() if name not in url.query}
    engine = sqlalchemy.create_engine(
        url, pool_size=connections, max_overflow=0, pool_pre_ping=True, pool_timeout=60, connect_args=reach
    )

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        for name, value in LIMITS.items():
            connection.execute(f"SET {name} = '{value}'")
        connection.commit()

    return engine


def lift_limits(connection: Connection) -> None:
    """For a transaction that may take long: a migration."""
    if connection.dialect.name == "postgresql":
        for name in ("idle_in_transaction_session_timeout", "lock_timeout", "statement_timeout"):
            connection.exec_driver_sql(f"SET LOCAL {name} = 0")


def lock_writers(connection: Connection) -> None:
    """Serialises writers, so that audit ids become visible in order (SQLite does so itself)."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (WRITERS_LOCK,))


@contextlib.contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turns database errors into StoreErrors of one line."""
    try:
        yield
    except (DataError, OverflowError) as error:
        raise UnstorableError(f"store {shown(url)}: a value does not fit: {_reason(error)}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"store {shown(url)}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return lines[0]


def _make_parent(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():  # readable by this user only: it holds tokens' digests and the audit
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(f"store {path}: {error.strerror}; name another place with --store") from error
