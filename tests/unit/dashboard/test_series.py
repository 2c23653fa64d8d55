# SPDX-License-Identifier: Apache-2.0
"""From interval reports to points of charts."""

from __future__ import annotations

from typing import Any

from clarion_control.dashboard.charts import CHARTS
from clarion_control.dashboard.series import Capacities, Gathering, history
from clarion_control.growth import Growth
from clarion_control.model import AuditRecord, Interval, IntervalSummary, Origin
from fakes.switch import REPORT

S = 1_000_000


def interval(time_us: int, **fields: Any) -> Interval:
    return Interval(time_us, "s1", REPORT._replace(**fields))


def test_nothing_reported_is_no_point() -> None:
    assert Gathering().take(1e8) is None


def test_a_point_weighs_intervals_by_how_long_they_lasted() -> None:
    gathering = Gathering()
    gathering.add(interval(1 * S, input_bps=10e6, elapsed_us=100_000.0, queue_bytes=10))
    gathering.add(interval(2 * S, input_bps=40e6, elapsed_us=200_000.0, queue_bytes=5))
    point = gathering.take(1e8)
    assert point is not None
    assert point.input_bps == 30e6  # (10 * 1 + 40 * 2) / 3
    assert (point.queue_bytes, point.time_us, point.capacity_bps) == (10, 2 * S, 1e8)
    assert gathering.take(1e8) is None


def test_losses_are_counted_from_the_last_report_of_the_point_before() -> None:
    gathering = Gathering()
    gathering.add(interval(1 * S, lost_on_wire=7))
    first = gathering.take(None)
    assert first is not None
    assert first.wire_per_s is None  # nothing to compare with
    gathering.add(interval(3 * S, lost_on_wire=10, dropped_by_queue=4))
    second = gathering.take(None)
    assert second is not None
    assert (second.wire_per_s, second.queue_per_s) == (1.5, 2.0)


def test_a_switch_that_started_again_has_no_negative_losses() -> None:
    gathering = Gathering()
    gathering.add(interval(1 * S, lost_on_wire=7))
    gathering.take(None)
    gathering.add(interval(2 * S, lost_on_wire=0))
    point = gathering.take(None)
    assert point is not None
    assert point.wire_per_s is None


def test_a_history_has_a_point_for_each_step() -> None:
    steps = [
        IntervalSummary(start * S, S, "s1", 1, 10, 5e7, -1e6, 50_000.0, 100.0, 3000, lost, 0)
        for start, lost in ((1, 0), (2, 5), (6, 13))
    ]
    points = history(steps, Capacities([], 1, 1e8))
    assert [point.time_us for point in points] == [1 * S, 2 * S, 6 * S]
    assert [point.wire_per_s for point in points] == [None, 5.0, 2.0]
    assert points[0].queue_bytes == 3000


def change(time_us: int, before_bps: int | None, after_bps: int, port: int = 1) -> AuditRecord:
    before, after = (
        None if bps is None else {"xcp": {"capacity_bps": bps}} for bps in (before_bps, after_bps)
    )
    return AuditRecord(time_us, time_us, "tuner", "port.change", Origin.TUNER, "s1", port, before, after)


def test_a_history_knows_what_the_capacity_was() -> None:
    records = [change(5 * S, 40, 90), change(4 * S, 1, 2, port=2), change(3 * S, 100, 40)]
    capacities = Capacities(records, 1, 90)
    assert [capacities.at(second * S) for second in (1, 3, 4, 5, 9)] == [100, 40, 40, 90, 90]
    assert Capacities([], 1, 90).at(0) == 90


def test_growth_looks_back_ten_seconds_and_forgets_a_restart() -> None:
    growth = Growth()
    assert growth.per_second() is None
    for second in range(30):
        growth.add(second * S, second * second)
    # From 19^2 to 29^2 in ten seconds.
    assert growth.per_second() == (29**2 - 19**2) / 10
    growth.add(30 * S, 0)
    assert growth.per_second() is None


def test_every_chart_takes_every_point() -> None:
    gathering = Gathering()
    gathering.add(interval(1 * S))
    point = gathering.take(1e8)
    assert point is not None
    for chart in CHARTS:
        options = chart.options([point], 60 * S)
        assert [each["name"] for each in options["series"]] == [line.name for line in chart.lines]
        assert [each["data"][0] for each in options["series"]] == chart.row(point)
    assert CHARTS[0].row(point) == [[1000.0, 80e6], [1000.0, 100e6]]
