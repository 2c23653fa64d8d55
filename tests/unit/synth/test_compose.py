# SPDX-License-Identifier: Apache-2.0
"""Units of bambu side by side: names, files, and the output of the RTL tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_base.steps import StepError, Steps
from clarion_synth import compose, logged, rtl_bench, targets

TARGETS = targets.load()
UNIT = """// Bambu
module register_SE(clock);
  parameter MEMORY_INIT_file="array.mem";
  initial $readmemb(MEMORY_INIT_file, memory);
endmodule
module _Z4unitA_modules(clock);
  register_SE #(.MEMORY_INIT_file("array_ref_1.mem")) register_SE_1 (.clock(clock));
endmodule
module _Z4unitA(clock);
  _Z4unitA_modules inside (.clock(clock));
endmodule
"""
PRINTED = """...
rtl: ingress: 64 bytes back to back, beats per clock: 0.0180.
rtl: egress: 64 bytes back to back, beats per clock: 1.000.
rtl: ingress: last beat in to first beat out, clocks: 160.
66 passed, 1 skipped in 400.00s (0:06:40)
"""


def test_two_units_have_no_name_in_common() -> None:
    renamed = compose.renamed(UNIT, "frame_intake")
    assert compose.MODULE.findall(renamed) == [
        "bambu_frame_intake_register_SE",
        "bambu_frame_intake__Z4unitA_modules",
        "bambu_frame_intake",
    ]
    assert (
        'bambu_frame_intake_register_SE #(.MEMORY_INIT_file("bambu_frame_intake_array_ref_1.mem"))' in renamed
    )
    assert " register_SE_1 (" in renamed
    assert "  bambu_frame_intake__Z4unitA_modules inside (" in renamed


def test_verilog_without_a_unit_is_an_error() -> None:
    with pytest.raises(UserError, match="classifier: bambu wrote no module unit"):
        compose.renamed("module core(clock);\nendmodule\n", "classifier")


def unit(folder: Path) -> Path:
    folder.mkdir()
    (folder / "unit.v").write_text(UNIT, encoding="utf-8")
    (folder / "array_ref_1.mem").write_text("0\n", encoding="utf-8")
    return folder


def test_contents_of_memories_come_along(tmp_path: Path) -> None:
    into = tmp_path / "into"
    into.mkdir()
    path = compose.take(unit(tmp_path / "made"), "classifier", into)
    assert path == into / "bambu_classifier.v"
    assert sorted(each.name for each in into.iterdir()) == [
        "bambu_classifier.v",
        "bambu_classifier_array_ref_1.mem",
    ]


def test_clocks_are_held_against_what_is_wanted() -> None:
    rows = compose.rows(PRINTED, TARGETS)
    assert [(row.wanted, row.got, row.missed) for row in rows[:2]] == [(None, 66, False), (1, 55.56, True)]
    assert rows[1].number == "clarion_ingress: 64 bytes back to back, clocks per beat in RTL"
    assert rows[-1].number.endswith(": last beat in to first beat out, clocks, in RTL")
    assert [row.number.split(":")[0] for row in rows[1:]].count("clarion_ingress") == 2


def test_tests_that_say_nothing_are_an_error() -> None:
    with pytest.raises(UserError, match="did not say how many of them passed"):
        compose.rows("no tests ran in 0.01s\n", TARGETS)


class Bench:
    """Builds and plays nothing, and records the requests."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: bool = False) -> None:
        self.modules: list[Path] = []
        self.sources: list[Path] = []
        self.environment: dict[str, str] = {}
        self.fails = fails
        monkeypatch.setattr(rtl_bench, "missing", lambda: None)
        monkeypatch.setattr(rtl_bench, "build", self.build)
        monkeypatch.setattr(logged, "run", self.run)

    def build(self, _steps: Steps, folder: Path, modules: list[Path], sources: list[Path]) -> Path:
        self.modules, self.sources = modules, sources
        return folder / "driver"

    def run(self, _steps: Steps, _command: list[str], _log: Path, environment: dict[str, str]) -> str:
        if self.fails:
            raise StepError("python: ended with status 1")
        self.environment = environment
        return PRINTED


def test_a_way_without_rtl_is_simulated_in_c(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bench = Bench(monkeypatch)
    monkeypatch.setattr(compose, "WAYS", ("clarion_ingress",))
    rows = compose.report(Steps(False), tmp_path / "block", {"classifier": unit(tmp_path / "made")}, TARGETS)
    assert len(rows) == 3
    assert bench.modules == [
        compose.HERE / "stream_fifo.sv",
        compose.HERE / "clarion_ingress.sv",
        tmp_path / "block" / "bambu_classifier.v",
        rtl_bench.STAND_IN_MODULES[1],
    ]
    assert bench.sources == [rtl_bench.STAND_IN]
    assert bench.environment["CLARION_RTL_SLOW"] == str(compose.SLOW)
    assert bench.environment["CLARION_RTL_DATA"] == str(tmp_path / "block")


def test_rtl_that_is_wrong_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Bench(monkeypatch, fails=True)
    with pytest.raises(UserError, match=r"RTL does not do what C simulation does; see .*play\.log"):
        compose.report(Steps(False), tmp_path / "block", {}, TARGETS)


def test_without_a_simulator_the_rest_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rtl_bench, "missing", lambda: "no simulator")
    assert compose.report(Steps(False), tmp_path / "block", {}, TARGETS) == []
    assert "the RTL of the block is not simulated: no simulator" in capsys.readouterr().out
