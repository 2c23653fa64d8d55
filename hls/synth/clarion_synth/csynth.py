# SPDX-License-Identifier: Apache-2.0
"""Reads what Vitis HLS reports of a synthesis: NAME_csynth.xml for each function of the RTL.

The summary csynth.xml reports all of them, but as ranges where a function's own report has one figure.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from clarion_base.errors import UserError


@dataclass(frozen=True)
class Module:
    """One function of the RTL."""

    name: str
    clock_ns: float | None
    latency: int | None
    ii: int | None
    violation: str  # what the tool complains of, empty if nothing


def read(path: Path) -> Module:
    """Read one function's report."""
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise UserError(f"{path}: no report of Vitis HLS: {error}") from error
    if root.tag != "profile":
        raise UserError(f"{path}: no report of Vitis HLS: it starts with <{root.tag}>, not with <profile>")
    estimates = "PerformanceEstimates"
    overall = f"{estimates}/SummaryOfOverallLatency"
    violations = f"{estimates}/SummaryOfViolations"
    ii = _integer(root, f"{overall}/PipelineInitiationInterval")
    return Module(
        name=path.name.removesuffix("_csynth.xml"),
        clock_ns=_number(root, f"{estimates}/SummaryOfTimingAnalysis/EstimatedClockPeriod"),
        latency=_integer(root, f"{overall}/Worst-caseLatency"),
        ii=ii if ii is not None else _integer(root, f"{overall}/Interval-max"),
        violation=" ".join(
            filter(None, (_text(root, f"{violations}/{tag}") for tag in ("IssueType", "ViolationType")))
        ),
    )


def read_all(folder: Path) -> list[Module]:
    """Read every function's report of a synthesis."""
    found = [read(path) for path in sorted(folder.glob("*_csynth.xml"))]
    if not found:
        raise UserError(f"{folder}: no *_csynth.xml there; the synthesis did not end well, see its log")
    return found


def _text(root: ET.Element, path: str) -> str:
    value = (root.findtext(path) or "").strip()
    return "" if value == "-" else value


def _number(root: ET.Element, path: str) -> float | None:
    try:
        return float(_text(root, path))
    except ValueError:  # "undef", or a range where there is no one figure
        return None


def _integer(root: ET.Element, path: str) -> int | None:
    value = _number(root, path)
    return None if value is None else int(value)
