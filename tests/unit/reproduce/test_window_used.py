# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clarion_lab.recording import files
from clarion_lab.reproduce.measures import measure


def run(directory: Path, windows: list[int], unacked: list[int]) -> Path:
    """A run of one flow with a sample each second."""
    summary = {
        "format": files.RUN_FORMAT,
        "version": files.VERSIONS[files.RUN_FORMAT],
        "measured_s": [0, len(windows)],
        "flows": [{"algorithm": "reno"}],
    }
    (directory / files.SUMMARY).write_text(json.dumps(summary))
    seconds = [1_000_000 * second for second in range(len(windows))]
    table = {
        "time_us": seconds,
        "flow": [0] * len(windows),
        "cwnd_packets": windows,
        "unacked_packets": unacked,
    }
    pq.write_table(pa.table(table), directory / files.FLOWS)
    return directory


def used(directory: Path, formula: str = "window_used(0)") -> float:
    return measure(directory, {"used": formula}, {})["used"]


def test_a_program_that_is_slow_leaves_its_window_unused(tmp_path: Path) -> None:
    assert used(run(tmp_path, [100, 100, 100], [100, 50, 0])) == pytest.approx(
        0.75
    )  # idle samples do not count


def test_more_than_the_window_after_a_loss_is_all_of_it(tmp_path: Path) -> None:
    assert used(run(tmp_path, [10, 10], [30, 10])) == 1


def test_only_the_time_that_is_asked_for(tmp_path: Path) -> None:
    assert used(run(tmp_path, [10, 10, 10], [1, 10, 10]), "window_used(0, 1)") == 1


def test_a_flow_that_sent_nothing(tmp_path: Path) -> None:
    assert math.isnan(used(run(tmp_path, [10, 10], [0, 0])))
