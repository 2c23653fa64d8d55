# SPDX-License-Identifier: Apache-2.0
"""Telemetry of switches: written in batches, read by time, deleted when too old."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, func, select

from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_control.model import Drop, Interval, IntervalSummary
from clarion_control.store import rows
from clarion_control.store.schema import drops, intervals
from clarion_p4rt.switch import Switch

EXPIRED_ROWS = 5000  # deleted in one transaction, so that other changes do not wait long
LARGEST = 2**63 - 1  # the largest integer of a database; totals of a switch are unsigned 64 bits

_INTERVAL_COLUMNS = ("switch_uid", "time_us", *IntervalReport._fields)
_DROP_COLUMNS = ("switch_uid", "time_us", "switch_time_us", *QueueDrop._fields[1:])


def append(
    connection: Connection,
    new_intervals: Sequence[tuple[int, Interval]],
    new_drops: Sequence[tuple[int, Drop]],
) -> None:
    """Appends reports, each with the uid of its switch."""
    if new_intervals:
        rows.insert(
            connection, "intervals", _INTERVAL_COLUMNS, [_interval_row(*each) for each in new_intervals]
        )
    if new_drops:
        rows.insert(connection, "drops", _DROP_COLUMNS, [_drop_row(*each) for each in new_drops])


def interval_list(
    connection: Connection, switch: Switch, port: int, from_us: int, to_us: int, limit: int
) -> list[Interval]:
    """The newest `limit` intervals of a span of time, the oldest of them first."""
    query = select(intervals).where(_span(intervals, switch, port, from_us, to_us))
    query = query.order_by(intervals.c.time_us.desc(), intervals.c.id.desc()).limit(limit)
    found = [
        Interval(
            row.time_us,
            switch.name,
            IntervalReport(**{name: getattr(row, name) for name in IntervalReport._fields}),
        )
        for row in connection.execute(query)
    ]
    return found[::-1]


def interval_summaries(
    connection: Connection, switch: Switch, port: int, from_us: int, to_us: int, step_us: int, limit: int
) -> list[IntervalSummary]:
    """Means of the intervals in each step of a span of time; empty steps are left out."""
    columns = intervals.c
    start = (columns.time_us - columns.time_us % step_us).label("start_us")
    query = (
        select(
            start,
            func.count().label("reports"),
            func.avg(columns.input_bps).label("input_bps"),
            func.avg(columns.phi_bps).label("phi_bps"),
            func.avg(columns.avg_rtt_us).label("avg_rtt_us"),
            func.avg(columns.queue_bytes).label("queue_bytes"),
            func.max(columns.queue_bytes).label("queue_max_bytes"),
            func.max(columns.lost_on_wire).label("lost_on_wire"),
            func.max(columns.dropped_by_queue).label("dropped_by_queue"),
        )
        .where(_span(intervals, switch, port, from_us, to_us))
        .group_by(start)
        .order_by(start.desc())
        .limit(limit)
    )
    found = [
        IntervalSummary(
            start_us=row.start_us,
            step_us=step_us,
            switch=switch.name,
            port=port,
            reports=row.reports,
            input_bps=float(row.input_bps),
            phi_bps=float(row.phi_bps),
            avg_rtt_us=float(row.avg_rtt_us),
            queue_bytes=float(row.queue_bytes),
            queue_max_bytes=row.queue_max_bytes,
            lost_on_wire=row.lost_on_wire,
            dropped_by_queue=row.dropped_by_queue,
        )
        for row in connection.execute(query)
    ]
    return found[::-1]


def drop_list(
    connection: Connection, switch: Switch, port: int | None, from_us: int, to_us: int, limit: int
) -> list[Drop]:
    """The newest `limit` drops of a span of time, the oldest of them first."""
    query = select(drops).where(_span(drops, switch, port, from_us, to_us))
    query = query.order_by(drops.c.time_us.desc(), drops.c.id.desc()).limit(limit)
    found = []
    for row in connection.execute(query):
        values = (getattr(row, column) for column in _DROP_COLUMNS[2:])
        found.append(Drop(row.time_us, switch.name, QueueDrop(*values)))
    return found[::-1]


def expire(connection: Connection, before_us: int) -> int:
    """Deletes some of the older reports and returns how many; 0 when none is left."""
    gone = 0
    for table in (intervals, drops):
        old = select(table.c.id).where(table.c.time_us < before_us).limit(EXPIRED_ROWS)
        gone += connection.execute(table.delete().where(table.c.id.in_(old))).rowcount
    return gone


def _span(table: Table, switch: Switch, port: int | None, from_us: int, to_us: int) -> Any:
    columns = table.c
    span = (columns.switch_uid == switch.uid) & (columns.time_us >= from_us) & (columns.time_us < to_us)
    return span if port is None else span & (columns.port == port)


def _interval_row(uid: int, interval: Interval) -> tuple[Any, ...]:
    *values, lost, dropped, measured = interval.report
    return (uid, interval.time_us, *values, min(lost, LARGEST), min(dropped, LARGEST), measured)


def _drop_row(uid: int, drop: Drop) -> tuple[Any, ...]:
    return (uid, drop.time_us, *drop.report)
