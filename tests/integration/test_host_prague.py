# SPDX-License-Identifier: Apache-2.0
"""Prague on the kernel's TCP, through a switch with DualPI2."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from integration.host_net import AGENT, agent, run, transfer
from integration.switch_net import Host, Network, Switch, inside, one_switch, switch
from integration.waiting import PATIENCE_S, wait_until

HAS_ACCURATE_ECN = Path("/proc/sys/net/ipv4/tcp_ecn_option").exists()
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not HAS_ACCURATE_ECN, reason="needs accurate ECN (Linux 6.18)"),
]

PRAGUE = ("--cc", "clarion_prague", "--set", "prague_assume_accurate_ecn=1")
RATE_BPS = 20_000_000
BOTTLENECK = {
    "rate_bps": RATE_BPS,
    "delay_us": 10_000,
    "queue_bytes": 400_000,
    "discipline": {"name": "dual-pi2", "ecn": True},
}
PORT = 7103
NOT_ECT, ECT1, ECT0, CE = range(4)
DELIVERED_AT = 192  # in struct tcp_info; behind it how many of them were marked
WARM_UP_PACKETS, MEASURED_PACKETS = 5000, 8000  # at 1650 a second
PATIENT_S = 60.0


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network(2, ipv6=True)
    yield made
    for host in made.hosts:
        run(str(AGENT), "detach", "--netns", host.netns, "--dev", "eth0", check=False)
    made.close()


def attach(network: Network, *arguments: str) -> None:
    for host in network.hosts:
        host.inside("sysctl", "-qw", "net.ipv4.tcp_ecn=1")
        agent("attach", "--netns", host.netns, "--dev", "eth0", "--headroom", "route", *arguments)


def connect(network: Network, family: socket.AddressFamily) -> tuple[socket.socket, socket.socket]:
    """A connection of the first host to the second: both ends."""
    first, second = network.hosts
    address = second.ipv4 if family == socket.AF_INET else second.ipv6
    with inside(second.netns):
        listener = socket.socket(family, socket.SOCK_STREAM)
    with inside(first.netns):
        near = socket.socket(family, socket.SOCK_STREAM)
    with listener:
        listener.bind((address, PORT))
        listener.listen()
        listener.settimeout(PATIENCE_S)
        near.settimeout(PATIENCE_S)
        near.connect((address, PORT))
        far = listener.accept()[0]
    far.settimeout(PATIENCE_S)
    return near, far


def law_of(connection: socket.socket) -> str:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def delivered(connection: socket.socket) -> tuple[int, int]:
    """Packets delivered, and how many of them were marked."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, DELIVERED_AT + 8)
    packets, marked = struct.unpack_from("II", info, DELIVERED_AT)
    return packets, marked


def ecn_of(frame: bytes) -> int:
    return (frame[15] if frame[12:14] == b"\x08\x00" else frame[15] >> 4) & 3


def captured_ecn(sender: Host, receiver: Host, send: Callable[[], None]) -> dict[int, int]:
    """How many full packets of `send` had each value of the field."""
    with receiver.catch_all() as catching:
        send()
        frames = [frame for frame in receiver.drain(catching, sender.mac, 1) if len(frame) > 1000]
    return {value: sum(ecn_of(frame) == value for frame in frames) for value in range(4)}


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_its_packets_go_by_the_low_latency_queue(
    network: Network, tmp_path: Path, family: socket.AddressFamily
) -> None:
    attach(network, *PRAGUE)
    sender, receiver = network.hosts
    with switch(tmp_path, one_switch({}, BOTTLENECK)):
        near, far = connect(network, family)
        with near, far:
            assert (law_of(near), law_of(far)) == ("clarion_prague", "clarion_prague")
            found = captured_ecn(sender, receiver, lambda: transfer(near, far, os.urandom(1_000_000)))
    assert found[ECT1] > 100
    assert found[ECT0] == found[NOT_ECT] == 0


def test_without_accurate_ecn_it_is_reno(network: Network, tmp_path: Path) -> None:
    """It does not know its marks: its packets are no guests of the low-latency queue."""
    attach(network, "--cc", "clarion_prague")
    sender, receiver = network.hosts
    with switch(tmp_path, one_switch({}, BOTTLENECK)):
        near, far = connect(network, socket.AF_INET)
        with near, far:
            assert (law_of(near), law_of(far)) == ("reno", "reno")
            found = captured_ecn(sender, receiver, lambda: transfer(near, far, os.urandom(1_000_000)))
    assert found[ECT0] > 100
    assert found[ECT1] == 0


class Measured(NamedTuple):
    """What a flow did behind its start."""

    utilisation: float
    queue_ms: float
    delivered: int
    counted: int  # marks that the sender knows of
    marked: int  # by the port


def measure(network: Network, running: Switch) -> Measured:
    near, far = connect(network, socket.AF_INET)
    stop = threading.Event()
    chunk = bytes(1 << 16)

    def send() -> None:
        while not stop.is_set():
            near.sendall(chunk)
        near.shutdown(socket.SHUT_WR)

    def receive() -> None:
        while far.recv(1 << 20):
            pass

    threads = [threading.Thread(target=send), threading.Thread(target=receive)]
    for thread in threads:
        thread.start()
    wait_until(lambda: delivered(near)[0] > WARM_UP_PACKETS, "its start", PATIENT_S)
    begin_s, begin, packets, counted = time.monotonic(), running.ports()["p2"], *delivered(near)
    wait_until(lambda: delivered(near)[0] > packets + MEASURED_PACKETS, "what is measured", PATIENT_S)
    end_s, end, packets_after, counted_after = time.monotonic(), running.ports()["p2"], *delivered(near)
    stop.set()
    for thread in threads:
        thread.join()
    near.close()
    far.close()
    passed_s = end_s - begin_s
    queue_bytes = (end["queue_byte_us"] - begin["queue_byte_us"]) / (passed_s * 1e6)
    return Measured(
        utilisation=(end["tx_bytes"] - begin["tx_bytes"]) * 8 / passed_s / RATE_BPS,
        queue_ms=queue_bytes * 8e3 / RATE_BPS,
        delivered=packets_after - packets,
        counted=counted_after - counted,
        marked=end["marked_packets"] - begin["marked_packets"],
    )


def test_it_keeps_the_queue_far_below_renos(network: Network, tmp_path: Path) -> None:
    with switch(tmp_path, one_switch({}, BOTTLENECK)) as running:
        attach(network, "--cc", "reno")
        reno = measure(network, running)
        attach(network, *PRAGUE)
        prague = measure(network, running)
    assert prague.utilisation > 0.7
    assert prague.queue_ms < 4
    assert prague.queue_ms < reno.queue_ms / 2
    # Reno meets a mark now and then, Prague two per round trip or more, each of which is reported.
    assert prague.marked > 5 * max(reno.marked, 1)
    assert prague.marked <= 1.1 * prague.counted
    assert prague.counted < prague.delivered / 2
