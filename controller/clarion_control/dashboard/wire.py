# SPDX-License-Identifier: Apache-2.0
"""The bit error rate of the wire into a port, over the last minute: the tuner's estimate, for the eye."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from clarion_control.bit_errors import ErrorRates, error_rates, never_came
from clarion_control.controller import Controller

WINDOW_US = 60_000_000


@dataclass(frozen=True)
class _Sample:
    time_us: int
    counted_packets: int  # as lost, also those that came late
    lost_packets: int
    received_packets: int
    received_bytes: int


class WireErrors:
    """Remembers totals of lost and received packets."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque()

    def add(self, controller: Controller, name: str, port: int) -> None:
        """Takes the totals as they are known now."""
        latest = controller.telemetry.latest(name, port)
        counters = controller.telemetry.latest_counters(name, port)
        if latest is None or counters is None or "rx" not in counters.packets:
            return
        sample = _Sample(
            max(latest.time_us, counters.time_us),
            latest.report.lost_on_wire,
            never_came(latest.report.lost_on_wire, counters.packets),
            counters.packets["rx"],
            counters.bytes.get("rx", 0),
        )
        samples = self._samples
        if samples and (
            sample.counted_packets < samples[-1].counted_packets
            or sample.received_packets < samples[-1].received_packets
        ):
            samples.clear()  # the switch started again
        if not samples or sample.time_us > samples[-1].time_us:
            samples.append(sample)
        while len(samples) > 2 and samples[1].time_us <= sample.time_us - WINDOW_US:
            samples.popleft()

    def rates(self) -> ErrorRates | None:
        """None if nothing came in."""
        if len(self._samples) < 2:
            return None
        first, last = self._samples[0], self._samples[-1]
        return error_rates(
            max(0, last.lost_packets - first.lost_packets),
            last.received_packets - first.received_packets,
            last.received_bytes - first.received_bytes,
        )
