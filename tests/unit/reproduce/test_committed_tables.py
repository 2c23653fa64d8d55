# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/results say what the tables beside them say, and the tables have every run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clarion.cli import main
from clarion_base.paths import ROOT
from clarion_lab.reproduce import table, traces
from clarion_lab.reproduce.experiment import OTHER_ENGINE, Experiment, Series, load, shipped, spots

RESULTS = ROOT / "docs" / "results"
TABLES = RESULTS / "reproduction"
PAPERS_ROWS = 52
PICTURE = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")
EXPERIMENTS = shipped()


def test_every_row_of_the_papers_is_there() -> None:
    assert sum(not name.startswith("beyond-") for name in EXPERIMENTS) == PAPERS_ROWS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_run_is_missing(name: str) -> None:
    rows, notes = table.read(TABLES / f"{name.lower()}.parquet")
    assert notes["id"] == name
    experiment = load(EXPERIMENTS[name], notes["quick"] == "yes")
    found = [(row.series, row.sender, row.engine, row.seed, *sorted(row.values.items())) for row in rows]
    assert sorted(found) == sorted(_planned(experiment))


def _planned(experiment: Experiment) -> Iterator[tuple[object, ...]]:
    for series in experiment.series:
        for sender, values in spots(series):
            for engine, repeats in _engines(series, sender, values):
                for seed in range(1, repeats + 1):
                    yield series.name, sender, engine, seed, *sorted(values.items())


def _engines(series: Series, sender: str, values: dict[str, float]) -> Iterator[tuple[str, int]]:
    yield series.engine, series.repeats
    if series.sample is not None and series.sample.takes(sender, values):
        yield OTHER_ENGINE[series.engine], series.sample.repeats


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_curve_is_missing(name: str) -> None:
    _, notes = table.read(TABLES / f"{name.lower()}.parquet")
    experiment = load(EXPERIMENTS[name], notes["quick"] == "yes")
    found = traces.read(TABLES / f"{name.lower()}.traces.parquet")
    for trace in experiment.traces:
        assert {each.sender for each in found if each.belongs_to(trace)} == set(trace.senders)
    assert all(any(each.belongs_to(trace) for trace in experiment.traces) for each in found)


def test_pages_come_from_tables(tmp_path: Path) -> None:
    assert main(["reproduce", "--from", str(TABLES), "--out", str(tmp_path)]) == 0
    for page in ("reproduction.md", "reproduction.html", "beyond.md", "beyond.html"):
        made, committed = ((folder / page).read_text() for folder in (tmp_path, RESULTS))
        assert PICTURE.sub("", made) == PICTURE.sub("", committed), f"{page}: make it again from the tables"
        pictures = re.findall(r"\]\((reproduction/[^)]+\.png)\)", committed)
        assert all((RESULTS / picture).is_file() and (tmp_path / picture).is_file() for picture in pictures)
