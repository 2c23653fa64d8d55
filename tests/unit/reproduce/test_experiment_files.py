# SPDX-License-Identifier: Apache-2.0
"""The shipped experiment files: both forms load, every scenario builds, every formula can be evaluated."""

from __future__ import annotations

import inspect
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion_base.errors import UserError
from clarion_lab.reproduce import measures
from clarion_lab.reproduce.experiment import Experiment, Series, load, places, shipped
from clarion_lab.reproduce.formula import Formula, Function, eager
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import NOT_RUN, verdict
from clarion_lab.scenario import orbit
from clarion_lab.scenario.documents import read
from clarion_lab.scenario.model import build

FILES = shipped()
FORMS = [(name, quick) for name in FILES for quick in (False, True)]


@pytest.fixture(
    scope="module", params=FORMS, ids=[f"{name}-{'quick' if quick else 'full'}" for name, quick in FORMS]
)
def form(request: pytest.FixtureRequest) -> tuple[Experiment, bool]:
    name, quick = request.param
    return load(FILES[name], quick), quick


def test_ids_name_their_papers() -> None:
    for name, path in FILES.items():
        assert name.lower().startswith(f"{path.parent.name}-")
        assert load(path).paper.lower() == path.parent.name


_FOLLOWED: dict[str, orbit.Pass] = {}


@pytest.fixture
def orbits_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places share their orbits: each is followed once, because that takes longer than all else here."""
    follow = orbit.follow

    def once(document: Mapping[str, Any], duration_us: int) -> orbit.Pass:
        key = json.dumps([document, duration_us])
        if key not in _FOLLOWED:
            _FOLLOWED[key] = follow(document, duration_us)
        return _FOLLOWED[key]

    monkeypatch.setattr(orbit, "follow", once)


@pytest.mark.usefixtures("orbits_once")
def test_every_scenario_builds(form: tuple[Experiment, bool]) -> None:
    experiment, _ = form
    for series in experiment.series:
        for place in places(series):
            for repeat in range(series.repeats if series.by_repeat else 1):
                build(series.scenario, place.repeated(repeat, seed=1 + repeat))


def test_every_measure_can_be_evaluated(form: tuple[Experiment, bool]) -> None:
    experiment, _ = form
    functions = {name: _checked(function) for name, function in measures._OF_RUN.items()}
    for series in experiment.series:
        formula = Formula(functions | measures._ARITHMETIC, {column.name: 1.0 for column in series.columns})
        found: dict[str, float] = {}
        for name, text in series.measures.items():
            found[name] = float(formula.bound(found).evaluate(text))


def _checked(function: Callable[..., float]) -> Function:
    """Stands for a function of a run: takes what that takes, and gives numbers that differ."""
    numbers = itertools.count(1)

    def call(*args: Any, **keywords: Any) -> float:
        inspect.signature(function).bind(None, *args, **keywords)
        return float(next(numbers))

    return eager(call)


def test_every_criterion_can_be_judged(form: tuple[Experiment, bool]) -> None:
    experiment, quick = form
    rows = [row for series in experiment.series for row in _synthetic(series)]
    found = verdict(experiment, rows, quick)
    assert found.text != NOT_RUN
    for each in found.judged:
        found_by_formula = any("(" in str(where) for where in each.criterion.each.values())
        assert each.findings or found_by_formula, f"{experiment.id}: {each.criterion.says}: judged nowhere"


def _synthetic(series: Series) -> list[Row]:
    """What the runs of a series could give: numbers that differ, which criteria hold says nothing."""
    rows = []
    for number, place in enumerate(places(series)):
        for seed in range(1, series.repeats + 1):
            numbers = dict.fromkeys(series.measures, 1.0 + number + 0.1 * seed)
            rows.append(Row(series.name, place.sender, series.engine, seed, place.values, numbers))
    return rows


def test_plots_are_of_what_is_measured(form: tuple[Experiment, bool]) -> None:
    experiment, _ = form
    for plot in experiment.plots:
        shown = [series for series in experiment.series if plot.series in (None, series.name)]
        assert any(plot.of in series.measures for series in shown), plot
        columns = {column.name for series in shown for column in series.columns}
        assert {plot.over, *plot.at} - {None} <= columns, plot
        assert plot.relative_to is None or any(plot.relative_to in series.senders for series in shown)
        senders = {sender for series in shown for sender in series.senders}
        assert {each["sender"] for each in plot.reported if "sender" in each} <= senders, plot


def test_a_wrong_name_is_found(tmp_path: Path) -> None:
    document = read(FILES["S0-fig5"])
    document["criteria"][0]["expect"] = 'gbps("boost", loss=0) > 0'
    path = tmp_path / "wrong.yaml"
    path.write_text(yaml.safe_dump(document))
    experiment = load(path)
    rows = [row for series in experiment.series for row in _synthetic(series)]
    with pytest.raises(UserError, match="gbps"):
        verdict(experiment, rows, quick=False)
