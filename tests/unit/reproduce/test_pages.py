# SPDX-License-Identifier: Apache-2.0
"""From tables to verdicts and pages: `clarion reproduce --from`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion.cli import main
from clarion_base.errors import UserError
from clarion_lab.reproduce import table
from clarion_lab.reproduce.experiment import Experiment, load, places
from clarion_lab.reproduce.table import Row
from clarion_lab.reproduce.verdict import verdict

DOCUMENT: dict[str, Any] = {
    "id": "X-fig1",
    "paper": "S0",
    "figure": "figure 1",
    "title": "Rates against loss",
    "claim": "Fast is faster, twice as fast where it counts.",
    "reported": [{"what": "fast over slow", "value": 2, "source": "section 1"}],
    "differs": ["Shorter."],
    "constants": {"half": 0.5, "wanted": "4 * half"},
    "measures": {"rate": "goodput() / 1e6"},
    "runs": [
        {
            "scenario": "smoke",
            "senders": {"fast": {"algorithm": "boost"}, "slow": {"algorithm": "reno"}},
            "over": {"rtt_ms": {"key": "links.bottleneck.rtt", "values": [10, 20], "unit": "ms"}},
            "engine": "sim",
            "why": "short",
            "sample": {"senders": ["fast"], "at": {"rtt_ms": [10]}},
            "quick": {
                "repeats": 1,
                "over": {"rtt_ms": {"key": "links.bottleneck.rtt", "values": [10], "unit": "ms"}},
            },
        }
    ],
    "criteria": [
        {
            "kind": "O",
            "says": "fast is faster",
            "expect": 'rate("fast") > rate("slow")',
            "each": {"rtt_ms": "all"},
        },
        {
            "kind": "R",
            "says": "twice as fast at 20 ms",
            "expect": 'ratio(rate("fast", rtt_ms=20) / rate("slow", rtt_ms=20), wanted)',
            "ceiling": '10 / rate("slow", rtt_ms=20)',
        },
    ],
    "plots": [
        {
            "of": "rate",
            "over": "rtt_ms",
            "unit": "Mbit/s",
            "reported": [{"sender": "fast", "at": 20, "value": 6}],
        }
    ],
}


def experiment(tmp_path: Path, quick: bool = False, **changes: Any) -> Experiment:
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump({**copy.deepcopy(DOCUMENT), **changes}))
    return load(path, quick)


def rows(fast: float, slow: float, engine: str = "sim") -> list[Row]:
    return [
        Row("runs", sender, engine, seed, {"rtt_ms": rtt_ms}, {"rate": rate + seed / 100})
        for sender, rate in (("fast", fast), ("slow", slow))
        for rtt_ms in (10.0, 20.0)
        for seed in range(1, 6)
    ]


def test_a_series_is_senders_times_places(tmp_path: Path) -> None:
    (series,) = experiment(tmp_path).series
    found = [(place.sender, place.values["rtt_ms"], place.document["algorithm"]) for place in places(series)]
    assert found == [("fast", 10, "boost"), ("fast", 20, "boost"), ("slow", 10, "reno"), ("slow", 20, "reno")]
    assert {place.document["links"]["bottleneck"]["rtt"] for place in places(series)} == {"10 ms", "20 ms"}
    (quick,) = experiment(tmp_path, quick=True).series
    assert (quick.repeats, quick.sample) == (1, None)
    assert len(list(places(quick))) == 2


@pytest.mark.parametrize(
    ("fast", "slow", "text"),
    [
        (6, 3, "reproduced with numbers"),
        (10, 2, "reproduced"),
        (3, 6, "not reproduced"),
        (3, 3, "not reproduced"),
    ],
)
def test_verdicts(tmp_path: Path, fast: float, slow: float, text: str) -> None:
    assert verdict(experiment(tmp_path), rows(fast, slow), quick=False).text == text


def test_numbers_alone_decide_where_there_is_nothing_else(tmp_path: Path) -> None:
    alone = experiment(tmp_path, criteria=DOCUMENT["criteria"][1:])
    assert verdict(alone, rows(6, 3), quick=False).text == "reproduced with numbers"
    assert verdict(alone, rows(8, 2), quick=False).text == "not reproduced"
    found = verdict(alone, rows(9, 8), quick=False)
    assert found.text == "out of reach"
    assert found.judged[0].bound is not None


def test_what_was_not_run_has_no_verdict(tmp_path: Path) -> None:
    assert verdict(experiment(tmp_path), [], quick=False).text == "not run"
    assert verdict(experiment(tmp_path), rows(6, 3, engine="emu"), quick=False).text == "not run"


def test_an_analytic_experiment_needs_no_runs(tmp_path: Path) -> None:
    criteria = [{"kind": "V", "says": "two", "expect": "between(wanted, 1.9, 2.1)"}]
    analytic = experiment(tmp_path, runs=[], measures={}, plots=[], criteria=criteria)
    assert verdict(analytic, [], quick=False).text == "reproduced with numbers"


def test_tables_come_back(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    made = [*rows(6, 3), Row("other", "fast", "emu", 1, {}, {"cpu": 0.5})]
    table.write(path, made[::-1], {"id": "X-fig1"})
    found, notes = table.read(path)
    assert notes["id"] == "X-fig1"
    assert sorted(map(str, found)) == sorted(map(str, made))
    first = path.read_bytes()
    table.write(path, made, {"id": "X-fig1"})
    assert path.read_bytes() == first


def test_another_file_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(UserError, match=r"t\.parquet: not a table of results"):
        table.read(path)


def test_pages_say_what_the_table_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = experiment(tmp_path)
    sampled = [Row("runs", "fast", "emu", 1, {"rtt_ms": 10.0}, {"rate": 5.5})]
    table.write(
        tmp_path / "tables" / "x-fig1.parquet", [*rows(6, 3), *sampled], {"id": made.id, "quick": "no"}
    )
    command = ["reproduce", str(tmp_path / "x.yaml"), "--from", str(tmp_path / "tables"), "--out"]
    assert main([*command, str(tmp_path / "out")]) == 0
    assert "reproduced with numbers" in capsys.readouterr().out
    page = (tmp_path / "out" / "reproduction.md").read_text()
    for words in (
        "**Verdict: reproduced with numbers**.",
        "- reported: fast over slow 2 (section 1)",
        "| O | fast is faster | holds |",
        "reported 2",
        "| fast, rtt_ms 10 | rate | 6.03 | 5.5 |",
        "runs: 20 on sim, 5 repeats, and 1 on emu (short)",
        "`clarion reproduce X-fig1`",
        "![Rates against loss](reproduction/x-fig1.png)",
    ):
        assert words in page
    html = (tmp_path / "out" / "reproduction.html").read_text()
    assert "data:image/png;base64," in html
    assert "http" not in html.replace('xmlns="http', "")


def test_questions_have_answers_on_a_page_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    criteria = [
        {
            "kind": "O",
            "says": "Is fast faster?",
            "expect": 'rate("fast", rtt_ms=10) > rate("slow", rtt_ms=10)',
        },
        {
            "kind": "O",
            "says": "Is slow faster?",
            "expect": 'rate("slow", rtt_ms=10) > rate("fast", rtt_ms=10)',
        },
    ]
    made = experiment(tmp_path, paper="beyond", criteria=criteria)
    table.write(tmp_path / "tables" / "x-fig1.parquet", rows(6, 3), {"id": made.id, "quick": "no"})
    out = tmp_path / "out"
    command = ["reproduce", str(tmp_path / "x.yaml"), "--from", str(tmp_path / "tables"), "--out", str(out)]
    assert main(command) == 0
    assert "yes to 1 of 2" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {"beyond.md", "beyond.html", "reproduction"}
    assert [path.name for path in (out / "reproduction").iterdir()] == ["x-fig1.png"]
    page = (out / "beyond.md").read_text()
    assert "**Answer: yes to 1 of 2**." in page
    assert "- [X-fig1](#x-fig1): Is slow faster? No: " in page
    assert "| O | Is fast faster? | yes |" in page
    assert "Where the answer is no" in (out / "beyond.html").read_text()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"paper": "S9"}, 'experiment x: paper: "S9": use S0'),
        ({"criteria": [{"kind": "X", "says": "", "expect": ""}]}, 'criteria[0].kind: "X": use T, O, R, V'),
        ({"claims": "x"}, "claims: unknown key"),
    ],
)
def test_a_wrong_file_names_the_field(
    tmp_path: Path, change: dict[str, Any], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.yaml").write_text(yaml.safe_dump({**DOCUMENT, **change}))
    assert main(["reproduce", str(tmp_path / "x.yaml"), "--from", str(tmp_path)]) == 2
    assert reason in capsys.readouterr().err


def test_an_unknown_id_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "S0-fig99"]) == 2
    assert "experiment S0-fig99: unknown; use" in capsys.readouterr().err
