# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from clarion_lab.reproduce.criteria import judge
from clarion_lab.reproduce.experiment import Criterion
from clarion_lab.reproduce.formula import FormulaError
from clarion_lab.reproduce.points import Points, chosen, formula
from clarion_lab.reproduce.table import Row


def made(series: str, sender: str, measures: dict[str, float], **values: float) -> list[Row]:
    return [Row(series, sender, "sim", seed, values, measures) for seed in (1, 2)]


# Two senders beside another one at two round trips; only one of them also ran alone.
POINTS = Points(
    made("beside", "bold", {"share": 0.5}, rtt_ms=16)
    + made("beside", "bold", {"share": 0.1}, rtt_ms=64)
    + made("beside", "meek", {"share": -0.5}, rtt_ms=16)
    + made("beside", "meek", {"share": -0.1}, rtt_ms=64)
    + made("alone", "bold", {"rate": 9.0}, alone_ms=64)
)


def value(text: str, **place: Any) -> Any:
    return formula(POINTS, place, {}).evaluate(text)


def test_where_gives_the_values_whose_mean_is_there() -> None:
    assert value('where_above("sender", share(rtt_ms=16), 0)') == ["bold"]
    assert value('where_below("sender", share(rtt_ms=16), 0)') == ["meek"]
    assert value('where_above("rtt_ms", share("bold"), 0.2)') == [16]
    assert value('where_above("sender", share(rtt_ms=16), 1)') == []
    assert value('count(where_below("sender", share(rtt_ms=16), 1))') == 2


def test_where_needs_a_bound() -> None:
    with pytest.raises(FormulaError, match="a column, an expression and a bound"):
        value('where_above("sender", share(rtt_ms=16))')


def test_a_column_has_only_the_values_at_which_the_measures_were_run() -> None:
    assert value('count(where_above("sender", rate(alone_ms=64), 0))') == 1
    assert float(value('mean_over("sender", rate(alone_ms=64))')[0]) == 9


def test_a_measure_that_knows_nothing_of_a_column_is_the_same_along_it() -> None:
    assert value('count(where_above("rtt_ms", rate("bold"), 0))') == 2


def test_each_may_be_a_formula() -> None:
    wanted = 'where_above("sender", mean_over("rtt_ms", share()), 0)'
    assert chosen(POINTS, "sender", wanted) == ["bold"]
    falling = Criterion("T", "falls", 'falls("rtt_ms", abs(share()))', {"sender": wanted}, True, None)
    (finding,) = judge(falling, POINTS, {}, with_intervals=False).findings
    assert (finding.place, finding.holds) == ("sender bold", True)


def test_each_that_is_no_list_is_refused() -> None:
    with pytest.raises(FormulaError, match=r"use all, a list, a bound .* or where_above"):
        chosen(POINTS, "sender", "1 + 1")


def test_a_criterion_about_nobody_does_not_hold() -> None:
    nobody = {"sender": 'where_above("sender", share(rtt_ms=16), 5)'}
    assert not judge(
        Criterion("T", "falls", 'falls("rtt_ms", share())', nobody, True, None), POINTS, {}
    ).holds
