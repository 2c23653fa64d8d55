# SPDX-License-Identifier: Apache-2.0
"""make hls-synth and make hls-ip, with tools that only record their arguments."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from clarion_base.steps import Steps
from clarion_synth import c_simulation, cli, rtl_bench, tools, vitis
from clarion_synth.targets import ROOT
from unit.synth import reports

# Puts the reports of HLS_FAKE_REPORTS in the tool's places, with empty Verilog, the contents of a memory,
# and the exported IPs.
FAKE = """#!{python}
import os, re, shutil, sys, zipfile
with open(os.environ["HLS_FAKE_LOG"], "a") as log:
    log.write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
script = open(next(word for word in sys.argv if word.endswith((".tcl", ".cfg")))).read()
top = re.search(r"^(?:set_top |syn.top=)(\\w+)", script, re.M)[1]
tcl = "set_top" in script
folder = f"{{top}}/solution/syn" if tcl else "work/hls/syn"
shutil.copytree(os.path.join(os.environ["HLS_FAKE_REPORTS"], top), f"{{folder}}/report", dirs_exist_ok=True)
if "HLS_FAKE_NO_VERILOG" not in os.environ:
    os.makedirs(f"{{folder}}/verilog", exist_ok=True)
    for name in (f"{{top}}.v", f"{{top}}_rom.dat"):
        open(f"{{folder}}/verilog/{{name}}", "w").close()
archive = re.search(r"-output {{(.+)}}|package.output.file=(.+)", script)
if archive and "HLS_FAKE_NO_IP" not in os.environ:
    zipfile.ZipFile(archive[1] or archive[2], "w").writestr("component.xml", "")
"""
TCL = """open_project -reset clarion_egress
set_top clarion_egress
add_files {{{root}/hls/block/clarion_egress.cpp}} -cflags "-std=c++17 -I{root} -DCLARION_BUCKETS=8192 \
-DCLARION_QUEUE_BEATS=4096"
open_solution -reset solution -flow_target vivado
set_part xcu280-fsvh2892-2L-e
create_clock -period 4ns -name default
set_clock_uncertainty 0.8ns
config_rtl -reset state
csynth_design
"""
EXPORT = """export_design -rtl verilog -format ip_catalog -vendor clarion -library hls \
-ipname clarion_egress -version 1.0 -output {{{ip}/clarion_egress.zip}}
"""
SETTINGS = """part=xcu280-fsvh2892-2L-e

[hls]
flow_target=vivado
syn.file={root}/hls/block/clarion_egress.cpp
syn.cflags=-std=c++17 -I{root} -DCLARION_BUCKETS=8192 -DCLARION_QUEUE_BEATS=4096
syn.top=clarion_egress
clock=4ns
clock_uncertainty=0.8ns
syn.rtl.reset=state
"""
PACKAGE = """package.output.syn=1
package.output.format=ip_catalog
package.output.file={ip}/clarion_egress.zip
package.ip.vendor=clarion
package.ip.library=hls
package.ip.name=clarion_egress
package.ip.version=1.0
"""
U280 = ["--board", "u280", "--buckets", "8192"]
RTL = ["--board", "u280"]


class Machine:
    """A PATH with only these tools, and folders of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.log = folder / "log"
        self.reports = folder / "reports"
        self.work = folder / "work"
        self.ip = folder / "ip"
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("HLS_FAKE_LOG", str(self.log))
        monkeypatch.setenv("HLS_FAKE_REPORTS", str(self.reports))
        monkeypatch.setattr(vitis, "WORK", self.work)
        monkeypatch.setattr(vitis, "IP", self.ip)
        for top in reports.targets().tops:
            reports.write(self.reports / top.name, reports.of_top(top))

    def has(self, name: str) -> None:
        path = self.bin / name
        path.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
        path.chmod(0o755)

    def written(self, name: str) -> str:
        return (self.work / "u280" / "clarion_egress" / name).read_text(encoding="utf-8")

    def fill(self, text: str) -> str:
        return text.format(root=ROOT, ip=self.ip)


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


