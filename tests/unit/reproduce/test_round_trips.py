# SPDX-License-Identifier: Apache-2.0
"""The measure of round trips over a time."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clarion_lab.recording import files
from clarion_lab.reproduce.measures import measure

SAMPLES_MS = [0, 60, 80, 100, 300]  # one a second; 0: no sample yet


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of five seconds with one flow, and one of datagrams, which has no round trip."""
    rows = [(1_000_000 * at, 0, 1000 * rtt_ms) for at, rtt_ms in enumerate(SAMPLES_MS)]
    rows += [(1_000_000 * at, 1, 0) for at in range(len(SAMPLES_MS))]
    columns = dict(zip(("time_us", "flow", "srtt_us"), map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / files.FLOWS)
    summary = {
        "format": files.RUN_FORMAT,
        "version": files.VERSIONS[files.RUN_FORMAT],
        "measured_s": [0, 3],
        "flows": [{"algorithm": "cubic"}, {"algorithm": "udp"}],
    }
    files.write_json(tmp_path / files.SUMMARY, summary)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rtt_ms(0)", 80),  # of the measured window
        ('rtt_ms(0, take="min")', 60),
        ('rtt_ms(0, 0, 4, "max")', 300),
        ('rtt_ms("cubic", 2, 3)', 90),
        ("rtt_ms()", 80),  # of all but datagrams
    ],
)
def test_is_taken_over_the_samples_of_the_time(run: Path, text: str, expected: float) -> None:
    assert measure(run, {"x": text}, {})["x"] == expected


def test_without_a_sample_it_is_unknown(run: Path) -> None:
    assert math.isnan(measure(run, {"x": "rtt_ms(0, 0, 0.5)"}, {})["x"])
    assert math.isnan(measure(run, {"x": "rtt_ms(1)"}, {})["x"])
