# SPDX-License-Identifier: Apache-2.0
"""The bit error rate of the wire into a port over the last minute, for as long as a page is open."""

from __future__ import annotations

from collections import deque

from clarion_control.bit_errors import ErrorRates, WireSample, estimate, wire_sample
from clarion_control.controller import Controller

WINDOW_US = 60_000_000


class WireErrors:
    """The samples of the last minute."""

    def __init__(self) -> None:
        self._samples: deque[WireSample] = deque()

    def add(self, controller: Controller, name: str, port: int) -> None:
        """Takes a sample if the counters are new and count received packets."""
        latest = controller.telemetry.latest(name, port)
        counters = controller.telemetry.latest_counters(name, port)
        if latest is None or counters is None:
            return
        sample = wire_sample(latest.report.lost_on_wire, counters)
        samples = self._samples
        if sample is not None and (not samples or sample.time_us > samples[-1].time_us):
            samples.append(sample)
            while len(samples) > 2 and samples[1].time_us <= sample.time_us - WINDOW_US:
                samples.popleft()

    def rates(self, now_us: int) -> ErrorRates | None:
        """The estimate over the last minute; None without received packets."""
        found = estimate(tuple(self._samples), now_us, WINDOW_US)
        return None if found is None else found.rates
