# SPDX-License-Identifier: Apache-2.0
"""The wrapper, the stand-ins for its units and their C++ source for HLS name the same ports."""

from __future__ import annotations

import re

import pytest

from unit.nic.machine import ROOT

UNITS = ("clarion_ingress", "clarion_egress")
SIGNALS = ("TVALID", "TREADY", "TDATA")
BEAT = ("TKEEP", "TSTRB", "TLAST", "TUSER")


def of_hls(unit: str) -> set[str]:
    """Return the ports that HLS creates for the arguments: streams of beats, streams of words, wires."""
    text = (ROOT / "hls/block/top.hpp").read_text()
    match = re.search(rf"void {unit}\((.*?)\);", text, re.DOTALL)
    assert match
    ports = {"ap_clk", "ap_rst_n"}
    for argument in re.split(r",\s*(?![^<]*>)", match[1]):
        kind, name = argument.strip().rsplit(maxsplit=1)
        if "Axis" in kind:
            ports |= {f"{name}_{signal}" for signal in SIGNALS + BEAT}
        elif "stream" in kind:
            ports |= {f"{name}_{signal}" for signal in SIGNALS}
        else:
            ports.add(name)
    return ports


@pytest.mark.parametrize("unit", UNITS)
def test_the_wrapper_connects_every_port(unit: str) -> None:
    text = (ROOT / "nic/rtl/clarion_box.sv").read_text()
    match = re.search(rf"{unit} \w+ \((.*?)\n        \);", text, re.DOTALL)
    assert match
    assert set(re.findall(r"\.(\w+)\(", match[1])) == of_hls(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_stand_in_has_every_port(unit: str) -> None:
    text = (ROOT / f"tests/rtl/stubs/{unit}.sv").read_text().partition(");")[0]
    assert set(re.findall(r"(\w+)(?=,?\n)", text.partition("(\n")[2])) == of_hls(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_units_run_freely(unit: str) -> None:
    text = (ROOT / f"hls/block/{unit}.cpp").read_text()
    assert re.search(r"#pragma HLS interface .*ap_ctrl_none.* port ?= ?return", text, re.IGNORECASE)
