# SPDX-License-Identifier: Apache-2.0
"""The payload ceiling of a link for what clarion-proxy carries, and what of it survives the wire.

Link rate x payload / frame, both of a full-size packet, times the share of packets that survive the errors.
Of a frame (1514 bytes over IPv4 without checksum, and Clarion's header on top) are deducted Ethernet 14,
IPv4 20, Clarion's header (DATA 32, TAG 16, or none), UDP 8, and of QUIC 37: the short header (RFC 9000,
17.3.1) with a connection identifier of 12 bytes and a packet number of 2, the tag of 16 bytes (RFC 9001,
5.3), and a STREAM frame (19.8) up to the packet's end: type, stream in 1 byte, offset in 4. Not deducted is
what varies: acknowledgements of the other direction, and packets that are resent without having been lost.
"""

from __future__ import annotations

from typing import Any

from clarion_lab.results.limits import survival
from clarion_lab.scenario import frames
from clarion_lab.scenario.model import Scenario, build

UDP_BYTES = 8
DATAGRAM_BYTES = frames.MTU_BYTES - frames.IPV4_BYTES - UDP_BYTES
SHORT_HEADER_BYTES = 1 + 12 + 2
TAG_BYTES = 16
STREAM_FRAME_BYTES = 1 + 1 + 4
QUIC_BYTES = SHORT_HEADER_BYTES + TAG_BYTES + STREAM_FRAME_BYTES
PAYLOAD_BYTES = DATAGRAM_BYTES - QUIC_BYTES


def payload_share(header: str) -> float:
    """Payload per byte on the link of full-size QUIC packets with that header ("none", "DATA", "TAG")."""
    around = frames.ETHERNET_BYTES + frames.IPV4_BYTES + frames.HEADER_BYTES[header] + UDP_BYTES
    return PAYLOAD_BYTES / (around + DATAGRAM_BYTES)


def surviving_ceiling_bps(summary: dict[str, Any], header: str | None) -> float:
    """Most payload of a run's first flow, bit/s: in QUIC packets with that header, or for None in its TCP."""
    scenario = scenario_of(summary)
    flow = scenario.flows[0]
    share = frames.payload_share(flow.header) if header is None else payload_share(header)
    return scenario.narrowest_bps(flow) * share * survival(scenario, flow)


def scenario_of(summary: dict[str, Any]) -> Scenario:
    """The scenario as it was run."""
    return build(summary["scenario"], summary["document"])
