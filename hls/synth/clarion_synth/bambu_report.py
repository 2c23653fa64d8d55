# SPDX-License-Identifier: Apache-2.0
"""Parses what bambu prints of a synthesis. The last figure of a kind counts: it is the top function's."""

from __future__ import annotations

import re

from clarion_base.errors import UserError


def states(text: str) -> int:
    """Return the states of a pipeline: one more than it has registers in a row."""
    return int(_last(text, "Number of states", r"\d+"))


def cycles(text: str) -> int:
    """Return the worst-case latency of a sequence of states, clocks; there is none if it is unbounded."""
    return int(_last(text, "Maximum number of cycles", r"\d+"))


def slack_ns(text: str) -> float:
    """Return what the longest path leaves of a clock."""
    return float(_last(text, "Minimum slack", r"-?[\d.e-]+"))


def _last(text: str, name: str, number: str) -> str:
    found: list[str] = re.findall(rf"{name}:? ({number})", text)
    if not found:
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "nothing")
        raise UserError(f"bambu: no '{name}' in what it printed; it ended with: {last.strip()}")
    return found[-1]
