# SPDX-License-Identifier: Apache-2.0
"""Parsing of the reports of Vitis HLS."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_synth import csynth, table
from unit.synth import reports


def test_figures_of_a_function(tmp_path: Path) -> None:
    reports.write(tmp_path, {"step_csynth.xml": reports.report("step", ii="2")})
    module = csynth.read(tmp_path / "step_csynth.xml")
    assert (module.name, module.clock_ns, module.latency, module.ii) == ("step", 2.9, 3, 2)
    assert module.violation == ""


def test_a_function_that_is_no_pipeline_has_its_worst_interval(tmp_path: Path) -> None:
    reports.write(tmp_path, {"step_csynth.xml": reports.report("step", ii="1 ~ 7")})
    assert csynth.read(tmp_path / "step_csynth.xml").ii == 7


def test_what_the_tool_does_not_know_is_none(tmp_path: Path) -> None:
    reports.write(tmp_path, {"step_csynth.xml": reports.report("step", latency="undef", ii="-", clock="-")})
    module = csynth.read(tmp_path / "step_csynth.xml")
    assert (module.latency, module.clock_ns) == (None, None)


@pytest.mark.parametrize("text", ["", "<profile>", "<other/>"])
def test_what_is_no_report_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "step_csynth.xml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="no report of Vitis HLS"):
        csynth.read_all(tmp_path)


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \*_csynth\.xml"):
        csynth.read_all(tmp_path)


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
