# SPDX-License-Identifier: Apache-2.0
"""Packets with the header's protocol number: valid headers are removed, all other packets stay unchanged.

A raw socket of the receiving host sees the packets behind the shim. Valid headers are followed by UDP here,
so a popped packet reaches a UDP socket, whose checksum is computed by hand.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

import pytest

from integration.host_net import PROTOCOL, SO_RCVBUFFORCE, Pair, checksum, counters, inside, packet_socket
from integration.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.root

PORT = 7002
UDP = socket.IPPROTO_UDP
LENGTHS = {1: 32, 2: 12, 3: 16}


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    made = Pair.make("bad")
    made.b.attach()
    yield made
    made.close()


def header(fmt: int, length: int | None = None, version: int = 1, next_protocol: int = UDP) -> bytes:
    """A header of a format, with zeros in its fields; its length byte may be wrong on purpose."""
    size = LENGTHS.get(fmt, 16)
    return bytes([next_protocol, size if length is None else length, version << 4 | fmt, 0]).ljust(
        size, b"\0"
    )


def udp(payload: bytes, family: int, pair: Pair) -> bytes:
    """A UDP datagram with its checksum, host a to host b."""
    length = 8 + len(payload)
    datagram = struct.pack("!HHHH", 9, PORT, length, 0) + payload
    if family == socket.AF_INET:
        pseudo = (
            socket.inet_aton(pair.a.ip4) + socket.inet_aton(pair.b.ip4) + struct.pack("!BBH", 0, UDP, length)
        )
    else:
        ends = [socket.inet_pton(socket.AF_INET6, host.ip6) for host in (pair.a, pair.b)]
        pseudo = b"".join(ends) + struct.pack("!II", length, UDP)
    return datagram[:6] + struct.pack("!H", checksum(pseudo + datagram)) + payload


def ip4(pair: Pair, body: bytes, options: bytes = b"", fragment: int = 0) -> bytes:
    words = 5 + len(options) // 4
    fixed = struct.pack("!BBHHHBB", 0x40 | words, 0, words * 4 + len(body), 1, fragment, 64, PROTOCOL)
    ends = socket.inet_aton(pair.a.ip4) + socket.inet_aton(pair.b.ip4)
    summed = checksum(fixed + b"\0\0" + ends + options)
    return fixed + struct.pack("!H", summed) + ends + options + body


def ip6(pair: Pair, body: bytes) -> bytes:
    ends = [socket.inet_pton(socket.AF_INET6, host.ip6) for host in (pair.a, pair.b)]
    return struct.pack("!IHBB", 6 << 28, len(body), PROTOCOL, 64) + b"".join(ends) + body


class Wire:
    """Sends frames from host a and returns the packets that host b's stack receives."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._out = packet_socket(pair.a.netns, pair.a.device)
        mac = [
            bytes.fromhex(
                host.execute("cat", f"/sys/class/net/{host.device}/address").strip().replace(":", "")
            )
            for host in (pair.b, pair.a)
        ]
        self._ends = b"".join(mac)
        with inside(pair.b.netns):
            self.raw4 = socket.socket(socket.AF_INET, socket.SOCK_RAW, PROTOCOL)
            self.raw6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, PROTOCOL)
            self.udp4 = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.udp6 = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.udp4.bind((pair.b.ip4, PORT))
        self.udp6.bind((pair.b.ip6, PORT))
        for end in (self.raw4, self.raw6, self.udp4, self.udp6):
            end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
            end.settimeout(PATIENCE_S)

    def send(self, packet: bytes) -> None:
        ethertype = b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd"
        self._out.send((self._ends + ethertype + packet).ljust(60, b"\0"))

    def close(self) -> None:
        for end in (self._out, self.raw4, self.raw6, self.udp4, self.udp6):
            end.close()


@pytest.fixture
def wire(pair: Pair) -> Iterator[Wire]:
    made = Wire(pair)
    yield made
    made.close()


