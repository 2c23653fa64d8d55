# SPDX-License-Identifier: Apache-2.0
"""Every shipped experiment, in both forms: its scenarios can be built, and every criterion can be judged."""

from __future__ import annotations

import math

import pytest

from clarion_lab.reproduce.criteria import judge
from clarion_lab.reproduce.experiment import Experiment, load, places, shipped
from clarion_lab.reproduce.measures import FUNCTIONS
from clarion_lab.reproduce.points import Points
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import constants, verdict
from clarion_lab.scenario.model import build

FORMS = [
    pytest.param(name, quick, id=f"{name}-{'quick' if quick else 'full'}")
    for name in shipped()
    for quick in (True, False)
]


def rows(experiment: Experiment) -> list[Row]:
    """A run for each place and repeat, with measures that are above 0 and differ."""
    found = []
    for series in experiment.series:
        for number, place in enumerate(places(series)):
            for seed in range(1, series.repeats + 1):
                measures = {
                    name: 0.5 + 0.4 * math.sin(number + 7 * index + 0.01 * seed)
                    for index, name in enumerate(series.measures)
                }
                found.append(Row(series.name, place.sender, series.engine, seed, place.values, measures))
    return found


@pytest.mark.parametrize(("name", "quick"), FORMS)
def test_every_place_is_a_scenario(name: str, quick: bool) -> None:
    experiment = load(shipped()[name], quick)
    for series in experiment.series:
        for place in places(series):
            build(series.scenario, {**place.document, "seed": 1})


@pytest.mark.parametrize(("name", "quick"), FORMS)
def test_every_criterion_can_be_judged(name: str, quick: bool) -> None:
    experiment = load(shipped()[name], quick)
    made = rows(experiment)
    known = constants(experiment)
    for criterion in experiment.criteria:
        judged = judge(criterion, Points(made), known, with_intervals=not quick)
        dynamic = any(isinstance(each, str) and "(" in each for each in criterion.each.values())
        assert judged.findings or dynamic, f"{criterion.says}: judged nowhere"
    assert verdict(experiment, made, quick).text


@pytest.mark.parametrize("name", shipped())
def test_measures_and_plots_name_what_there_is(name: str) -> None:
    experiment = load(shipped()[name])
    by_series = {series.name: series for series in experiment.series}
    for plot in experiment.plots:
        drawn = [by_series[plot.series]] if plot.series else list(by_series.values())
        drawn = [series for series in drawn if plot.of in series.measures]
        assert drawn, f"plot of {plot.of}: no series has it"
        senders = {sender for series in drawn for sender in series.senders}
        assert {point["sender"] for point in plot.reported if "sender" in point} <= senders
        if plot.over:
            assert any(column.name == plot.over for series in drawn for column in series.columns)
    assert set(FUNCTIONS).isdisjoint(name for series in by_series.values() for name in series.measures)


@pytest.mark.parametrize("name", shipped())
def test_files_are_named_by_their_paper_and_figure(name: str) -> None:
    path = shipped()[name]
    experiment = load(path)
    assert path.parent.name == experiment.paper.lower()
    assert experiment.id.lower() == f"{path.parent.name}-{path.stem}"
