# SPDX-License-Identifier: Apache-2.0
"""Figures of repeated runs: their medians and spread, and the lines that show them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def summary(runs: Sequence[Mapping[str, float]]) -> Json:
    """Median, least and most of each figure."""
    return {
        key: {"median": statistics.median(values), "min": min(values), "max": max(values)}
        for key in runs[0]
        if (values := [run[key] for run in runs])
    }


def text(name: str, figure: Json, scale: float, unit: str, goal: tuple[str, float] | None = None) -> str:
    """One line of the table; the goal is in the same unit as the line."""
    median, low, high = (figure[key] * scale for key in ("median", "min", "max"))
    ratio = f", {median / goal[1]:.2f} of the goal of {goal[0]} {goal[1]:g}" if goal else ""
    return f"  {name:<42} {median:9.1f} {unit:<6} ({low:.1f} .. {high:.1f}){ratio}"
