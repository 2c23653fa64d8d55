# SPDX-License-Identifier: Apache-2.0
"""Functions through Vitis HLS.

`vitis_hls` and `vitis-run` take a Tcl script, `v++` a file of settings: both say the same here.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_base.steps import Steps
from clarion_contract.boards import Board
from clarion_contract.generate.function_model import Function, width
from clarion_synth import circuits, csynth
from clarion_synth.circuits import Circuit
from clarion_synth.tools import Tool

WORK = ROOT / "build" / "hls" / "vitis"


@dataclass(frozen=True)
class Design:
    """A function, and what it is synthesised for."""

    function: Function
    board: Board

    @property
    def top(self) -> str:
        """The name of its top, in C++ and in Verilog."""
        return f"clarion_{self.function.name}_hls"

    @property
    def clock_ns(self) -> float:
        """The board's clock period."""
        return 1e9 / self.board.clock_hz

    @property
    def folder(self) -> Path:
        """Where the tool works."""
        return WORK / self.board.name / self.function.name

    @property
    def source(self) -> Path:
        """The file with the top."""
        return self.folder / f"{self.top}.cpp"


def source(design: Design) -> str:
    """Return the top: one wide number in, one out."""
    function = design.function
    arguments, results = width(function.arguments), width(function.results)
    pipelined = circuits.is_pipelined(function)
    control = "ap_ctrl_none" if pipelined else "ap_ctrl_hs"
    interval = 1 if pipelined else 16  # so that divisions share their multipliers
    struct = circuits.struct(function)
    return f"""\
// Made by clarion_synth.
#include <ap_int.h>

{circuits.INCLUDES}
ap_uint<{results}> {design.top}(ap_uint<{arguments}> arguments) {{
#pragma HLS interface mode = ap_none port = arguments
#pragma HLS interface mode = {control} port = return
#pragma HLS pipeline II = {interval}
#pragma HLS latency max = {function.latency - circuits.clocks_outside(function)}
  constexpr unsigned ARGUMENT_WORDS = {-(-arguments // 32)};
  constexpr unsigned RESULT_WORDS = {-(-results // 32)};
  std::uint32_t words[ARGUMENT_WORDS];
  std::uint32_t made[RESULT_WORDS];
#pragma HLS array_partition variable = words type = complete
#pragma HLS array_partition variable = made type = complete
  for (unsigned i = 0; i < ARGUMENT_WORDS; ++i) {{
#pragma HLS unroll
    words[i] = (arguments >> (32 * i)).to_uint();
  }}
  clarion::block::{struct}Arguments unpacked;
  clarion::block::unpack(words, unpacked);
  clarion::block::pack(clarion::block::{function.name}(unpacked), made);
  ap_uint<{results}> results = 0;
  for (unsigned i = 0; i < RESULT_WORDS; ++i) {{
#pragma HLS unroll
    results |= ap_uint<{results}>(made[i]) << (32 * i);
  }}
  return results;
}}
"""


def tcl(design: Design) -> str:
    """Return the script for vitis_hls and vitis-run."""
    return "\n".join(
        (
            f"open_project -reset {design.top}",
            f"set_top {design.top}",
            f'add_files {{{design.source}}} -cflags "-std=c++17 -I{ROOT}"',
            "open_solution -reset solution -flow_target vivado",
            f"set_part {design.board.part}",
            f"create_clock -period {design.clock_ns:g}ns -name default",
            f"set_clock_uncertainty {circuits.UNCERTAINTY_NS:g}ns",
            "csynth_design",
            "exit",
            "",
        )
    )


def settings(design: Design) -> str:
    """Return the file of settings for v++."""
    return "\n".join(
        (
            f"part={design.board.part}",
            "",
            "[hls]",
            "flow_target=vivado",
            f"syn.file={design.source}",
            f"syn.cflags=-std=c++17 -I{ROOT}",
            f"syn.top={design.top}",
            f"clock={design.clock_ns:g}ns",
            f"clock_uncertainty={circuits.UNCERTAINTY_NS:g}ns",
            "",
        )
    )


def make(steps: Steps, tool: Tool, function: Function, board: Board, into: Path) -> Circuit:
    """Synthesise one function; its module and Verilog go to `into`."""
    design = Design(function, board)
    folder = design.folder
    steps.note(f"{function.name} for {board.title}: {board.part}, {design.clock_ns:g} ns")
    steps.write(design.source, source(design))
    if tool.name == "v++":
        steps.write(folder / "hls.cfg", settings(design))
        steps.run(["v++", "-c", "--mode", "hls", "--config", "hls.cfg", "--work_dir", "work"], folder=folder)
        made = folder / "work" / "hls" / "syn"
    else:
        steps.write(folder / "run.tcl", tcl(design))
        way = ["-f"] if tool.name == "vitis_hls" else ["--mode", "hls", "--tcl"]
        steps.run([tool.name, *way, "run.tcl"], folder=folder)
        made = folder / design.top / "solution" / "syn"
    if steps.dry_run:
        return Circuit(function, None, None, None)
    return _take(steps, design, made, into)


def _take(steps: Steps, design: Design, made: Path, into: Path) -> Circuit:
    modules = csynth.read_all(made / "report")
    top = next((module for module in modules if module.name == design.top), None)
    function = design.function
    if top is None:
        return Circuit(function, None, None, None, f"no report of {design.top}")
    verilog = made / "verilog"
    steps.need(any(verilog.glob("*.v")), f"{verilog}: the tool left no Verilog there")
    # with the contents of tables, which Verilog names
    shutil.copytree(verilog, into, dirs_exist_ok=True)
    pipelined = circuits.is_pipelined(function)
    registers = top.latency if top.latency is not None else function.latency - 1
    if pipelined:
        text = circuits.pipeline(function, registers, _pipeline(design, registers))
    else:
        text = circuits.sequence(function, _sequence(design))
    into.joinpath(f"clarion_{function.name}.sv").write_text(text, encoding="utf-8")
    interval = 1 if pipelined and top.ii is None else top.ii
    latency = None if top.latency is None else top.latency + circuits.clocks_outside(function)
    return Circuit(function, latency, interval, top.clock_ns, top.violation)


def _pipeline(design: Design, registers: int) -> str:
    clocked = ["ap_clk(clk_i)", "ap_rst(1'b0)"] if registers > 0 else []
    return _instance(design, [*clocked, "arguments(arguments_i)", "ap_return(results)"])


def _sequence(design: Design) -> str:
    bits = width(design.function.results)
    arguments = width(design.function.arguments)
    control = ["ap_start(start)", "ap_ready(taken)", "ap_idle()", "ap_done(told)"]
    data = [f"arguments(arguments[{arguments - 1}:0])", "ap_return(made)"]
    ports = ["ap_clk(clk_i)", "ap_rst(restart)", *control, *data]
    return f"""\
  wire [{bits - 1}:0] made;
  wire told;
{_instance(design, ports)}
  always_ff @(posedge clk_i) if (told) results <= made;"""


def _instance(design: Design, ports: list[str]) -> str:
    return f"  {design.top} circuit (\n" + ",\n".join(f"      .{port}" for port in ports) + "\n  );"
