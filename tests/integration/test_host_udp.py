# SPDX-License-Identifier: Apache-2.0
"""Headers on UDP: on connected sockets whose program asks for them, and on nothing else."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from integration.header_socket import ECHO, NONE, REQUEST, HeaderSocket, Request
from integration.host_net import (
    PROTOCOL,
    Frame,
    Host,
    Pair,
    agent,
    counters,
    flow_at,
    header_of,
    inside,
    ip_protocol,
    stats,
    wait_for,
)

pytestmark = pytest.mark.root

PORTS = (7003, 7004)  # of a and b
DATA, ACK, TAG = 0x11, 0x12, 0x13  # version and format
FAMILIES = pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["ipv4", "ipv6"])
REQUESTED = Request(wanted=True, rtt=1 << 24, x=1 << 20, delta_throughput=5000, full_len=1200)


class Ends:
    """Sockets of both hosts, connected to each other."""

    def __init__(self, pair: Pair, family: int, tags: bool = True) -> None:
        self.a = HeaderSocket(pair.a, pair.b, family, PORTS, tags)
        self.b = HeaderSocket(pair.b, pair.a, family, (PORTS[1], PORTS[0]), tags)

    def close(self) -> None:
        self.a.close()
        self.b.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair.make("udp")
    yield made
    made.close()


@pytest.fixture
def box_pair() -> Iterator[Pair]:
    made = Pair.make("udpbox", middlebox=True)
    yield made
    made.close()


def pass_on(sender: HeaderSocket, receiver: HeaderSocket, carries: int, size: int = 1200) -> None:
    """One datagram, which arrives as it was sent."""
    payload = os.urandom(size)
    sender.send(carries, payload)
    assert receiver.socket.recv(65535) == payload


def headers(frames: list[Frame]) -> list[bytes]:
    return [header for header in map(header_of, frames) if header]


@FAMILIES
def test_headers_go_on_and_come_off_and_totals_come_back(pair: Pair, family: int) -> None:
    pair.attach("--wire")
    ends = Ends(pair, family)
    sniffer = pair.sniff(pair.a)
    ends.b.ask(ECHO)
    for size in (0, 1, 1200):
        pass_on(ends.a, ends.b, REQUEST, size)
        pass_on(ends.b, ends.a, ECHO, size)
    pass_on(ends.a, ends.b, NONE)
    there, back = flow_at(pair.a.netns, PORTS[0]), flow_at(pair.b.netns, PORTS[0])
    found = headers(sniffer.stop())
    ends.close()
    assert [header[:3] for header in found] == [bytes([socket.IPPROTO_UDP, 16, TAG])] * 6
    assert [header[3] for header in found] == [0, 1, 1, 1, 1, 1]  # ECHO once something was heard
    assert (there["tx_headers"], there["rx_headers"]) == (3, 3)
    assert (back["tx_headers"], back["rx_headers"]) == (3, 3)
    for host, flow in ((pair.a, there), (pair.b, back)):
        assert flow["protocol"] == "udp"
        assert flow["family"] == ("ipv4" if family == socket.AF_INET else "ipv6")
        assert flow["src"] == host.address(family)
        assert flow["cc"] == ""
        assert counters(host.netns)["no_flow"] == counters(host.netns)["malformed"] == 0
    assert there["mode"] == "plain"  # what it sent last
    assert back["mode"] == "tag"
