# SPDX-License-Identifier: Apache-2.0
"""Throughput of the block per clock: one packet, one beat, ready always high.

C simulation counts the processes on a packet's path, not the pipeline registers that synthesis adds:
docs/fpga.md has those.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance import frames
from conformance.block.bench import Bench, Received, Sent
from conformance.block.conftest import QUEUE_BEATS
from conformance.block.model import IngressModel, after_ingress, told
from conformance.block.streams import Streams, padded

# Clocks from the last beat in to the first one out, with nothing in between.
INGRESS_CLOCKS, EGRESS_CLOCKS = 5, 16
RECEIVE_BEATS = 512


def through(bench: Bench, frame: bytes, count: int, host: bool) -> list[Received]:
    """Send frames back to back through a unit of port 0; return the output."""
    bench.fresh(1, bump=False)
    bench.units_on(int(host))
    for _ in range(count):
        bench.send(0, Sent(frame), host=host)
    bench.settle()
    assert bench.output(0, host=host).refused == 0
    return bench.output(0, host=not host).frames


@pytest.mark.parametrize("host", [False, True], ids=["ingress", "egress"])
@pytest.mark.parametrize("length", [60, 64, 66, 128, 1500, 9600])
def test_a_beat_per_clock_in_and_out(bench: Bench, length: int, host: bool) -> None:
    beats = -(-length // 64)
    count = max(1500 // beats, 4)
    frame = frames.ipv4(frames.tag(bucket=1)).ljust(length, b"\0")
    out = through(bench, frame, count, host)
    assert [received.frame for received in out] == [frame] * count
    assert out[-1].last_clock - out[0].first_clock + 1 == count * beats


@pytest.mark.parametrize("generation", [1, 2])
def test_shortest_data_frames_at_a_beat_per_clock_with_feedback(bench: Bench, generation: int) -> None:
    bench.fresh(1, bump=False)
    config = {"xcp": 1, "epoch": 1, "stamp": 1, "capacity": 10**9, "alpha": 26214, "gamma": 6554}
    config |= {"min_interval": 100_000, "max_interval": 100_000, "queue_limit": 2**40 - 1}
    config["generation"] = generation
    assert bench.ask(1, "configure", config)[0] == 0
    bench.wires(now_step=1000)
    stream = Streams(1).shortest_data(1500)
    for sent in stream:
        bench.send(0, sent, host=True)
    bench.settle()
    assert bench.output(0, host=True).refused == 0
    out = bench.output(0).frames
    assert len(out) == len(stream)
    state = bench.ask(1, "read")[1]
    assert state["intervals"] >= 20
    # each interval's end costs the divisions' clocks; packet memory absorbs the frames that arrive meanwhile
    clocks = out[-1].last_clock - out[0].first_clock + 1
    assert 3000 <= clocks <= 3000 + 4 * state["intervals"]


def test_latency(bench: Bench) -> None:
    for host, most in ((False, INGRESS_CLOCKS), (True, EGRESS_CLOCKS)):
        bench.fresh(1, bump=False)
        bench.send(0, Sent(padded(frames.ipv4(frames.tag()))), host=host)
        bench.settle()
        (came,) = bench.output(0, host=host).ended
        (left,) = bench.output(0, host=not host).frames
        print(f"\nlatency, {'egress' if host else 'ingress'}: {left.first_clock - came} process hops")
        assert left.first_clock - came == most


def test_a_host_that_stalls_makes_an_ingress_drop_not_wait(bench: Bench) -> None:
    bench.fresh(1, bump=False)
    assert bench.ask(0, "configure", {"check": 1, "wire": 1, "epoch": 1})[0] == 0
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
    model.configure({"check": 1, "wire": 1, "epoch": 1})
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
    assert beats - 2 <= state["queue_bytes"] // 64 <= beats + 2  # some beats have passed packet memory
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
