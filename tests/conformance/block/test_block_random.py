# SPDX-License-Identifier: Apache-2.0
"""The block and the reference agree on random traffic: every byte, every order, all state.

With idle clocks and stalls, damaged frames, drops, and commands under traffic. CLARION_BLOCK_SEEDS=N runs N
times as many seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest

from conformance.block.bench import Bench, Sent
from conformance.block.conftest import BUCKETS, driver
from conformance.block.scenario import PORTS, Scenario
from conformance.block.streams import Streams
from conformance.harness import DriverError

SEEDS = int(os.environ.get("CLARION_BLOCK_SEEDS", "1"))
PHASES = 12
FRAMES = 100  # of a phase and way
SHOWN = 64  # buckets compared at the end of each phase
OPERATIONS = ("configure", "configure", "configure", "read", "read_bucket", "reset")


def set_pace(bench: Bench, random: Random) -> None:
    """Draw the pace of time, and the idle clocks of sources and stalls of sinks."""
    bench.wires(now_step=random.choice((0, 1, 50, 3000, 40_000)))
    for port in range(PORTS):
        bench.stall(port, random.getrandbits(20), *random.choice(((0, 256), (0, 256), (20, 60), (8, 4))))
        bench.idle(port, random.getrandbits(20), *random.choice(((0, 256), (30, 90))))


def stream(streams: Streams, port: int, every_clock: bool) -> list[Sent]:
    """Draw what one port receives in a phase."""
    chance = streams.random.random()
    if chance < 0.3:
        return streams.one_beat(FRAMES, streams.random.choice((1, 2, 5)), every_clock)
    if chance < 0.5:
        return streams.shortest_data(FRAMES // 2)
    return streams.longest(8) if chance < 0.55 else streams.any_kind(port, FRAMES)


def give_commands(scenario: Scenario, streams: Streams, operations: tuple[str, ...]) -> None:
    """Give some commands while a phase runs."""
    random, clock = streams.random, 0
    resets: set[int] = set()
    for _ in range(random.choice((1, 2, 4))):
        clock += random.randrange(FRAMES)
        unit, operation = random.randrange(2 * PORTS), random.choice(operations)
        if operation == "reset" and unit < PORTS:
            if unit in resets or scenario.buckets > BUCKETS["-small"]:
                continue  # the next command would wait for it, for an unknown time
            resets.add(unit)
        values = None
        if operation == "configure":
            values = streams.ingress_config() if unit < PORTS else streams.egress_config()
        elif operation == "read_bucket":
            values = {"bucket": random.randrange(min(scenario.buckets, SHOWN))}
        scenario.give(clock, unit, operation, values)


def read_all(scenario: Scenario) -> None:
    """Compare all state."""
    for unit in range(2 * PORTS):
        scenario.give(0, unit, "read")
        for bucket in range(min(scenario.buckets, SHOWN)):
            scenario.give(0, unit, "read_bucket", {"bucket": bucket})
    scenario.phase([[], []])


def run(bench: Bench, seed: int, buckets: int) -> Scenario:
    """Play one seed."""
    scenario, streams = Scenario(bench, buckets), Streams(seed)
    for phase in range(PHASES):
        set_pace(bench, streams.random)
        every_clock = phase >= 2 and streams.random.random() < 0.4
        if not every_clock:
            give_commands(scenario, streams, OPERATIONS if phase >= 2 else ("configure",))
        scenario.phase([stream(streams, port, every_clock) for port in range(PORTS)])
        read_all(scenario)
    return scenario


@pytest.mark.slow
@pytest.mark.parametrize(("size", "seeds"), [("", 4), ("-small", 8), ("-large", 2)])
def test_the_block_is_the_reference(bench_of: Callable[[str], Bench], size: str, seeds: int) -> None:
    bench = bench_of(size)
    runs = [run(bench, seed, BUCKETS[size]) for seed in range(seeds * SEEDS)]
    sums = {name: sum(getattr(r, name) for r in runs) for name in ("packets", "beats", "drops", "states")}
    print(f"\nblock{size}: {sums}, 0 differences")
    assert sums["packets"] > 800 * len(runs)
    assert sums["drops"] > 0


def test_memory_that_is_later_than_what_is_forwarded_is_noticed(bench_of: Callable[[str], Bench]) -> None:
    bench = bench_of("-late")
    scenario, streams = Scenario(bench, BUCKETS["-late"]), Streams(1)
    for port in range(PORTS):
        scenario.give(0, port, "configure", {"check": 1, "wire": 1, "epoch": 1})
    scenario.phase([[], []])
    with pytest.raises(AssertionError, match="frame"):
        scenario.phase([streams.one_beat(FRAMES, 7, True) for _ in range(PORTS)])


def test_a_wrong_request_ends_the_driver() -> None:
    bench = Bench(driver(""))
    bench.batch += b"?"
    with pytest.raises(DriverError, match="unknown request"):
        bench.run(1)
