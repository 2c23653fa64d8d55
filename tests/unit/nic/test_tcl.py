# SPDX-License-Identifier: Apache-2.0
"""The Tcl that Vivado sources, run by tclsh with stand-ins for Vivado's commands: their calls, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from unit.nic.machine import ROOT

pytestmark = pytest.mark.skipif(shutil.which("tclsh") is None, reason="tclsh is not installed (package tcl)")

CARD = """
set ::cables {localhost:3121/xilinx_tcf/Xilinx/111A localhost:3121/xilinx_tcf/Xilinx/222A}
set ::done 1
foreach name {open_hw_manager connect_hw_server open_hw_target current_hw_device refresh_hw_device
        create_hw_cfgmem create_hw_bitstream program_hw_devices program_hw_cfgmem boot_hw_device
        close_hw_target disconnect_hw_server set_property} {
    proc $name {args} "puts \\[concat $name \\$args\\]"
}
proc get_hw_targets {args} {
    return [lsearch -all -inline -glob $::cables [lindex $args end]]
}
proc get_hw_devices {args} {
    set all {xcu250_0 arm_dap_1}
    return [expr {[llength $args] > 1 ? [lsearch -all -inline $all [lindex $args end]] : $all}]
}
proc get_cfgmem_parts {part} { return $part }
proc get_property {name object} {
    if {$name eq "REGISTER.IR.BIT5_DONE"} { return $::done }
    return "<$name>"
}
"""


def card(*words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run card.tcl as Vivado does."""
    script = f"{CARD}{before}\nset argv [list {' '.join(f'{{{word}}}' for word in words)}]\n"
    script += f"source {ROOT}/nic/vivado/card.tcl\n"
    return subprocess.run(["tclsh"], input=script + "exit 0\n", capture_output=True, text=True, check=False)


def told(*words: str, before: str = "") -> list[str]:
    done = card(*words, before=before)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_flash_never_touches_what_the_file_does_not_fill() -> None:
    lines = told("flash", "localhost:3121", "111A", "xcu250_0", "mt25qu01g-spi-x1_x2_x4", "/x/clarion.mcs")
    assert "open_hw_target localhost:3121/xilinx_tcf/Xilinx/111A" in lines
    assert "create_hw_cfgmem -hw_device xcu250_0 mt25qu01g-spi-x1_x2_x4" in lines
    settings = [line.split()[1:3] for line in lines if line.startswith("set_property PROGRAM.")]
    assert settings == [
        ["PROGRAM.FILES", "/x/clarion.mcs"],
        ["PROGRAM.ADDRESS_RANGE", "use_file"],
        ["PROGRAM.UNUSED_PIN_TERMINATION", "pull-none"],
        ["PROGRAM.ERASE", "1"],
        ["PROGRAM.BLANK_CHECK", "0"],
        ["PROGRAM.CFG_PROGRAM", "1"],
        ["PROGRAM.VERIFY", "1"],
        ["PROGRAM.CHECKSUM", "0"],
    ]
    order = [line.split()[0] for line in lines]
    assert order.index("program_hw_devices") < order.index("program_hw_cfgmem")
    assert lines[-1] == "card.tcl: flash: done"


def test_golden_erases_and_writes_nothing() -> None:
    lines = told("golden", "localhost:3121", "111A", "xcu250_0", "mt25qu01g-spi-x1_x2_x4", "/x/clarion.mcs")
    settings = dict(line.split()[1:3] for line in lines if line.startswith("set_property PROGRAM."))
    assert (settings["PROGRAM.ERASE"], settings["PROGRAM.CFG_PROGRAM"]) == ("1", "0")
    assert settings["PROGRAM.ADDRESS_RANGE"] == "use_file"


def test_volatile_and_boot() -> None:
    lines = told("volatile", "localhost:3121", "111A", "xcu250_0", "/x/clarion.bit")
    assert "set_property PROGRAM.FILE /x/clarion.bit xcu250_0" in lines
    assert not any("cfgmem" in line for line in lines)
    assert "boot_hw_device xcu250_0" in told("boot", "localhost:3121", "111A", "xcu250_0")
    nameless = "proc get_property {args} { error {no such property} }"
    assert told("boot", "localhost:3121", "111A", "xcu250_0", before=nameless)[-1] == "card.tcl: boot: done"


def test_identify_changes_nothing() -> None:
    lines = told("identify", "localhost:3121", "111A", "xcu250_0")
    changing = ("program_", "boot_", "create_", "set_property")
    assert not any(line.startswith(changing) for line in lines)


