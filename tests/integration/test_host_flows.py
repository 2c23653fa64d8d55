# SPDX-License-Identifier: Apache-2.0
"""Flows between attached hosts: header on the wire, payload, awareness, fallback."""

from __future__ import annotations

import fcntl
import itertools
import os
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator

import pytest

from integration.host_net import (
    OPTION,
    PROTOCOL,
    Frame,
    Host,
    Pair,
    checksum,
    counters,
    flow_at,
    header_of,
    inside,
    ip_protocol,
    is_syn,
    stats,
    tcp_flags,
    tcp_payload_bytes,
    transfer,
)
from integration.waiting import wait_until

pytestmark = pytest.mark.root

FAMILIES = [socket.AF_INET, socket.AF_INET6]
PORT = 7001
SND_CWND_AT = 80  # in struct tcp_info


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair.make("flow")
    yield made
    made.close()


@pytest.fixture
def box_pair() -> Iterator[Pair]:
    made = Pair.make("box", middlebox=True)
    yield made
    made.close()


@pytest.mark.parametrize("family", FAMILIES, ids=["ipv4", "ipv6"])
def test_both_directions_carry_headers_and_payload(pair: Pair, family: int) -> None:
    """One host opens, both send; each frame with payload that is seen carries a TAG header."""
    pair.attach("--cc", "cubic")
    sniffer = pair.sniff(pair.a)
    near, far = pair.flow(pair.a, pair.b, family, PORT)
    payload = os.urandom(1_000_000)
    transfer(near, far, payload)
    transfer(far, near, payload)
    near.close()
    far.close()
    frames = sniffer.stop()

    headers = [header for header in map(header_of, frames) if header]
    assert len(headers) >= 2 * 1_000_000 // 1448  # 691 full segments each way
    assert {header[:3] for header in headers} == {bytes([socket.IPPROTO_TCP, 16, 0x13])}  # TCP, 16 B, v1 TAG
    assert max(len(frame) for frame in frames) == 14 + 1500 + 16
    tcp = [frame for frame in frames if ip_protocol(frame) == socket.IPPROTO_TCP]
    # SYN, SYN-ACK and the ACK that ends the handshake. The remains of a closed socket acknowledge a late FIN.
    assert [tcp_flags(frame) for frame in tcp[:3]] == [0x02, 0x12, 0x10]
    assert [OPTION in frame for frame in tcp[:3]] == [True, True, False]
    assert [(tcp_flags(frame), tcp_payload_bytes(frame)) for frame in tcp[3:]] in ([], [(0x10, 0)])
    for host in (pair.a, pair.b):
        wait_until(lambda host=host: flow_at(host.netns, PORT)["closed"])  # type: ignore[misc]
        flow = flow_at(host.netns, PORT)
        assert flow["aware"]
        assert flow["mode"] == "tag"
        assert flow["cc"] == "cubic"
        assert flow["family"] == ("ipv4" if family == socket.AF_INET else "ipv6")
        assert flow["rev_corrupt"] == flow["rev_congest"] == flow["rx_corrupt"] == 0
        assert flow["tx_headers"] > 691
        assert counters(host.netns)["malformed"] == counters(host.netns)["too_big"] == 0


def test_both_ends_send_at_once(pair: Pair) -> None:
    pair.attach()
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    there, back = os.urandom(3_000_000), os.urandom(3_000_000)
    other = threading.Thread(target=transfer, args=(far, near, back))
    other.start()
    transfer(near, far, there)
    other.join(timeout=60)
    assert not other.is_alive()
    for host in (pair.a, pair.b):
        assert counters(host.netns)["corrupt"] == 0
        assert flow_at(host.netns, PORT)["rev_corrupt"] == 0
    near.close()
    far.close()


