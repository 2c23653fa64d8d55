# SPDX-License-Identifier: Apache-2.0
"""The latest reports and counters of a port, in bounded memory. No I/O, no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from clarion_contract.settings import PortSettings
from clarion_control.bit_errors import WireSample, wire_sample
from clarion_control.model import Interval, PortCounters
from clarion_control.tuner.policy import HISTORY, DepartureSample, View

SAMPLES = 64  # counters of a port that are kept


class PortHistory:
    """The samples of one port. The totals of a restarted switch begin at zero again; policies detect that."""

    def __init__(self) -> None:
        self._reports: deque[Interval] = deque(maxlen=HISTORY)
        self._departures: deque[DepartureSample] = deque(maxlen=SAMPLES)
        self._wire: deque[WireSample] = deque(maxlen=SAMPLES)
        self.fresh = False  # there are new samples since the last judgement

    def before(self, reports: Iterable[Interval]) -> None:
        """Takes in the stored reports from before the tuner followed the port."""
        received = list(self._reports)
        first_us = received[0].time_us if received else None
        self._reports.clear()
        self._reports.extend(each for each in reports if first_us is None or each.time_us < first_us)
        self._reports.extend(received)

    def interval(self, event: Interval) -> None:
        """A control interval ended. One that is known from the store already is not taken twice."""
        if self._reports:
            last = self._reports[-1]
            if event.time_us <= last.time_us and event.report.intervals <= last.report.intervals:
                return
        self._reports.append(event)
        self.fresh = True

    def counters(self, event: PortCounters, elsewhere_packets: int, elsewhere_bytes: int) -> None:
        """The port's counters were read. `elsewhere` left the switch by its other ports so far, which is the
        most that can have come in by this one; it stands in where the switch does not count what comes in.
        """
        if "tx" in event.packets and "tx" in event.bytes:
            departures = DepartureSample(event.time_us, event.packets["tx"], event.bytes["tx"])
            self._departures.append(departures)
        if self._reports:
            counted = self._reports[-1].report.lost_on_wire
            sample = wire_sample(counted, event, (elsewhere_packets, elsewhere_bytes))
            assert sample is not None
            self._wire.append(sample)
        self.fresh = True

    def view(self, now_us: int, settings: PortSettings, changed_us: int, measured_bps: int | None) -> View:
        """For the policies."""
        return View(
            now_us,
            settings,
            changed_us,
            tuple(self._reports),
            tuple(self._departures),
            tuple(self._wire),
            measured_bps,
        )
