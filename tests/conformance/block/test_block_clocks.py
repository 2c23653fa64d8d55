# SPDX-License-Identifier: Apache-2.0
"""Clocks of the block's RTL: a beat per clock in and out whatever the frames are, latencies, and pauses.

The functions that the RTL calls are C++ here, with the clocks that contract/functions.yaml gives them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from conformance import frames
from conformance.block.bench import BEAT_BYTES, SENT, Bench, Received, Sent, Values
from conformance.block.conftest import QUEUE_BEATS
from conformance.block.model import IngressModel, after_ingress, told
from conformance.block.scenario import Scenario
from conformance.block.streams import Streams

LIMIT = 2**40 - 1
# Clocks from the last beat in to the first one out, with nothing in between.
INGRESS_CLOCKS, EGRESS_CLOCKS = 30, 65
# Clocks that the wire rests at the end of an interval: the control step, and what settles around it.
INTERVAL_CLOCKS = 174
# In which nothing joins or leaves: grants may be on their way for all places in front of the wire.
DECISION_CLOCKS = 290
BEATS = 3000  # of a test at full rate
LENGTHS = (60, 64, 65, 66, 128, 1500, 9600)
CHECK = {"check": 1, "wire": 1, "epoch": 1}
STAMP = {"stamp": 1, "min_interval": 1, "max_interval": 1, "generation": 1, "queue_limit": LIMIT}
WAYS = ("ingress", "egress", "bump")


def xcp(generation: int, interval: int) -> Values:
    """Return a configuration of an egress unit with feedback."""
    values = {"xcp": 1, "epoch": 1, "stamp": 1, "capacity": 10**9, "alpha": 26214, "beta": 14811}
    values |= {"gamma": 6554, "min_interval": interval, "max_interval": interval}
    return {**values, "queue_limit": LIMIT, "generation": generation}


def beats_of(stream: list[bytes]) -> int:
    """Return the beats of frames."""
    return sum(-(-len(frame) // BEAT_BYTES) for frame in stream)


def through(bench: Bench, stream: list[bytes], way: str, egress: Values | None = None) -> list[Received]:
    """Send frames back to back through a unit of port 0, or a bump from port 0 to 1; return the output."""
    ports, is_bump, host = (2, True, False) if way == "bump" else (1, False, way == "egress")
    bench.fresh(ports, bump=is_bump)
    if way != "egress":
        assert bench.ask(0, "configure", CHECK)[0] == 0
    if way != "ingress":
        assert bench.ask(2 * ports - 1, "configure", egress or STAMP)[0] == 0
    if not is_bump:
        bench.units_on(int(host))
    bench.wires(now_step=1000)
    for frame in stream:
        bench.send(0, Sent(frame), host=host)
    bench.settle()
    assert bench.output(0, host=host).refused == 0, "a beat was not taken at once"
    out = bench.output(1 if is_bump else 0, host=way == "ingress").frames
    assert len(out) == len(stream), "frames were lost"
    assert not any(received.damaged for received in out)
    return out


def clocks_of(out: list[Received]) -> int:
    """Return the clocks from the first beat out to the last."""
    return out[-1].last_clock - out[0].first_clock + 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_beat_per_clock_in_and_out(bench: Bench, length: int, way: str) -> None:
    count = max(BEATS // -(-length // BEAT_BYTES), 4)
    stream = [frames.ipv4(frames.tag(1, number)).ljust(length, b"\0") for number in range(count)]
    out = through(bench, stream, way)
    numbers = [received.frame[38:42] for received in out]  # bucket and number
    assert numbers == [frame[38:42] for frame in stream]
    assert clocks_of(out) == beats_of(stream)


@pytest.mark.parametrize("way", WAYS)
def test_a_beat_per_clock_of_frames_of_all_lengths_and_kinds(bench: Bench, way: str) -> None:
    # The longest first: a frame is passed on once it is all there, so those behind it come without a gap.
    random, stream = Random(7), [bytes(LENGTHS[-2])]
    for number in range(600):
        tags = {"bucket": random.randrange(3), "link_seq": number}
        header = random.choice((frames.data(1 << 20, 1 << 12, 1 << 20, **tags), frames.tag(**tags), b""))
        frame = frames.ipv4(header)
        stream.append(frame.ljust(random.choice([n for n in LENGTHS[:6] if n >= len(frame)]), b"\0"))
    out = through(bench, stream, way)
    assert [len(received.frame) for received in out] == [len(frame) for frame in stream]
    assert clocks_of(out) == beats_of(stream)


@pytest.mark.parametrize("way", WAYS)
def test_a_beat_per_clock_of_the_shortest_data_of_one_bucket(bench: Bench, way: str) -> None:
    stream = [frames.ipv4(frames.data(1000, 10, 5, bucket=9, link_seq=n)) for n in range(BEATS // 2)]
    out = through(bench, stream, way)
    assert [received.frame[56:58] for received in out] == [frame[56:58] for frame in stream]
    assert clocks_of(out) == beats_of(stream)


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("generation", [1, 2])
def test_shortest_data_at_full_rate_with_feedback(bench: Bench, generation: int, way: str) -> None:
    stream = [sent.frame for sent in Streams(1).shortest_data(BEATS // 2)]
    out = through(bench, stream, way, xcp(generation, 2**31))  # no interval ends meanwhile
    assert clocks_of(out) == beats_of(stream)


@pytest.mark.parametrize("way", WAYS[1:])
@pytest.mark.parametrize("generation", [1, 2])
def test_intervals_end_at_full_rate(bench: Bench, generation: int, way: str) -> None:
    stream = [sent.frame for sent in Streams(1).shortest_data(2 * BEATS)]
    out = through(bench, stream, way, xcp(generation, 1_000_000))  # of 1000 clocks
    port = 1 if way == "bump" else 0
    state = bench.ask(3 if way == "bump" else 1, "read")[1]
    wire = (clocks_of(out) - beats_of(stream)) / state["intervals"]
    decided = [event.clock for event in bench.log(port) if event.kind != SENT]
    most = max(after - before for before, after in pairwise(decided))
    print(
        f"\n{way}, generation {generation}: {state['intervals']} intervals, the wire rests {wire:.1f} clocks"
    )
    print(f"for each, and for {most} clocks at most nothing joins or leaves")
    assert state["intervals"] >= 10
    assert 0 <= wire <= INTERVAL_CLOCKS
    assert most <= DECISION_CLOCKS
    assert state["drop_packets"] == 0


@pytest.mark.parametrize("length", [60, 1500])
def test_latency(bench: Bench, length: int) -> None:
    for host, most in ((False, INGRESS_CLOCKS), (True, EGRESS_CLOCKS)):
        for header in (frames.tag(), frames.data(9, 9, 9)):
            bench.fresh(1, bump=False)
            config = xcp(2, 1000) if host else CHECK
            assert bench.ask(int(host), "configure", config)[0] == 0
            bench.run(100)
            bench.send(0, Sent(frames.ipv4(header).ljust(length, b"\0")), host=host)
            bench.settle()
            (came,) = bench.output(0, host=host).ended
            (left,) = bench.output(0, host=not host).frames
            print(f"\n{length} bytes, {'egress' if host else 'ingress'}: {left.first_clock - came} clocks")
            assert left.first_clock - came <= most


def test_back_pressure_within_what_memory_holds_loses_nothing(bench: Bench) -> None:
    scenario, streams = Scenario(bench), Streams(6)
    for port in range(2):
        scenario.give(0, port, "configure", CHECK)
        scenario.give(0, 2 + port, "configure", xcp(1 + port, 10**9))
    scenario.phase([[], []])
    bench.wires(now_step=1000)
    for port in range(2):
        bench.stall(port, port, 128, 128)
    scenario.phase([streams.shortest_data(900), [streams.sent(bytes(1500)) for _ in range(80)]])
    for unit in range(4):
        scenario.give(0, unit, "read")
    scenario.phase([[], []])
    assert [unit.count["overflow"] for unit in scenario.ingress] == [0, 0]
    assert [unit.count["overflow"] for unit in scenario.egress] == [0, 0]
    assert scenario.packets == 980


def test_a_host_that_stalls_makes_an_ingress_drop_not_wait(bench: Bench) -> None:
    bench.fresh(1, bump=False)
    assert bench.ask(0, "configure", CHECK)[0] == 0
    bench.units_on(0)
    bench.shut(0, host=True)
    streams = Streams(3)
    stream = streams.any_kind(0, 400)
    for sent in stream:
        bench.send(0, sent)
    bench.run(sum(-(-len(sent.frame) // 64) + sent.gap + 2 for sent in stream))
    bench.flow(0, host=True)
    bench.settle()
    after = streams.any_kind(0, 100)  # continues unaffected
    for sent in after:
        bench.send(0, sent)
    bench.settle()
    model = IngressModel()
    model.configure(CHECK)
    expected = {s.number: after_ingress(model.packet(s.frame)) for s in told(stream + after) if s is not None}
    assert bench.output(0).refused == 0
    out = bench.output(0, host=True).frames
    numbers = [received.user >> 16 & 0xFFFF for received in out]
    assert numbers == sorted(numbers)
    assert [received.frame for received in out] == [expected[number] for number in numbers]
    state = bench.ask(0, "read")[1]
    assert state["rx_packets"] == len(expected)
    assert state["overflow"] == len(expected) - len(out) > 0
    assert state["errored"] == sum(sent is None for sent in told(stream + after))
    assert (state["lost"], state["late"]) == (model.read()["lost"], model.read()["late"])


def test_packet_memory_of_an_egress_is_filled_to_the_last_beat(bench_of: Callable[[str], Bench]) -> None:
    bench = bench_of("-small")
    bench.fresh(1, bump=False)
    beats = QUEUE_BEATS["-small"]
    bench.shut(0)
    frame = bytes(128)
    for _ in range(beats):  # twice as many beats as there is room for
        bench.send(0, Sent(frame), host=True)
    bench.run(4 * beats)
    state = bench.ask(1, "read")[1]  # commands are answered while the wire holds ready low
    assert state["queue_bytes"] + state["drop_bytes"] == beats * len(frame)
    assert state["overflow"] == state["drop_packets"]
    assert beats - 2 <= state["queue_bytes"] // 64 <= beats + 8  # some beats have passed packet memory
    bench.flow(0)
    bench.settle()
    assert len(bench.output(0).frames) == beats - state["drop_packets"]
    assert bench.ask(1, "read")[1]["queue_bytes"] == 0


def test_commands_are_answered_while_the_wire_is_held_and_data_waits_for_feedback(bench: Bench) -> None:
    bench.fresh(1, bump=False)
    config = {"xcp": 1, "epoch": 1, "min_interval": 1, "max_interval": 1, "generation": 2}
    config["queue_limit"] = 2**40 - 1
    assert bench.ask(1, "configure", config)[0] == 0
    bench.shut(0)
    for sent in Streams(2).shortest_data(60):
        bench.send(0, sent, host=True)
    bench.run(400)
    for _ in range(3):
        assert bench.ask(1, "read")[0] == 0
        assert bench.ask(1, "reset")[0] == 0
    bench.flow(0)
    bench.settle()
    assert len(bench.output(0).frames) == 60
