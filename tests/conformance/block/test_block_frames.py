# SPDX-License-Identifier: Apache-2.0
"""Every length and every place of the header, damaged frames one by one and what follows them, resets."""

from __future__ import annotations

import itertools
import struct
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from conformance import frames
from conformance.block.bench import MAX_BYTES, MIN_BYTES, Bench, Damage, Sent, command
from conformance.block.conftest import BUCKETS, DATA, driver
from conformance.block.model import told
from conformance.block.scenario import Scenario
from conformance.block.streams import Streams, padded

LIMIT = 2**40 - 1
XCP = {"xcp": 1, "stamp": 1, "epoch": 1, "capacity": 12_500_000, "alpha": 26214, "beta": 14811, "gamma": 6554}
INTERVALS = {"min_interval": 300_000, "max_interval": 300_000, "queue_limit": LIMIT}
GENERATIONS = ({"generation": 1}, {"generation": 2})  # of the two ports
LENGTHS = [*range(MIN_BYTES, 1601), 2047, 2048, 2049, 4096, 9000, 9535, 9536, 9537, 9599, 9600]


def carriers() -> Iterator[Callable[[bytes], bytes]]:
    """Yield a frame for every place of a Clarion header, endlessly."""
    places: list[Callable[[bytes], bytes]] = []
    for vlan in (None, 9):
        places.append(partial(frames.ipv6, vlan=vlan))
        places += [partial(frames.ipv4, options=bytes(4 * words), vlan=vlan) for words in range(11)]
    return itertools.cycle(places)


def all_on(bench: Bench, size: str = "") -> Scenario:
    """Return a bump with all functions on."""
    scenario = Scenario(bench, BUCKETS[size])
    bench.wires(now_step=700)
    for port in range(2):
        scenario.give(0, port, "configure", {"check": 1, "wire": 1, "epoch": 1})
        scenario.give(0, 2 + port, "configure", {**XCP, **INTERVALS, **GENERATIONS[port]})
    scenario.phase([[], []])
    return scenario


def read_all(scenario: Scenario, buckets: int = 8) -> None:
    """Compare the state of all four units and of their first buckets."""
    for unit in range(4):
        scenario.give(0, unit, "read")
        for bucket in range(buckets):
            scenario.give(0, unit, "read_bucket", {"bucket": bucket})
    scenario.phase([[], []])


