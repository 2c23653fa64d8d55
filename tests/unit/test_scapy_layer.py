# SPDX-License-Identifier: Apache-2.0
"""The header as layers of scapy, against frames that are built byte by byte."""

from __future__ import annotations

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw, raw

from clarion_scapy import Clarion, ClarionAck, ClarionData, ClarionTag
from conformance import frames

TAGS = {
    "bucket": 777, "link_seq": 65535, "corrupt": 3, "congest": 40000, "rev_corrupt": 5, "rev_congest": 6,
}  # fmt: skip
SEGMENT = raw(TCP(sport=40001, dport=5201, chksum=0x1234))


@pytest.mark.parametrize("around", [frames.ipv4, frames.ipv6])
def test_takes_data_apart(around: object) -> None:
    word = (3 << 28) + (1 << 27) + 5  # 3.5 s, and hop 5 in the low bits
    header = frames.data(rtt=word, x=1 << 26, delta=-12345, reverse=0xFFFFFFFF, flags=0xB7, **TAGS)
    packet = Ether(around(header + SEGMENT))  # type: ignore[operator]
    found = packet[ClarionData]
    assert (found.rtt, found.field, found.x) == (3.5, 5, 0.25)
    assert (found.delta_throughput, found.reverse_feedback) == (-12345, 0xFFFFFFFF)
    assert (found.rev_field, found.regulated, found.hop, found.echo) == (5, 1, 3, 1)
    assert {name: getattr(found, name) for name in TAGS} == TAGS
    assert packet[TCP].dport == 5201


def test_takes_ack_and_tag_apart() -> None:
    packet = Ether(frames.ipv4(frames.ack(reverse=7, rev_corrupt=8, rev_congest=9, flags=1) + SEGMENT))
    found = packet[ClarionAck]
    assert (found.reverse_feedback, found.rev_corrupt, found.rev_congest, found.echo) == (7, 8, 9, 1)
    packet = Ether(frames.ipv4(frames.tag(**TAGS) + SEGMENT))
    assert {name: getattr(packet[ClarionTag], name) for name in TAGS} == TAGS
    assert packet[Clarion] is packet[ClarionTag]


@pytest.mark.parametrize(
    "header",
    [
        frames.data(rtt=0xFFFFFFFF, x=0xFFFFFFFF, delta=-(2**31), reverse=1, flags=0xFF, **TAGS),
        frames.data(),
        frames.ack(reverse=2**32 - 1, flags=0x81),
        frames.tag(**TAGS),
    ],
)
def test_what_is_taken_apart_is_built_again(header: bytes) -> None:
    packet = Clarion(header + SEGMENT)
    packet.clear_cache()
    for layer in (packet, packet[TCP]):
        layer.raw_packet_cache = None
    assert raw(packet) == header + SEGMENT


@pytest.mark.parametrize("ip", [IP(src="10.0.0.1", dst="10.0.0.2"), IPv6(src="fd00::1", dst="fd00::2")])
@pytest.mark.parametrize("transport", [TCP(sport=1, dport=2), UDP(sport=1, dport=2)])
def test_checksums_are_those_without_the_header(ip: Packet, transport: Packet) -> None:
    plain = type(ip)(raw(ip / transport / b"payload"))[type(transport)]
    tagged = type(ip)(raw(ip / ClarionTag(bucket=1) / transport / b"payload"))
    assert tagged[Clarion].next_protocol == (6 if isinstance(transport, TCP) else 17)
    assert tagged[type(transport)].chksum == plain.chksum != 0
    assert tagged[Raw].load == b"payload"


WHOLE = frames.tag(**TAGS) + SEGMENT


@pytest.mark.parametrize(
    "header",
    [
        b"",
        WHOLE[:11],
        frames.data()[:31],
        bytes([WHOLE[0], 15]) + WHOLE[2:],
        WHOLE[:2] + b"\x23" + WHOLE[3:],
        WHOLE[:2] + b"\x14" + WHOLE[3:],
    ],
)
def test_what_no_router_takes_for_a_header_is_raw(header: bytes) -> None:
    packet = Ether(frames.ipv4(header))
    assert not packet.haslayer(Clarion)
    assert raw(packet[IP].payload) == header