def test_rate_feedback_uses_data_and_ack_headers(pair: Pair) -> None:
    """clarion_xcp puts requests on payload, in DATA; the receiver echoes grants on pure ACKs, in ACK."""
    pair.attach("--cc", "clarion_xcp")
    sniffer = pair.sniff(pair.a)
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(300_000))
    mode = flow_at(pair.a.netns, PORT)["mode"]
    near.close()
    far.close()
    headers = [header for header in map(header_of, sniffer.stop()) if header]
    assert mode == "xcp"
    formats = {header[2]: len(header) for header in headers}
    assert formats[0x11] == 32
    first = next(header for header in headers if header[2] == 0x11)
    rtt, x = (int.from_bytes(first[at : at + 4], "big") for at in (4, 8))
    assert rtt & 7 == 0  # no hop is known to limit the flow
    assert rtt > 0
    assert rtt // 10 <= x <= (rtt + 7) // 10  # a full packet of the initial window, which is ten
    assert formats[0x12] == 12
    assert any(header[3] & 1 for header in headers if header[2] == 0x12)  # the echo flag


def window_after(pair: Pair, packets: int, port: int) -> int:
    """Packets of the window once the first ones of a flow are acknowledged."""
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, port)
    transfer(near, far, os.urandom(packets * 1400))
    wait_until(lambda: not struct.unpack("I", fcntl.ioctl(near, termios.TIOCOUTQ, bytes(4)))[0])
    (window,) = struct.unpack_from(
        "I", near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), SND_CWND_AT
    )
    assert isinstance(window, int)
    return window


def test_a_first_window_that_is_full_is_not_limited_by_the_application(pair: Pair) -> None:
    """The kernel marks all packets of it as if it were; believed, each start loses two round trips. Where a
    busy machine makes the handshake long, the flow is paced so slowly that ACKs return before the last packet
    has left, which is marked by other rules: another flow, then.
    """
    pair.attach("--cc", "clarion_xcp")
    ports = itertools.count(PORT)
    wait_until(lambda: window_after(pair, 5, next(ports)) == 10)
    wait_until(lambda: window_after(pair, 10, next(ports)) > 15)


def test_another_law_withdraws_the_request_for_a_rate(pair: Pair) -> None:
    """The release callback: a congestion control of the kernel cannot withdraw the request itself."""
    pair.attach("--cc", "clarion_xcp")
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(100_000))
    assert flow_at(pair.a.netns, PORT)["mode"] == "xcp"
    near.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    assert flow_at(pair.a.netns, PORT)["mode"] == "tag"
    transfer(near, far, os.urandom(100_000))


def test_tags_off_needs_no_header(pair: Pair) -> None:
    pair.attach("--cc", "reno", "--tags", "off")
    sniffer = pair.sniff(pair.a)
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(100_000))
    near.close()
    far.close()
    frames = sniffer.stop()
    assert not any(map(header_of, frames))
    tcp = [frame for frame in frames if ip_protocol(frame) == socket.IPPROTO_TCP]
    assert sum(map(tcp_payload_bytes, tcp)) >= 100_000
    flow = flow_at(pair.a.netns, PORT)
    assert flow["aware"]
    assert flow["mode"] == "plain"


def test_ipv4_options_stay_in_front_of_the_header(pair: Pair) -> None:
    """A socket with IP options (three NOPs, end of list): they go out, and arrive, before the header."""
    pair.attach()
    sniffer = pair.sniff(pair.a)
    with pair.b.listen(socket.AF_INET, PORT) as listener, inside(pair.a.netns):
        near = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        near.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\1\1\1\0")
        near.connect((pair.b.ip4, PORT))
        far, _ = listener.accept()
    with near, far:
        transfer(near, far, os.urandom(100_000))
        transfer(far, near, os.urandom(100_000))
    frames = [frame for frame in sniffer.stop() if header_of(frame) and frame[26:30] == b"\x0a\x4d\0\1"]
    assert len(frames) > 69  # 100000 / 1444
    assert {frame[34:38] for frame in frames} == {b"\1\1\1\0"}
    assert {frame[38:41] for frame in frames} == {bytes([socket.IPPROTO_TCP, 16, 0x13])}
    assert counters(pair.b.netns)["malformed"] == counters(pair.b.netns)["no_headroom"] == 0


