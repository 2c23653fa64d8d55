# SPDX-License-Identifier: Apache-2.0
"""Ports that are routers of VCP or of Quick-Start, between real devices and with hosts of the kernel.

Load does not depend on when the test runs: an earlier port with a rate of its own empties a burst onto
the port in question, in the virtual time of the switch.
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

import pytest

from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build
from clarion_lab.scenario.topology import plan, switch_config
from integration.host_net import checksum
from integration.switch_net import SO_RCVBUFFORCE, Host, Json, Network, inside, switch
from integration.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.root

FRAME_BYTES = 500
UDP_PORT = 4009
TCP_PORT = 4080
IP_AT, TOS_AT = 14, 15  # in an Ethernet frame


@pytest.fixture
def two() -> Iterator[Network]:
    network = Network(2)
    yield network
    network.close()


def chain(*links: Json) -> Json:
    """Switches s1, s2, ... in a row between two hosts; the i-th link begins at port r<i> of s<i>."""
    last = len(links)
    return {
        "switches": [
            {"name": f"s{i}", "ports": [
                {"name": f"l{i}", **({"netdev": "csw-1"} if i == 1 else {"peer": f"s{i - 1}:r{i - 1}"})},
                {"name": f"r{i}", **({"netdev": "csw-2"} if i == last else {"peer": f"s{i + 1}:l{i + 1}"}),
                 **link}]}
            for i, link in enumerate(links, 1)
        ]
    }  # fmt: skip


def of_scenario(router: Json) -> Json:
    """What the engine `emu` gives its switch for a scenario with such routers, between the test's hosts."""
    scenario = {
        "description": "two hosts",
        "topology": "dumbbell",
        "algorithm": "cubic",
        "router": router,
        "links": {
            "access": {"rtt": "2 ms"},
            "bottleneck": {"rate": "2 Mbit/s", "rtt": "10 ms", "queue": "1 MB"},
        },
        "flows": [{"count": 1}],
        "duration": "10 s",
    }
    built = build("two", documents.points("two", scenario)[0].document)
    config = switch_config(built, plan(built), "")
    outer = [port for each in config["switches"] for port in each["ports"] if "netdev" in port]
    for port, netdev in zip(outer, ("csw-1", "csw-2"), strict=True):
        port["netdev"] = netdev
    return {"switches": config["switches"]}


def ipv4_frame(
    near: Host, far: Host, protocol: int, payload: bytes, ecn: int = 0, ttl: int = 64, options: bytes = b""
) -> bytes:
    """A packet of one host to the other, with the checksum of its header."""
    header_bytes = 20 + len(options)
    ends = socket.inet_aton(near.ipv4) + socket.inet_aton(far.ipv4)
    first = struct.pack(
        "!BBHHHBB", 0x40 | header_bytes // 4, ecn, header_bytes + len(payload), 7, 0, ttl, protocol
    )
    sum_ = struct.pack("!H", checksum(first + b"\0\0" + ends + options))
    return far.mac + near.mac + b"\x08\x00" + first + sum_ + ends + options + payload


# VCP


class Sent(NamedTuple):
    """A frame of the burst: what it is, the code that its sender gave it, and its place in the burst."""

    kind: str  # ipv4, ipv6 or other
    code: int
    number: int

    def frame(self, near: Host, far: Host, code: int) -> bytes:
        """All of it, as it is with that code; only an IP packet has one."""
        if self.kind == "other":
            return near.frame(far.mac, FRAME_BYTES, struct.pack("!I", self.number))
        header_bytes = 20 if self.kind == "ipv4" else 40
        udp_bytes = FRAME_BYTES - IP_AT - header_bytes
        udp = struct.pack("!HHHHI", 4000, UDP_PORT, udp_bytes, 0, self.number).ljust(udp_bytes, b"\0")
        if self.kind == "ipv4":
            return ipv4_frame(near, far, socket.IPPROTO_UDP, udp, ecn=code)
        ends = socket.inet_pton(socket.AF_INET6, near.ipv6) + socket.inet_pton(socket.AF_INET6, far.ipv6)
        first = struct.pack("!IHBB", 6 << 28 | code << 20, udp_bytes, socket.IPPROTO_UDP, 64)
        return far.mac + near.mac + b"\x86\xdd" + first + ends + udp


