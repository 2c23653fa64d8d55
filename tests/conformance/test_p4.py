# SPDX-License-Identifier: Apache-2.0
"""The compiled P4 program, in the interpreter, is the same data plane as the C++ core and the reference."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from conformance.harness import Driver, Event, ReferencePlayer, Restart, explain
from conformance.p4_player import PROGRAM, P4Player
from conformance.test_properties import event_lists
from conformance.test_vectors import assert_expected
from conformance.traffic import Traffic
from conformance.vectors import FOLDER, event_of, load

FILES = sorted(FOLDER.glob("*.jsonl"))
BATCH, BATCHES_PER_SEED = 1000, 10


@cache
def shared_player() -> P4Player:
    """One player for all tests: compiling the program takes longer than most of them."""
    return P4Player()


@pytest.fixture
def p4() -> P4Player:
    return shared_player()


def play_afresh(player: P4Player, events: list[Event]) -> bytes:
    player.play([Restart()])
    return player.play(events)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors(p4: P4Player, path: Path) -> None:
    lines = load(path)
    events = [event_of(line) for line in lines]
    got, expected = play_afresh(p4, events), ReferencePlayer().play(events)
    assert_expected(lines, got)
    assert got == expected, explain(events, got, expected)


@pytest.mark.slow
def test_a_hundred_thousand_random_packets(p4: P4Player, driver: Driver) -> None:
    # P4 = C++ = Python: every frame, every verdict, all state.
    packets = 0
    for seed in range(10):
        reference, traffic = ReferencePlayer(), Traffic(2000 + seed, hairpin=False)
        driver.play([Restart()])
        p4.play([Restart()])
        for number in range(BATCHES_PER_SEED):
            events = traffic.batch(BATCH)
            driver.send(events)
            expected, got = reference.play(events), p4.play(events)
            assert driver.receive() == expected
            assert got == expected, f"seed {seed}, batch {number}: {explain(events, got, expected)}"
            packets += BATCH
    assert packets == 100_000


@given(events=event_lists())
@settings(max_examples=200)
def test_any_events(events: list[Event]) -> None:
    got, expected = play_afresh(shared_player(), events), ReferencePlayer().play(events)
    assert got == expected, explain(events, got, expected)


def test_no_field_of_an_absent_header_is_used(p4: P4Player) -> None:
    # BMv2 leaves the values of the last packet there; here all bits are 1 instead of 0.
    littered, events = P4Player(stale=-1), Traffic(5, hairpin=False).batch(3000)
    got, expected = littered.play(events), play_afresh(p4, events)
    assert got == expected, explain(events, got, expected)


def constants_of(action: dict[str, Any], text: str) -> list[dict[str, Any]]:
    """The places in an action that hold a constant."""
    found: list[dict[str, Any]] = []

    def walk(item: Any) -> None:
        if isinstance(item, dict):
            if item.get("type") == "hexstr" and int(item["value"], 16) == int(text, 16):
                found.append(item)
            for member in item.values():
                walk(member)
        elif isinstance(item, list):
            for member in item:
                walk(member)

    walk(action["primitives"])
    return found


@pytest.mark.parametrize(
    ("action", "constant", "wrong"),
    [
        ("set_tag_port", "0x4000", "0x4001"),  # the longest gap counted as loss
        ("set_tag_port", "0xff00", "0xff01"),  # the oldest packet that is late
        ("set_xcp_port", "0x80", "0x7f"),  # rounding of x * rtt
        ("xcp_departure.depart", "0x7fffffff00", "0x7ffffffe00"),  # the largest grant of a packet
        ("maxmin_departure.depart", "0x7fffffff00", "0x7ffffffe00"),  # the same by generation 2
        ("maxmin_departure.depart", "0x108", "0x109"),  # what a poor flow lacks
        ("maxmin_departure.depart", "0x114", "0x115"),  # and a very poor one
        ("maxmin_interval.set_speed", "0x2", "0x3"),  # what a fast interval costs
    ],
)
def test_the_comparison_can_fail(action: str, constant: str, wrong: str) -> None:
    # One constant of the program is off by the least significant step; the cases notice it.
    program = json.loads(PROGRAM.read_text())
    (wanted,) = [item for item in program["actions"] if f".{item['name']}".endswith(f".{action}")]
    places = constants_of(wanted, constant)
    assert places, f"{action} has no {constant}"
    for place in places:
        place["value"] = wrong
    player = P4Player(program)
    different = 0
    vectors = [[event_of(line) for line in load(path)] for path in FILES]
    for events in (*vectors, Traffic(6, hairpin=False).batch(2000)):
        different += play_afresh(player, events) != ReferencePlayer().play(events)
    assert different > 0
