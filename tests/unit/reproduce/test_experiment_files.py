# SPDX-License-Identifier: Apache-2.0
"""Every experiment that comes with Clarion can be planned and judged: wrong names fail without a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from clarion_lab.reproduce import measures
from clarion_lab.reproduce.experiment import Experiment, Series, load, places, shipped
from clarion_lab.reproduce.formula import parse
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import NOT_RUN, verdict
from clarion_lab.scenario.model import build

SHIPPED = shipped()
FORMS = pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
EVERY = pytest.mark.parametrize("name", SHIPPED)


@EVERY
@FORMS
def test_every_repeat_of_every_point_is_a_scenario(name: str, quick: bool) -> None:
    for series in load(SHIPPED[name], quick).series:
        for place in places(series):
            for repeat in range(series.repeats if series.by_repeat else 1):
                build(series.scenario, place.repeated(repeat, seed=1 + repeat))


@EVERY
@FORMS
def test_samples_are_points_of_their_series(name: str, quick: bool) -> None:
    for series in load(SHIPPED[name]).series:
        if series.sample is not None:
            assert any(series.sample.takes(place) for place in places(series)), series.name


@EVERY
@FORMS
def test_measures_use_what_there_is(name: str, quick: bool) -> None:
    for series in load(SHIPPED[name], quick).series:
        known = {column.name for column in series.columns}
        for measure, text in series.measures.items():
            for function, names in _used(text):
                assert function in (None, *measures.FUNCTIONS), f"{series.name}: {measure}: {function}"
                assert names <= known, f"{series.name}: {measure}: {names - known}"
            known.add(measure)


def _used(text: str) -> Iterator[tuple[str | None, set[str]]]:
    """The functions of a formula, and the names that it reads."""
    node = parse(str(text))
    functions = [call.func.id for call in ast.walk(node) if isinstance(call, ast.Call)]  # type: ignore[attr-defined]
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - set(functions)
    yield None, names
    yield from ((function, set()) for function in functions)


@EVERY
@FORMS
def test_every_criterion_can_be_judged(name: str, quick: bool) -> None:
    experiment = load(SHIPPED[name], quick)
    rows = [row for series in experiment.series for row in _rows(series)]
    found = verdict(experiment, rows, quick)
    assert found.text != NOT_RUN
    for judged in found.judged:
        assert judged.findings, f"{judged.criterion.says}: there is no place that it is about"


@EVERY
def test_plots_are_of_measures_there_are(name: str) -> None:
    experiment = load(SHIPPED[name])
    for plot in experiment.plots:
        drawn = [series for series in experiment.series if plot.series in (None, series.name)]
        assert any(plot.of in series.measures for series in drawn), plot.of
        assert {plot.over, *plot.at} - {None} <= _columns(experiment), plot.of
        assert plot.relative_to is None or any(plot.relative_to in series.senders for series in drawn)
        for each in plot.reported:
            assert each.get("sender", "") in ("", *(sender for series in drawn for sender in series.senders))


def _columns(experiment: Experiment) -> set[str]:
    return {column.name for series in experiment.series for column in series.columns}


def _rows(series: Series) -> Iterator[Row]:
    """Made-up results: numbers of which no two are the same."""
    number = 0
    for place in places(series):
        for repeat in range(series.repeats):
            number += 1
            found = {
                measure: 1 + number / 7 + position / 100 for position, measure in enumerate(series.measures)
            }
            yield Row(series.name, place.sender, series.engine, 1 + repeat, place.values, found)
