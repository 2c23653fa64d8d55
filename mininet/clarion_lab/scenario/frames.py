# SPDX-License-Identifier: Apache-2.0
"""Bytes of Ethernet frames without checksum, with and without Clarion's header (docs/wire-format.md)."""

from __future__ import annotations

ETHERNET_BYTES = 14
IPV4_BYTES = 20
TCP_BYTES = 20 + 12  # with the timestamp option, which Linux uses on every segment
MTU_BYTES = 1500  # of the inner packet; the header's room is added outside it
PAYLOAD_BYTES = MTU_BYTES - IPV4_BYTES - TCP_BYTES
HEADER_BYTES = {"none": 0, "DATA": 32, "TAG": 16}
ACK_HEADER_BYTES = {"none": 0, "DATA": 12, "TAG": 16}  # on pure ACKs of a flow, by the header of its data
FORMAT_BYTES = (0, HEADER_BYTES["DATA"], ACK_HEADER_BYTES["DATA"], HEADER_BYTES["TAG"])  # by format number


def frame_bytes(header: str) -> int:
    """Bytes on the link of a full-size segment with that header format ("none", "DATA", "TAG")."""
    return ETHERNET_BYTES + IPV4_BYTES + HEADER_BYTES[header] + TCP_BYTES + PAYLOAD_BYTES


def ack_frame_bytes(header: str) -> int:
    """Bytes on the link of a pure ACK of a flow whose data carries that header."""
    return ETHERNET_BYTES + IPV4_BYTES + ACK_HEADER_BYTES[header] + TCP_BYTES


def payload_share(header: str) -> float:
    """Payload bytes per byte on the link for full-size segments: the payload ceiling of a link of rate 1."""
    return PAYLOAD_BYTES / frame_bytes(header)
