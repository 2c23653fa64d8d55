# SPDX-License-Identifier: Apache-2.0
"""Parses what bambu prints of a synthesis."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clarion_base.errors import UserError

FIGURES = {
    "states": r"Number of states: (\d+)",
    "slack_ns": r"Minimum slack: (-?[\d.e-]+)",
}


@dataclass(frozen=True)
class Schedule:
    """The figures of a pipelined function; bambu prints no others for it."""

    states: int  # one less than registers in a row
    slack_ns: float


def schedule(text: str) -> Schedule:
    """Parse the output. The last figure of a kind counts: it is the top function's."""
    found = {name: re.findall(pattern, text) for name, pattern in FIGURES.items()}
    for name, values in found.items():
        if not values:
            last = next((line for line in reversed(text.splitlines()) if line.strip()), "nothing")
            raise UserError(f"bambu: no figure for {name} in what it printed; it ended with: {last.strip()}")
    return Schedule(int(found["states"][-1]), float(found["slack_ns"][-1]))
