# SPDX-License-Identifier: Apache-2.0
"""The wrapper and the stand-ins for its units have the ports of the units."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unit.nic.machine import ROOT

UNITS = ("clarion_ingress", "clarion_egress")


def ports_of(file: Path) -> set[str]:
    """Return the names of a module's ports."""
    match = re.search(r"\nmodule \w+ #\(.*?\n\) \(\n(.*?)\n\);", file.read_text(), re.DOTALL)
    assert match
    lines = (line.partition("//")[0].strip() for line in match[1].splitlines())
    return {line.rstrip(", ").rsplit(maxsplit=1)[-1] for line in lines if line}


def of_the_unit(unit: str) -> set[str]:
    return ports_of(ROOT / "hls/rtl" / f"{unit}.sv")


@pytest.mark.parametrize("unit", UNITS)
def test_the_wrapper_connects_every_port(unit: str) -> None:
    text = (ROOT / "nic/rtl/clarion_box.sv").read_text()
    match = re.search(rf"{unit} #\(.*?\) \w+ \((.*?)\n        \);", text, re.DOTALL)
    assert match
    assert set(re.findall(r"\.(\w+)\(", match[1])) == of_the_unit(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_stand_in_has_every_port(unit: str) -> None:
    assert ports_of(ROOT / f"tests/rtl/stubs/{unit}.sv") == of_the_unit(unit)


def test_there_are_ports() -> None:
    assert {"clk_i", "m_axis_tdata", "queue_elsewhere_i", "watch_o"} <= of_the_unit("clarion_egress")