@pytest.mark.slow
def test_every_length_and_every_place_of_the_header(bench: Bench) -> None:
    scenario = all_on(bench)
    places = carriers()
    streams: list[list[Sent]] = [[], []]
    for number, length in enumerate(LENGTHS):
        tags = {"bucket": number % 8, "link_seq": number // 8}
        headers = (frames.data(1 << 20, 1 << 12, 1 << 20, **tags), frames.tag(**tags), frames.ack(number))
        frame = next(places)(headers[number % 3] + bytes(range(256)) * 38)[:length]
        streams[number % 2].append(Sent(frame, number=number))
    scenario.phase(streams)
    read_all(scenario)
    assert scenario.packets == len(LENGTHS)


def test_damaged_frames_one_by_one_and_what_follows_them(bench: Bench) -> None:
    scenario = all_on(bench)
    good = [Sent(frames.ipv4(frames.data(9, 9, 9, link_seq=seq) + bytes(90))) for seq in range(50)]
    frame = good[0].frame
    wrong = [
        [Sent(bytes(59))],
        [Sent(bytes(9601))],
        [Sent(bytes(1))],
        [Sent(frame, size=len(frame) - 1)],
        [Sent(frame, size=len(frame) + 1)],
        [Sent(frame, damage=Damage.HOLE)],
        [Sent(frame, damage=Damage.HOLE_AT_END)],
        [Sent(bytes(128), damage=Damage.EMPTY_END)],
        [Sent(frame, damage=Damage.SHORT_BEAT, size=0)],
        [Sent(bytes(MAX_BYTES), damage=Damage.NO_END)] * 8 + [Sent(bytes(64))],
        [Sent(bytes(64), damage=Damage.NO_END), Sent(bytes(64))],
        [Sent(bytes(MAX_BYTES + 64))] * 5,
    ]
    stream = []
    for number, damaged in enumerate(wrong):
        stream += [*damaged, good[number]]
    scenario.phase([stream, stream[::-1][:1]])
    read_all(scenario)
    assert scenario.packets == len(wrong) + 1
    assert scenario.ingress[0].count["errored"] == len(wrong) + 4


def test_an_egress_throws_damaged_frames_away(bench: Bench) -> None:
    bench.fresh(1, bump=False)
    streams, good = Streams(5), Sent(padded(b"good"))
    stream: list[Sent] = []
    for _ in range(60):
        stream += [*streams.damaged(Sent(frames.ipv4(frames.tag()) + bytes(80))), good]
    for sent in stream:
        bench.send(0, sent, host=True)
    bench.settle()
    out = bench.output(0).frames
    assert [received.frame for received in out] == [good.frame] * 60
    bad = sum(sent is None for sent in told(stream))
    state = bench.ask(1, "read")[1]
    assert (state["errored"], state["tx_packets"], state["queue_bytes"]) == (bad, 60, 0)


def test_a_size_of_zero_states_nothing(bench: Bench) -> None:
    scenario = all_on(bench)
    scenario.phase([[Sent(padded(b"x"), size=0)], []])
    assert scenario.packets == 1


def test_the_check_goes_on_after_resets(bench_of: Callable[[str], Bench]) -> None:
    bench = bench_of("-small")
    scenario = all_on(bench, "-small")
    for reset in range(4):
        stream = [Sent(padded(frames.ipv4(frames.tag(reset, seq)))) for seq in (10, 11, 14)]
        scenario.phase([stream, []])
        read_all(scenario)
        scenario.give(0, 0, "reset")
        scenario.give(0, 3, "reset")
        scenario.give(0, 0, "configure", {"check": 1, "wire": 1, "epoch": 1})
        scenario.give(0, 3, "configure", {**XCP, **INTERVALS, **GENERATIONS[1]})
        scenario.phase([[], []])
    read_all(scenario)


def test_resets_do_not_hold_packets(bench: Bench) -> None:
    # The second command waits until the first has been through all buckets; frames do not wait.
    bench.fresh(1, bump=False)
    for _ in range(1000):
        bench.send(0, Sent(bytes(64)))
    for _ in range(2):
        bench.schedule(0, 1, command("ingress", "reset"))
    bench.settle()
    out = bench.output(0, host=True).frames
    assert len(out) == 1000
    assert out[-1].last_clock < 1100
    assert [reply.status for reply in bench.replies()] == [0, 0]


def test_a_capture_through_the_block(tmp_path: Path) -> None:
    before, after = tmp_path / "in.pcap", tmp_path / "out.pcap"
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    sent = [frames.ipv4(frames.tag(5, number, 7)) for number in (3, 4, 6)]
    records = [struct.pack("<IIII", 1, n, len(frame), len(frame)) + frame for n, frame in enumerate(sent)]
    before.write_bytes(header + b"".join(records))
    program = [str(driver("")), "--pcap-in", str(before), "--pcap-out", str(after)]
    run = subprocess.run(program, capture_output=True, text=True, cwd=DATA)
    assert (run.returncode, run.stderr) == (0, "3 frames passed\n")
    left = [padded(frames.ipv4(frames.tag(5, n, total))) for n, total in enumerate((7, 7, 8))]
    records = [struct.pack("<IIII", 1, n, len(frame), len(frame)) + frame for n, frame in enumerate(left)]
    assert after.read_bytes() == header + b"".join(records)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read"),
        (b"text", "not a classic pcap"),
        (struct.pack("<IHHiIIIIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 0, 0, 60, 90) + bytes(60), "is cut"),
        (struct.pack("<IHHiIIIIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 0, 0, 60, 60), "ends within a frame"),
    ],
)
def test_a_capture_that_is_none(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "in.pcap"
    if content is not None:
        path.write_bytes(content)
    program = [str(driver("")), "--pcap-in", str(path), "--pcap-out", str(tmp_path / "out.pcap")]
    run = subprocess.run(program, capture_output=True, text=True)
    assert run.returncode == 2
    assert reason in run.stderr
    assert run.stderr.count("\n") == 1
