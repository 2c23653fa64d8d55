# SPDX-License-Identifier: Apache-2.0
"""Every shipped experiment can be run and judged: what is wrong in a file shows here, not after its runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from clarion_lab.reproduce import measures
from clarion_lab.reproduce.criteria import judge
from clarion_lab.reproduce.experiment import Experiment, load, places, shipped
from clarion_lab.reproduce.points import Points
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import constants
from clarion_lab.scenario.model import build

SHIPPED = shipped()
FORMS = pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
FILES = pytest.mark.parametrize("path", SHIPPED.values(), ids=list(SHIPPED))


def _rows(experiment: Experiment) -> Iterator[Row]:
    """A row for each run, with numbers that mean nothing."""
    made_up = random.Random(1)
    for series in experiment.series:
        for place in places(series):
            for seed in range(1, series.repeats + 1):
                found = {name: made_up.uniform(0.5, 1) for name in series.measures}
                yield Row(series.name, place.sender, series.engine, seed, place.values, found)


@FILES
def test_a_file_is_where_its_id_says(path: Path) -> None:
    experiment = load(path)
    assert experiment.paper.lower() == path.parent.name
    assert experiment.id == f"{experiment.paper}-{path.stem}"


@FORMS
@FILES
def test_every_run_is_a_scenario(path: Path, quick: bool) -> None:
    experiment = load(path, quick)
    for series in experiment.series:
        for place in places(series):
            build(series.scenario, place.document)


@FORMS
@FILES
def test_measures_are_known(path: Path, quick: bool) -> None:
    for series in load(path, quick).series:
        measures.check(series.measures, {column.name: 1.0 for column in series.columns})


@FORMS
@FILES
def test_criteria_can_be_judged(path: Path, quick: bool) -> None:
    experiment = load(path, quick)
    points = Points(list(_rows(experiment)))
    for criterion in experiment.criteria:
        assert judge(criterion, points, constants(experiment), not quick).findings, criterion.says


@FORMS
@FILES
def test_plots_and_samples_name_what_is_run(path: Path, quick: bool) -> None:
    experiment = load(path, quick)
    names = {series.name: series for series in experiment.series}
    for plot in experiment.plots:
        drawn = [names[plot.series]] if plot.series else list(names.values())
        assert any(plot.of in series.measures for series in drawn), plot.of
        columns = {column.name for series in drawn for column in series.columns}
        assert plot.over is None or plot.over in columns, plot.of
    for series in experiment.series:
        taken = [place for place in places(series) if series.sample and series.sample.takes(place)]
        assert series.sample is None or taken or quick, series.name
