# SPDX-License-Identifier: Apache-2.0
"""Parsing of the reports of Vitis HLS."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_contract import boards
from clarion_synth import csynth, table, vitis
from clarion_synth.vitis import Design
from unit.synth import reports

TARGETS = reports.targets()
EGRESS = TARGETS.tops[1]


def design(board: str = "u55c") -> Design:
    return Design(EGRESS, boards.load(board), 4096, 4096, TARGETS)


def rows(tmp_path: Path, **changed: dict[str, str]) -> list[table.Row]:
    return vitis.rows(design(), csynth.read_all(reports.write(tmp_path, reports.of_top(EGRESS, **changed))))


def test_figures_of_a_function(tmp_path: Path) -> None:
    reports.write(tmp_path, {"step_csynth.xml": reports.report("step", "../a/grant_stage.hpp:42", ii="2")})
    module = csynth.read(tmp_path / "step_csynth.xml")
    assert (module.name, module.clock_ns, module.latency, module.ii) == ("step", 2.9, 3, 2)
    assert module.resources == {"LUT": 2345, "FF": 3456, "DSP": 0, "BRAM_18K": 12, "URAM": 9}
    assert module.stands_in("grant_stage.hpp")
    assert not module.stands_in("stage.hpp")
    assert module.violation == ""


def test_a_function_that_is_no_pipeline_has_its_worst_interval(tmp_path: Path) -> None:
    reports.write(tmp_path, {"step_csynth.xml": reports.report("step", "a.hpp:1", ii="1 ~ 7")})
    assert csynth.read(tmp_path / "step_csynth.xml").ii == 7


def test_what_the_tool_does_not_know_is_none(tmp_path: Path) -> None:
    reports.write(
        tmp_path, {"step_csynth.xml": reports.report("step", "-", latency="undef", ii="-", clock="-")}
    )
    module = csynth.read(tmp_path / "step_csynth.xml")
    assert (module.latency, module.clock_ns, module.source) == (None, None, "")


@pytest.mark.parametrize("text", ["", "<profile>", "<other/>"])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "step_csynth.xml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="no report of Vitis HLS"):
        csynth.read_all(tmp_path)


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \*_csynth\.xml"):
        csynth.read_all(tmp_path)


def test_every_number_that_is_wanted_is_held(tmp_path: Path) -> None:
    held = rows(tmp_path)
    assert [row.number for row in held if row.missed] == []
    assert {row.number for row in held if row.wanted is not None} == {
        "clarion_egress: estimated clock period, ns",
        "clarion_egress: last beat in to first beat out, clocks",
        *(
            f"clarion_egress: {p.name}: {what}, clocks"
            for p in EGRESS.processes
            for what in ("II", "latency")
        ),
    }


@pytest.mark.parametrize(
    ("process", "figures", "missed"),
    [
        ("GrantStage", {"ii": "3"}, {"clarion_egress: GrantStage: II, clocks"}),
        ("EgressStage", {"latency": "11"}, {"clarion_egress: EgressStage: latency, clocks"}),
        (
            "Classifier",
            {"latency": "30"},
            {
                "clarion_egress: Classifier: latency, clocks",
                "clarion_egress: last beat in to first beat out, clocks",
            },
        ),
    ],
)
def test_one_number_too_many_is_a_miss(
    process: str, figures: dict[str, str], missed: set[str], tmp_path: Path
) -> None:
    assert {row.number for row in rows(tmp_path, **{process: figures}) if row.missed} == missed


def test_a_slow_clock_is_a_miss(tmp_path: Path) -> None:
    files = reports.of_top(EGRESS)
    files["clarion_egress_csynth.xml"] = reports.report("clarion_egress", "-", clock="3.21")
    modules = csynth.read_all(reports.write(tmp_path, files))
    assert [row.got for row in vitis.rows(design(), modules) if row.missed] == [3.21]


def test_a_process_that_the_report_does_not_have_is_a_miss(tmp_path: Path) -> None:
    files = {name: text for name, text in reports.of_top(EGRESS).items() if "grant_join" not in text}
    missed = [
        row for row in vitis.rows(design(), csynth.read_all(reports.write(tmp_path, files))) if row.missed
    ]
    assert [row.number for row in missed] == [
        "clarion_egress: GrantJoin: II, clocks",
        "clarion_egress: GrantJoin: latency, clocks",
        "clarion_egress: last beat in to first beat out, clocks",
    ]
    assert missed[0].limit == "no function of grant_join.hpp in the report"


def test_the_table_names_number_wanted_got_and_limit() -> None:
    text = table.text(
        [table.Row("a", 2, 3, "carry chain"), table.Row("longer", None, 2.5), table.Row("c", 1, None)]
    )
    assert text.splitlines() == [
        "number  wanted   got          what limits it",
        "a            2     3  MISSED  carry chain",
        "longer       -  2.50",
        "c            1     -  MISSED",
    ]