KINDS = [*((kind, code) for kind in ("ipv4", "ipv6") for code in range(4)), ("other", 0)]
BURST = [Sent(kind, code, number) for number, (kind, code) in enumerate(islice(cycle(KINDS), 450))]

VCP_RATE_BPS = 2_000_000
VCP = {"law": "vcp", "interval_us": 50_000, "sample_us": 5_000}
# The port knows the load of a whole interval after two of them. It sends 25 of these frames in one.
SETTLED = 60


def raised(sent: Sent, code: int) -> int:
    """What a port that says `code` makes of a packet's code (VCP, section 3.1)."""
    return 0 if sent.code == 0 else max(sent.code, code)


@contextmanager
def tos_reader(host: Host) -> Iterator[socket.socket]:
    """A UDP socket that hears the TOS byte; the kernel drops packets whose header has a wrong checksum.

    Without it the host would answer the burst with ICMP, and ask for an address first.
    """
    with host.udp(socket.AF_INET, UDP_PORT) as reading:
        reading.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        reading.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
        yield reading


def tos_of_next(reading: socket.socket) -> int:
    """The TOS byte of the next datagram."""
    _, ancillary, _, _ = reading.recvmsg(2048, 64)
    return next(
        data[0] for level, kind, data in ancillary if (level, kind) == (socket.IPPROTO_IP, socket.IP_TOS)
    )


def send_burst(near: Host, far: Host) -> None:
    for sent in BURST:
        near.raw.send(sent.frame(near, far, sent.code))


# Of an interval's 12 250 bytes (98 % of the rate) a feed of 1 Mbit/s brings 12 or 13 frames, one of
# 1.8 Mbit/s 22 or 23; one of 3 Mbit/s 37 or 38 while it lasts, and a queue that counts by half.
@pytest.mark.parametrize(
    ("feed_bps", "least_load", "most_load", "code"),
    [(1_000_000, 0.48, 0.54, 1), (1_800_000, 0.89, 0.95, 2), (3_000_000, 1.2, 4, 3)],
    ids=["low", "high", "overload"],
)
def test_vcp_packets_leave_with_the_code_of_the_load(
    two: Network, tmp_path: Path, feed_bps: int, least_load: float, most_load: float, code: int
) -> None:
    near, far = two.hosts
    document = chain({"rate_bps": feed_bps}, {"rate_bps": VCP_RATE_BPS, "router": VCP})
    with switch(tmp_path, document) as running, far.catch_all() as catching, tos_reader(far) as reading:
        assert running.ports()["r2"]["router"] == {"law": "vcp", "load": 0, "standing_queue_bytes": 0}
        send_burst(near, far)
        wait_until(
            lambda: least_load <= running.ports()["r2"]["router"]["load"] <= most_load, "load of the feed"
        )
        arrived = far.drain(catching, near.mac, len(BURST))
        told = [tos_of_next(reading) for sent in BURST if sent.kind == "ipv4"]
        ports = running.ports()
    assert ports["l1"]["rx_kernel_drops"] == 0
    assert (ports["r2"]["router"]["standing_queue_bytes"] > 0) == (code == 3)
    assert len(arrived) == len(BURST)
    for sent, frame in zip(BURST, arrived, strict=True):
        possible = [code] if sent.number >= SETTLED else range(1, code + 1)
        assert frame in [sent.frame(near, far, raised(sent, of_port)) for of_port in possible], sent
    assert told == [frame[TOS_AT] for sent, frame in zip(BURST, arrived, strict=True) if sent.kind == "ipv4"]