@pytest.mark.parametrize(
    ("words", "before", "reason"),
    [
        (("identify", "s", "", "xcu250_0"), "", "2 JTAG cables match"),
        (("identify", "s", "333", "xcu250_0"), "", "0 JTAG cables match '333'"),
        (
            ("identify", "s", "111A", "xcu280_u55c_0"),
            "",
            "no xcu280_u55c_0 at this cable, but xcu250_0 arm_dap_1",
        ),
        (("boot", "s", "111A", "xcu250_0"), "set ::done 0", "the card did not boot: DONE is low"),
        (("paint", "s", "111A", "xcu250_0"), "", "action paint: identify, flash, golden, volatile or boot"),
    ],
)
def test_refusals(words: tuple[str, ...], before: str, reason: str) -> None:
    done = card(*words, before=before)
    assert reason in done.stderr


PLUGIN = """
set include_dirs {shell/include}
foreach name {read_verilog add_files read_xdc} {
    proc $name {args} "puts \\[concat $name \\$args\\]"
}
"""
PACKAGES = [
    ROOT / "nic/rtl/clarion_registers_pkg.sv",
    ROOT / "hls/rtl/clarion_sizes_pkg.sv",
    ROOT / "hls/rtl/clarion_block_pkg.sv",
]


def plugin(folder: Path | None) -> subprocess.CompletedProcess[str]:
    """Source the plug-in's script as the shell's build.tcl does: in its folder, at global scope."""
    environment = {key: value for key, value in os.environ.items() if key != "CLARION_BUILD_DIR"}
    return subprocess.run(
        ["tclsh"],
        input=f"{PLUGIN}\nsource build_box_250mhz.tcl\nputs $include_dirs\nexit 0\n",
        cwd=ROOT / "nic/open_nic",
        env={**environment, **({"CLARION_BUILD_DIR": str(folder)} if folder else {})},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    """Return the folder that nic/build.sh fills, with invented functions."""
    folder = tmp_path / "functions"
    folder.mkdir()
    for name in (
        "clarion_grant.sv",
        "clarion_patch.sv",
        "grant.v",
        "patch.v",
        "grant_rom.mem",
        "patch_rom.dat",
    ):
        (folder / name).touch()
    return tmp_path


def read(lines: list[str], command: str) -> list[Path]:
    """Return the files of all calls of a command, in their order."""
    calls = [line.removeprefix(command) for line in lines if re.match(rf"{command}(?= [^-])", line)]
    return [Path(word) for call in calls for word in re.split(r"[\s{}]+", call) if word]


def test_the_plugin_reads_everything(functions: Path) -> None:
    done = plugin(functions)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    system = read(lines, "read_verilog -quiet -sv")
    made = functions / "functions"
    assert system[: len(PACKAGES)] == PACKAGES, "packages first: the other files name what is in them"
    ours = {*(ROOT / "hls/rtl").glob("*.sv"), *(ROOT / "nic/rtl").glob("*.sv"), *made.glob("*.sv")}
    assert set(system) == {*ours, ROOT / "nic/open_nic/clarion_250mhz.sv"}
    assert set(read(lines, "read_verilog -quiet")) == set(made.glob("*.v"))
    assert set(read(lines, "add_files -quiet")) == {made / "grant_rom.mem", made / "patch_rom.dat"}
    assert f"read_xdc -unmanaged {functions}/clarion.xdc" in lines
    assert lines[-1] == f"shell/include {functions}"


def test_the_plugin_needs_no_plain_verilog_and_no_tables(functions: Path) -> None:
    for path in (functions / "functions").iterdir():
        if path.suffix != ".sv":
            path.unlink()
    done = plugin(functions)
    assert done.stderr == ""
    assert read(done.stdout.splitlines(), "add_files -quiet") == []


def test_the_plugin_refuses_missing_functions_and_a_missing_folder(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    assert "no files matched glob pattern" in plugin(tmp_path).stderr
    assert "start the build with nic/build.sh" in plugin(None).stderr


def test_a_file_leaves_no_setting_to_the_files_behind_it() -> None:
    """Verilog of the shell and of HLS tools declares not every wire."""
    for path in (*(ROOT / "hls/rtl").glob("*.sv"), *(ROOT / "nic/rtl").glob("*.sv")):
        text = path.read_text()
        kinds = re.findall(r"^`default_nettype (\w+)", text, re.MULTILINE)
        assert kinds in ([], ["none", "wire"]), path.name
        defined = re.findall(r"^\s*`define (\w+)", text, re.MULTILINE)
        undefined = re.findall(r"^\s*`undef (\w+)", text, re.MULTILINE)
        assert sorted(defined) == sorted(undefined), path.name


def test_the_plugin_has_the_files_that_the_shell_asks_for() -> None:
    box = ROOT / "nic/open_nic/box_250mhz"
    wanted = ("user_plugin_250mhz_inst.vh", "box_250mhz_address_map_inst.vh", "box_250mhz_address_map.v")
    assert all((box / name).is_file() for name in (*wanted, "box_250mhz_axi_crossbar.tcl"))
    assert not (ROOT / "nic/open_nic/build_box_322mhz.tcl").exists(), (
        "the shell takes its own for the other box"
    )
