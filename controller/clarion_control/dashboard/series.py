# SPDX-License-Identifier: Apache-2.0
"""Data of a port's charts: interval reports, aggregated to about one point per second."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clarion_control.model import AuditRecord, Interval, IntervalSummary


@dataclass(frozen=True)
class Point:
    """A port over a short span. Rates are means over the control intervals, weighted by length."""

    time_us: int  # of the last report in it
    input_bps: float
    capacity_bps: float | None
    queue_bytes: float  # the largest
    phi_bps: float
    avg_rtt_us: float
    wire_per_s: float | None  # packets lost, None before there is something to compare with
    queue_per_s: float | None
    ber: float | None = None  # of the wire into the port; not part of the history


class Gathering:
    """Collects reports of one port until they are taken as a point."""

    def __init__(self) -> None:
        self._waiting: list[Interval] = []
        self._last: Interval | None = None  # of the point before

    def add(self, interval: Interval) -> None:
        """Adds a report; reports come in the order of their times."""
        self._waiting.append(interval)

    def take(self, capacity_bps: float | None) -> Point | None:
        """All reports since the last call as one point, None if there was none."""
        if not self._waiting:
            return None
        waiting, self._waiting = self._waiting, []
        before, self._last = self._last, waiting[-1]
        reports = [each.report for each in waiting]
        elapsed = sum(report.elapsed_us for report in reports) or 1.0

        def mean(name: str) -> float:
            return sum(float(getattr(each, name)) * each.elapsed_us for each in reports) / elapsed

        return Point(
            time_us=waiting[-1].time_us,
            input_bps=mean("input_bps"),
            capacity_bps=capacity_bps,
            queue_bytes=max(report.queue_bytes for report in reports),
            phi_bps=mean("phi_bps"),
            avg_rtt_us=mean("avg_rtt_us"),
            wire_per_s=_growth(before, waiting, "lost_on_wire"),
            queue_per_s=_growth(before, waiting, "dropped_by_queue"),
        )


def _growth(before: Interval | None, waiting: list[Interval], total: str) -> float | None:
    first, last = before or waiting[0], waiting[-1]
    grown = getattr(last.report, total) - getattr(first.report, total)
    return _rate(grown, (last.time_us - first.time_us) / 1e6)


class Capacities:
    """The capacity of a port over time, from audit records."""

    def __init__(self, records: Iterable[AuditRecord], port: int, now_bps: float | None) -> None:
        """`records` run from new to old; `now_bps` is for a port that is in none."""
        self._steps: list[tuple[int, float | None]] = []  # from new to old
        self._first: float | None = now_bps
        for record in records:
            if record.port == port and record.action == "port.change":
                self._steps.append((record.time_us, _capacity(record.after)))
                self._first = _capacity(record.before)

    def at(self, time_us: int) -> float | None:
        """The capacity at that time."""
        for since_us, capacity_bps in self._steps:
            if since_us <= time_us:
                return capacity_bps
        return self._first


def _capacity(settings: Mapping[str, Any] | None) -> float | None:
    xcp = (settings or {}).get("xcp")
    capacity = xcp.get("capacity_bps") if isinstance(xcp, Mapping) else None
    return None if isinstance(capacity, str) else capacity  # "measured": no line is better than a guessed one


def history(summaries: Iterable[IntervalSummary], capacities: Capacities) -> list[Point]:
    """The store's summaries as points."""
    made: list[Point] = []
    before: IntervalSummary | None = None
    for each in summaries:
        span_s = 0.0 if before is None else (each.start_us - before.start_us) / 1e6
        made.append(
            Point(
                time_us=each.start_us,
                input_bps=each.input_bps,
                capacity_bps=capacities.at(each.start_us),
                queue_bytes=each.queue_max_bytes,
                phi_bps=each.phi_bps,
                avg_rtt_us=each.avg_rtt_us,
                wire_per_s=None if before is None else _rate(each.lost_on_wire - before.lost_on_wire, span_s),
                queue_per_s=(
                    None if before is None else _rate(each.dropped_by_queue - before.dropped_by_queue, span_s)
                ),
            )
        )
        before = each
    return made


def _rate(grown: float, span_s: float) -> float | None:
    """Growth per second; None after a restart of the switch, whose totals begin at zero again."""
    return None if span_s <= 0 or grown < 0 else grown / span_s
