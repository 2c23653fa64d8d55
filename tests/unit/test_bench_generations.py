# SPDX-License-Identifier: Apache-2.0
"""The figures of both generations, from what a run leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import generations
from clarion_base.errors import UserError
from clarion_lab.recording import files

RATE_BPS = 8_000_000  # a megabyte per second
RTT_MS = 500.0
BDP_BYTES = 500_000


def leave(directory: Path, rates: list[float], queues_bytes: list[int], join_s: float = 0.0) -> None:
    """A run: what the bottleneck carries of its rate until each sample, twice a second; data from 1 s on."""
    directory.mkdir(parents=True)
    sent, ports = 0, []
    for index, (rate, queue) in enumerate(zip(rates, queues_bytes, strict=True)):
        sent += int(rate * RATE_BPS / 8 / 2)
        ports.append({"time_us": index * 500_000, "port": "s1-right", "tx_bytes": sent, "queue_bytes": queue})
    flows = [{"time_us": time_us, "unacked_packets": 10 * (time_us > 0)} for time_us in (0, 1_000_000)]
    pq.write_table(pa.Table.from_pylist(ports), directory / files.PORTS)
    pq.write_table(pa.Table.from_pylist(flows), directory / files.FLOWS)
    link = {"rate_bits_per_s": RATE_BPS, "rate_steps": []}
    summary: dict[str, Any] = {
        "format": files.RUN_FORMAT,
        "version": 2,
        "state": "complete",
        "flows": [
            {"path_rtt_ms": RTT_MS, "start_s": start_s, "size_bytes": None} for start_s in (0.0, join_s)
        ],
        "ports": [
            {"port": "s1-right", "role": "bottleneck 1 forward", **link},
            {"port": "s2-left", "role": "bottleneck 1 reverse", **link},
        ],
        "totals": {
            "fraction_of_limit": 0.99,
            "jain": 1.0,
            "newcomer": {"round_trips": 7.5} if join_s else None,
            "losses": {"data_queue": 3},
        },
    }
    files.write_json(directory / files.SUMMARY, summary)


def figures(directory: Path) -> generations.Figures:
    summary = generations.read_run(directory)
    assert summary is not None
    return generations.figures_of(directory, summary)


def test_a_start_counts_from_the_first_data(tmp_path: Path) -> None:
    leave(tmp_path / "run", [0, 0, 0.1, 0.5, 0.89, 0.9, 1], [0, 0, 0, 0, 50_000, 25_000, 0])
    found = figures(tmp_path / "run")
    assert found.rounds_to_full == 3  # at 2.5 s, data at 1 s
    assert found.start_queue_bdp == pytest.approx(0.1)
    assert found.rounds_to_share is found.join_queue_bdp is found.least_utilisation is None
    assert found.drops == 3


def test_a_link_that_never_fills_has_no_start(tmp_path: Path) -> None:
    leave(tmp_path / "run", [0.5] * 5, [0] * 5)
    assert figures(tmp_path / "run").rounds_to_full is None


def test_a_newcomer_is_looked_at_for_twenty_round_trips(tmp_path: Path) -> None:
    # The emptiest round trip from 5 s to 15 s; queue and idle link from before and after do not count.
    rates = [0.1] * 11 + [1] * 9 + [0.8] + [1] * 10 + [0.2] * 5
    queues = [400_000] * 9 + [0] * 5 + [20_000] + [0] * 16 + [300_000] * 5
    leave(tmp_path / "run", rates, queues, join_s=5.0)
    found = figures(tmp_path / "run")
    assert found.rounds_to_share == 7.5
    assert found.join_queue_bdp == pytest.approx(0.04)
    assert found.least_utilisation == pytest.approx(0.8)


def test_the_table_has_medians_and_extremes(tmp_path: Path) -> None:
    case = "4 at 1 Gbit/s, 50 ms"
    matrix = generations.Matrix([case], [1, 2], 3, tmp_path, "emu")
    for seed, queue in ((1, 10_000), (2, 40_000), (3, 20_000)):
        leave(matrix.directory(case, 2, seed), [0, 0, 0, 0.95], [0, 0, 0, queue])
    assert generations.table(matrix).splitlines()[2:] == [
        "| 4 at 1 Gbit/s, 50 ms | 2 | 3 | 99.0 | 1.0000 | 1.0 | 4.0 (2.0 to 8.0) | - | - | - | - | 3 |"
    ]


def test_a_run_that_was_stopped_is_none(tmp_path: Path) -> None:
    assert generations.read_run(tmp_path) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0"], "--seeds 0: must be at least 1"),
        (["--cases", "moon"], "--cases moon: no case has it; there are 4 + 1 at 570 ms"),
    ],
)
def test_bad_arguments_are_named(arguments: list[str], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        generations.parse(arguments)
