# SPDX-License-Identifier: Apache-2.0
"""Rates of a port from its counters: what it sends, and what the wire into it loses."""

from __future__ import annotations

from clarion_control.bit_errors import ErrorRates
from clarion_control.fleet.figures import QUIET_US, WINDOW_US, PortFigures
from clarion_control.fleet.live import Hub
from clarion_control.model import Interval, PortCounters
from unit.tuner.reports import REPORT, START_US

S = 1_000_000


class Port:
    """A port whose totals the test sets: counted as lost, of these late, received, sent."""

    def __init__(self) -> None:
        self.figures = PortFigures()
        self.now_us = START_US

    def count(self, second: int, lost: int = 0, late: int = 0, received: int = 0, sent: int = 0) -> None:
        self.now_us = START_US + second * S
        packets = {"rx": received, "wire_late": late, "tx": sent}
        octets = {"rx": 1000 * received, "tx": 1000 * sent}
        interval = Interval(self.now_us, "s1", REPORT._replace(lost_on_wire=lost))
        self.figures.add(PortCounters(self.now_us, "s1", 1, packets, octets), interval)

    def errors(self, later_us: int = 0) -> ErrorRates | None:
        return self.figures.wire_errors(self.now_us + later_us)


def test_nothing_is_known_of_a_single_reading() -> None:
    port = Port()
    port.count(1, received=1000, sent=1000)
    assert (port.errors(), port.figures.sent_bps(port.now_us)) == (None, None)


def test_packets_that_only_came_late_are_no_errors() -> None:
    port = Port()
    port.count(1, lost=5, late=0, received=1000)
    port.count(2, lost=25, late=18, received=11_000)
    rates = port.errors()
    assert rates is not None
    assert (rates.lost_packets, rates.received_packets) == (2, 10_000)
    port.count(3, lost=25, late=25, received=12_000)  # all lost packets come late: no restart
    rates = port.errors()
    assert rates is not None
    assert (rates.lost_packets, rates.received_packets) == (0, 11_000)
    port.count(4, lost=1, late=0, received=10)
    assert port.errors() is None


def test_the_figures_end_with_the_counters() -> None:
    port = Port()
    port.count(1, lost=0, received=1000)
    port.count(2, lost=5, received=2000, sent=500)
    assert port.errors(WINDOW_US) is not None
    assert port.errors(WINDOW_US + 1) is None
    assert port.figures.sent_bps(port.now_us + QUIET_US) == 4e6
    assert port.figures.sent_bps(port.now_us + QUIET_US + 1) is None


def test_a_switch_without_such_counters_has_no_figures() -> None:
    figures = PortFigures()
    for second in (1, 2):
        figures.add(PortCounters(START_US + second * S, "s1", 1, {}, {}), None)
    assert figures.wire_errors(START_US + 2 * S) is None
    assert figures.sent_bps(START_US + 2 * S) is None


def test_a_switch_that_was_removed_is_forgotten() -> None:
    hub = Hub()
    for switch in ("s1", "s2"):
        hub.publish(PortCounters(START_US, switch, 1, {}, {}))
    hub.forget_switch("s1")
    assert list(hub.figures) == [("s2", 1)]
