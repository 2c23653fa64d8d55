# SPDX-License-Identifier: Apache-2.0
"""Time in ticks of 2^-28 s, from clocks faster and slower than a tick, with and without a remainder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtl.simulation import RTL, lint, needs_icarus, needs_verilator, simulate

CLOCK = RTL / "clarion_clock.sv"


@needs_icarus
@pytest.mark.parametrize(
    "clock_hz", [250_000_000, 300_000_000, 322_265_625, 156_250_000, 1 << 28, 3, 2147483647]
)
def test_no_drift(clock_hz: int) -> None:
    sources = [CLOCK, Path(__file__).with_name("clock_top.sv")]
    simulate("clock_top", "rtl.clock_cases", sources, {"CLOCK_HZ": clock_hz}, name=f"clock_{clock_hz}")


@needs_verilator
@pytest.mark.parametrize("clock_hz", [0, 1 << 31])
def test_a_clock_that_cannot_be(clock_hz: int) -> None:
    assert "CLOCK_HZ: 1 to 2^31-1 is needed" in lint("clarion_clock", [CLOCK], {"CLOCK_HZ": clock_hz})
