# SPDX-License-Identifier: Apache-2.0
"""Every event vector holds on the block's units, through AXI4-Stream and AXI4-Lite.

The block accepts frames from 60 bytes on, as they come from a wire. Shorter ones in the vectors are padded;
where padding would change the result, the block's parser alone gets the unpadded frame.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from clarion_nic.driver import register_map as registers
from conformance import frames
from conformance.block.bench import Bench
from conformance.block.player import PORTS, BlockPlayer
from conformance.block.streams import padded
from conformance.reference import classify
from conformance.vectors import FOLDER, Line, event_of, expected_of, load

FILES = sorted(FOLDER.glob("*.jsonl"))

# Packets that wait while others join: their unit is plugged, and the plugs are queued as well.
PLUGGED = ("maxmin-switched-while-queued", "stamp-switched-while-queued", "xcp-switched-while-queued")
PLUG_BYTES = 8000
QUEUES = ("least_queue", "persistent_queue")

# Cut inside the IP header: padding would complete the header.
TOO_SHORT = {"ordinary": 2}


def judged_alike(frame: bytes) -> bool:
    """Whether the parser's result is the same for the padded frame."""
    (short, bad), (long, also_bad) = classify(frame, 253), classify(padded(frame), 253)
    return (short.format, short.at, short.fields, bad) == (long.format, long.at, long.fields, also_bad)


def playable(lines: list[Line], shift: int) -> tuple[list[Line], list[bytes]]:
    """Return a vector with padded frames and `shift` more bytes waiting, and the frames left out of it."""
    result: list[Line] = []
    too_short: list[bytes] = []
    slots: dict[int, bytes] = {}
    pads = dict.fromkeys(range(PORTS), 0)
    for line in lines:
        new = {**line, "expect": dict(line.get("expect", {}))}
        if line["op"] == "ingress":
            slots[line["slot"]] = bytes.fromhex(line["in"])
            new["in"] = padded(slots[line["slot"]]).hex()
        if line["op"] == "copy":
            slots[line["to"]] = slots[line["slot"]]
        elif "slot" in line and not judged_alike(slots[line["slot"]]):
            too_short += [slots[line["slot"]]] if line["op"] == "ingress" else []
            continue
        if line["op"] in ("enqueue", "dequeue"):
            new["queue"] += shift
            new["expect"] |= {n: line["expect"][n] + shift for n in QUEUES if n in line.get("expect", {})}
        if line["op"] == "enqueue":
            pads[line["port"]] += max(60 - len(slots[line["slot"]]), 0)
        if line["op"] == "dequeue":
            new["out"] = padded(bytes.fromhex(line["out"])).hex()
        if line["op"] == "state" and "input" in new["expect"]:
            new["expect"]["input"] += pads[line["port"]]
        result.append(new)
    return result, too_short


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vector(bench: Bench, path: Path) -> None:
    plugged = path.stem in PLUGGED
    lines, too_short = playable(load(path), PLUG_BYTES if plugged else 0)
    player = BlockPlayer(bench, plugged=(1,) if plugged else ())
    answers = player.play([event_of(line) for line in lines])
    for number, (line, answer) in enumerate(zip(lines, answers, strict=True), 2):
        expect = expected_of(line)
        assert {name: answer[name] for name in expect} == expect, f"event {number}"
    assert len(too_short) == TOO_SHORT.get(path.stem, 0)
    for frame in too_short:
        assert_parsed(bench, frame)


def assert_parsed(bench: Bench, frame: bytes) -> None:
    """The block's parser agrees with the reference."""
    packet, malformed = classify(frame, 253)
    tags = [packet.fields.get(n, 0) for n in ("bucket", "link_seq", "corrupt", "congest")]
    wishes = [packet.fields.get(n, 0) for n in ("rtt", "x", "delta_throughput")]
    expected = (packet.format, malformed, packet.at, *tags, *wishes)
    assert bench.parse(frame) == expected, frame.hex()


HEADERS = (
    frames.data(rtt=1000, x=10, delta=-5, bucket=3, link_seq=7, corrupt=1, congest=2),
    frames.ack(reverse=9),
    frames.tag(bucket=3, link_seq=7, corrupt=1, congest=2),
)


@pytest.mark.parametrize("builder", [frames.ipv4, frames.ipv6])
def test_frames_cut_at_every_length_are_parsed_alike(bench: Bench, builder: Callable[..., bytes]) -> None:
    for header in HEADERS:
        for vlan in (None, 7):
            whole = builder(header + bytes(8), vlan=vlan)
            for length in range(len(whole) + 1):
                assert_parsed(bench, whole[:length])


def test_random_and_damaged_frames_are_parsed_alike(bench: Bench) -> None:
    random = Random(1)
    for _ in range(500):
        assert_parsed(bench, random.randbytes(random.randrange(200)))
        frame = bytearray(
            frames.ipv4(random.choice(HEADERS) + bytes(20), options=bytes(4 * random.randrange(11)))
        )
        frame[random.randrange(12, 100) % len(frame)] = random.getrandbits(8)
        assert_parsed(bench, bytes(frame))


def test_what_is_out_of_range_is_refused(bench: Bench) -> None:
    bench.fresh(2, bump=True)
    ordinary = {"min_interval": 1, "max_interval": 1, "generation": 1}
    for wrong in (
        {"capacity": 2**38},
        {"alpha": 2**18},
        {"beta": 2**18},
        {"gamma": 2**32 - 1},
        {"min_interval": 0},
        {"min_interval": 2},
        {"generation": 0},
        {"generation": 3},
        {"generation": 2**32 - 1},
        {"queue_limit": 2**40},
        {"xcp": 2, "epoch": 1},
        {"stamp": 2},
        {"epoch": 256},
        {"xcp": 1},
    ):
        assert bench.ask(2, "configure", {**ordinary, **wrong}) == (2, {}), wrong
    for wrong in ({"check": 2, "epoch": 1}, {"edge": 2}, {"wire": 2}, {"epoch": 256}, {"check": 1}):
        assert bench.ask(0, "configure", wrong) == (2, {}), wrong
    assert not bench.write(registers.HEADER["type"].offset, 1)
    before = bench.ask(2, "read")[1]
    assert (before["xcp"], before["queue_limit"], before["alpha"]) == (0, 2**40 - 1, 26214)
    assert before["generation"] == 2
    for unit in (0, 2):
        assert bench.ask(unit, "read_bucket", {"bucket": 4096})[0] == 2
        assert bench.ask(unit, "read_bucket", {"bucket": 4095})[0] == 0
