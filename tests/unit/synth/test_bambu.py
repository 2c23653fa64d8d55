# SPDX-License-Identifier: Apache-2.0
"""Synthesis with bambu: its commands, and the parsing of its output. Samples: from runs on our own units."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_base.steps import Steps
from clarion_contract import boards
from clarion_synth import bambu, bambu_report, cli, targets
from clarion_synth.play import different

SAMPLES = Path(__file__).parent / "samples"
GRANT = (SAMPLES / "bambu_grant_stage.txt").read_text(encoding="utf-8")
(GRANT_UNIT,) = (unit for unit in bambu.UNITS if unit.process == "GrantStage")
SYNTHESIS = bambu_report.parse(GRANT)
TARGETS = targets.load()

FAKE_BAMBU = """#!{python}
import os, sys
with open(os.environ["HLS_FAKE_LOG"], "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
print("Summary", flush=True)
sys.stderr.write(open({sample!r}).read())
open("unit.v", "w").write("module _Z4unitA(clock);\\nmodule _Z4unitB(clock);\\n")
"""
FAKE_COMPILER = """#!{python}
import os, sys
path = sys.argv[sys.argv.index("-o") + 1]
open(path, "w").write("#!{python}\\n")
os.chmod(path, 0o755)
"""


def played(**changed: object) -> dict[str, object]:
    port = {"words": 284, "recorded": 646, "different": None, "first": 29, **changed}
    return {"clocks": 6600, "taken": 300, "ports": {"grants_0": port}}


def test_figures_of_a_synthesis() -> None:
    assert SYNTHESIS.steps == 60
    assert SYNTHESIS.slack_ns == pytest.approx(0.23126, abs=1e-5)
    assert (SYNTHESIS.area, SYNTHESIS.dsps, SYNTHESIS.flip_flops) == (7581, 6, 4355)


@pytest.mark.parametrize(
    ("text", "end"),
    [("", "nothing"), ("a\nerror -> Vertices not completely allocated\n\n", "error -> Vertices")],
)
def test_a_synthesis_that_ended_early_says_how(text: str, end: str) -> None:
    with pytest.raises(UserError, match=f"no figure for steps .* ended with: {end}"):
        bambu_report.parse(text)


def test_cells_that_yosys_counts() -> None:
    cells = bambu_report.cells((SAMPLES / "yosys_clarion_clock.txt").read_text(encoding="utf-8"))
    assert cells == {"LUT": 25, "FF": 89, "DSP": 0, "BRAM36": 0, "BRAM18": 0, "LUTRAM": 0}


def test_no_cells_are_an_error() -> None:
    with pytest.raises(UserError, match=r"no cells of UltraScale\+"):
        bambu_report.cells("=== unit ===\n   Number of cells:  3\n     $add   3\n")


def test_gaps_are_rows() -> None:
    rows = {row.number: row for row in bambu.rows_of(GRANT_UNIT, TARGETS, SYNTHESIS, played(), {"LUT": 5000})}
    clock = rows["GrantStage: estimated clock period, ns"]
    assert (clock.wanted, clock.got, clock.missed) == (4.0, 3.77, False)
    interval = rows["GrantStage: clocks per token, simulated"]
    assert (interval.wanted, interval.got, interval.missed, interval.limit) == (
        2,
        22,
        True,
        bambu.NO_PIPELINE,
    )
    assert rows["GrantStage: clocks to the first word, simulated"].missed
    assert rows["GrantStage: words equal to C simulation"].got == 284
    assert rows["GrantStage: LUT, by Yosys"].got == 5000


def test_without_simulator_and_yosys_the_rest_is_told() -> None:
    rows = bambu.rows_of(GRANT_UNIT, TARGETS, SYNTHESIS, None, {})
    assert [row.number for row in rows] == [
        "GrantStage: estimated clock period, ns",
        "GrantStage: states",
        "GrantStage: LUTs, estimated by bambu",
        "GrantStage: flip-flops, estimated by bambu",
        "GrantStage: DSPs, estimated by bambu",
    ]


@pytest.mark.parametrize("changed", [{"different": 3}, {"words": 0}])
def test_rtl_that_writes_something_else_is_an_error(changed: dict[str, object]) -> None:
    with pytest.raises(UserError, match="GrantStage: its RTL does not write what C simulation does: grants"):
        bambu.rows_of(GRANT_UNIT, TARGETS, SYNTHESIS, played(**changed), {})


@pytest.mark.parametrize(
    ("got", "wanted", "place"),
    [([], [1], None), ([1], [1, 2], None), ([1, 3], [1, 2], 1), ([1, 2], [1], 1), ([2], [1], 0)],
)
def test_the_first_word_that_differs(got: list[int], wanted: list[int], place: int | None) -> None:
    assert different(got, wanted) == place


def test_the_name_of_a_boards_part() -> None:
    assert bambu.device_of(boards.load("u55c")) == "xcu55c-2Lfsvh2892-VVD"
    assert bambu.device_of(boards.load("u280")) == "xcu280-2Lfsvh2892-VVD"
    with pytest.raises(UserError, match="board u250: bambu has no model of xcu250; it has of xcu55c, xcu280"):
        bambu.device_of(boards.load("u250"))


def test_a_unit_that_does_not_exist() -> None:
    with pytest.raises(UserError, match="--only Frame: one of FrameIntake, Classifier, "):
        bambu.report(Steps(True), boards.load("u55c"), TARGETS, ["Frame"])


def test_every_unit_is_a_process_with_a_source() -> None:
    for unit in bambu.UNITS:
        text = (bambu.HERE / f"{unit.source}.cpp").read_text(encoding="utf-8")
        ports = [
            f"{stream}_{word}"
            for streams in (unit.inputs, unit.outputs)
            for stream, words in streams.items()
            for word in range(words)
        ]
        assert all(f"port = {port} mode = axis" in text for port in ports)
        assert TARGETS.process(unit.process)


def test_the_whole_way_with_a_tool_that_only_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (("bambu", FAKE_BAMBU), ("g++", FAKE_COMPILER)):
        sample = str(SAMPLES / "bambu_grant_stage.txt")
        (tools / name).write_text(text.format(python=sys.executable, sample=sample), encoding="utf-8")
        (tools / name).chmod(0o755)
    work = tmp_path / "work"
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("HLS_FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(bambu, "WORK", work)
    assert cli.main(["synth", "--board", "u280", "--only", "GrantStage"]) == 0
    shim, axi = targets.ROOT / "hls/synth/bambu/include", targets.ROOT / "hls/sim/shim"
    asked = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert asked == [
        f"{work}/source/hls/synth/bambu/grant_stage.cpp --top-fname=unit --compiler=I386_CLANG16 --std=c++17"
        f" -O2 -D__SYNTHESIS__ -I{shim} -I{work}/source -I{axi}"
        " --generate-interface=INFER --device-name=xcu280-2Lfsvh2892-VVD --clock-period=4 -v3"
    ]
    copied = (work / "source" / "hls" / "block" / "grant_stage.hpp").read_text(encoding="utf-8")
    assert "#pragma HLS" not in copied
    assert "class GrantStage" in copied
    assert "#pragma HLS" in (work / "source/hls/synth/bambu/grant_stage.cpp").read_text(encoding="utf-8")
    assert bambu.top_of(GRANT_UNIT) == "_Z4unitB"
    assert cli.main(["synth", "--only", "GrantStage", "--map"]) == 1
    output, errors = capsys.readouterr()
    assert errors == "hls-synth: --map: yosys is not on PATH\n"
    assert "iverilog is not on PATH" in output
    assert "hls-synth: 0 of 1 numbers are short of the goal" in output.splitlines()
