# SPDX-License-Identifier: Apache-2.0
"""Builds frames byte by byte for tests; independent of the data plane's code."""

from __future__ import annotations

import struct

MACS = bytes.fromhex("020000000002020000000001")
PROTOCOL = 253


def data(
    rtt: int = 0,
    x: int = 0,
    delta: int = 0,
    reverse: int = 0,
    bucket: int = 0,
    link_seq: int = 0,
    corrupt: int = 0,
    congest: int = 0,
    rev_corrupt: int = 0,
    rev_congest: int = 0,
    flags: int = 0,
    following: int = 6,
) -> bytes:
    """Return a DATA header."""
    tags = (bucket, link_seq, corrupt, congest, rev_corrupt, rev_congest)
    return struct.pack("!BBBBIIiI6H", following, 32, 0x11, flags, rtt, x, delta, reverse, *tags)


def ack(reverse: int = 0, rev_corrupt: int = 0, rev_congest: int = 0, flags: int = 0) -> bytes:
    """Return an ACK header."""
    return struct.pack("!BBBBIHH", 6, 12, 0x12, flags, reverse, rev_corrupt, rev_congest)


def tag(
    bucket: int = 0,
    link_seq: int = 0,
    corrupt: int = 0,
    congest: int = 0,
    rev_corrupt: int = 0,
    rev_congest: int = 0,
    flags: int = 0,
) -> bytes:
    """Return a TAG header."""
    tags = (bucket, link_seq, corrupt, congest, rev_corrupt, rev_congest)
    return struct.pack("!BBBB6H", 6, 16, 0x13, flags, *tags)


def ipv4(
    payload: bytes,
    protocol: int = PROTOCOL,
    options: bytes = b"",
    total: int | None = None,
    flags: int = 0x4000,
    first: int | None = None,
    vlan: int | None = None,
) -> bytes:
    """Return an Ethernet frame with an IPv4 packet; `total`, `flags` and `first` may be wrong on purpose."""
    words = 5 + len(options) // 4
    length = 4 * words + len(payload) if total is None else total
    version_words = 0x40 | words if first is None else first
    fixed = struct.pack("!BBHHHBBH", version_words, 0, length, 7, flags, 64, protocol, 0)
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    return _ethernet(b"\x08\x00", vlan) + fixed + addresses + options + payload


def ipv6(
    payload: bytes,
    protocol: int = PROTOCOL,
    length: int | None = None,
    first: int = 0x60,
    vlan: int | None = None,
) -> bytes:
    """Return an Ethernet frame with an IPv6 packet without extension headers."""
    stated = len(payload) if length is None else length
    addresses = bytes(15) + b"\x01" + bytes(15) + b"\x02"
    header = struct.pack("!BBHHBB", first, 0, 0, stated, protocol, 64) + addresses
    return _ethernet(b"\x86\xdd", vlan) + header + payload


def _ethernet(ethertype: bytes, vlan: int | None) -> bytes:
    tag = b"" if vlan is None else b"\x81\x00" + vlan.to_bytes(2, "big")
    return MACS + tag + ethertype
