# SPDX-License-Identifier: Apache-2.0
"""Synthesis with Vitis HLS, and the IPs that Vivado takes.

`vitis_hls` and `vitis-run` take a Tcl script, `v++` a file of settings: both say the same here. Static state
is reset with the streams, or a frame half taken would meet streams that are empty.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import Steps
from clarion_contract.boards import Board
from clarion_synth import csynth, rtl_bench
from clarion_synth.table import Row
from clarion_synth.targets import ROOT, STREAM_CLOCKS, Process, Targets, Top
from clarion_synth.tools import Tool

WORK = ROOT / "build" / "hls" / "vitis"
IP = ROOT / "build" / "hls" / "ip"


@dataclass(frozen=True)
class Design:
    """What is synthesised, and for what."""

    top: Top
    board: Board
    buckets: int
    queue_beats: int
    targets: Targets

    @property
    def clock_ns(self) -> float:
        """The board's clock period."""
        return 1e9 / self.board.clock_hz

    @property
    def source(self) -> Path:
        """The file with the top function."""
        return ROOT / "hls" / "block" / f"{self.top.name}.cpp"

    @property
    def flags(self) -> str:
        """The compiler's flags."""
        sizes = f"-DCLARION_BUCKETS={self.buckets} -DCLARION_QUEUE_BEATS={self.queue_beats}"
        return f"-std=c++17 -I{ROOT} {sizes}"

    @property
    def folder(self) -> Path:
        """Where the tool works."""
        return WORK / self.board.name / self.top.name

    @property
    def archive(self) -> Path:
        """The IP."""
        return IP / f"{self.top.name}.zip"


def tcl(design: Design, export: bool) -> str:
    """Return the script for vitis_hls and vitis-run."""
    name = design.top.name
    lines = [
        f"open_project -reset {name}",
        f"set_top {name}",
        f'add_files {{{design.source}}} -cflags "{design.flags}"',
        "open_solution -reset solution -flow_target vivado",
        f"set_part {design.board.part}",
        f"create_clock -period {design.clock_ns:g}ns -name default",
        f"set_clock_uncertainty {design.targets.uncertainty_ns:g}ns",
        "config_rtl -reset state",
        "csynth_design",
    ]
    if export:
        identity = f"-vendor clarion -library hls -ipname {name} -version 1.0"
        lines.append(f"export_design -rtl verilog -format ip_catalog {identity} -output {{{design.archive}}}")
    return "\n".join((*lines, "exit", ""))


def settings(design: Design, export: bool) -> str:
    """Return the file of settings for v++."""
    name = design.top.name
    lines = [
        f"part={design.board.part}",
        "",
        "[hls]",
        "flow_target=vivado",
        f"syn.file={design.source}",
        f"syn.cflags={design.flags}",
        f"syn.top={name}",
        f"clock={design.clock_ns:g}ns",
        f"clock_uncertainty={design.targets.uncertainty_ns:g}ns",
        "syn.rtl.reset=state",
    ]
    if export:
        lines += [
            "package.output.syn=1",
            "package.output.format=ip_catalog",
            f"package.output.file={design.archive}",
            "package.ip.vendor=clarion",
            "package.ip.library=hls",
            f"package.ip.name={name}",
            "package.ip.version=1.0",
        ]
    return "\n".join((*lines, ""))


def run(steps: Steps, tool: Tool, design: Design, export: bool) -> Path:
    """Synthesise one top; returns the folder of its `report` and its `verilog`."""
    folder = design.folder
    steps.note(f"{design.top.name} for {design.board.title}: {design.board.part}, {design.clock_ns:g} ns")
    if tool.name == "v++":
        steps.write(folder / "hls.cfg", settings(design, export))
        steps.run(["v++", "-c", "--mode", "hls", "--config", "hls.cfg", "--work_dir", "work"], folder=folder)
        return folder / "work" / "hls" / "syn"
    steps.write(folder / "run.tcl", tcl(design, export))
    way = ["-f"] if tool.name == "vitis_hls" else ["--mode", "hls", "--tcl"]
    steps.run([tool.name, *way, "run.tcl"], folder=folder)
    return folder / design.top.name / "solution" / "syn"


def rows(design: Design, modules: Sequence[csynth.Module]) -> list[Row]:
    """Hold what a synthesis reports against what is wanted."""
    name = design.top.name
    top = next((module for module in modules if module.name == name), None)
    budget = design.clock_ns - design.targets.uncertainty_ns
    clock = top.clock_ns if top else None
    table = [Row(f"{name}: estimated clock period, ns", budget, clock, top.violation if top else "no report")]
    for process in design.top.processes:
        table += _process_rows(name, process, modules)
    way = [_found(process, modules) for process in design.top.way]
    latencies = [module.latency for module in way if module and module.latency is not None]
    between = STREAM_CLOCKS * (len(way) - 1) + design.top.waits
    total = sum(latencies) + between if len(latencies) == len(way) else None
    table.append(Row(f"{name}: last beat in to first beat out, clocks", design.top.latency, total))
    resources = top.resources if top else {}
    table += [Row(f"{name}: {kind}", None, resources.get(kind)) for kind in csynth.RESOURCES]
    return table


def _found(process: Process, modules: Sequence[csynth.Module]) -> csynth.Module | None:
    """Return the function of a process; the slowest one that stands in its file."""
    there = [module for module in modules if module.stands_in(process.file)]
    return max(there, key=lambda module: (module.ii or 0, module.latency or 0), default=None)


def _process_rows(top: str, process: Process, modules: Sequence[csynth.Module]) -> list[Row]:
    module = _found(process, modules)
    limit = module.violation if module else f"no function of {process.file} in the report"
    return [
        Row(f"{top}: {process.name}: II, clocks", process.ii, module.ii if module else None, limit),
        Row(f"{top}: {process.name}: latency, clocks", process.latency, module.latency if module else None),
    ]


def simulate(steps: Steps, board: Board, buckets: int, results: Sequence[Path]) -> str | None:
    """Run the tests of the block's RTL on what was synthesised; returns what is wrong, if anything."""
    if missing := rtl_bench.missing(buckets):
        steps.note(f"the RTL is not simulated: {missing}")
        return None
    folder = WORK / board.name / "rtl"
    modules = [folder / "*.v"]
    if not steps.dry_run:
        shutil.rmtree(folder, ignore_errors=True)
        for made in (result / "verilog" for result in results):
            steps.need(any(made.glob("*.v")), f"{made}: the tool left no Verilog there")
            # with the contents of memories, which the RTL looks for where it runs
            shutil.copytree(made, folder, dirs_exist_ok=True)
        modules = sorted(folder.glob("*.v"))
    driver = rtl_bench.build(steps, folder, modules)
    return rtl_bench.play(steps, driver, folder)


def require_archive(design: Design) -> None:
    """Refuse to go on without the IP: the tools end well in ways that leave none."""
    if not zipfile.is_zipfile(design.archive):
        raise UserError(f"{design.archive}: the tool left no IP there; see its log in {design.folder}")
