# SPDX-License-Identifier: Apache-2.0
"""Reports of control intervals, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clarion_contract.telemetry import IntervalReport
from clarion_control.model import Interval

START_US = 1_000_000_000
REPORT = IntervalReport(
    port=1,
    intervals=1,
    elapsed_us=100_000.0,
    avg_rtt_us=100_000.0,
    input_bytes=1_250_000,
    sum_x_s=0.5,  # five flows
    sum_x_rtt_s2=0.05,
    queue_bytes=0,
    input_bps=100e6,
    phi_bps=0.0,
    positive_bps=10e6,
    negative_bps=10e6,
    cp_bps_per_s=20e6,
    cn_bps_per_byte=8.0,
    lost_on_wire=0,
    dropped_by_queue=0,
)


def reports(given: Sequence[Mapping[str, Any]], first: int = 1, start_us: int = START_US) -> list[Interval]:
    """Consecutive intervals; `given` replaces fields of REPORT. Rates and RTT follow from the others."""
    made = []
    time_us = start_us
    for number, fields in enumerate(given, start=first):
        report = REPORT._replace(intervals=number, **fields)
        if "input_bps" not in fields:
            report = report._replace(input_bps=report.input_bytes * 8e6 / report.elapsed_us)
        if "avg_rtt_us" not in fields:
            report = report._replace(avg_rtt_us=report.elapsed_us)
        time_us += round(report.elapsed_us)
        made.append(Interval(time_us, "s1", report))
    return made


def interval(before: Interval, **fields: Any) -> Interval:
    """The interval with some fields replaced."""
    return before._replace(report=before.report._replace(**fields))
