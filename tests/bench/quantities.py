# SPDX-License-Identifier: Apache-2.0
"""What benchmarks of processes measure: percentiles, processor time, memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]
TICK = os.sysconf("SC_CLK_TCK")


def percentiles(values: Sequence[float], scale: float) -> Json:
    """Median, 99th percentile and maximum, scaled."""
    ordered = sorted(values)
    if not ordered:
        return {}
    places = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {
        name: ordered[min(int(place * len(ordered)), len(ordered) - 1)] * scale
        for name, place in places.items()
    }


def shown(figures: Json) -> str:
    return " ".join(f"{name} {value:.2f}" for name, value in figures.items())


def row(*cells: object) -> str:
    """A row of a table of docs/results."""
    return f"  | {' | '.join(map(str, cells))} |"


def processor_s(pid: int) -> float:
    """Processor time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
