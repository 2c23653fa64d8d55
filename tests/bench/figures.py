# SPDX-License-Identifier: Apache-2.0
"""Figures of repeated runs: their medians and spread, the lines that show them, and the options around."""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def parser(about: str | None, runs: int) -> argparse.ArgumentParser:
    """The options of every such benchmark."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    options.add_argument("--runs", type=int, default=runs, metavar="N", help=f"(default {runs})")
    return options


def need_root(name: str) -> None:
    """Ends a benchmark that has to make network namespaces, and may not. One that may takes them down when
    Ctrl-C or SIGTERM end it.
    """
    if os.geteuid() != 0:
        sys.exit(f"{name}: needs root, for network namespaces")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(*_: object) -> None:
    sys.exit(130)


def write(file: Path | None, figures: Mapping[str, Any]) -> None:
    """Writes what `--json` asks for."""
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n")


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
