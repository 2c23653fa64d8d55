# SPDX-License-Identifier: Apache-2.0
"""The series of BMv2's ports, assembled from Thrift, P4Runtime and the wires."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clarion_contract.telemetry import IntervalReport
from clarion_lab.engines.bmv2.runtime import Occupancy
from clarion_lab.engines.switches import note_histogram
from clarion_lab.recording.recording import PortSample, Recording

# 16 bins per octave, as the embedded switch has them; a queue is weighed by the time between two samples.
EDGES_BYTES = [0, *(round(64 * 2 ** (step / 16)) for step in range(16 * 25))]


@dataclass
class _Port:
    name: str
    phi_bytes_per_s: int = 0
    avg_rtt_us: int = 0
    drop_packets: int = 0
    sampled_us: int | None = None
    spent_us: list[int] = field(default_factory=lambda: [0] * len(EDGES_BYTES))


class PortSeries:
    """What is known of every port between two samples."""

    def __init__(self, ports: Mapping[str, Sequence[str]]) -> None:
        """`ports` are the names of each switch's ports in the order of their numbers, from 1."""
        self._ports = {switch: [_Port(name) for name in names] for switch, names in ports.items()}

    def note_interval(self, switch: str, report: IntervalReport) -> None:
        """Keeps what a port's controllers decided last."""
        port = self._ports[switch][report.port - 1]
        port.phi_bytes_per_s = round(report.phi_bps / 8)
        port.avg_rtt_us = round(report.avg_rtt_us)

    def take(
        self,
        now_us: int,
        switch: str,
        found: Sequence[Occupancy],
        wire_lost: Mapping[str, int],
        recording: Recording,
        window_open: bool,
    ) -> None:
        """Appends a sample of every port of a switch; `wire_lost` counts packets by the port's name."""
        for port, state in zip(self._ports[switch], found, strict=True):
            port.drop_packets = state.drop_packets
            recording.port_samples.append(_sample(now_us, port, state, wire_lost.get(port.name, 0)))
            if port.sampled_us is not None:
                port.spent_us[bisect_right(EDGES_BYTES, state.queue_bytes) - 1] += now_us - port.sampled_us
            port.sampled_us = now_us
            note_histogram(recording, port.name, EDGES_BYTES, list(port.spent_us), window_open)

    def dropped_packets(self) -> int:
        """What all queues had dropped at the last sample."""
        return sum(port.drop_packets for ports in self._ports.values() for port in ports)


def _sample(now_us: int, port: _Port, state: Occupancy, wire_lost_packets: int) -> PortSample:
    return PortSample(
        time_us=now_us,
        port=port.name,
        tx_bytes=state.tx_bytes,
        tx_packets=state.tx_packets,
        queue_bytes=state.queue_bytes,
        queue_byte_us=state.queue_byte_us,
        drop_packets=state.drop_packets,
        wire_lost_packets=wire_lost_packets,
        xcp_phi_bytes_per_s=port.phi_bytes_per_s,
        xcp_avg_rtt_us=port.avg_rtt_us,
    )