@pytest.mark.parametrize("opener", ["a", "b"])
def test_peer_without_the_header_gets_plain_tcp(box_pair: Pair, opener: str) -> None:
    """Only host a is attached. No header goes out, and no SYN is sent twice."""
    box_pair.a.attach()
    box_pair.middlebox(lambda frame: False)
    sniffer = box_pair.sniff(box_pair.a)
    client, server = (box_pair.a, box_pair.b) if opener == "a" else (box_pair.b, box_pair.a)
    near, far = box_pair.flow(client, server, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(200_000))
    transfer(far, near, os.urandom(200_000))
    near.close()
    far.close()
    frames = sniffer.stop()
    assert not any(map(header_of, frames))
    assert sum(map(is_syn, frames)) == 1
    assert not flow_at(box_pair.a.netns, PORT)["aware"]


def test_fourth_syn_goes_without_the_option(box_pair: Pair) -> None:
    """A middlebox drops every SYN with an unknown option."""
    box_pair.attach()
    box = box_pair.middlebox(lambda frame: is_syn(frame) and OPTION in frame)
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(50_000))
    near.close()
    far.close()
    assert len(box.dropped) == 3
    assert not flow_at(box_pair.a.netns, PORT)["aware"]
    assert not flow_at(box_pair.b.netns, PORT)["aware"]


def test_reflected_option_agrees_to_nothing(box_pair: Pair) -> None:
    """Host b has no shim, and a middlebox copies the SYN's option into its SYN-ACK, with its marks."""
    box_pair.a.attach()
    box = box_pair.middlebox(lambda frame: False)
    box.rewrites = reflect_option
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(50_000))
    assert not flow_at(box_pair.a.netns, PORT)["aware"]
    assert flow_at(box_pair.a.netns, PORT)["tx_headers"] == 0


def reflect_option(frame: Frame) -> Frame:
    """An IPv4 SYN-ACK with the option of a SYN that left through a shim; other frames unchanged."""
    if ip_protocol(frame) != socket.IPPROTO_TCP or frame[47] & 0x12 != 0x12:
        return frame
    ip, tcp = bytearray(frame[14:34]), bytearray(frame[34:] + OPTION + b"\1\1\1\1")  # LEFT, three NOPs
    ip[2:4] = (len(ip) + len(tcp)).to_bytes(2, "big")
    ip[10:12] = b"\0\0"
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
    tcp[12] += 2 << 4  # eight bytes longer
    tcp[16:18] = b"\0\0"
    pseudo = bytes(ip[12:20]) + bytes([0, socket.IPPROTO_TCP]) + len(tcp).to_bytes(2, "big")
    tcp[16:18] = checksum(pseudo + bytes(tcp)).to_bytes(2, "big")
    return frame[:14] + bytes(ip) + bytes(tcp)


def test_black_holed_headers_fall_back(box_pair: Pair) -> None:
    """After the handshake the path loses every packet with a header, so the flow becomes plain."""
    box_pair.attach()
    box_pair.middlebox(lambda frame: ip_protocol(frame) == PROTOCOL)
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(20_000))
    flow = flow_at(box_pair.a.netns, PORT)
    assert flow["aware"]
    assert flow["plain_fallbacks"] == 1
    assert flow["mode"] == "plain"
    near.close()
    far.close()


def test_refused_headers_fall_back(pair: Pair) -> None:
    """Host b's MTU falls to 1500: a's device refuses full packets with a header, the flow becomes plain."""
    pair.attach()
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    pair.b.ip("link", "set", pair.b.device, "mtu", "1500")
    started = time.monotonic()
    transfer(near, far, os.urandom(100_000))
    assert time.monotonic() - started < 10
    flow = flow_at(pair.a.netns, PORT)
    assert flow["aware"]
    assert flow["plain_fallbacks"] == 1
    assert flow["mode"] == "plain"


def test_wire_losses_reach_the_sender(box_pair: Pair) -> None:
    """The middlebox loses ten data packets; the receiver's check finds them and echoes them to the sender."""
    box_pair.attach("--cc", "reno", "--wire")
    seen = 0

    def drops(frame: Frame) -> bool:
        nonlocal seen
        if len(frame) < 1000 or not header_of(frame):
            return False
        seen += 1
        return seen % 40 == 20 and seen <= 400  # the 20th, 60th, ... 380th of 400: ten

    box = box_pair.middlebox(drops)
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(1_000_000))  # 691 full segments
    wait_until(lambda: flow_at(box_pair.a.netns, PORT)["rev_corrupt"] == 10)
    assert len(box.dropped) == 10
    assert flow_at(box_pair.a.netns, PORT)["rev_congest"] == 0
    assert flow_at(box_pair.b.netns, PORT)["rx_corrupt"] == 10
    assert counters(box_pair.b.netns)["corrupt"] == 10
    assert counters(box_pair.a.netns)["corrupt"] == 0
    near.close()
    far.close()


