# SPDX-License-Identifier: Apache-2.0
"""Criteria over points: each kind of condition, where it holds and where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from clarion_base.errors import UserError
from clarion_lab.reproduce.criteria import Judged, judge
from clarion_lab.reproduce.experiment import Criterion
from clarion_lab.reproduce.points import Points
from clarion_lab.reproduce.table import Row

LOSSES = (0.0, 0.001, 0.01, 0.1)
RATES = {"fast": (100.0, 90.0, 80.0, 70.0), "slow": (98.0, 60.0, 30.0, 10.0), "odd": (99.0, 20.0, 40.0, 30.0)}
NOISE = (-0.5, 0.2, 0.4, -0.1, 0.0)


def rows(noise: float = 1.0) -> list[Row]:
    """Three senders at four losses, five seeds; what chance does is the same for all senders of a seed."""
    return [
        Row(
            "runs",
            sender,
            "sim",
            seed,
            {"loss": loss},
            {"rate": rate + noise * NOISE[seed - 1], "top": 100.0},
        )
        for sender, series in RATES.items()
        for loss, rate in zip(LOSSES, series, strict=True)
        for seed in range(1, 6)
    ]


def judged(expect: str, kind: str = "O", noise: float = 1.0, **more: Any) -> Judged:
    criterion = Criterion(
        kind, "says", expect, more.get("each", {}), more.get("paired", True), more.get("ceiling")
    )
    return judge(criterion, Points(rows(noise)), {"limit": 95.0}, more.get("with_intervals", True))


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ('rate("fast", loss=0.1) > rate("slow", loss=0.1)', True),
        ('rate("slow", loss=0.1) > rate("fast", loss=0.1)', False),
        ('rate("slow", loss=0.1) < rate("fast", loss=0.1)', True),
        ('rate("fast", loss=0.1) > rate("odd", loss=0.1) > rate("slow", loss=0.1)', True),
        ('rate("fast", loss=0.1) > rate("slow", loss=0.1) > rate("odd", loss=0.1)', False),
        ('rate("fast", loss=0) >= limit', True),
        ('rate("slow", loss=0.001) >= limit', False),
        ('alike(rate("fast", loss=0), rate("slow", loss=0), 0.05)', True),
        ('alike(rate("fast", loss=0.1), rate("slow", loss=0.1), 0.05)', False),
        ('at_least(rate("slow", loss=0), rate("fast", loss=0), 0.02)', True),
        ('at_least(rate("slow", loss=0), rate("fast", loss=0), 0.01)', False),
        ('ratio(rate("fast", loss=0.1) / rate("slow", loss=0.1), 6)', True),
        ('ratio(rate("fast", loss=0.1) / rate("slow", loss=0.1), 10)', False),
        ('ratio(rate("fast", loss=0.1) / rate("slow", loss=0.1), 4, 6)', True),
        ('near(rate("fast", loss=0.1) / 100, 0.75)', True),
        ('near(rate("fast", loss=0.1) / 100, 0.85)', False),
        ('between(rate("fast", loss=0.1), 60, 80)', True),
        ('falls("loss", rate("slow"))', True),
        ('falls("loss", rate("odd"))', False),
        ('rises("loss", rate("fast") / rate("slow"))', True),
        ('falls("loss", rate("odd"), among=[0, 0.001])', True),
        ('known(rate("fast", loss=0))', True),
        ('mean_over("loss", rate("fast")) > mean_over("loss", rate("odd"))', True),
        ('lowest_over("loss", rate("odd"), among=[0.001, 0.01]) < 25', True),
        ('where_lowest("loss", rate("odd")) >= 0.1', False),
        ('slope("loss", rate("fast")) > slope("loss", rate("slow"))', True),
        ('correlation("loss", rate("fast"), rate("slow")) > 0.8', True),
        ('rate("fast", loss=0) > 99 and rate("slow", loss=0) > 99', False),
    ],
)
def test_conditions(expect: str, holds: bool) -> None:
    assert judged(expect).holds is holds


def test_each_place_is_judged_and_named() -> None:
    found = judged('rate("fast") > rate("slow") + 35', each={"loss": "> 0.001"})
    assert [(finding.place, finding.holds) for finding in found.findings] == [
        ("loss 0.01", True),
        ("loss 0.1", True),
    ]
    assert not judged('rate("fast") > rate("slow") + 35', each={"loss": "all"}).holds
    assert judged("rate() > 5", each={"loss": [0.1], "sender": "all"}).holds


def test_a_difference_within_chance_is_no_order() -> None:
    near = 'rate("fast", loss=0) > rate("odd", loss=0)'
    assert judged(near).holds  # by seed the difference is exact
    assert not judged(near, noise=20, paired=False).holds
    assert judged(near, noise=20, paired=False, with_intervals=False).holds
    turned: dict[str, Any] = {"noise": 20, "paired": False}
    assert not judged('rate("odd", loss=0) >= rate("fast", loss=0)', **turned).holds, "the means are in order"
    assert judged('not_below(rate("odd", loss=0), rate("fast", loss=0))', **turned).holds
    assert not judged('not_below(rate("odd", loss=0), rate("fast", loss=0))').holds
    assert not judged(
        'not_below(rate("odd", loss=0), rate("fast", loss=0))', with_intervals=False, **turned
    ).holds


def test_what_cannot_be_told_apart_may_be_alike() -> None:
    unlike = 'alike(rate("odd", loss=0), rate("fast", loss=0), within=0, or_tied=1)'
    assert judged(unlike, noise=20, paired=False).holds
    assert not judged(unlike).holds, "by seed they are told apart"
    assert not judged(unlike, noise=20, paired=False, with_intervals=False).holds
    assert not judged(unlike.replace("or_tied=1", "or_tied=0"), noise=20, paired=False).holds


def test_a_number_beyond_its_ceiling_is_out_of_reach() -> None:
    expect = 'ratio(rate("fast", loss=0) / rate("slow", loss=0), 2)'
    top = 'top("slow", loss=0) / rate("slow", loss=0)'
    assert judged(expect, "R").bound is None
    assert judged(expect, "R", ceiling=top).bound == f"{top} is at most 1.02"
    assert judged(expect, "R", ceiling="1.6").bound is None  # it could be reached, and was not


@pytest.mark.parametrize(
    ("expect", "each", "reason"),
    [
        ('speed("fast") > 1', {}, "speed: unknown function"),
        ('rate("fast") > 1', {}, "4 places at sender fast; name sender and columns"),
        ('rate("none", loss=0) > 1', {}, "rate: no run at sender none, loss 0"),
        ('rate("fast", rtt=0) > 1', {}, "rtt: no column; use sender, loss"),
        ('rate("fast", loss=0)', {}, "no condition"),
        ('rate("fast", loss=0) == 1', {}, "compare with <, >, <= or >="),
        ('falls("rtt", rate("fast"))', {}, "rtt: no column"),
        ('rate("fast") > 1', {"loss": "most"}, "most: unknown"),
    ],
)
def test_a_wrong_criterion_says_what_is_wrong(expect: str, each: dict[str, Any], reason: str) -> None:
    with pytest.raises(UserError) as error:
        judged(expect, each=each)
    assert expect in str(error.value)
    assert reason in str(error.value)
