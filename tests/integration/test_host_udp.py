# SPDX-License-Identifier: Apache-2.0
"""Headers on UDP: on connected sockets whose program asks for them, and on nothing else."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.header_socket import ECHO, NONE, REQUEST, HeaderSocket, Request
from integration.host_net import (
    Frame,
    Pair,
    checksum,
    counters,
    flow_at,
    header_of,
    inside,
    ip_protocol,
    packet_socket,
    stats,
)
from integration.switch_net import switch
from integration.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.root

PORTS = (7003, 7004)  # of a and b
DATA, ACK, TAG = 0x11, 0x12, 0x13  # version and format
FAMILIES = pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["ipv4", "ipv6"])
SOURCE_ADDRESS_AT, SOURCE_PORT_AT = 29, 14 + 20 + 16 + 1  # last bytes, of a frame with TAG
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


@FAMILIES
def test_a_request_goes_in_data_and_its_grant_comes_back_in_ack(pair: Pair, family: int) -> None:
    pair.attach()
    ends = Ends(pair, family, tags=False)
    sniffer = pair.sniff(pair.b)
    ends.b.ask(ECHO)
    ends.a.ask(REQUEST, REQUESTED)
    for _ in range(2):
        pass_on(ends.a, ends.b, REQUEST)
        pass_on(ends.b, ends.a, ECHO)
    data, ack = headers(sniffer.stop())[-2:]
    flow = flow_at(pair.a.netns, PORTS[0])
    ends.close()
    assert (data[0], data[2], ack[0], ack[2]) == (socket.IPPROTO_UDP, DATA, socket.IPPROTO_UDP, ACK)
    frame_bytes = 14 + (20 if family == socket.AF_INET else 40) + 32 + 8 + 1200
    delta = 5000 * frame_bytes // REQUESTED.full_len
    assert struct.unpack_from("!Ii", data, 4)[0] == REQUESTED.rtt
    assert struct.unpack_from("!i", data, 12)[0] == delta  # nothing on the way grants less
    assert struct.unpack_from("!I", ack, 4)[0] == 2 * delta
    assert flow["mode"] == "xcp"


def test_ipv4_options_stay_in_front_of_the_header(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    ends.a.socket.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\1\1\1\0")
    sniffer = pair.sniff(pair.b)
    pass_on(ends.a, ends.b, REQUEST)
    (frame,) = [frame for frame in sniffer.stop() if header_of(frame)]
    ends.close()
    assert frame[34:41] == b"\1\1\1\0" + bytes([socket.IPPROTO_UDP, 16, TAG])


def test_a_socket_of_both_families_carries_headers_on_ipv4(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    ends.b.close()
    pair.b.ip6 = f"::ffff:{pair.b.ip4}"
    pair.a.ip6 = f"::ffff:{pair.a.ip4}"
    dual = HeaderSocket(pair.b, pair.a, socket.AF_INET6, (PORTS[1], PORTS[0]))
    dual.ask(ECHO)
    pass_on(ends.a, dual, REQUEST)
    pass_on(dual, ends.a, ECHO)
    flow = flow_at(pair.b.netns, PORTS[0])
    ends.a.close()
    dual.close()
    assert flow["family"] == "ipv4"
    assert (flow["tx_headers"], flow["rx_headers"]) == (1, 1)


def test_other_datagrams_are_untouched(pair: Pair) -> None:
    """Of a socket that asks for nothing, of one not connected, and of one that asks but sends elsewhere."""
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    with inside(pair.a.netns):
        plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with inside(pair.b.netns):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.settimeout(PATIENCE_S)
    server.bind((pair.b.ip4, 53))
    sniffer = pair.sniff(pair.b)
    ends.a.ask(REQUEST)
    ends.a.socket.sendto(b"stray", (pair.b.ip4, 53))
    assert server.recv(100) == b"stray"
    plain.sendto(b"question", (pair.b.ip4, 53))
    question, client = server.recvfrom(100)
    server.sendto(b"answer", client)
    assert (question, plain.recv(100)) == (b"question", b"answer")
    plain.connect((pair.b.ip4, 53))
    plain.send(b"again")
    assert server.recv(100) == b"again"
    frames = [frame for frame in sniffer.stop() if ip_protocol(frame) == socket.IPPROTO_UDP]
    for end in (plain, server, ends):
        end.close()
    assert len(frames) == 4
    assert not any(map(header_of, sniffer.frames))
    assert counters(pair.a.netns)["tx_headers"] == counters(pair.b.netns)["rx_headers"] == 0
    assert not [flow for flow in stats() if flow["netns"] == pair.a.netns]


def test_a_header_for_a_socket_that_asks_for_nothing_comes_off(pair: Pair) -> None:
    """And for one that asks but is not connected: it hears anyone."""
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    pass_on(ends.a, ends.b, REQUEST)
    assert counters(pair.b.netns)["no_flow"] == 1
    ends.b.close()
    ends.b = HeaderSocket(pair.b, None, socket.AF_INET, (PORTS[1], 0))
    ends.b.ask(ECHO)
    pass_on(ends.a, ends.b, REQUEST)
    assert counters(pair.b.netns)["no_flow"] == 2
    assert not [flow for flow in stats() if flow["netns"] == pair.b.netns]
    ends.close()


def test_an_ask_for_another_namespace_counts_for_nothing(pair: Pair) -> None:
    """A veth pair may carry packets of another namespace with their socket."""
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    ends.a.cookies[0] += 1
    pass_on(ends.a, ends.b, REQUEST)
    assert counters(pair.a.netns)["tx_headers"] == 0
    ends.a.cookies[0] -= 1
    pass_on(ends.a, ends.b, REQUEST)
    assert counters(pair.a.netns)["tx_headers"] == 1
    ends.close()


def test_datagrams_to_be_segmented_go_plain_and_are_counted(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    ends.a.ask(REQUEST)
    ends.a.socket.setsockopt(socket.IPPROTO_UDP, 103, 1000)  # UDP_SEGMENT
    ends.a.socket.send(os.urandom(3000))
    received = [ends.b.socket.recv(65535) for _ in range(3)]
    flow = flow_at(pair.a.netns, PORTS[0])
    ends.close()
    assert [len(datagram) for datagram in received] == [1000] * 3
    assert (flow["gso_passed"], flow["tx_headers"]) == (1, 0)


def test_only_the_peer_is_believed(box_pair: Pair) -> None:
    """A stranger with another port or address changes nothing; with the peer's he is the peer."""
    box_pair.attach()
    box_pair.middlebox(lambda frame: False)
    ends = Ends(box_pair, socket.AF_INET)
    ends.b.ask(ECHO)
    sniffer = box_pair.sniff(box_pair.a)
    pass_on(ends.a, ends.b, REQUEST)
    pass_on(ends.b, ends.a, ECHO)
    (echo,) = [f for f in sniffer.stop() if header_of(f) and f[26:30] == socket.inet_aton(box_pair.b.ip4)]
    stranger = packet_socket(box_pair.names[2], "left")
    stranger.send(forged(echo, SOURCE_PORT_AT))
    stranger.send(forged(echo, SOURCE_ADDRESS_AT))
    wait_until(lambda: counters(box_pair.a.netns)["no_flow"] == 2)
    assert flow_at(box_pair.a.netns, PORTS[0])["rx_headers"] == 1
    stranger.send(echo)
    wait_until(lambda: flow_at(box_pair.a.netns, PORTS[0])["rx_headers"] == 2)
    stranger.close()
    ends.close()


