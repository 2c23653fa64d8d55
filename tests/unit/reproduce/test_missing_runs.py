# SPDX-License-Identifier: Apache-2.0
"""What is said where series have not been run, as those on real hosts without root."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_lab.reproduce.experiment import Experiment, load
from clarion_lab.reproduce.page import findings, state
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import NOT_REPRODUCED, NOT_RUN, REPRODUCED, verdict

FILE = """
id: X
paper: beyond
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
    assert [state(each) for each in found.judged] == ["holds", "not run"]
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
