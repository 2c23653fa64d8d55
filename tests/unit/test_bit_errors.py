# SPDX-License-Identifier: Apache-2.0
"""The one estimate of a wire's error rates: late packets, restarts of the switch, and the window."""

from __future__ import annotations

import pytest

from clarion_control.bit_errors import ErrorRates, WireSample, estimate, wire_sample
from clarion_control.model import PortCounters

S = 1_000_000


def sample(second: int, counted: int, late: int, received: int) -> WireSample:
    return WireSample(second * S, counted, late, received, 1000 * received)


def rates(*samples: WireSample, now: int | None = None, window: int = 60) -> ErrorRates | None:
    found = estimate(samples, samples[-1].time_us if now is None else now * S, window * S)
    return None if found is None else found.rates


def figures(found: ErrorRates | None) -> tuple[int, int]:
    assert found is not None
    return found.lost_packets, found.received_packets


def test_a_packet_that_came_late_is_not_lost() -> None:
    assert figures(rates(sample(1, 5, 0, 1000), sample(2, 25, 18, 11_000))) == (2, 10_000)


def test_fewer_lost_packets_are_no_restart() -> None:
    """All packets counted as lost arrive late: the difference falls, the totals do not."""
    assert figures(rates(sample(1, 25, 0, 1000), sample(2, 25, 25, 2000), sample(3, 26, 25, 3000))) == (
        0,
        2000,
    )


@pytest.mark.parametrize("after", [sample(3, 29, 20, 3000), sample(3, 30, 0, 3000), sample(3, 30, 20, 10)])
def test_a_total_that_falls_is_a_restart(after: WireSample) -> None:
    before = [sample(1, 20, 10, 1000), sample(2, 30, 20, 2000)]
    assert rates(*before, after) is None
    later = WireSample(4 * S, after.counted_packets + 1, after.late_packets, after.received_packets + 9, 9000)
    assert figures(rates(*before, after, later)) == (1, 9)


def test_the_window_begins_with_the_last_sample_before_it() -> None:
    seconds = [sample(second, second, 0, 1000 * second) for second in range(1, 100)]
    assert figures(rates(*seconds, now=99, window=10)) == (10, 10_000)
    far = [sample(1, 0, 0, 0), sample(100, 3, 0, 500)]  # a large fleet: counters are read rarely
    assert figures(rates(*far, now=105, window=10)) == (3, 500)
    assert rates(*far, now=111, window=10) is None


def test_a_late_packet_may_be_known_before_its_loss() -> None:
    """Counters are read more often than reports arrive."""
    assert sample(1, 3, 5, 100).lost_packets == 0


def test_a_sample_takes_all_that_left_elsewhere_where_received_packets_are_not_counted() -> None:
    counters = PortCounters(7, "s1", 1, {"tx": 5, "wire_late": 2}, {"tx": 500})
    assert wire_sample(4, counters) is None
    assert wire_sample(4, counters, (90, 9000)) == WireSample(7, 4, 2, 90, 9000, exact=False)
    counted = PortCounters(7, "s1", 1, {"rx": 6, "wire_late": 2}, {"rx": 600})
    assert wire_sample(4, counted, (90, 9000)) == WireSample(7, 4, 2, 6, 600, exact=True)
