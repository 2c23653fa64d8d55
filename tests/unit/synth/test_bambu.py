# SPDX-License-Identifier: Apache-2.0
"""Tops for bambu, what it prints, and the modules that are made of what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_contract import boards
from clarion_synth import bambu, bambu_report, bambu_tops, circuits

PRINTED = """
    Number of control steps: 3
    Minimum slack: 2.9
    Number of states: 1
    Maximum number of cycles 1
    Number of control steps: 12
    Minimum slack: 0.23
    Number of states: 7
    Minimum number of cycles: 2
    Maximum number of cycles 5
"""


def test_the_last_figures_are_those_of_the_top() -> None:
    assert bambu_report.states(PRINTED) == 7
    assert bambu_report.cycles(PRINTED) == 5
    assert bambu_report.slack_ns(PRINTED) == 0.23


def test_without_a_figure_the_end_of_what_was_printed_is_told() -> None:
    reason = "no 'Number of states' in what it printed; it ended with: error -> bad"
    with pytest.raises(UserError, match=reason):
        bambu_report.states("Minimum slack: 1\nerror -> bad\n\n")


def test_a_top_for_each_word_of_a_pipelines_results() -> None:
    judge, over = circuits.chosen(["judge", "over"])
    (name,) = bambu_tops.names(judge)
    text = bambu_tops.source(judge, name)
    assert 'extern "C" unsigned long long clarion_judge_0(unsigned long long a0) {' in text
    assert "#pragma HLS pipeline II = 1" in text
    assert bambu_tops.names(over) == ["clarion_over_0", "clarion_over_1"]
    second = bambu_tops.source(over, "clarion_over_1")
    assert "return made[2] | static_cast<unsigned long long>(made[3]) << 32;" in second


def test_a_function_of_many_clocks_is_one_sequence_with_all_results() -> None:
    (control,) = circuits.chosen(["control"])
    (name,) = bambu_tops.names(control)
    text = bambu_tops.source(control, name)
    assert "pipeline" not in text
    assert "#pragma HLS interface port = r6 mode = ovalid" in text
    assert "*r6 = made[12] | static_cast<unsigned long long>(made[13]) << 32;" in text
    instance = bambu_tops.sequence(control)
    assert "if (told_6) results[384+:37] <= word_6[36:0];" in instance


def test_words_of_less_clocks_wait_for_the_others() -> None:
    (over,) = circuits.chosen(["over"])
    text = bambu_tops.pipelines(over, [1, 2])
    assert "clarion_over_0 circuit_0 (" in text
    assert ".data_o(results[64+:34])" in text
    assert [line for line in text.splitlines() if "LATENCY" in line] == [
        "      .LATENCY(1)",
        "      .LATENCY(0)",
    ]


def test_modules_and_tables_get_names_of_their_own(tmp_path: Path) -> None:
    made, into = tmp_path / "made", tmp_path / "into"
    made.mkdir()
    into.mkdir()
    body = 'adder x(b); initial $readmemb("t.mem", m);'
    text = f"module adder(a);\nendmodule\nmodule clarion_judge_0(b);\n{body}\nendmodule\n"
    (made / "clarion_judge_0.v").write_text(text, encoding="utf-8")
    (made / "t.mem").write_text("0\n", encoding="utf-8")
    bambu._take(made, "clarion_judge_0", into)
    taken = (into / "clarion_judge_0.v").read_text(encoding="utf-8")
    assert "module clarion_judge_0_adder(a);" in taken
    assert "clarion_judge_0_adder x(b);" in taken
    assert '"clarion_judge_0_t.mem"' in taken
    assert (into / "clarion_judge_0_t.mem").exists()


def test_no_verilog_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="bambu wrote no Verilog there"):
        bambu._take(tmp_path, "clarion_judge_0", tmp_path)


def test_the_name_of_a_boards_part() -> None:
    assert bambu.device_of(boards.load("u55c")) == "xcu55c-2Lfsvh2892-VVD"
    assert bambu.device_of(boards.load("u280")) == "xcu280-2Lfsvh2892-VVD"
    with pytest.raises(UserError, match="board u250: bambu has no model of xcu250; it has of xcu55c, xcu280"):
        bambu.device_of(boards.load("u250"))
