# SPDX-License-Identifier: Apache-2.0
"""Shell and functions mapped to UltraScale+ by Yosys: cells, and the longest path through logic.

Yosys has delays of the 7 series only, which is slower, and none of wires, memories and multipliers. So the
path is one of lookup tables and carry chains between registers.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.paths import ROOT
from clarion_base.steps import Steps
from clarion_contract.generate.function_model import Function
from clarion_synth import circuits, logged
from clarion_synth.table import Row

BUCKETS = (4096, 65536)
UNITS = ("clarion_ingress", "clarion_egress")
RTL = ROOT / "hls" / "rtl"
PACKAGES = (
    ROOT / "nic" / "rtl" / "clarion_registers_pkg.sv",
    RTL / "clarion_sizes_pkg.sv",
    RTL / "clarion_block_pkg.sv",
)
WORK = ROOT / "build" / "hls" / "area"
CELL = re.compile(r"^\s+([A-Z]\w+)\s+(\d+)$", re.MULTILINE)
PATH = re.compile(r"Latest arrival time in '\S+' is (\d+)")
KINDS = {
    "LUT": re.compile(r"LUT[1-6]"),
    "FF": re.compile(r"FD[RSCP]E(_1)?"),
    "DSP": re.compile(r"DSP48E2"),
    "BRAM36": re.compile(r"RAMB36E2"),
    "BRAM18": re.compile(r"RAMB18E2"),
    "URAM": re.compile(r"URAM288"),
    "LUTRAM": re.compile(r"RAM\d+\w*"),
}


def rows(steps: Steps, verilog: Path, buckets: int, only: Sequence[str] | None) -> list[Row]:
    """Map the units without their functions, then with them, and each function for which there is Verilog."""
    if shutil.which("yosys") is None:
        raise UserError("yosys is not on PATH (apt install yosys)")
    functions = circuits.chosen(None)
    there = [f for f in functions if (verilog / f"clarion_{f.name}.sv").is_file() or steps.dry_run]
    known = [*UNITS, *(function.name for function in functions)]
    if unknown := [name for name in only or () if name not in known]:
        raise UserError(f"--only {unknown[0]}: there are {', '.join(known)}")
    found: list[Row] = []
    for unit in UNITS:
        if not only or unit in only:
            name = f"{unit} with {buckets} buckets"
            found += _mapped(steps, name, _unit_script(steps, unit, buckets, functions))
            if there == functions:
                found += _mapped(
                    steps, f"{name} and functions", _whole_script(verilog, unit, buckets), verilog
                )
    for function in functions:
        if only and function.name not in only:
            continue
        if function in there:
            found += _mapped(steps, function.name, _function_script(verilog, function), verilog)
        else:
            steps.note(f"{function.name}: no Verilog in {verilog}; make hls-verilog makes it")
    return found


def black_boxes(functions: Sequence[Function]) -> str:
    """Return the functions as modules without contents."""
    return "\n".join(
        f"(* blackbox *)\nmodule clarion_{function.name} (input clk_i, input valid_i,\n"
        f"  input clarion_block_pkg::{function.name}_arguments_t arguments_i,\n"
        f"  output clarion_block_pkg::{function.name}_results_t results_o);\nendmodule"
        for function in functions
    )


def cells(text: str) -> dict[str, int]:
    """Sum the cells of Yosys's last `stat` by kind."""
    total = dict.fromkeys(KINDS, 0)
    for name, number in CELL.findall(text.rpartition("Printing statistics.")[2]):
        for kind, pattern in KINDS.items():
            if pattern.fullmatch(name):
                total[kind] += int(number)
    if not any(total.values()):
        raise UserError("yosys: no cells of UltraScale+ in what it counted")
    return total


def _unit_script(steps: Steps, unit: str, buckets: int, functions: Sequence[Function]) -> str:
    boxes = WORK / "functions.sv"
    steps.write(boxes, black_boxes(functions) + "\n")
    read = " ".join(map(str, (*PACKAGES, boxes, *_shell())))
    return f"read_verilog -sv -defer {read}; chparam -set BUCKETS {buckets} {unit}; {_mapping(unit)}"


def _whole_script(verilog: Path, unit: str, buckets: int) -> str:
    read = " ".join(map(str, (*PACKAGES, *_shell(), f"{verilog}/*.sv", f"{verilog}/*.v")))
    return f"read_verilog -sv -defer {read}; chparam -set BUCKETS {buckets} {unit}; {_mapping(unit)}"


def _shell() -> list[Path]:
    return sorted(set(RTL.glob("*.sv")) - set(PACKAGES))


def _function_script(verilog: Path, function: Function) -> str:
    top = f"clarion_{function.name}"
    packages = " ".join(map(str, PACKAGES))
    made = f"{verilog}/{top}.sv {verilog}/{top}_*.v"
    known = f"read_verilog -sv {packages} {RTL / 'clarion_pipe.sv'}"
    return f"{known}; read_verilog -sv -defer {made}; {_mapping(top)}"


def _mapping(top: str) -> str:
    mapping = f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -abc9 -top {top}"
    return f"{mapping}; stat; read_verilog -lib -specify -overwrite +/xilinx/cells_sim.v; sta"


# In the folder where the functions' tables are, if there are functions.
def _mapped(steps: Steps, name: str, script: str, folder: Path = WORK) -> list[Row]:
    if not steps.dry_run:
        WORK.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{name.replace(' ', '-')}.log"
    printed = logged.run(steps, ["yosys", "-p", script], log, folder)
    if steps.dry_run:
        return []
    found = [Row(f"{name}: {kind}", None, number) for kind, number in cells(printed).items()]
    path = PATH.findall(printed)
    return [*found, Row(f"{name}: longest path of logic, ns", None, int(path[-1]) / 1000 if path else None)]