def test_detach_keeps_a_live_connection(pair: Pair) -> None:
    """Host b loses its shim in the middle: host a's headers now reach a host that drops them."""
    pair.attach()
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(100_000))
    pair.b.detach()
    started = time.monotonic()
    transfer(near, far, os.urandom(100_000))
    transfer(far, near, os.urandom(100_000))
    assert time.monotonic() - started < 15
    assert flow_at(pair.a.netns, PORT)["plain_fallbacks"] == 1
    near.close()
    far.close()


def test_only_flows_through_an_attached_device_are_aware(pair: Pair) -> None:
    """Both hosts have a second link without shim; flows over it, and over loopback, stay plain."""
    a, b = pair.a.netns, pair.b.netns
    pair.a.ip("link", "add", "eth1", "type", "veth", "peer", "name", "eth1", "netns", b)
    for netns, address in ((a, "10.78.0.1"), (b, "10.78.0.2")):
        host = pair.a if netns == a else pair.b
        host.ip("address", "add", f"{address}/24", "dev", "eth1")
        host.ip("link", "set", "eth1", "up")
    pair.attach()
    second = Host(b, "eth1", "10.78.0.2", "::")
    sniffers = [pair.sniff(second), pair.sniff(Host(a, "lo", pair.a.ip4, pair.a.ip6))]
    near, far = pair.flow(pair.a, second, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(100_000))
    local, peer = pair.flow(pair.a, pair.a, socket.AF_INET, PORT + 1)
    transfer(local, peer, os.urandom(100_000))
    for end in (near, far, local, peer):
        end.close()
    for sniffer in sniffers:
        frames = [frame for frame in sniffer.stop() if ip_protocol(frame) == socket.IPPROTO_TCP]
        assert sum(map(tcp_payload_bytes, frames)) >= 100_000
    assert not any(header_of(frame) for sniffer in sniffers for frame in sniffer.frames)
    flows = [flow for flow in stats() if flow["netns"] in (a, b)]
    assert len(flows) == 4
    assert not any(flow["aware"] for flow in flows)


@pytest.mark.slow
def test_two_hundred_flows(pair: Pair) -> None:
    """All are aware, each has its own bucket, and every byte arrives."""
    count, size = 200, 50_000
    pair.attach("--cc", "clarion_xcp")
    payload = os.urandom(size)
    failures: list[BaseException] = []
    with pair.b.listen(socket.AF_INET, PORT, backlog=count) as listener:

        def serve(connection: socket.socket) -> None:
            with connection:
                data = b""
                while len(data) < size:
                    chunk = connection.recv(1 << 16)
                    assert chunk
                    data += chunk
                connection.sendall(data)

        def accept() -> None:
            for _ in range(count):
                connection, _ = listener.accept()
                connection.settimeout(60)
                threading.Thread(target=serve, args=(connection,)).start()

        def echo() -> None:
            try:
                with pair.a.connect(pair.b, socket.AF_INET, PORT) as connection:
                    connection.settimeout(60)
                    connection.sendall(payload)
                    data = b""
                    while len(data) < size:
                        chunk = connection.recv(1 << 16)
                        assert chunk
                        data += chunk
                    assert data == payload
            except BaseException as error:
                failures.append(error)

        server = threading.Thread(target=accept)
        clients = [threading.Thread(target=echo) for _ in range(count)]
        server.start()
        for thread in clients:
            thread.start()
        for thread in [*clients, server]:
            thread.join(timeout=120)
            assert not thread.is_alive()
    assert failures == []
    flows = [flow for flow in stats() if flow["netns"] == pair.a.netns and flow["dport"] == PORT]
    assert len(flows) == count
    assert all(flow["aware"] and flow["mode"] == "xcp" for flow in flows)
