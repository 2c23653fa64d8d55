# SPDX-License-Identifier: Apache-2.0
"""What is said where series have not been run, as those on real hosts without root."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_lab.reproduce.experiment import Experiment, load, spots
from clarion_lab.reproduce.page import findings, state
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import NOT_REPRODUCED, NOT_RUN, REPRODUCED, in_order, verdict

FILE = """
id: X
paper: S0
figure: none
title: two series
claim: one is above the other
runs:
  - {name: first, scenario: smoke, engine: sim, why: it can, measures: {fast: goodput()}}
  - {name: second, scenario: smoke, engine: emu, why: it must, measures: {slow: goodput()}}
criteria:
  - {kind: O, says: much, expect: fast("all") > 5}
  - {kind: O, says: more, expect: fast("all") > slow("all")}
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    path = tmp_path / "x.yaml"
    path.write_text(FILE)
    return load(path)


def row(series: str, engine: str, name: str, value: float) -> Row:
    return Row(series, "all", engine, 1, {}, {name: value})


def test_a_criterion_without_its_runs_is_open(experiment: Experiment) -> None:
    found = verdict(experiment, [row("first", "sim", "fast", 9)], quick=True)
    assert (found.text, found.reason) == (NOT_RUN, "without the runs of second")
    assert [state(each, "S0") for each in found.judged] == ["holds", "not run"]
    assert findings(found.judged[1]) == ["needs the runs of second"]


def test_what_was_run_can_fail_all_the_same(experiment: Experiment) -> None:
    assert verdict(experiment, [row("first", "sim", "fast", 1)], quick=True).text == NOT_REPRODUCED


def test_with_all_runs_nothing_is_open(experiment: Experiment) -> None:
    rows = [row("first", "sim", "fast", 9), row("second", "emu", "slow", 3)]
    assert (verdict(experiment, rows, quick=True).text, verdict(experiment, rows, quick=True).reason) == (
        REPRODUCED,
        "",
    )


def test_a_wrong_name_is_no_missing_run(experiment: Experiment) -> None:
    rows = [row("first", "sim", "fast", 9), row("second", "emu", "other", 3)]
    with pytest.raises(UserError, match="slow: unknown function"):
        verdict(experiment, rows, quick=True)


SWEEP = """
id: X
paper: S0
figure: none
title: two senders
claim: one is above the other
runs:
  - scenario: smoke
    engine: sim
    why: it can
    senders: {fast: {}, slow: {}}
    over: {rtt_ms: {key: links.bottleneck.rtt, values: [10, 20], unit: ms}}
    repeats: 3
measures: {rate: goodput()}
criteria:
  - {kind: O, says: at ten, expect: 'rate("fast", rtt_ms=10) - rate("slow", rtt_ms=10) > 0'}
  - {kind: O, says: at twenty, expect: 'rate("fast", rtt_ms=20) > rate("slow", rtt_ms=20)'}
"""


@pytest.fixture
def sweep(tmp_path: Path) -> Experiment:
    path = tmp_path / "x.yaml"
    path.write_text(SWEEP)
    return load(path)


def swept(sweep: Experiment) -> list[Row]:
    """Seed 3 contradicts the other two, by much."""
    (series,) = sweep.series
    return [
        Row("runs", sender, "sim", seed, place, {"rate": (9.0 if sender == "fast" else 1.0) + seed / 10})
        if seed < 3
        else Row("runs", sender, "sim", seed, place, {"rate": 0.0 if sender == "fast" else 99.0})
        for sender, place in spots(series)
        for seed in (1, 2, 3)
    ]


def test_a_repeat_with_a_failed_run_does_not_count(sweep: Experiment) -> None:
    rows = swept(sweep)
    assert verdict(sweep, rows, quick=True).text == NOT_REPRODUCED
    failed = [row for row in rows if (row.sender, row.values["rtt_ms"], row.seed) != ("slow", 20, 3)]
    found = verdict(sweep, failed, quick=True)
    assert found.text == REPRODUCED, "seed 3 of both senders and places is gone"
    assert found.reason == "without the repeats 3 of runs, of which runs have failed"


def test_a_point_of_which_every_run_failed_is_open(sweep: Experiment) -> None:
    rows = [
        row for row in swept(sweep) if row.seed < 3 and (row.sender, row.values["rtt_ms"]) != ("slow", 20)
    ]
    found = verdict(sweep, rows, quick=True)
    assert (found.text, found.reason) == (NOT_RUN, "without the runs of 1 of 4 points of runs")
    assert [state(each, "S0") for each in found.judged] == ["holds", "not run"]


def test_without_a_whole_repeat_nothing_is_judged(sweep: Experiment) -> None:
    rows = [row for row in swept(sweep) if (row.sender == "fast") == (row.seed == 1)]
    found = verdict(sweep, rows, quick=True)
    assert found.text == NOT_RUN
    assert "without the repeats 1, 2, 3 of runs" in found.reason


def test_repeats_of_two_series_do_not_pair(experiment: Experiment) -> None:
    rows = [
        Row("first", "all", "sim", 1, {}, {"fast": 9.0}),
        Row("first", "all", "sim", 2, {}, {"fast": 8.0}),
        *(Row("second", "all", "emu", seed, {}, {"slow": 3.0}) for seed in (1, 2, 3)),
    ]
    subtracted = replace(experiment.criteria[1], expect='fast("all") - slow("all") > 0')
    with pytest.raises(UserError, match=r"criterion .* shapes \(2,\) \(3,\)"):
        verdict(replace(experiment, criteria=(subtracted,)), rows, quick=True)


def test_a_table_of_another_file_is_refused(sweep: Experiment) -> None:
    rows = [Row("runs", "slow", "sim", 1, {}, {}), Row("runs", "fast", "sim", 1, {}, {})]
    assert [row.sender for row in in_order(sweep, rows)] == ["fast", "slow"]
    with pytest.raises(UserError, match="the table has runs of cubic in runs"):
        in_order(sweep, [Row("runs", "cubic", "sim", 1, {}, {})])
