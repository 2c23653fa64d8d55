# SPDX-License-Identifier: Apache-2.0
"""The controllers that share the store: each says again and again that it is there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from clarion_control.model import ControllerRecord
from clarion_control.store.clock import now_us
from clarion_control.store.schema import controllers

FORGOTTEN_US = 24 * 3600 * 1_000_000


def beat(connection: Connection, name: str, election_id: int, url: str) -> list[ControllerRecord]:
    """Says that this controller is there; all of the last day, by name."""
    mine = controllers.c.election_id == str(election_id)
    values = {"name": name, "url": url, "seen_us": now_us()}
    if not connection.execute(controllers.update().where(mine).values(values)).rowcount:
        connection.execute(controllers.insert().values(election_id=str(election_id), **values))
        forgotten = controllers.c.seen_us < now_us() - FORGOTTEN_US
        connection.execute(controllers.delete().where(forgotten))
    return listed(connection)


def listed(connection: Connection) -> list[ControllerRecord]:
    """All controllers of the last day or so, by name."""
    return [_record(row) for row in connection.execute(select(controllers).order_by(controllers.c.name))]


def leave(connection: Connection, election_id: int) -> None:
    """This controller ends."""
    connection.execute(controllers.delete().where(controllers.c.election_id == str(election_id)))


def _record(row: Row[Any]) -> ControllerRecord:
    return ControllerRecord(row.name, int(row.election_id), row.url, row.seen_us)
