# SPDX-License-Identifier: Apache-2.0
"""Functions of one run that measures are made of, on a run whose numbers are written here."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.reproduce.measures import check, measure

SECOND_US = 1_000_000
RUN: Mapping[str, Any] = {"format": files.RUN_FORMAT, "version": 2, "measured_s": [0, 20], "duration_s": 20.0}
PORTS: Sequence[Mapping[str, Any]] = [
    {"role": "access", "queue_mean_bytes": 9.0, "wire_loss": 0.5},
    {"role": "bottleneck 1 forward", "queue_mean_bytes": 1.0, "wire_loss": 0.1},
    {"role": "bottleneck 2 forward", "queue_mean_bytes": 2.0, "wire_loss": 0.2, "switch": "s2"},
]


def _run(directory: Path, rates: Sequence[float] = (), **summary: Any) -> Path:
    """A run of one flow that delivers so many bytes in each second."""
    flows = [{"algorithm": "reno", "size_bytes": None, "start_s": 0.0, "completed_s": None}]
    document = {**RUN, "flows": flows, "ports": PORTS, "totals": {}, **summary}
    (directory / files.SUMMARY).write_text(json.dumps(document))
    totals = [0.0]
    for rate in rates:
        totals.append(totals[-1] + rate)
    table = {
        "time_us": [second * SECOND_US for second in range(len(totals))],
        "flow": [0] * len(totals),
        "delivered_bytes": totals,
        "min_rtt_us": [0, *[20_500] * (len(totals) - 1)],
    }
    pq.write_table(pa.table(table), directory / files.FLOWS)
    return directory


def _value(directory: Path, formula: str) -> float:
    return measure(directory, {"it": formula}, {})["it"]


def test_settled_for_a_while_is_not_settled_for_good(tmp_path: Path) -> None:
    rates = [1.0] * 3 + [100.0] * 10 + [1.0] + [100.0] * 6
    run = _run(tmp_path, rates)
    assert _value(run, "settled(since=0, hold=5)") == 3
    assert _value(run, "settled(since=0)") == 14


def test_a_flow_that_never_settles_is_not_known(tmp_path: Path) -> None:
    run = _run(tmp_path, [1.0, 100.0] * 10)
    assert math.isnan(_value(run, "settled(since=0, hold=2)"))
    assert _value(run, 'either(settled(since=0, hold=2), summary("duration_s"))') == 20


def test_what_swings_for_ever_settles_within_its_own_swing(tmp_path: Path) -> None:
    run = _run(tmp_path, [1.0, 10.0, 300.0] + [70.0, 130.0] * 8 + [100.0])
    assert math.isnan(_value(run, "settled(since=0, hold=5)"))
    assert _value(run, "settled(since=0, hold=5, deviations=2)") == 3


def test_least_round_trip_skips_samples_without_one(tmp_path: Path) -> None:
    assert _value(_run(tmp_path, [1.0] * 3), "min_rtt_ms()") == 20.5


def test_the_bottleneck_is_the_one_with_the_longest_queue(tmp_path: Path) -> None:
    run = _run(tmp_path)
    assert _value(run, 'bottleneck("wire_loss")') == 0.2
    assert math.isnan(_value(run, 'bottleneck("switch")'))


def _transfer(size: int, start_s: float, completed_s: float | None) -> dict[str, Any]:
    return {"algorithm": "reno", "size_bytes": size, "start_s": start_s, "completed_s": completed_s}


def test_transfers_are_chosen_by_size_and_start(tmp_path: Path) -> None:
    flows = [
        {"algorithm": "reno", "size_bytes": None, "start_s": 0.0, "completed_s": None},
        _transfer(1000, 1, 2),
        _transfer(1000, 10, 13),
        _transfer(5000, 10, 15),
        _transfer(1000, 15, None),
    ]
    run = _run(tmp_path, flows=flows)
    assert _value(run, 'transfers("mean", 0, 2000, 5)') == 4  # the one cut off has had 5 s
    assert _value(run, "transfers(100, 0, 2000)") == 5
    assert _value(run, 'transfers("mean", 2000)') == 5
    assert math.isnan(_value(run, 'transfers("mean", 6000)'))


@pytest.mark.parametrize(
    "formula", ["goodptu()", "settled(sinc=0)", "goodput(0) + rtt", "transfers(1, 2, 3, 4, 5)"]
)
def test_what_no_run_can_have_is_found_without_one(formula: str) -> None:
    check({"mean": "goodput()", "it": "mean + goodput(0, 1, until=2)"}, {})
    with pytest.raises(UserError, match=r"measures\.wrong: "):
        check({"wrong": formula}, {})
