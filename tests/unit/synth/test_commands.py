# SPDX-License-Identifier: Apache-2.0
"""make hls-synth and make hls-verilog, with tools that only record their arguments."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from clarion_base.paths import ROOT
from clarion_base.steps import Steps
from clarion_synth import bambu, circuits, cli, rtl, tools, vitis
from unit.synth import reports

# Puts the reports of HLS_FAKE_REPORTS in the tool's places, with empty Verilog and the contents of a memory.
FAKE = """#!{python}
import os, re, shutil, sys
with open(os.environ["HLS_FAKE_LOG"], "a") as log:
    log.write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
script = open(next(word for word in sys.argv if word.endswith((".tcl", ".cfg")))).read()
top = re.search(r"^(?:set_top |syn.top=)(\\w+)", script, re.M)[1]
folder = f"{{top}}/solution/syn" if "set_top" in script else "work/hls/syn"
shutil.copytree(os.path.join(os.environ["HLS_FAKE_REPORTS"], top), f"{{folder}}/report", dirs_exist_ok=True)
if "HLS_FAKE_NO_VERILOG" not in os.environ:
    os.makedirs(f"{{folder}}/verilog", exist_ok=True)
    for name in (f"{{top}}.v", f"{{top}}_rom.dat"):
        open(f"{{folder}}/verilog/{{name}}", "w").close()
"""
FAKE_BAMBU = """#!{python}
import os, sys
top = next(word for word in sys.argv if word.startswith("--top-fname=")).removeprefix("--top-fname=")
open(f"{{top}}.v", "w").write(f"module {{top}}(a);\\nendmodule\\n")
print("Minimum slack: 1.5\\nNumber of states: " + os.environ.get("HLS_FAKE_STATES", "1"))
print("Maximum number of cycles 157")
"""
TCL = """open_project -reset clarion_judge_hls
set_top clarion_judge_hls
add_files {{{work}/u280/judge/clarion_judge_hls.cpp}} -cflags "-std=c++17 -I{root}"
open_solution -reset solution -flow_target vivado
set_part xcu280-fsvh2892-2L-e
create_clock -period 4ns -name default
set_clock_uncertainty 0.8ns
csynth_design
exit
"""
SETTINGS = """part=xcu280-fsvh2892-2L-e

[hls]
flow_target=vivado
syn.file={work}/u280/judge/clarion_judge_hls.cpp
syn.cflags=-std=c++17 -I{root}
syn.top=clarion_judge_hls
clock=4ns
clock_uncertainty=0.8ns
"""
JUDGE = ["synth", "--board", "u280", "--only", "judge"]


class Machine:
    """A PATH with only these tools, and folders of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        self.reports = folder / "reports"
        self.work = folder / "work"
        self.verilog = folder / "verilog"
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("HLS_FAKE_LOG", str(self.log))
        monkeypatch.setenv("HLS_FAKE_REPORTS", str(self.reports))
        monkeypatch.setattr(vitis, "WORK", self.work)
        monkeypatch.setattr(bambu, "WORK", folder / "bambu")
        monkeypatch.setattr(cli, "VERILOG", self.verilog)
        for function in circuits.chosen(None):
            self.reports_of(function.name)

    def reports_of(self, name: str, **figures: str) -> None:
        top = f"clarion_{name}_hls"
        (function,) = circuits.chosen([name])
        wanted = {"latency": str(function.latency - circuits.clocks_outside(function)), "ii": "1", **figures}
        reports.write(self.reports / top, {f"{top}_csynth.xml": reports.report(top, **wanted)})

    def has(self, name: str) -> None:
        path = self.bin / name
        text = FAKE_BAMBU if name == "bambu" else FAKE
        path.write_text(text.format(python=sys.executable), encoding="utf-8")
        path.chmod(0o755)

    def written(self, name: str) -> str:
        return (self.work / "u280" / "judge" / name).read_text(encoding="utf-8")

    def fill(self, text: str) -> str:
        return text.format(root=ROOT, work=self.work)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_without_a_tool_synthesis_says_so_in_one_line(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["synth"]) == 0
    assert capsys.readouterr() == (
        "hls-synth: nothing to do: none of vitis-run, vitis_hls, v++, bambu is on PATH\n",
        "",
    )


def test_without_a_tool_there_is_no_verilog_for_a_card(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["verilog"]) == 2
    assert "none of vitis-run, vitis_hls, v++, bambu is on PATH; install" in capsys.readouterr().err


