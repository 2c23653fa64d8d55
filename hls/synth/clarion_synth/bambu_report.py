# SPDX-License-Identifier: Apache-2.0
"""Parses bambu's report of a synthesis, and Yosys's cell counts of the resulting RTL."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clarion_base.errors import UserError

FIGURES = {
    "steps": r"Number of control steps: (\d+)",
    "slack_ns": r"Minimum slack: (-?[\d.e-]+)",
    "area": r"Total estimated area: (\d+)",
    "dsps": r"Estimated number of DSPs: (\d+)",
    "flip_flops": r"Total number of flip-flops in function \S+: (\d+)",
}
CELL = re.compile(r"^\s+([A-Z]\w+)\s+(\d+)$", re.MULTILINE)
KINDS = {
    "LUT": re.compile(r"LUT[1-6]"),
    "FF": re.compile(r"FD[RSCP]E(_1)?"),
    "DSP": re.compile(r"DSP48E2"),
    "BRAM36": re.compile(r"RAMB36E2"),
    "BRAM18": re.compile(r"RAMB18E2"),
    "LUTRAM": re.compile(r"RAM\d+\w*"),
}


@dataclass(frozen=True)
class Synthesis:
    """The figures of one synthesised unit."""

    steps: int  # states of the controller
    slack_ns: float
    area: int  # bambu's own estimate, in LUTs
    dsps: int
    flip_flops: int


@dataclass(frozen=True)
class Schedule:
    """The figures of a pipelined function; bambu prints no others for it."""

    steps: int
    slack_ns: float


def parse(text: str) -> Synthesis:
    """Parse the output of a synthesis. The last figure of a kind counts: it is the top function's."""
    found = _figures(text, tuple(FIGURES))
    slack = float(found.pop("slack_ns"))
    return Synthesis(slack_ns=slack, **{name: int(value) for name, value in found.items()})


def schedule(text: str) -> Schedule:
    """Parse the output for a pipelined function."""
    found = _figures(text, ("steps", "slack_ns"))
    return Schedule(int(found["steps"]), float(found["slack_ns"]))


def _figures(text: str, names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        pattern = FIGURES[name]
        values = re.findall(pattern, text)
        if not values:
            last = next((line for line in reversed(text.splitlines()) if line.strip()), "nothing")
            raise UserError(f"bambu: no figure for {name} in what it printed; it ended with: {last.strip()}")
        found[name] = values[-1]
    return found


def cells(text: str) -> dict[str, int]:
    """Sum the cells of Yosys's `stat` by kind."""
    total = dict.fromkeys(KINDS, 0)
    for name, number in CELL.findall(text):
        for kind, pattern in KINDS.items():
            if pattern.fullmatch(name):
                total[kind] += int(number)
    if not any(total.values()):
        raise UserError("yosys: no cells of UltraScale+ in what it counted")
    return total