@pytest.mark.parametrize("fmt", [1, 2, 3])
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_valid_headers_come_off(wire: Wire, fmt: int, family: int, size: int) -> None:
    payload = os.urandom(size)
    body = header(fmt) + udp(payload, family, wire.pair)
    if family == socket.AF_INET:
        wire.send(ip4(wire.pair, body))
        assert wire.udp4.recv(2000) == payload
    else:
        wire.send(ip6(wire.pair, body))
        assert wire.udp6.recv(2000) == payload


@pytest.mark.parametrize("option_words", [1, 2, 9, 10])
def test_ipv4_options_stay(wire: Wire, option_words: int) -> None:
    """The header sits behind the options; taking it off leaves them in place (NOPs, then end of list)."""
    options = (b"\1" * (4 * option_words - 1)) + b"\0"
    payload = os.urandom(100)
    wire.send(ip4(wire.pair, header(3) + udp(payload, socket.AF_INET, wire.pair), options))
    assert wire.udp4.recv(2000) == payload


def malformed_bodies() -> list[bytes]:
    """Every length of cut-off header, every wrong length byte, version and format, and pure noise."""
    noise = bytes(range(256))
    cut = [header(fmt)[:size] for fmt, whole in LENGTHS.items() for size in range(whole)]
    lengths = [
        header(fmt, length) + noise for fmt in LENGTHS for length in range(256) if length != LENGTHS[fmt]
    ]
    versions = [header(3, version=version) + noise for version in range(16) if version != 1]
    formats = [header(fmt) + noise for fmt in (0, *range(4, 16))]
    return cut + lengths + versions + formats


def test_malformed_headers_are_left_alone(wire: Wire) -> None:
    """44 + 16 cut short ... every packet reaches the stack byte for byte, and each is counted once."""
    before = counters(wire.pair.b.netns)["malformed"]
    bodies = malformed_bodies()
    assert len(bodies) == (32 + 12 + 16) + 3 * 255 + 15 + 13
    for body in bodies:
        packet = ip4(wire.pair, body)
        wire.send(packet)
        assert wire.raw4.recv(4000) == packet
        wire.send(ip6(wire.pair, body))
        assert wire.raw6.recv(4000) == body
    wait_until(lambda: counters(wire.pair.b.netns)["malformed"] - before == 2 * len(bodies))


@pytest.mark.parametrize("fragment", [0x2000, 1, 0x2001], ids=["first", "last", "middle"])
def test_fragments_are_malformed(wire: Wire, fragment: int) -> None:
    before = counters(wire.pair.b.netns)
    wire.send(ip4(wire.pair, header(3) + udp(b"x" * 64, socket.AF_INET, wire.pair), fragment=fragment))
    wait_until(lambda: counters(wire.pair.b.netns)["malformed"] == before["malformed"] + 1)
    assert counters(wire.pair.b.netns)["rx_headers"] == before["rx_headers"]


def test_noise_of_every_length(wire: Wire) -> None:
    """Random bytes behind the protocol number and behind TCP's: the host survives and still works."""
    for size in range(200):
        for protocol in (PROTOCOL, socket.IPPROTO_TCP):
            packet = bytearray(ip4(wire.pair, os.urandom(size)))
            packet[9] = protocol
            packet[10:12] = b"\0\0"
            packet[10:12] = struct.pack("!H", checksum(bytes(packet[:20])))
            wire.send(bytes(packet))
            packet = bytearray(ip6(wire.pair, os.urandom(size)))
            packet[6] = protocol
            wire.send(bytes(packet))
    payload = os.urandom(50)
    wire.send(ip4(wire.pair, header(1) + udp(payload, socket.AF_INET, wire.pair)))
    assert wire.udp4.recv(2000) == payload


def test_lengths_beyond_the_frame_are_malformed(wire: Wire) -> None:
    """The IP header states more bytes than the frame has: no byte beyond the frame's end is read."""
    before = counters(wire.pair.b.netns)
    packet = bytearray(ip4(wire.pair, header(1) + bytes(100)))
    packet[2:4] = struct.pack("!H", 1400)
    wire.send(bytes(packet))
    wait_until(lambda: counters(wire.pair.b.netns)["malformed"] == before["malformed"] + 1)
