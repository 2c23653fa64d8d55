# SPDX-License-Identifier: Apache-2.0
"""The audit: a record of each change, in the transaction of the change itself; and of accesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, select

from clarion_control.model import ACCESS, Action, Actor, AuditRecord, Origin
from clarion_control.store import engine as engines
from clarion_control.store.clock import now_us
from clarion_control.store.schema import audit

_INSERT = audit.insert().returning(audit.c.id)
EXPIRED_ROWS = 5000  # deleted in one transaction, so that other changes do not wait long


def record(
    connection: Connection,
    actor: Actor,
    action: Action,
    *,
    origin: Origin = Origin.MANUAL,
    switch: str | None = None,
    port: int | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> int:
    """Appends a record and returns its id."""
    values = {
        "time_us": now_us(),
        "actor": actor.name,
        "action": action.value,
        "origin": origin.value,
        "switch": switch,
        "port": port,
        "before": before,
        "after": after,
        "reason": reason,
    }
    return int(connection.execute(_INSERT, values).scalar_one())


def record_access(connection: Connection, entries: Iterable[tuple[Actor, Action, Mapping[str, Any]]]) -> None:
    """Appends a record for each: who, what, and the circumstances."""
    engines.lock_writers(connection)  # ids become visible in order: others look for what is new by them
    for actor, action, circumstances in entries:
        record(connection, actor, action, after=circumstances)


def expire_access(connection: Connection, before_us: int) -> int:
    """Deletes some of the older records of access and returns how many; 0 when none is left. Those of
    changes stay for ever.
    """
    names = [action.value for action in ACCESS]
    old = select(audit.c.id).where(audit.c.action.in_(names), audit.c.time_us < before_us)
    return connection.execute(audit.delete().where(audit.c.id.in_(old.limit(EXPIRED_ROWS)))).rowcount


def listed(
    connection: Connection, switch: str | None, actor: str | None, before_id: int | None, limit: int
) -> list[AuditRecord]:
    """Records, the newest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if switch is not None:
        query = query.where(audit.c.switch == switch)
    if actor is not None:
        query = query.where(audit.c.actor == actor)
    if before_id is not None:
        query = query.where(audit.c.id < before_id)
    return [_record(row) for row in connection.execute(query)]


def last_id(connection: Connection) -> int:
    """The id of the newest record; 0 if there is none."""
    return int(connection.execute(select(func.max(audit.c.id))).scalar() or 0)


def since(connection: Connection, audit_id: int, limit: int) -> list[AuditRecord]:
    """The first records after `audit_id`, the oldest first."""
    query = select(audit).where(audit.c.id > audit_id).order_by(audit.c.id).limit(limit)
    return [_record(row) for row in connection.execute(query)]


def _record(row: Row[Any]) -> AuditRecord:
    return AuditRecord(
        id=row.id,
        time_us=row.time_us,
        actor=row.actor,
        action=row.action,
        origin=Origin(row.origin),
        switch=row.switch,
        port=row.port,
        before=row.before,
        after=row.after,
        reason=row.reason,
    )
