# SPDX-License-Identifier: Apache-2.0
"""Figures of a port that need more than its latest counters: rates over seconds or a minute."""

from __future__ import annotations

from collections import deque

from clarion_control.bit_errors import ErrorRates, WireSample, estimate, wire_sample
from clarion_control.growth import Growth
from clarion_control.model import Interval, PortCounters

WINDOW_US = 60_000_000
QUIET_US = 30_000_000  # counters that are older say nothing about the present


class PortFigures:
    """The recent counters of one port."""

    def __init__(self) -> None:
        self._samples: deque[WireSample] = deque()
        self._sent = Growth()

    def add(self, counters: PortCounters, latest: Interval | None) -> None:
        """Takes counters and the port's latest report."""
        if "tx" in counters.bytes:
            self._sent.add(counters.time_us, counters.bytes["tx"])
        sample = None if latest is None else wire_sample(latest.report.lost_on_wire, counters)
        samples = self._samples
        if sample is not None and (not samples or sample.time_us > samples[-1].time_us):
            samples.append(sample)
            while len(samples) > 2 and samples[1].time_us <= sample.time_us - WINDOW_US:
                samples.popleft()

    def sent_bps(self, now_us: int) -> float | None:
        """What left by the port in the last seconds; None without recent counters."""
        grown, last_us = self._sent.per_second(), self._sent.last_us
        if grown is None or last_us is None or now_us - last_us > QUIET_US:
            return None
        return 8 * grown

    def wire_errors(self, now_us: int) -> ErrorRates | None:
        """The error rates of the wire into the port over the last minute; None without received packets."""
        found = estimate(tuple(self._samples), now_us, WINDOW_US)
        return None if found is None else found.rates