def test_the_most_loaded_vcp_port_of_the_path_has_the_word(two: Network, tmp_path: Path) -> None:
    # The burst waits at the first port, so that this is overloaded; the second has five times its rate.
    near, far = two.hosts
    document = chain(
        *({"rate_bps": rate_bps, "router": VCP} for rate_bps in (VCP_RATE_BPS, 5 * VCP_RATE_BPS))
    )
    with switch(tmp_path, document) as running, far.catch_all() as catching, tos_reader(far):
        send_burst(near, far)
        wait_until(lambda: running.ports()["r1"]["router"]["load"] > 1, "overload")
        arrived = far.drain(catching, near.mac, len(BURST))
        second = running.ports()["r2"]["router"]
    assert len(arrived) == len(BURST)
    assert 0 < second["load"] < 0.8
    for sent, frame in islice(zip(BURST, arrived, strict=True), SETTLED, None):
        assert frame == sent.frame(near, far, raised(sent, 3))


def test_vcp_ports_of_a_scenario(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    document = of_scenario({"law": "vcp", "interval": "50 ms", "sample": "5 ms"})
    with switch(tmp_path, document) as running, far.catch_all() as catching, tos_reader(far):
        send_burst(near, far)
        arrived = far.drain(catching, near.mac, len(BURST))
        ports = running.ports()
    assert ports["s1-right"]["router"]["load"] > 1
    assert ports["s2-left"]["router"]["load"] == 0  # the way back
    assert len(arrived) == len(BURST)
    for sent, frame in islice(zip(BURST, arrived, strict=True), SETTLED, None):
        assert frame == sent.frame(near, far, raised(sent, 3))


def test_a_restart_forgets_the_load(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    document = chain({"rate_bps": 3_000_000}, {"rate_bps": VCP_RATE_BPS, "router": VCP})
    with switch(tmp_path, document) as running, far.catch_all() as catching, tos_reader(far) as reading:
        send_burst(near, far)
        assert len(far.drain(catching, near.mac, len(BURST))) == len(BURST)
        before = running.ports()["r2"]["router"]  # nothing comes and no timer runs, so it stays
        assert before["load"] > 1
        assert before["standing_queue_bytes"] > 0
        assert running.command(cmd="restart", switch="s2") == {"ok": True}
        assert running.ports()["r2"]["router"] == {"law": "vcp", "load": 0, "standing_queue_bytes": 0}
        for _ in range(sum(sent.kind == "ipv4" for sent in BURST)):
            tos_of_next(reading)
        near.raw.send(Sent("ipv4", 1, 0).frame(near, far, 1))
        assert tos_of_next(reading) == 1


# Quick-Start

QUICK_START = {"law": "quick-start", "interval_us": 60_000_000}  # a test is over in one interval
NONCE = 0x2B5A_C3E1  # any 30 bits
QS_TTL = 77
SHARE = 0.85  # of the rate, the default


class Option(NamedTuple):
    """The Quick-Start option of IPv4 (RFC 4782, section 3.1)."""

    rate: int  # 40 kbit/s times two to this; 0: none
    ttl: int = QS_TTL
    nonce: int = NONCE
    function: int = 0  # a request

    def to_bytes(self) -> bytes:
        return struct.pack("!BBBBI", 25, 8, self.function << 4 | self.rate, self.ttl, self.nonce << 2)

    @classmethod
    def of(cls, frame: bytes) -> Option:
        kind, length, rate, ttl, nonce = struct.unpack_from("!BBBBI", frame, IP_AT + 20)
        assert (kind, length, nonce & 3) == (25, 8, 0)
        return cls(rate & 15, ttl, nonce >> 2, rate >> 4)


REFUSED = Option(0, 0, 0)


def taken_nonce(asked: int, approved: int) -> int:
    """The bits of the steps between both rates: two for each, those of the lowest step last (3.4)."""
    return sum(3 << 2 * (step - 1) for step in range(approved + 1, asked + 1))


def bps(rate: int) -> int:
    return 40_000 << rate if rate else 0


def syn(near: Host, far: Host, option: Option | None, ttl: int = 64) -> bytes:
    """A SYN that asks, or does not."""
    ends = socket.inet_aton(near.ipv4) + socket.inet_aton(far.ipv4)
    tcp = struct.pack("!HHIIBBHHH", 4001, TCP_PORT, 1, 0, 5 << 4, 2, 65535, 0, 0)
    sum_ = checksum(ends + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", sum_) + tcp[18:]
    return ipv4_frame(
        near, far, socket.IPPROTO_TCP, tcp, ttl=ttl, options=option.to_bytes() if option else b""
    )


def next_syn(catching: socket.socket, sender: Host, flags: int = 0x02) -> bytes:
    """The next TCP frame from that host with these of the flags SYN and ACK; others are passed over."""
    while select.select([catching], [], [], PATIENCE_S)[0]:
        frame = catching.recv(65535)
        tcp_at = IP_AT + 4 * (frame[IP_AT] & 15)
        is_tcp = frame[12:14] == b"\x08\x00" and frame[IP_AT + 9] == socket.IPPROTO_TCP
        if is_tcp and frame[6:12] == sender.mac and frame[tcp_at + 13] & 0x12 == flags:
            return frame
    raise AssertionError("no such segment came")


class Asking:
    """Sends SYNs from the first host and sees them arrive at the second."""

    def __init__(self, network: Network, catching: socket.socket) -> None:
        self.near, self.far = network.hosts
        self.catching = catching

    def arrives(self, option: Option | None, ttl: int = 64) -> bytes:
        self.near.raw.send(syn(self.near, self.far, option, ttl))
        return next_syn(self.catching, self.near)

    def ask(self, rate: int, routers: int = 1, aware: int = 1) -> int:
        """The rate that is left of a request; all else of the packet must be as the RFC says."""
        arrived = self.arrives(Option(rate))
        option = Option.of(arrived)
        assert arrived == syn(self.near, self.far, option, 64 - routers)  # with its checksums
        if option.rate == 0:
            assert option == REFUSED
        else:
            assert option.rate <= rate
            assert (option.ttl, option.function) == (QS_TTL - aware, 0)
            assert (option.nonce ^ NONCE) & ~taken_nonce(rate, option.rate) == 0
        return option.rate


def test_quick_start_gives_what_is_free_until_nothing_is(two: Network, tmp_path: Path) -> None:
    rate_bps = 10_000_000
    document = chain({"rate_bps": rate_bps, "router": QUICK_START})
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        asking = Asking(two, catching)
        assert asking.ask(5) == 5  # of 8.5 Mbit/s 1.28; what is approved is no longer free
        assert asking.ask(15) == 7  # of 7.22 Mbit/s 5.12
        assert asking.ask(6) == 5  # of 2.1 Mbit/s 1.28
        assert asking.ask(5) == 4  # of 0.82 Mbit/s 0.64
        assert asking.ask(3) == 2  # of 0.18 Mbit/s 0.16
        assert asking.ask(1) == 0  # 0.08 are more than the rest
        port = running.ports()["r1"]
    approved_bps = sum(bps(rate) for rate in (5, 7, 5, 4, 2))
    used_bps = 8 * port["tx_bytes"] / 60
    assert port["router"] == {
        "law": "quick-start",
        "requests": 6,
        "approved": 5,
        "available_bps": pytest.approx(SHARE * rate_bps - approved_bps - used_bps),
    }


def test_the_nonce_of_steps_taken_is_random_and_the_rest_is_kept(two: Network, tmp_path: Path) -> None:
    # The sender can so tell whether a host claims a higher rate than was approved.
    document = chain({"rate_bps": 1_000_000_000, "router": {**QUICK_START, "share": 0.001}})
    with switch(tmp_path, document), two.hosts[1].catch_all() as catching:
        asking = Asking(two, catching)
        first, second = (Option.of(asking.arrives(Option(14))) for _ in range(2))
    assert (first.rate, second.rate) == (4, 3)  # of 1 Mbit/s 0.64, of the rest 0.32
    for option in (first, second):
        assert option.nonce != NONCE
        assert (option.nonce ^ NONCE) & ~taken_nonce(14, option.rate) == 0
    assert first.nonce & taken_nonce(14, 4) != second.nonce & taken_nonce(14, 4)


def test_each_quick_start_port_of_the_path_lowers_the_rate_and_both_ttls(
    two: Network, tmp_path: Path
) -> None:
    document = chain(*({"rate_bps": rate_bps, "router": QUICK_START} for rate_bps in (10_000_000, 1_000_000)))
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        assert (
            Asking(two, catching).ask(15, routers=2, aware=2) == 4
        )  # the first leaves 7, the second 0.64 of 0.85
        ports = running.ports()
    for port, approved, rate_bps in (("r1", 7, 10_000_000), ("r2", 4, 1_000_000)):
        router = ports[port]["router"]
        assert (router["requests"], router["approved"]) == (1, 1)
        assert router["available_bps"] == pytest.approx(SHARE * rate_bps - bps(approved), abs=100)


@pytest.mark.parametrize("aware", [(True, False), (False, True)], ids=["first", "second"])
def test_a_port_that_is_not_aware_shows_in_the_ttls(
    two: Network, tmp_path: Path, aware: tuple[bool, bool]
) -> None:
    document = chain(*({"rate_bps": 2_000_000, "router": {**QUICK_START, "aware": knows}} for knows in aware))
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        assert Asking(two, catching).ask(6, routers=2, aware=1) == 5
        ports = running.ports()
    for port, knows in zip(("r1", "r2"), aware, strict=True):
        router = ports[port]["router"]
        assert (router["requests"], router["approved"]) == (int(knows), int(knows))


def test_what_one_port_refused_no_other_is_asked(two: Network, tmp_path: Path) -> None:
    shares = (0.0, 0.85)
    document = chain(
        *({"rate_bps": 2_000_000, "router": {**QUICK_START, "share": share}} for share in shares)
    )
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        assert Asking(two, catching).ask(1, routers=2) == 0
        ports = running.ports()
    assert [ports[port]["router"]["requests"] for port in ("r1", "r2")] == [1, 0]
    assert ports["r1"]["router"]["approved"] == 0


def test_what_asks_for_nothing_is_not_answered(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    report = Option(5, function=8)
    with switch(tmp_path, chain({"rate_bps": 2_000_000, "router": QUICK_START})) as running:
        with far.catch_all() as catching:
            asking = Asking(two, catching)
            assert asking.arrives(report) == syn(near, far, report, 63)  # of the rate that was approved
            assert asking.arrives(None) == syn(near, far, None)
        assert running.ports()["r1"]["router"]["requests"] == 0


# Of 2 Mbit/s 1.7 may be given away. In 50 ms at most 12 or 23 frames of a feed come: 0.96 or 1.84 Mbit/s.
@pytest.mark.parametrize(
    ("feed_bps", "approved"), [(0, 5), (900_000, 4), (1_800_000, 0)], ids=["idle", "half", "full"]
)
def test_quick_start_leaves_what_is_used_to_those_who_use_it(
    two: Network, tmp_path: Path, feed_bps: int, approved: int
) -> None:
    near, far = two.hosts
    router = {**QUICK_START, "interval_us": 50_000}
    document = chain({"rate_bps": feed_bps}, {"rate_bps": 2_000_000, "router": router})
    with switch(tmp_path, document) as running, far.catch_all() as catching:
        if feed_bps:
            send_burst(near, far)
        assert Asking(two, catching).ask(15) == approved
        figures = running.ports()["r2"]["router"]
    assert (figures["requests"], figures["approved"]) == (1, int(approved > 0))


def test_quick_start_ports_of_a_scenario(two: Network, tmp_path: Path) -> None:
    document = of_scenario({"law": "quick-start", "interval": "60 s", "share": "50 %"})
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        assert Asking(two, catching).ask(15) == 4  # of 1 Mbit/s 0.64
        ports = running.ports()
    assert [ports[port]["router"]["approved"] for port in ("s1-right", "s2-left")] == [1, 0]


def test_an_approval_that_nobody_used_is_free_again(two: Network, tmp_path: Path) -> None:
    router = {**QUICK_START, "interval_us": 1_000_000}
    document = chain({"rate_bps": 2_000_000, "router": router})
    with switch(tmp_path, document), two.hosts[1].catch_all() as catching:
        asking = Asking(two, catching)
        assert asking.ask(5) == 5
        assert asking.ask(5) < 5
        wait_until(lambda: asking.ask(5) == 5, "the approval is forgotten")


def test_a_restart_forgets_approvals(two: Network, tmp_path: Path) -> None:
    document = chain({"rate_bps": 2_000_000, "router": QUICK_START})
    with switch(tmp_path, document) as running, two.hosts[1].catch_all() as catching:
        asking = Asking(two, catching)
        assert [asking.ask(15), asking.ask(5)] == [5, 3]
        assert running.command(cmd="restart", switch="s1") == {"ok": True}
        forgotten = {"law": "quick-start", "requests": 0, "approved": 0, "available_bps": 1_700_000}
        assert running.ports()["r1"]["router"] == forgotten
        assert asking.ask(5) == 5


@pytest.mark.parametrize(("share", "approved"), [(0.85, 7), (0.0, 0)], ids=["approved", "refused"])
def test_a_connection_of_the_kernel_opens_with_the_option(
    two: Network, tmp_path: Path, share: float, approved: int
) -> None:
    # A kernel sends the option as IP_OPTIONS of a socket. None answers it, so the start is an ordinary one.
    near, far = two.hosts
    document = chain({"rate_bps": 10_000_000, "router": {**QUICK_START, "share": share}})
    with switch(tmp_path, document) as running, far.catch_all() as at_far, near.catch_all() as at_near:
        with inside(far.netns):
            listening = socket.create_server((far.ipv4, TCP_PORT))
        with inside(near.netns):
            client = socket.socket()
        with listening, client:
            client.settimeout(PATIENCE_S)
            listening.settimeout(PATIENCE_S)
            client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, Option(8).to_bytes())
            client.connect((far.ipv4, TCP_PORT))
            client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"")
            server, _ = listening.accept()
            with server:
                server.settimeout(PATIENCE_S)
                assert server.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40) == b""
                assert_talks(client, server)
        request, answer = next_syn(at_far, near), next_syn(at_near, far, flags=0x12)
        router = running.ports()["r1"]["router"]
    option = Option.of(request)
    assert (request[IP_AT + 8], option.rate) == (63, approved)
    assert option.ttl == (QS_TTL - 1 if approved else 0)
    assert answer[IP_AT] == 0x45  # a header without options
    assert 27 not in tcp_option_kinds(answer)
    assert router["requests"] >= 1
    assert (router["approved"] >= 1) == (approved > 0)


def assert_talks(one: socket.socket, other: socket.socket) -> None:
    """Some data goes both ways."""
    for sender, receiver in ((one, other), (other, one)):
        sent = bytes(range(256)) * 200
        sender.sendall(sent)
        got = b""
        while len(got) < len(sent):
            part = receiver.recv(65536)
            assert part, "the connection has ended"
            got += part
        assert got == sent


def tcp_option_kinds(frame: bytes) -> list[int]:
    """The options of a segment whose IP header has none."""
    tcp = frame[IP_AT + 20 :]
    options, kinds = tcp[20 : 4 * (tcp[12] >> 4)], []
    while options and options[0] != 0:
        kinds.append(options[0])
        options = options[1 if options[0] == 1 else options[1] :]
    return kinds
