# SPDX-License-Identifier: Apache-2.0
"""What a host believes, and of whom: wires, echoes, marks, its own queue, paths that lose headers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from integration.host_net import (
    AGENT,
    Frame,
    Pair,
    agent,
    checksum,
    counters,
    flow_at,
    header_of,
    packet_socket,
    transfer,
)
from integration.waiting import wait_until

pytestmark = pytest.mark.root

PORT = 7002
LLDP_GROUP = bytes.fromhex("0180c200000e")
TAG = 0x13  # version and format
REV_CONGEST_AT = 14  # in a TAG header
TCP_SEQ_AT, TCP_ACK_AT = 4, 8


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair.make("trust")
    yield made
    made.close()


@pytest.fixture
def box_pair() -> Iterator[Pair]:
    made = Pair.make("trustbox", middlebox=True)
    yield made
    made.close()


@pytest.fixture
def speaker() -> Iterator[subprocess.Popen[bytes]]:
    """`clarion-host lldp`, for every device attached."""
    process = subprocess.Popen([AGENT, "lldp"])
    yield process
    process.kill()
    process.wait()


def wire_of(netns: str) -> str:
    """What `list` says of the wire in front of the device of a namespace."""
    entries: list[dict[str, Any]] = json.loads(agent("list", "--json"))
    return next(str(entry["wire"]) for entry in entries if entry["netns"] == netns)


def every_40th_data_packet() -> Any:
    """For a middlebox: drops ten packets in all."""
    seen = 0

    def drops(frame: Frame) -> bool:
        nonlocal seen
        if len(frame) < 1000 or not header_of(frame):
            return False
        seen += 1
        return seen % 40 == 20 and seen <= 400

    return drops


def test_losses_of_a_wire_that_is_not_proven_are_no_corruption(box_pair: Pair) -> None:
    box_pair.attach("--cc", "clarion_xcp")
    box = box_pair.middlebox(every_40th_data_packet())
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(1_000_000))
    flow = flow_at(box_pair.a.netns, PORT)
    assert len(box.dropped) == 10
    assert flow["rev_corrupt"] == 0
    assert counters(box_pair.b.netns)["corrupt"] == 0
    assert flow["reductions"]["unexplained"] > 0


def test_neighbours_that_stamp_prove_a_wire_for_as_long_as_they_speak(
    pair: Pair, speaker: subprocess.Popen[bytes]
) -> None:
    pair.attach()
    for host in (pair.a, pair.b):
        wait_until(lambda netns=host.netns: wire_of(netns) == "proven")  # type: ignore[misc]
    os.kill(speaker.pid, signal.SIGKILL)  # no goodbye
    for host in (pair.a, pair.b):
        wait_until(lambda netns=host.netns: wire_of(netns) == "unproven")  # type: ignore[misc]


def test_a_speaker_that_ends_says_goodbye_and_leaves_the_declaration(
    pair: Pair, speaker: subprocess.Popen[bytes]
) -> None:
    pair.attach("--wire")
    wait_until(lambda: wire_of(pair.a.netns) == "proven")
    speaker.terminate()
    assert speaker.wait(20) == 0
    assert wire_of(pair.a.netns) == "declared"


@pytest.mark.usefixtures("speaker")
def test_a_bridge_on_a_declared_wire_is_a_conflict_and_its_losses_are_no_corruption(box_pair: Pair) -> None:
    """The middlebox speaks LLDP of its own, as a switch does."""
    box_pair.attach("--cc", "clarion_xcp", "--wire")
    tlvs = b"\x02\x07\x04\x02\0\0\0\0\x09" + b"\x04\x05\x05ge-1" + b"\x06\x02\0\x78" + b"\0\0"
    bridge = packet_socket(box_pair.names[2], "right")
    hello = (LLDP_GROUP + bytes.fromhex("020000000009") + b"\x88\xcc" + tlvs).ljust(60, b"\0")

    def is_conflict() -> bool:
        bridge.send(hello)
        return wire_of(box_pair.b.netns) == "conflict"

    wait_until(is_conflict)
    bridge.close()
    box_pair.middlebox(every_40th_data_packet())
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(1_000_000))
    assert flow_at(box_pair.a.netns, PORT)["rev_corrupt"] == 0
    assert counters(box_pair.b.netns)["corrupt"] == 0


def test_an_echo_counts_only_on_a_segment_that_tcp_would_accept(box_pair: Pair) -> None:
    """A stranger knows addresses and ports, but neither sequence nor acknowledgement numbers."""
    box_pair.attach("--cc", "reno")
    box_pair.middlebox(lambda frame: False)
    sniffer = box_pair.sniff(box_pair.a)
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(200_000))
    wait_until(lambda: flow_at(box_pair.a.netns, PORT)["rx_headers"] > 0)
    echo = [f for f in sniffer.stop() if header_of(f)[2:3] == bytes([TAG]) and f[26:30] == b"\x0a\x4d\0\x02"][
        -1
    ]
    stranger = packet_socket(box_pair.names[2], "left")
    for at in (TCP_SEQ_AT, TCP_ACK_AT):
        stranger.send(forged(echo, moved_at=at))
    wait_until(lambda: flow_at(box_pair.a.netns, PORT)["refused_segments"] == 2)
    assert flow_at(box_pair.a.netns, PORT)["rev_congest"] == 0
    stranger.send(forged(echo, moved_at=None))  # in both windows: only now it counts
    wait_until(lambda: flow_at(box_pair.a.netns, PORT)["rev_congest"] == 7)
    stranger.close()


def forged(echo: Frame, moved_at: int | None) -> Frame:
    """The frame with seven more drops in its echo, and a number of its segment far out of the window."""
    frame = bytearray(echo)
    header = 34
    frame[header + REV_CONGEST_AT : header + REV_CONGEST_AT + 2] = (7).to_bytes(2, "big")
    if moved_at is not None:
        at = header + frame[header + 1] + moved_at
        number = int.from_bytes(frame[at : at + 4], "big") + (1 << 30)
        frame[at : at + 4] = (number % (1 << 32)).to_bytes(4, "big")
    return bytes(frame)


@pytest.mark.parametrize("law", ["clarion_xcp", "clarion_boost", "clarion_fast"])
def test_a_mark_reduces_whatever_the_tags_say(box_pair: Pair, law: str) -> None:
    """The middlebox marks one data packet in a hundred of a flow that negotiated ECN."""
    for host in (box_pair.a, box_pair.b):
        host.execute("sysctl", "-qw", "net.ipv4.tcp_ecn=1")
    box_pair.attach("--cc", law, "--wire")
    box = box_pair.middlebox(lambda frame: False)
    seen = 0

    def mark(frame: Frame) -> Frame:
        nonlocal seen
        if len(frame) < 1000 or frame[15] & 3 != 2:  # ECT(0)
            return frame
        seen += 1
        return marked(frame) if seen % 100 == 50 else frame

    box.rewrites = mark
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(2_000_000))
    flow = flow_at(box_pair.a.netns, PORT)
    assert seen > 1000
    assert flow["reductions"]["ecn"] > 0
    assert flow["lost"] == 0


def marked(frame: Frame) -> Frame:
    """An IPv4 frame with the mark Congestion Experienced."""
    ip = bytearray(frame[14:34])
    ip[1] |= 3
    ip[10:12] = b"\0\0"
    ip[10:12] = checksum(bytes(ip)).to_bytes(2, "big")
    return frame[:14] + bytes(ip) + frame[34:]


def test_drops_of_the_own_queue_reduce_and_are_no_corruption(pair: Pair) -> None:
    pair.attach("--cc", "clarion_xcp", "--wire")
    shaper = ("root", "tbf", "rate", "50mbit", "burst", "10kb", "limit", "20kb")
    pair.a.execute("tc", "qdisc", "add", "dev", pair.a.device, *shaper)
    near, far = pair.flow(pair.a, pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(8_000_000))
    flow = flow_at(pair.a.netns, PORT)
    assert flow["local_drops"] > 0
    assert flow["reductions"]["local"] > 0
    assert flow["rev_corrupt"] == 0


def test_a_path_that_drops_long_headers_gets_the_flow_without(box_pair: Pair) -> None:
    """Packets of full size exceed its MTU with a header only; nothing says so."""
    box_pair.attach("--cc", "clarion_xcp", "--wire")
    box = box_pair.middlebox(lambda frame: len(frame) > 1514)
    near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
    transfer(near, far, os.urandom(300_000))
    flow = flow_at(box_pair.a.netns, PORT)
    assert flow["mode"] == "plain"
    assert len(box.dropped) < 60  # two windows and a probe, not the transfer
    box.drops = lambda frame: False  # the path is another one now
    for _ in range(200):
        transfer(near, far, os.urandom(50_000))
        if flow_at(box_pair.a.netns, PORT)["mode"] == "xcp":
            break
    assert flow_at(box_pair.a.netns, PORT)["mode"] == "xcp"


@pytest.mark.parametrize(
    ("law", "reason"), [("clarion_xcp", "unexplained"), ("clarion_stcp", "loss"), ("reno", "loss")]
)
def test_decisions_are_told_as_they_are_made(box_pair: Pair, law: str, reason: str) -> None:
    box_pair.attach("--cc", law)
    box_pair.middlebox(every_40th_data_packet())
    command = [str(AGENT), "decisions"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == {"watching": True}
        near, far = box_pair.flow(box_pair.a, box_pair.b, socket.AF_INET, PORT)
        transfer(near, far, os.urandom(1_000_000))
        told = json.loads(process.stdout.readline())
        process.terminate()
        assert process.wait(20) == 0
    assert told["cookie"] == flow_at(box_pair.a.netns, PORT)["cookie"]
    assert (told["law"], told["reason"]) == (law, reason)
    assert told["dport"] == PORT
    assert told["cwnd_after"] < told["cwnd_before"]