def test_a_tool_that_is_asked_for_and_not_there(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["synth", "--tool", "v++"]) == 0
    assert capsys.readouterr().out == "hls-synth: nothing to do: v++ is not on PATH\n"


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("vitis_hls", "vitis_hls -f run.tcl"),
        ("vitis-run", "vitis-run --mode hls --tcl run.tcl"),
        ("v++", "v++ -c --mode hls --config hls.cfg --work_dir work"),
    ],
)
def test_each_way_of_vitis_gets_the_same_function(machine: Machine, tool: str, command: str) -> None:
    machine.has(tool)
    assert cli.main(JUDGE) == 0
    assert machine.log.read_text(encoding="utf-8") == command + "\n"
    if tool == "v++":
        assert machine.written("hls.cfg") == machine.fill(SETTINGS)
    else:
        assert machine.written("run.tcl") == machine.fill(TCL)
    assert "ap_uint<57> clarion_judge_hls(ap_uint<58> arguments) {" in machine.written(
        "clarion_judge_hls.cpp"
    )


def test_verilog_tables_and_the_shells_module_are_collected(machine: Machine) -> None:
    machine.has("vitis_hls")
    assert cli.main(["verilog", "--board", "u280"]) == 0
    made = {path.name for path in (machine.verilog / "u280").iterdir()}
    for function in circuits.chosen(None):
        name = f"clarion_{function.name}"
        assert {f"{name}.sv", f"{name}_hls.v", f"{name}_hls_rom.dat"} <= made


def test_registers_make_up_for_clocks_that_the_tool_does_not_need(machine: Machine) -> None:
    machine.has("vitis_hls")
    assert cli.main(JUDGE) == 0
    text = (machine.verilog / "u280" / "clarion_judge.sv").read_text(encoding="utf-8")
    assert ".LATENCY(LATENCY - 0)" in text
    assert "ap_clk" not in text, "a function without registers has no clock"


def test_a_function_of_many_clocks_is_started(machine: Machine) -> None:
    machine.has("vitis_hls")
    assert cli.main(["synth", "--board", "u280", "--only", "control"]) == 0
    text = (machine.verilog / "u280" / "clarion_control.sv").read_text(encoding="utf-8")
    assert ".ap_start(start)" in text
    assert "if (told) results <= made;" in text


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ({"latency": "1"}, "judge: latency, clocks"),
        ({"ii": "2"}, "judge: interval, clocks"),
        ({"clock": "3.21"}, "judge: estimated clock period, ns"),
        ({"latency": "undef"}, "judge: latency, clocks"),
    ],
)
def test_a_number_that_is_missed_is_a_failure(
    machine: Machine, capsys: pytest.CaptureFixture[str], figures: dict[str, str], missed: str
) -> None:
    machine.has("vitis_hls")
    machine.reports_of("judge", **figures)
    assert cli.main(JUDGE) == 1
    assert capsys.readouterr().err == f"hls-synth: missed: {missed}\n"


def test_no_verilog_is_a_failure(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("vitis_hls")
    monkeypatch.setenv("HLS_FAKE_NO_VERILOG", "1")
    assert cli.main(JUDGE) == 1
    assert "the tool left no Verilog there" in capsys.readouterr().err


def test_a_function_that_does_not_exist(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.has("vitis_hls")
    assert cli.main(["synth", "--only", "gudge"]) == 1
    assert capsys.readouterr().err.startswith(
        "hls-synth: --only gudge: no function; there are lanes, classify, "
    )


def test_bambu_is_taken_where_nothing_else_is(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.has("bambu")
    assert cli.main(["synth", "--board", "u280", "--only", "judge", "--only", "over"]) == 0
    assert {path.name for path in (machine.verilog / "u280").iterdir()} == {
        *("clarion_judge.sv", "clarion_judge_0.v"),
        *("clarion_over.sv", "clarion_over_0.v", "clarion_over_1.v"),
    }
    assert re.search(r"judge: latency, clocks +1 +1 +ok", capsys.readouterr().out)


def test_more_clocks_than_the_shell_has_are_a_failure(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has("bambu")
    monkeypatch.setenv("HLS_FAKE_STATES", "4")
    assert cli.main(JUDGE) == 1
    assert capsys.readouterr().err == "hls-synth: missed: judge: latency, clocks\n"


def test_all_functions_are_played_with_the_blocks_tests(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[Path] = []

    def play(_steps: Steps, verilog: Path) -> str:
        played.append(verilog)
        return "the RTL is wrong"

    monkeypatch.setattr(rtl, "play", play)
    machine.has("vitis_hls")
    assert cli.main(["synth", "--board", "u280"]) == 1
    assert played == [machine.verilog / "u280"]
    assert capsys.readouterr().err == "hls-synth: the RTL is wrong\n"


def test_a_dry_run_shows_the_commands_and_writes_nothing(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("vitis_hls")
    assert cli.main([*JUDGE, "--dry-run"]) == 0
    assert "vitis_hls -f run.tcl" in capsys.readouterr().out
    assert not machine.work.exists()
    assert not machine.verilog.exists()


def test_the_newest_way_is_the_first(machine: Machine) -> None:
    for name in ("bambu", "v++", "vitis_hls", "vitis-run"):
        machine.has(name)
        found = tools.find()
        assert found is not None
        assert found.name == name
