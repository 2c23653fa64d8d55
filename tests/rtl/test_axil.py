# SPDX-License-Identifier: Apache-2.0
"""The AXI4-Lite front end, in every configuration of a bitstream."""

from __future__ import annotations

import pytest

from rtl.simulation import (
    FRONT_END,
    lint,
    needs_icarus,
    needs_verilator,
    needs_yosys,
    simulate,
    synthesise,
)

MAKE_UPS = {
    "two_ports": {"BUILD": 0x12345678},
    "ingress_only": {"PORTS": 1, "HAS_EGRESS": 0, "BUCKETS": 65536},
    "egress_only": {"PORTS": 2, "HAS_INGRESS": 0, "QUEUE_BEATS": 1024, "CLOCK_HZ": 300000000},
}


@needs_icarus
@pytest.mark.slow
@pytest.mark.parametrize("name", MAKE_UPS)
def test_front_end(name: str) -> None:
    simulate("clarion_axil", "rtl.axil_cases", FRONT_END, MAKE_UPS[name], name=f"axil_{name}")


@needs_icarus
@pytest.mark.slow
def test_window_that_is_full() -> None:
    only = "by_walking|without_register"
    simulate("clarion_axil", "rtl.axil_cases", FRONT_END, {"PORTS": 7}, name="axil_window_full", only=only)


@needs_yosys
def test_it_can_be_synthesised_without_latches() -> None:
    checks = "check -assert; select -assert-none t:$dlatch t:$adff t:$dffsr"
    synthesise("clarion_axil", FRONT_END, f"flatten; opt -fast; memory -nomap; {checks}")


@needs_verilator
@pytest.mark.parametrize("parameters", [{"PORTS": 8}, {"HAS_INGRESS": 0, "HAS_EGRESS": 0}], ids=str)
def test_units_that_the_window_has_no_room_for(parameters: dict[str, int]) -> None:
    assert "1 to 15 units are needed" in lint("clarion_axil", FRONT_END, parameters)
