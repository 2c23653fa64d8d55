# SPDX-License-Identifier: Apache-2.0
"""Rates and queues in packets: BMv2's queues know neither bytes nor bits per second.

A port is shaped to as many packets per second as its rate carries full-sized data frames of the flows that
send data through it, on average over these flows; a port that only acknowledgements leave by, to as many of
them. So the rate is exact for what fills the link, and a smaller packet takes as long as a full one. The
queue's limit stays in bytes: the P4 program enforces it. BMv2's own is set too high to be met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.frames import ack_frame_bytes, frame_bytes
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedPort, bottleneck_ports

SMALLEST_FRAME_BYTES = 42  # an ARP packet
SLACK_PACKETS = 64  # for what BMv2 has taken in but not yet sent when the queue is empty


@dataclass(frozen=True)
class Shaping:
    """A port's rate and queue, as configured and in BMv2's packets; zeros: not shaped, not limited."""

    number: int  # of the port at its switch, from 1
    port: str
    rate_bps: int
    frame_bytes: float  # mean size of the frames that the rate was translated with
    rate_pps: int
    queue_bytes: int
    depth_packets: int
    carries_data: bool  # and not only acknowledgements

    def described(self) -> dict[str, Any]:
        """As the summary records it."""
        fields = asdict(self)
        return {name: fields[name] for name in DESCRIBED}


DESCRIBED = ("rate_bps", "frame_bytes", "rate_pps", "queue_bytes", "depth_packets")


def shapings(scenario: Scenario, network: Network) -> dict[str, list[Shaping]]:
    """Every switch's ports in the order of their numbers."""
    data, acks = _leaving(scenario, network)
    return {
        switch: [
            _shaping(number, port, data.get(port.name, []), acks.get(port.name, []))
            for number, port in enumerate(ports, 1)
        ]
        for switch, ports in network.switches.items()
    }


def _leaving(scenario: Scenario, network: Network) -> tuple[dict[str, list[Flow]], dict[str, list[Flow]]]:
    """By port name, the flows whose data leaves there, and those whose acknowledgements do."""
    data: dict[str, list[Flow]] = {}
    acks: dict[str, list[Flow]] = {}
    for flow, ends in zip(scenario.flows, network.endpoints, strict=True):
        data.setdefault(ends.receiver.port, []).append(flow)
        acks.setdefault(ends.sender.port, []).append(flow)
        for hop in flow.route:
            forward, reverse = bottleneck_ports(hop.link)
            data.setdefault(reverse if flow.reverse else forward, []).append(flow)
            acks.setdefault(forward if flow.reverse else reverse, []).append(flow)
    return data, acks


def _shaping(number: int, port: PlannedPort, data: Sequence[Flow], acks: Sequence[Flow]) -> Shaping:
    sizes = [frame_bytes(flow.header) for flow in data] or [ack_frame_bytes(flow.header) for flow in acks]
    mean_bytes = sum(sizes) / len(sizes) if sizes else float(ack_frame_bytes("none"))
    rate_pps = max(1, round(port.rate_bps / 8 / mean_bytes)) if port.rate_bps else 0
    limited = port.queue_bytes if port.rate_bps else 0
    return Shaping(
        number=number,
        port=port.name,
        rate_bps=port.rate_bps,
        frame_bytes=mean_bytes,
        rate_pps=rate_pps,
        queue_bytes=limited,
        depth_packets=limited // SMALLEST_FRAME_BYTES + SLACK_PACKETS if limited else 0,
        carries_data=bool(data),
    )
