# SPDX-License-Identifier: Apache-2.0
"""The wrapper, the stand-ins for its units and the units themselves name the same ports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unit.nic.machine import ROOT

UNITS = ("clarion_ingress", "clarion_egress")
PARAMETER = re.compile(r"parameter\s+logic\s+\[31:0\]\s+(\w+)\s*=\s*(\d+)")
PORT = re.compile(
    r"(input|output)\s+(?:wire|reg|logic|)\s*((?:\w+::\w+)?)\s*((?:\[.*?\])?)\s*(\w+)\s*(?:,|$)"
)


def head(path: Path) -> str:
    """Return a module's parameters and ports, without comments."""
    text = re.sub(r"//.*", "", path.read_text())
    match = re.search(r"^module .*?^\);", text, re.DOTALL | re.MULTILINE)
    assert match, path
    return match[0]


def ports(path: Path) -> dict[str, tuple[str, str]]:
    """Return direction and range of a module's ports; the range of a struct is its name."""
    lines = (PORT.match(line.strip()) for line in head(path).splitlines())
    return {m[4]: (m[1], m[2] or m[3].replace(" ", "")) for m in lines if m}


def unit_of(unit: str) -> Path:
    return ROOT / "hls/rtl" / f"{unit}.sv"


@pytest.mark.parametrize("unit", UNITS)
def test_the_wrapper_connects_every_port(unit: str) -> None:
    text = (ROOT / "nic/rtl/clarion_box.sv").read_text()
    match = re.search(rf"{unit} #\((.*?)\) \w+ \((.*?)\n        \);", text, re.DOTALL)
    assert match
    connected = ports(unit_of(unit))
    assert {"clk_i", "rst_ni", "s_axis_tdata", "m_axis_tuser", "command_i", "reply_o"} <= connected.keys()
    assert set(re.findall(r"\.(\w+)\(", match[2])) == connected.keys()
    parameters = {name for name, _ in PARAMETER.findall(head(unit_of(unit)))}
    assert set(re.findall(r"\.(\w+)\(", match[1])) == parameters - {"RECEIVE_BEATS"}


@pytest.mark.parametrize("unit", UNITS)
def test_the_stand_in_has_every_port(unit: str) -> None:
    stand_in = ROOT / "tests/rtl/stubs" / f"{unit}.sv"
    wanted, got = ports(unit_of(unit)), ports(stand_in)
    for values in (wanted, got):  # Icarus has no structs of packages
        if "watch_o" in values:
            values["watch_o"] = (values["watch_o"][0], "")
    assert got == wanted
    parameters, stood_in = (dict(PARAMETER.findall(head(path))) for path in (unit_of(unit), stand_in))
    assert parameters.items() >= stood_in.items()