@pytest.mark.parametrize("others", [[], ["bambu"]])
def test_without_vitis_there_is_no_ip(
    others: list[str], machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in others:
        machine.has(name)
    assert cli.main(["ip"]) == 2
    missing = "none of vitis-run, vitis_hls, v++ is on PATH"
    get = "install Vitis HLS and source its settings64.sh"
    assert capsys.readouterr() == ("", f"hls-ip: {missing}; {get}\n")


def test_the_newest_way_is_taken(machine: Machine) -> None:
    found = []
    for name in ("bambu", "v++", "vitis_hls", "vitis-run"):
        machine.has(name)
        tool = tools.find()
        assert tool is not None
        found.append((tool.name, tool.is_vitis))
    assert found == [("bambu", False), ("v++", True), ("vitis_hls", True), ("vitis-run", True)]


@pytest.mark.parametrize(
    ("tool", "command"),
    [("vitis_hls", "vitis_hls -f run.tcl"), ("vitis-run", "vitis-run --mode hls --tcl run.tcl")],
)
@pytest.mark.parametrize("action", ["synth", "ip"])
def test_what_vitis_is_asked(tool: str, command: str, action: str, machine: Machine) -> None:
    machine.has(tool)
    assert cli.main([action, *U280]) == 0
    assert machine.log.read_text(encoding="utf-8") == f"{command}\n" * 2
    more = EXPORT if action == "ip" else ""
    assert machine.written("run.tcl") == machine.fill(TCL + more + "exit\n")
    archives = ["clarion_egress.zip", "clarion_ingress.zip"] if action == "ip" else []
    assert sorted(path.name for path in machine.ip.glob("*")) == archives


@pytest.mark.parametrize("action", ["synth", "ip"])
def test_what_the_compiler_of_the_new_flow_is_asked(action: str, machine: Machine) -> None:
    machine.has("v++")
    assert cli.main([action, *U280]) == 0
    command = "v++ -c --mode hls --config hls.cfg --work_dir work\n"
    assert machine.log.read_text(encoding="utf-8") == command * 2
    more = PACKAGE if action == "ip" else ""
    assert machine.written("hls.cfg") == machine.fill(SETTINGS + more)


@pytest.mark.parametrize("action", ["synth", "ip"])
def test_a_miss_fails(action: str, machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.has("vitis-run")
    ingress = reports.targets().tops[0]
    reports.write(machine.reports / ingress.name, reports.of_top(ingress, IngressStage={"ii": "2"}))
    assert cli.main([action]) == 1
    output = capsys.readouterr()
    assert output.err == f"hls-{action}: missed: clarion_ingress: IngressStage: II, clocks\n"
    assert any("IngressStage: II" in line and "MISSED" in line for line in output.out.splitlines())


def test_without_verilator_the_rtl_is_not_simulated(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("vitis-run")
    assert cli.main(["synth"]) == 0
    missing = "verilator is not on PATH (apt install verilator)"
    assert f"# the RTL is not simulated: {missing}\n" in capsys.readouterr().out


class Simulator:
    """A verilator that records its arguments, and a driver that does nothing."""

    def __init__(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = machine.bin / "asked"
        script = (
            f'#!{sys.executable}\nimport sys\nopen("{self.asked}", "w").write("\\n".join(sys.argv[1:]))\n'
        )
        (machine.bin / "verilator").write_text(script, encoding="utf-8")
        (machine.bin / "verilator").chmod(0o755)
        self.says: str | None = None
        self.played: list[tuple[Path, Path]] = []
        monkeypatch.setattr(c_simulation, "AP_TYPES", machine.bin)
        (machine.bin / "ap_int.h").touch()
        monkeypatch.setattr(rtl_bench, "play", self.play)

    def play(self, steps: Steps, driver: Path, data: Path, slow: int = 1) -> str | None:
        assert (steps.dry_run, slow) == (False, 1)
        self.played.append((driver, data))
        return self.says


@pytest.mark.parametrize("tool", ["vitis-run", "v++"])
def test_the_rtl_that_was_made_is_played(
    tool: str, machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has(tool)
    simulator = Simulator(machine, monkeypatch)
    assert cli.main(["synth", *U280]) == 0
    assert "# the RTL is not simulated: its tests are for 4096 buckets\n" in capsys.readouterr().out
    shutil.rmtree(machine.work)
    assert cli.main(["synth", *RTL]) == 0
    folder = machine.work / "u280" / "rtl"
    asked = simulator.asked.read_text(encoding="utf-8").splitlines()
    made = [word for word in asked if word.startswith(str(folder)) and word.endswith(".v")]
    assert made == [str(folder / f"clarion_{way}.v") for way in ("egress", "ingress")]
    assert str(rtl_bench.STAND_IN) not in asked
    memories = sorted(path.name for path in folder.glob("*.dat"))
    assert memories == ["clarion_egress_rom.dat", "clarion_ingress_rom.dat"]
    assert simulator.played == [(folder / "obj" / rtl_bench.DRIVER, folder)]

    simulator.says = "the RTL is wrong"
    ingress = reports.targets().tops[0]
    reports.write(machine.reports / ingress.name, reports.of_top(ingress, IngressStage={"ii": "2"}))
    shutil.rmtree(machine.work)
    assert cli.main(["synth", *RTL]) == 1
    complaint = "hls-synth: missed: clarion_ingress: IngressStage: II, clocks; the RTL is wrong\n"
    assert capsys.readouterr().err == complaint


def test_a_tool_that_leaves_no_rtl_is_not_believed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("vitis-run")
    Simulator(machine, monkeypatch)
    monkeypatch.setenv("HLS_FAKE_NO_VERILOG", "1")
    assert cli.main(["synth"]) == 1
    assert "the tool left no Verilog there" in capsys.readouterr().err


def test_a_tool_that_leaves_no_ip_is_not_believed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.has("vitis-run")
    assert cli.main(["ip"]) == 0
    monkeypatch.setenv("HLS_FAKE_NO_IP", "1")
    assert cli.main(["ip"]) == 1
    assert "clarion_ingress.zip: the tool left no IP there" in capsys.readouterr().err


def test_a_tool_that_fails_is_told_of(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    (machine.bin / "vitis-run").write_text(f"#!{sys.executable}\nraise SystemExit(3)\n", encoding="utf-8")
    (machine.bin / "vitis-run").chmod(0o755)
    assert cli.main(["synth"]) == 1
    assert capsys.readouterr().err == "hls-synth: vitis-run: ended with status 3\n"


def test_a_dry_run_changes_nothing(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.has("vitis-run")
    assert cli.main(["ip", "--dry-run"]) == 0
    assert not machine.log.exists()
    assert not machine.work.exists()
    assert not machine.ip.exists()
    assert "vitis-run --mode hls --tcl run.tcl" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["synth", "--buckets", "5000"], "5000: a power of two from 2 to 65536 is needed"),
        (["ip", "--queue-beats", "128"], "128: a power of two from 256 to 65536 is needed"),
        (["ip", "--buckets", "many"], "invalid number value: 'many'"),
        (["ip", "--board", "u50"], "invalid choice: 'u50'"),
    ],
)
def test_sizes_and_boards_that_do_not_exist(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_folders_are_those_that_the_build_takes_from() -> None:
    assert os.path.relpath(vitis.IP, ROOT) == "build/hls/ip"
