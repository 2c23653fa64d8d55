# SPDX-License-Identifier: Apache-2.0
"""C++ and Python agree bit by bit on random traffic: every frame, every verdict, all state."""

from __future__ import annotations

import pytest

from conformance.harness import Driver, ReferencePlayer, Restart, explain
from conformance.traffic import Traffic

BATCH = 2000
BATCHES_PER_SEED = 10


def compare(driver: Driver, seed: int, batches: int, batch: int = BATCH) -> int:
    """Play one seed's traffic on both; return the number of packets."""
    reference, traffic = ReferencePlayer(), Traffic(seed)
    driver.play([Restart()])
    for number in range(batches):
        events = traffic.batch(batch)
        driver.send(events)  # runs while the reference computes
        expected = reference.play(events)
        got = driver.receive()
        assert got == expected, f"seed {seed}, batch {number}: {explain(events, got, expected)}"
    return batches * batch


@pytest.mark.slow
def test_a_million_random_packets(driver: Driver) -> None:
    packets = sum(compare(driver, seed, BATCHES_PER_SEED) for seed in range(50))
    assert packets == 1_000_000


@pytest.mark.slow
def test_under_sanitisers(sanitised_driver: Driver) -> None:
    packets = sum(compare(sanitised_driver, 1000 + seed, 5) for seed in range(5))
    assert packets == 50_000


def test_the_comparison_can_fail(driver: Driver) -> None:
    # One flipped bit in the middle of an answer has to be found and named.
    events = Traffic(7).batch(200)
    answer = driver.play(events)
    at = len(answer) // 2
    damaged = answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1 :]
    assert explain(events, answer, answer) == "no difference"
    assert "differ in" in explain(events, damaged, answer)
