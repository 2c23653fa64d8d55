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
foreach name {read_verilog set_property update_ip_catalog create_ip generate_target read_xdc} {
    proc $name {args} "puts \\[concat $name \\$args\\]"
}
proc current_project {} { return project }
proc get_ips {name} { return $name }
proc get_ipdefs {args} {
    regexp {NAME == (\\w+)} $args -> name
    return [lrange [list clarion:hls:$name:1.0 other:hls:$name:2.0] 1 $::ips]
}
"""


def plugin(ips: int, folder: str | None) -> subprocess.CompletedProcess[str]:
    """Source the plug-in's script as the shell's build.tcl does: in its folder, at global scope."""
    script = f"{PLUGIN}\nset ::ips {ips}\nsource build_box_250mhz.tcl\nputs $include_dirs\nexit 0\n"
    return subprocess.run(
        ["tclsh"],
        input=script,
        cwd=ROOT / "nic/open_nic",
        env={**os.environ, **({"CLARION_BUILD_DIR": folder} if folder else {})},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_plugin_reads_everything(tmp_path: Path) -> None:
    done = plugin(1, str(tmp_path))
    assert done.stderr == ""
    read = [Path(word) for word in re.split(r"[\s{}]+", done.stdout) if word.endswith(".sv")]
    assert read[0].name == "clarion_registers_pkg.sv", "the package first"
    assert set(read) == {*(ROOT / "nic/rtl").glob("*.sv"), ROOT / "nic/open_nic/clarion_250mhz.sv"}
    assert "create_ip -vlnv other:hls:clarion_ingress:2.0 -module_name clarion_ingress" in done.stdout
    assert f"read_xdc -unmanaged {tmp_path}/clarion.xdc" in done.stdout
    assert done.stdout.splitlines()[-1] == f"shell/include {tmp_path}"


def test_the_plugin_refuses_a_missing_unit_and_a_missing_folder(tmp_path: Path) -> None:
    assert "clarion_ingress: 0 IPs of this name" in plugin(0, str(tmp_path)).stderr
    assert "start the build with nic/build.sh" in plugin(1, None).stderr


def test_the_plugin_has_the_files_that_the_shell_asks_for() -> None:
    box = ROOT / "nic/open_nic/box_250mhz"
    wanted = ("user_plugin_250mhz_inst.vh", "box_250mhz_address_map_inst.vh", "box_250mhz_address_map.v")
    assert all((box / name).is_file() for name in (*wanted, "box_250mhz_axi_crossbar.tcl"))
    assert not (ROOT / "nic/open_nic/build_box_322mhz.tcl").exists(), (
        "the shell takes its own for the other box"
    )