def test_a_guard_tells_the_peer_from_who_has_its_address(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    ends.b.guard = b"secret"
    ends.b.ask(ECHO)
    for refused, payload in enumerate((b"sec", b"Secret and", b"secre" + bytes(100)), 1):
        ends.a.send(REQUEST, payload)
        assert ends.b.socket.recv(2000) == payload
        flow = flow_at(pair.b.netns, PORTS[0])
        assert (flow["rx_headers"], flow["refused_segments"]) == (0, refused)
    ends.a.send(REQUEST, b"secret and more")
    assert ends.b.socket.recv(2000) == b"secret and more"
    assert flow_at(pair.b.netns, PORTS[0])["rx_headers"] == 1
    assert counters(pair.b.netns)["refused"] == 3
    ends.close()


def forged(echo: Frame, at: int) -> Frame:
    """The frame with another byte, and its IPv4 checksum."""
    ip = bytearray(echo)
    ip[at] ^= 0x40
    ip[24:26] = b"\0\0"
    ip[24:26] = checksum(bytes(ip[14:34])).to_bytes(2, "big")
    return bytes(ip)


def test_wire_losses_reach_the_sender(box_pair: Pair) -> None:
    box_pair.attach("--wire")
    seen = 0

    def drops(frame: Frame) -> bool:
        nonlocal seen
        seen += bool(header_of(frame)) and len(frame) > 1000
        return len(frame) > 1000 and seen % 40 == 20

    box = box_pair.middlebox(drops)
    ends = Ends(box_pair, socket.AF_INET)
    pass_on(ends.b, ends.a, REQUEST, 100)
    pass_on(ends.a, ends.b, REQUEST, 100)
    pass_on(ends.b, ends.a, ECHO, 100)  # the first echo, from which later ones are counted
    for number in range(400):
        ends.a.send(REQUEST, bytes(1200))
        if (number + 1) % 40 != 20:
            ends.b.socket.recv(2000)
    pass_on(ends.b, ends.a, ECHO, 100)
    assert len(box.dropped) == 10
    assert flow_at(box_pair.a.netns, PORTS[0])["rev_corrupt"] == 10
    assert flow_at(box_pair.a.netns, PORTS[0])["rev_congest"] == 0
    assert flow_at(box_pair.b.netns, PORTS[0])["rx_corrupt"] == 10
    ends.close()


def test_drops_of_the_own_queue_are_counted_with_header_only(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    pass_on(ends.a, ends.b, REQUEST)
    shaper = ("root", "tbf", "rate", "1mbit", "burst", "2kb", "limit", "4kb")
    pair.a.execute("tc", "qdisc", "add", "dev", pair.a.device, *shaper)
    for carries in (NONE, REQUEST):
        before = flow_at(pair.a.netns, PORTS[0])["local_drops"]
        for _ in range(50):
            ends.a.send(carries, bytes(1200))
        drops = flow_at(pair.a.netns, PORTS[0])["local_drops"] - before
        assert (drops > 20) == (carries == REQUEST), drops
    ends.close()


def test_without_a_shim_at_the_peer_only_what_has_a_header_is_lost(pair: Pair) -> None:
    pair.a.attach()
    ends = Ends(pair, socket.AF_INET)
    pass_on(ends.a, ends.b, NONE)  # who waits for ARP leaves as is asked when he leaves
    ends.a.send(REQUEST, b"probe")
    ends.a.send(NONE, b"plain")
    assert ends.b.socket.recv(100) == b"plain"
    assert flow_at(pair.a.netns, PORTS[0])["tx_headers"] == 1
    ends.close()


def test_a_closed_socket_leaves_no_flow(pair: Pair) -> None:
    pair.attach()
    ends = Ends(pair, socket.AF_INET)
    pass_on(ends.a, ends.b, REQUEST)
    assert [flow["protocol"] for flow in stats() if flow["netns"] == pair.a.netns] == ["udp"]
    ends.close()
    wait_until(lambda: not [flow for flow in stats() if flow["netns"] == pair.a.netns])


def arrived(receiver: HeaderSocket) -> int:
    """Datagrams that wait for the receiver; takes them."""
    receiver.socket.setblocking(False)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while receiver.socket.recv(2000):
            count += 1
    receiver.socket.settimeout(PATIENCE_S)
    return count


def test_a_switch_grants_and_says_what_its_links_and_queues_lose(box_pair: Pair, tmp_path: Path) -> None:
    """An embedded switch between the hosts, whose queue overflows, and behind it a wire that loses."""
    box_pair.attach("--wire")
    tag = {"stamp": True, "check": True, "edge": True}
    lossy = {"loss": {"model": "packet", "rate": 0.05}, "rate_bps": 20_000_000, "queue_bytes": 20_000}
    ports = [
        {"name": "left", "netdev": "left", "tag": tag, "wire": "declared"},
        {"name": "right", "netdev": "right", "tag": tag, "xcp": {"enabled": True}, **lossy},
    ]
    document = {"switches": [{"name": "s1", "ports": ports}]}
    ends = Ends(box_pair, socket.AF_INET)
    ends.b.ask(ECHO)
    ends.a.ask(REQUEST, REQUESTED)
    with switch(tmp_path, document, netns=box_pair.names[2]) as running:

        def send(count: int) -> int:
            """How many arrived, after the last has either arrived or been lost."""
            sent = running.ports()["left"]["rx_packets"] + count
            for _ in range(count):
                ends.a.send(REQUEST, bytes(1200))
            running.pass_on("left", "right", sent)
            return arrived(ends.b)

        def send_one_through() -> int:
            """How many were lost before."""
            before = 0
            while not send(1):
                before += 1
            return before

        send_one_through()  # later ones are counted from the first that arrives and is echoed
        pass_on(ends.b, ends.a, ECHO, 100)
        lost = sum(100 - send(100) for _ in range(5)) + send_one_through()
        pass_on(ends.b, ends.a, ECHO, 100)
        flow = flow_at(box_pair.a.netns, PORTS[0])
    ends.close()
    assert flow["rev_congest"] > 100
    assert flow["rev_corrupt"] > 0
    assert flow["rev_congest"] + flow["rev_corrupt"] == lost
    assert flow["regulated"]
