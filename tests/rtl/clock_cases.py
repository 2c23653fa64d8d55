# SPDX-License-Identifier: Apache-2.0
"""The time of clarion_clock against exact integers; run in the simulator by test_clock.py."""

from __future__ import annotations

import math
import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, Timer

PERIOD_NS = 4
TICKS_HZ = 1 << 28


async def started(dut: Any) -> int:
    """Return CLOCK_HZ after a reset, between two clocks, with `now` 0."""
    dut.aresetn.value = 0
    for _ in range(3):
        await FallingEdge(dut.aclk)
    dut.aresetn.value = 1
    assert dut.now.value == 0
    return int(dut.CLOCK_HZ.value)


@cocotb.test()
async def every_clock_is_counted_and_rounded_down(dut: Any) -> None:
    clock_hz = await started(dut)
    for clocks in range(1, 3000):
        await FallingEdge(dut.aclk)
        assert dut.now.value == clocks * TICKS_HZ // clock_hz


@cocotb.test()
async def no_error_adds_up(dut: Any) -> None:
    clock_hz = await started(dut)
    # After this many clocks a whole number of ticks has passed, and the sequence repeats.
    period = clock_hz // math.gcd(clock_hz, TICKS_HZ)
    is_whole = period <= 2_000_000
    end = period if is_whole else 100_000
    clocks = 0
    for instant in [*sorted(random.sample(range(1, end), min(end - 1, 300))), end]:
        await Timer((instant - clocks) * PERIOD_NS, unit="ns")
        clocks = instant
        assert dut.now.value == clocks * TICKS_HZ // clock_hz
    if is_whole:
        assert dut.now.value == TICKS_HZ // math.gcd(clock_hz, TICKS_HZ)
        assert dut.clock.fraction.value == 0


@cocotb.test()
async def the_high_half_takes_the_carry(dut: Any) -> None:
    clock_hz = await started(dut)
    start = 0x1FFFFFFF0
    dut.clock.now.value = start
    for clocks in range(1, 200):
        await FallingEdge(dut.aclk)
        assert dut.now.value == start + clocks * TICKS_HZ // clock_hz


@cocotb.test()
async def a_reset_begins_from_nothing(dut: Any) -> None:
    clock_hz = await started(dut)
    for clocks in (1, 7, 100):
        for _ in range(clocks):
            await FallingEdge(dut.aclk)
        assert dut.now.value == clocks * TICKS_HZ // clock_hz
        dut.aresetn.value = 0
        await FallingEdge(dut.aclk)
        assert (dut.now.value, dut.clock.fraction.value) == (0, 0)
        dut.aresetn.value = 1
