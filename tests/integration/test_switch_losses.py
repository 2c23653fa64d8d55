# SPDX-License-Identifier: Apache-2.0
"""Losses of the embedded switch by cause, compared with its truth log; hostile frames."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from builds import sanitised
from integration.switch_net import Json, Network, Switch, one_switch, switch
from integration.waiting import wait_until

pytestmark = pytest.mark.root

TRUTH_COLUMNS = (
    "time_us,switch,port,direction,cause,bytes,proto,src,sport,dst,dport,tcp_seq,payload_bytes,format,bucket"
)


@pytest.fixture
def two() -> Iterator[Network]:
    network = Network(2)
    yield network
    network.close()


def send(network: Network, count: int, length: int, running: Switch) -> int:
    """Sends experimental frames from the first host to the second; the number that arrives."""
    near, far = network.hosts
    handed_over = 0
    for sent in range(1, count + 1):
        near.raw.send(near.frame(far.mac, length))
        if sent % 500 == 0 or sent == count:
            handed_over = running.pass_on("p1", "p2", sent)
    return len(far.received(handed_over))


def lost(running: Switch, cause: str, direction: str, length: int) -> int:
    """Truth log lines of frames with this length."""
    return sum(
        (line["cause"], line["direction"], line["bytes"]) == (cause, direction, str(length))
        for line in running.truth()
    )


# Bounds are five standard deviations, sqrt(n p (1 - p)), around n p.
@pytest.mark.parametrize(
    ("options", "direction", "length", "low", "high"),
    [
        ({"loss": {"model": "packet", "rate": 0.02}}, "out", 200, 300, 500),  # 400, sigma 19.8
        ({"ingress_loss": {"model": "packet", "rate": 0.02}}, "in", 200, 300, 500),
        ({"loss": {"model": "bit", "rate": 1e-5}}, "out", 100, 80, 240),  # 1-(1-1e-5)^800 = 0.00797: 159
        ({"loss": {"model": "bit", "rate": 1e-5}}, "out", 1000, 1350, 1725),  # 0.0769: 1538, sigma 37.7
        # p / (p + r) = 0.02 / 0.52 = 0.0385: 769; bursts widen sigma to about 46
        ({"loss": {"model": "gilbert-elliott", "p": 0.02, "r": 0.5}}, "out", 200, 540, 1000),
    ],
)
def test_losses_follow_the_model_and_the_log_knows_each(
    two: Network, tmp_path: Path, options: Json, direction: str, length: int, low: int, high: int
) -> None:
    ports = ({}, options) if direction == "out" else (options, {})
    with switch(tmp_path, one_switch(*ports, seed=3)) as running:
        arrived = send(two, 20_000, length, running)
        port = running.ports()["p2" if direction == "out" else "p1"]
        counted = port["wire_lost_packets" if direction == "out" else "ingress_lost_packets"]
        assert running.ports()["p1"]["rx_kernel_drops"] == 0
    assert low <= 20_000 - arrived <= high
    assert lost(running, "wire", direction, length) == 20_000 - arrived
    assert counted == sum(line["cause"] == "wire" for line in running.truth())


def test_the_same_seed_loses_the_same_frames(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    document = one_switch({"ingress_loss": {"model": "packet", "rate": 0.3}}, {}, seed=11)
    runs = []
    for _ in range(2):
        with switch(tmp_path, document) as running:
            for number in range(200):
                near.raw.send(near.frame(far.mac, 100, struct.pack("!I", number)))
            frames = far.received(running.pass_on("p1", "p2", 200))
        runs.append([struct.unpack("!I", frame[14:18])[0] for frame in frames])
    assert runs[0] == runs[1]
    assert 100 <= len(runs[0]) <= 180


def test_queue_drops_the_tail_by_bytes(two: Network, tmp_path: Path) -> None:
    # 300 frames of 1000 bytes at once, 800 kbit/s (10 ms each), room for 20 of them.
    near, far = two.hosts
    with switch(tmp_path, one_switch({}, {"rate_bps": 800_000, "queue_bytes": 20_000})) as running:
        start = time.monotonic()
        for _ in range(300):
            near.raw.send(near.frame(far.mac, 1000))
        wait_until(lambda: running.ports()["p1"]["rx_packets"] == 300, "frames at the switch")
        took_ms = 1000 * (time.monotonic() - start)
        arrived = len(far.received(running.pass_on("p1", "p2", 300)))
        port = running.ports()["p2"]
        edges = running.command(cmd="info")["queue_hist_lower_edges_bytes"]
    assert port["drop_packets"] == 300 - arrived
    assert port["drop_bytes"] == 1000 * (300 - arrived)
    assert lost(running, "queue", "out", 1000) == 300 - arrived
    assert 21 <= arrived <= 22 + took_ms / 10  # 20 queued, one on the link, and those that left meanwhile
    assert 19_000 < port["queue_max_bytes"] <= 20_000
    times_us = port["queue_hist"]
    # From full to empty 20 to 1 frames wait for 10 ms each. A busy machine may sample it late: three
    # quarters.
    assert sum(times_us[1:]) >= 0.75 * 200_000
    assert port["queue_byte_us"] >= 0.75 * 1000 * 10_000 * sum(range(1, 21))
    # The histogram holds the same bytes and times, to within the widths of its bins and 1 us each.
    least = sum(time_us * edge for time_us, edge in zip(times_us, edges, strict=False))
    most = sum((time_us + 1) * (edge - 1) for time_us, edge in zip(times_us, edges[1:], strict=False))
    assert least <= port["queue_byte_us"] <= most


def test_truth_log_names_the_flow(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    ip = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 60, 0, 0, 64, 253, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    )
    tag_header = struct.pack("!BBBBHHHHHH", 6, 16, 0x13, 0, 777, 1, 0, 0, 0, 0)
    tcp = struct.pack("!HHIIBBHHH", 40000, 5001, 123456789, 0, 0x50, 0x10, 0, 0, 0) + b"data"
    packet = far.mac + near.mac + b"\x08\x00" + ip + tag_header + tcp
    with switch(tmp_path, one_switch({}, {"loss": {"model": "packet", "rate": 1}})) as running:
        near.raw.send(packet)
        wait_until(lambda: running.ports()["p2"]["wire_lost_packets"] >= 1, "lost frame")
    assert running.truth_path.read_text().splitlines()[0] == TRUTH_COLUMNS
    (line,) = [line for line in running.truth() if line["format"] == "3"]
    del line["time_us"]
    assert ",".join(line.values()) == ("s1,p2,out,wire,74,6,10.0.0.1,40000,10.0.0.2,5001,123456789,4,3,777")


def hostile_frames(rng: random.Random, near: bytes, far: bytes) -> Iterator[bytes]:
    """Frames of every length: noise, cut-off IP and malformed Clarion headers, never a valid one."""
    for length in range(14, 1601):
        head = far + near
        kind = length % 4
        body = rng.randbytes(length - 14)
        if kind == 0:
            yield head + b"\x88\xb5" + body
            continue
        if kind == 1:
            ip = struct.pack("!BBHHHBBH8s", 0x45, 0, length - 14, 0, 0, 64, 253, 0, rng.randbytes(8))
            bad = struct.pack("!BBBB", 6, 32, rng.choice([0x01, 0x21, 0x10, 0x14, 0x1F]), 0)
            yield (head + b"\x08\x00" + ip + bad + body)[:length]
        elif kind == 2:
            ip = struct.pack("!IHBB32s", 6 << 28, length - 54 & 0xFFFF, 253, 64, rng.randbytes(32))
            yield (
                head + b"\x86\xdd" + ip + struct.pack("!BBBB", 6, rng.choice([0, 11, 33]), 0x11, 0) + body
            )[:length]
        else:
            # The IP length is too short for a header.
            ip = struct.pack(
                "!BBHHHBBH8s", 0x45, 0, 20 + rng.randrange(12), 0, 0, 64, 253, 0, rng.randbytes(8)
            )
            yield (head + b"\x08\x00" + ip + struct.pack("!BBBB", 6, 12, 0x12, 0) + body)[:length]


@pytest.mark.beside
@pytest.mark.slow
@pytest.mark.timeout(1200)  # most of it for the compiler
def test_hostile_frames_pass_unchanged_under_sanitizers(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    everything: Json = {
        "rate_bps": 1_000_000_000,
        "queue_bytes": 100_000_000,
        "xcp": {"enabled": True},
        "tag": {"stamp": True, "check": True, "edge": True},
        "wire": "declared",
    }
    frames = list(hostile_frames(random.Random(5), near.mac, far.mac))
    catch_all = far.catch_all()
    received = []
    program = sanitised("switch/clarion-switch")
    with switch(tmp_path, one_switch(everything, everything), program) as running, catch_all:
        for start in range(0, len(frames), 100):
            for frame in frames[start : start + 100]:
                near.raw.send(frame)
            received += far.drain(catch_all, near.mac, len(frames[start : start + 100]))
        malformed = running.ports()["p1"]["malformed"]
    assert received == frames
    assert malformed > 700  # of the 1190 with protocol 253, those long enough for a header


@pytest.mark.slow
def test_wire_mode_changes_no_byte_of_a_valid_header(two: Network, tmp_path: Path) -> None:
    near, far = two.hosts
    catch_all = far.catch_all()
    ip = struct.pack("!BBHHHBBH8s", 0x45, 0, 20 + 32 + 20, 0, 0, 64, 253, 0, bytes(8))
    frames = [
        far.mac + near.mac + b"\x08\x00" + ip + bytes([6, 32, 0x11, 0]) + random.Random(i).randbytes(48)
        for i in range(300)
    ]
    with switch(tmp_path, one_switch({}, {"rate_bps": 100_000_000, "delay_us": 1000})), catch_all:
        for frame in frames:
            near.raw.send(frame)
        assert far.drain(catch_all, near.mac, len(frames)) == frames
