# SPDX-License-Identifier: Apache-2.0
"""Columns of several fields, fields by repeat, notes, slopes of repeats, trends only, and relative plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion_base.faults import FaultError
from clarion_lab.reproduce import plots
from clarion_lab.reproduce.experiment import Experiment, load, places
from clarion_lab.reproduce.page import findings, state
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import NOT_REPRODUCED, REPRODUCED, WITH_NUMBERS, verdict

SITES = {
    "values": [1, 2],
    "fields": [
        {"links.bottleneck.rate": "10 Mbit/s", "links.bottleneck.rtt": "5 ms"},
        {"links.bottleneck.rate": "20 Mbit/s", "links.bottleneck.rtt": "9 ms"},
    ],
}


def _experiment(directory: Path, **changes: Any) -> Experiment:
    """Two senders over two sites; `changes` of the experiment, and of its series under `run`."""
    run = {
        "scenario": {
            "topology": "dumbbell",
            "links": {"bottleneck": {"rate": "1 Mbit/s"}},
            "flows": [{"count": 2, "stagger": "1 s"}],
            "duration": "5 s",
        },
        "senders": {"reno": {"algorithm": "reno"}, "cubic": {"algorithm": "cubic"}},
        "over": {"site": SITES},
        "measures": {"mbps": "goodput() / 1e6"},
        "engine": "sim",
        "why": "test",
        "repeats": 3,
        **changes.pop("run", {}),
    }
    document = {
        "id": "T-1",
        "paper": "S0",
        "figure": "none",
        "title": "test",
        "claim": "test",
        "runs": [run],
        "criteria": [{"kind": "O", "says": "is", "expect": 'mbps("reno", site=1) < mbps("cubic", site=1)'}],
        **changes,
    }
    path = directory / "t-1.yaml"
    path.write_text(yaml.safe_dump(document))
    return load(path)


def _rows(rates: dict[tuple[str, float], list[float]]) -> list[Row]:
    return [
        Row("runs", sender, "sim", seed, {"site": site}, {"mbps": rate})
        for (sender, site), found in rates.items()
        for seed, rate in enumerate(found, start=1)
    ]


RATES = _rows(
    {
        ("reno", 1): [1.0, 1.1, 0.9],
        ("reno", 2): [3.0, 3.3, 2.8],
        ("cubic", 1): [2.0, 2.1, 1.9],
        ("cubic", 2): [9.0, 9.2, 8.9],
    }
)


def test_a_value_of_a_column_sets_several_fields(tmp_path: Path) -> None:
    (series,) = _experiment(tmp_path).series
    found = {place.values["site"]: place.document["links"]["bottleneck"] for place in places(series)}
    assert found == {1: {"rate": "10 Mbit/s", "rtt": "5 ms"}, 2: {"rate": "20 Mbit/s", "rtt": "9 ms"}}


@pytest.mark.parametrize(
    ("column", "path", "reason"),
    [
        ({"values": [1]}, "runs[0].over.site", "give either key or fields"),
        ({"values": [1], "key": "seed", "fields": [{}]}, "runs[0].over.site", "give either key or fields"),
        (
            {"values": [1, 2, 3], "fields": [{}]},
            "runs[0].over.site.fields",
            "give one for each of the 3 values",
        ),
    ],
)
def test_a_column_is_of_a_key_or_of_fields(
    tmp_path: Path, column: dict[str, Any], path: str, reason: str
) -> None:
    with pytest.raises(FaultError) as caught:
        _experiment(tmp_path, run={"over": {"site": column}})
    assert path in str(caught.value)
    assert reason in str(caught.value)


def test_fields_by_repeat_begin_again_when_they_are_fewer(tmp_path: Path) -> None:
    (series,) = _experiment(tmp_path, run={"by_repeat": {"flows.0.stagger": ["1 s", "2 s"]}}).series
    place = next(iter(places(series)))
    documents = [place.repeated(repeat, seed=7 + repeat) for repeat in range(3)]
    assert [document["flows"][0]["stagger"] for document in documents] == ["1 s", "2 s", "1 s"]
    assert [document["seed"] for document in documents] == [7, 8, 9]
    assert place.document["flows"][0]["stagger"] == "1 s", "the point itself stays as it is"


def test_a_note_is_shown_and_decides_nothing(tmp_path: Path) -> None:
    note = {
        "kind": "N",
        "says": "rates",
        "expect": 'shown(mbps("reno"), mbps("cubic"))',
        "each": {"site": "all"},
    }
    experiment = _experiment(tmp_path, criteria=[*_experiment(tmp_path).document["criteria"], note])
    found = verdict(experiment, RATES, quick=False)
    assert found.text == REPRODUCED, "a note is no number that could hold"
    shown = found.judged[-1]
    assert state(shown, "S0") == ""
    assert findings(shown) == [
        "site 1: 1 [0.7516, 1.248], 2 [1.752, 2.248]",
        "site 2: 3.033 [2.408, 3.658], 9.033 [8.654, 9.413]",
    ]


def test_slopes_of_repeats_have_an_interval(tmp_path: Path) -> None:
    steeper = {
        "kind": "O",
        "says": "steeper",
        "expect": 'slope_over("site", mbps("cubic")) > slope_over("site", mbps("reno"))',
    }
    (judged,) = verdict(_experiment(tmp_path, criteria=[steeper]), RATES, quick=False).judged
    assert judged.holds
    assert "difference 5 [4." in judged.findings[0].found
    turned = {**steeper, "expect": steeper["expect"].replace(">", "<")}
    assert verdict(_experiment(tmp_path, criteria=[turned]), RATES, quick=False).text == NOT_REPRODUCED


def test_numbers_of_a_trend_are_not_claimed(tmp_path: Path) -> None:
    criteria = [
        *_experiment(tmp_path).document["criteria"],
        {"kind": "R", "says": "double", "expect": 'ratio(mbps("cubic", site=1) / mbps("reno", site=1), 2)'},
    ]
    assert verdict(_experiment(tmp_path, criteria=criteria), RATES, quick=False).text == WITH_NUMBERS
    found = verdict(_experiment(tmp_path, criteria=criteria, trend_only="loss unknown"), RATES, quick=False)
    assert (found.text, found.reason) == (REPRODUCED, "loss unknown")


def test_a_relative_plot_divides_by_the_run_of_the_same_seed_and_place(tmp_path: Path) -> None:
    plot = {"of": "mbps", "over": "site", "relative_to": "reno", "at": {"site": 1}}
    (of_site_1,) = _experiment(tmp_path, plots=[plot]).plots
    rows = plots.shown(of_site_1, RATES)
    assert [(row.sender, row.seed) for row in rows] == [("cubic", 1), ("cubic", 2), ("cubic", 3)]
    assert [row.measures["mbps"] for row in rows] == pytest.approx([2 / 1, 2.1 / 1.1, 1.9 / 0.9])


def test_a_relative_plot_leaves_out_runs_that_have_no_other(tmp_path: Path) -> None:
    (plot,) = _experiment(tmp_path, plots=[{"of": "mbps", "over": "site", "relative_to": "reno"}]).plots
    unpaired = [row for row in RATES if (row.sender, row.seed) != ("reno", 2)]
    assert {row.seed for row in plots.shown(plot, unpaired)} == {1, 3}


def test_a_number_of_the_formula_is_shown_once(tmp_path: Path) -> None:
    above = {"kind": "V", "says": "above", "expect": 'mbps("reno", site=2) >= 2.5'}
    (judged,) = verdict(_experiment(tmp_path, criteria=[above]), RATES, quick=True).judged
    assert judged.findings[0].found == "mbps('reno', site=2) 3.033 [2.408, 3.658], 2.5"
