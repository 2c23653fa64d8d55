# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests, on a Unix socket, removed afterwards."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

PATIENCE_S = 120


def programs() -> Path | None:
    """The directory of the newest server programs that Debian has installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: int(path.parent.name), default=None)


class Postgres:
    """A server; `new_database` gives a URL."""

    def __init__(self, directory: Path, user: str) -> None:
        self._directory = directory
        self._user = user

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"clarion_{uuid.uuid4().hex}"
        with psycopg.connect(
            host=str(self._directory), user=self._user, dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"postgresql://{self._user}@/{name}?host={self._directory}"


@contextlib.contextmanager
def server() -> Iterator[Postgres]:
    """A running server, stopped in any case. PostgreSQL refuses root: then it runs as the user postgres."""
    found = programs()
    assert found is not None
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    directory = Path(tempfile.mkdtemp(prefix="clarion-pg-", dir="/tmp"))
    data = directory / "data"
    control = [str(found / "pg_ctl"), "-D", str(data), "-w", "-t", str(PATIENCE_S)]
    try:
        if os.geteuid() == 0:
            shutil.chown(directory, user)
        _run(
            user,
            [str(found / "initdb"), "-D", str(data), "-U", user, "-A", "trust", "-E", "UTF8", "--no-sync"],
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{directory}' -c fsync=off"
        log = str(directory / "log")
        _run(user, [*control, "-l", log, "-o", options, "start"])
        try:
            yield Postgres(directory, user)
        finally:
            _run(user, [*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(user: str, command: Sequence[str]) -> None:
    root = os.geteuid() == 0
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd="/",
        timeout=2 * PATIENCE_S,
        user=user if root else None,
        group=user if root else None,
        extra_groups=[] if root else None,
    )
    assert done.returncode == 0, done.stdout
