# SPDX-License-Identifier: Apache-2.0
"""Shell and functions mapped to UltraScale+ by Yosys: cells, and the longest path through logic.

The path has the delays of Yosys's own cell models, without wires: what placing and routing add is not in it.
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
    """Map the units without their functions, and each function for which there is Verilog."""
    if shutil.which("yosys") is None:
        raise UserError("yosys is not on PATH (apt install yosys)")
    functions = circuits.chosen(None)
    known = [*UNITS, *(function.name for function in functions)]
    if unknown := [name for name in only or () if name not in known]:
        raise UserError(f"--only {unknown[0]}: there are {', '.join(known)}")
    found: list[Row] = []
    for unit in UNITS:
        if not only or unit in only:
            found += _mapped(
                steps, f"{unit} with {buckets} buckets", _unit_script(steps, unit, buckets, functions)
            )
    for function in functions:
        module = verilog / f"clarion_{function.name}.sv"
        if only and function.name not in only:
            continue
        if module.is_file() or steps.dry_run:
            found += _mapped(steps, function.name, _function_script(verilog, function))
        else:
            steps.note(f"{function.name}: no {module}; make hls-verilog makes it")
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
    """Sum the cells of Yosys's `stat` by kind."""
    total = dict.fromkeys(KINDS, 0)
    for name, number in CELL.findall(text):
        for kind, pattern in KINDS.items():
            if pattern.fullmatch(name):
                total[kind] += int(number)
    if not any(total.values()):
        raise UserError("yosys: no cells of UltraScale+ in what it counted")
    return total


def _unit_script(steps: Steps, unit: str, buckets: int, functions: Sequence[Function]) -> str:
    boxes = WORK / "functions.sv"
    steps.write(boxes, black_boxes(functions) + "\n")
    sources = sorted(set(RTL.glob("*.sv")) - set(PACKAGES))
    read = " ".join(map(str, (*PACKAGES, boxes, *sources)))
    return f"read_verilog -sv -defer {read}; chparam -set BUCKETS {buckets} {unit}; {_mapping(unit)}"


def _function_script(verilog: Path, function: Function) -> str:
    top = f"clarion_{function.name}"
    packages = " ".join(map(str, PACKAGES))
    made = f"{verilog}/{top}.sv {verilog}/{top}_*.v"
    known = f"read_verilog -sv {packages} {RTL / 'clarion_pipe.sv'}"
    return f"{known}; read_verilog -sv -defer {made}; {_mapping(top)}"


def _mapping(top: str) -> str:
    return f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -abc9 -top {top}; stat; sta"


def _mapped(steps: Steps, name: str, script: str) -> list[Row]:
    if not steps.dry_run:
        WORK.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{name.replace(' ', '-')}.log"
    printed = logged.run(steps, ["yosys", "-p", script], log)
    if steps.dry_run:
        return []
    found = [Row(f"{name}: {kind}", None, number) for kind, number in cells(printed).items()]
    path = PATH.findall(printed)
    return [*found, Row(f"{name}: longest path of logic, ns", None, int(path[-1]) / 1000 if path else None)]
