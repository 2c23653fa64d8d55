# SPDX-License-Identifier: Apache-2.0
"""Synthesis with bambu, unit by unit, and the RTL that comes of it played with recorded tokens.

bambu knows neither pragmas inside of templates nor streams that can be asked whether they are full. So each
unit is a top of its own in hls/synth/bambu, around the same step function, and is compiled from a copy of the
sources without the pragmas of Vitis.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import Steps
from clarion_contract.boards import Board
from clarion_synth import bambu_report, c_simulation, compose, cores, logged, table
from clarion_synth.table import Row
from clarion_synth.targets import ROOT, SYNTH, Targets

HERE = ROOT / "hls" / "synth" / "bambu"
WORK = ROOT / "build" / "hls" / "bambu"
PARTS = ("xcu55c", "xcu280")  # that bambu has a model of
PRAGMA = re.compile(r"^\s*#pragma HLS.*\n", re.MULTILINE)
TOP = re.compile(r"^module (_Z4unit\w*)", re.MULTILINE)
NO_PIPELINE = "not pipelined by bambu: a token passes all states before the next one enters"
RECORDED_FRAMES = 1500


@dataclass(frozen=True)
class Unit:
    """A process that is synthesised by itself: streams with the words of their tokens."""

    process: str
    source: str
    inputs: dict[str, int]
    outputs: dict[str, int]
    limit: int  # tokens of the first input that are played
    wires: Mapping[str, int] = field(default_factory=dict)  # beside them, with what C simulation has there

    @property
    def folder(self) -> Path:
        """Where the tools work."""
        return WORK / self.source


UNITS = (
    Unit(
        "FrameIntake",
        "frame_intake",
        {"intake_status": 1, "intake_data": 1},
        {"beats": 2, "arrivals": 3},
        600,
    ),
    Unit("Classifier", "classifier", {"arrivals": 3}, {"packets": 1}, 400, {"protocol": 253}),
    Unit(
        "IngressStage",
        "ingress_stage",
        {"ingress_status": 1, "ingress_packets": 1, "ingress_commands": 1},
        {"ingress_releases": 1, "ingress_replies": 2},
        5000,  # a reset is among them
    ),
    Unit(
        "EgressStage",
        "egress_stage",
        {"egress_status": 1, "packets": 1, "reports": 2, "commands": 1},
        {"departures": 1, "pool": 1, "ends": 2, "traffic_replies": 2},
        1500,
    ),
    Unit("GrantStage", "grant_stage", {"pool": 1}, {"grants": 1, "replies": 2}, 300),
    Unit("GrantJoin", "grant_join", {"join_status": 1, "departures": 1, "grants": 1}, {"releases": 1}, 400),
    Unit("FrameRelease", "frame_release", {"beats": 2, "releases": 1}, {"out": 2, "sent": 1}, 400),
    Unit("IntervalStage", "interval_stage", {"ends": 2}, {"reports": 2}, 100),
)


def report(
    steps: Steps, board: Board, targets: Targets, only: Sequence[str] | None, mapped: bool = False
) -> None:
    """Synthesise the units, play their RTL, print the gaps."""
    units = [unit for unit in UNITS if not only or unit.process in only]
    if unknown := sorted(set(only or ()) - {unit.process for unit in UNITS}):
        raise UserError(f"--only {unknown[0]}: one of {', '.join(unit.process for unit in UNITS)} is a unit")
    device = device_of(board)
    prepare(steps)
    record(steps)
    rows: list[Row] = []
    for unit in units:
        printed = synthesise(steps, unit, device, targets.clock_ns)
        if steps.dry_run:
            continue
        cells = area(steps, unit) if mapped else {}
        rows += rows_of(unit, targets, bambu_report.parse(printed), play(steps, unit), cells)
    if not only:
        rows += cores.report(steps, WORK, device, targets.clock_ns)
        rows += compose.report(steps, WORK / "block", {unit.source: unit.folder for unit in units}, targets)
    if rows:
        print(table.text(rows))
        held = [row for row in rows if row.wanted is not None]
        print(f"hls-synth: {sum(row.missed for row in held)} of {len(held)} numbers are short of the goal")


def device_of(board: Board) -> str:
    """Return bambu's name of a board's part."""
    chip, package, grade = board.part.split("-")[:3]
    if chip not in PARTS:
        raise UserError(f"board {board.name}: bambu has no model of {chip}; it has of {', '.join(PARTS)}")
    return f"{chip}-{grade}{package}-VVD"


def prepare(steps: Steps) -> None:
    """Copy the sources without the pragmas of another tool."""
    steps.note(f"sources without pragmas: {WORK / 'source'}")
    if steps.dry_run:
        return
    for folder in ("core", "hls/block", "hls/synth/bambu"):
        for path in [*(ROOT / folder).glob("*.hpp"), *(ROOT / folder).glob("*.cpp")]:
            into = WORK / "source" / path.relative_to(ROOT)
            into.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            keep = folder == "hls/synth/bambu"  # these are bambu's
            into.write_text(text if keep else PRAGMA.sub("", text), encoding="utf-8")


def record(steps: Steps) -> None:
    """Run C simulation and keep what passes each stream."""
    tokens = WORK / "tokens"
    if not steps.dry_run:
        tokens.mkdir(parents=True, exist_ok=True)
    steps.run(["g++", "-O1", *c_simulation.flags(), str(HERE / "record.cpp"), "-o", str(WORK / "record")])
    steps.run([WORK / "record", tokens, str(RECORDED_FRAMES), "0"])


def synthesise(steps: Steps, unit: Unit, device: str, clock_ns: float) -> str:
    """Make the RTL; returns what bambu printed."""
    if not steps.dry_run:
        shutil.rmtree(unit.folder, ignore_errors=True)
        unit.folder.mkdir(parents=True)
    source = WORK / "source"
    shim = ROOT / "hls" / "synth" / "bambu" / "include"
    axi = ROOT / "hls" / "sim" / "shim"
    return logged.run(
        steps,
        [
            *("bambu", str(source / "hls/synth/bambu" / f"{unit.source}.cpp"), "--top-fname=unit"),
            *("--compiler=I386_CLANG16", "--std=c++17", "-O2", "-D__SYNTHESIS__"),
            *(f"-I{shim}", f"-I{source}", f"-I{axi}"),  # the shim has some headers of the block as well
            *("--generate-interface=INFER", f"--device-name={device}", f"--clock-period={clock_ns:g}", "-v3"),
        ],
        unit.folder / "bambu.log",
    )


def play(steps: Steps, unit: Unit) -> dict[str, object] | None:
    """Play the RTL in Icarus Verilog; None without it."""
    if shutil.which("iverilog") is None:
        steps.note("iverilog is not on PATH: the RTL is not simulated")
        return None
    code = "from clarion_synth.play_run import main; main()"
    result = unit.folder / "result.json"
    logged.run(
        steps,
        [sys.executable, "-c", code],
        unit.folder / "play.log",
        {
            "PYTHONPATH": str(SYNTH),
            "PLAY_FOLDER": str(WORK / "tokens"),
            "PLAY_TOP": top_of(unit),
            "PLAY_IN": ",".join(f"{stream}:{words}" for stream, words in unit.inputs.items()),
            "PLAY_OUT": ",".join(f"{stream}:{words}" for stream, words in unit.outputs.items()),
            "PLAY_WIRES": ",".join(f"{wire}:{value}" for wire, value in unit.wires.items()),
            "PLAY_LIMIT": str(unit.limit),
            "PLAY_STALLS": "0",
            "PLAY_RESULT": str(result),
        },
    )
    if not result.is_file():
        raise UserError(f"{unit.process}: the simulation of its RTL left no result in {unit.folder}")
    played: dict[str, object] = json.loads(result.read_text(encoding="utf-8"))
    return played


def top_of(unit: Unit) -> str:
    """Return the name of the RTL's top module, which carries the types of the ports."""
    names = TOP.findall((unit.folder / "unit.v").read_text(encoding="utf-8"))
    if not names:
        raise UserError(f"{unit.folder / 'unit.v'}: bambu wrote no module unit")
    return str(names[-1])


def area(steps: Steps, unit: Unit) -> dict[str, int]:
    """Map the RTL to UltraScale+ with Yosys."""
    if shutil.which("yosys") is None:
        raise UserError("--map: yosys is not on PATH")
    mapping = f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {top_of(unit)}"
    passes = f"read_verilog -sv -defer unit.v; {mapping}; stat"
    return bambu_report.cells(logged.run(steps, ["yosys", "-p", passes], unit.folder / "yosys.log"))


def rows_of(
    unit: Unit,
    targets: Targets,
    synthesis: bambu_report.Synthesis,
    played: dict[str, object] | None,
    cells: dict[str, int],
) -> list[Row]:
    """Hold what there is against what is wanted."""
    name = unit.process
    process = targets.process(name)
    clock = round(targets.clock_ns - synthesis.slack_ns, 2)
    rows = [
        Row(f"{name}: estimated clock period, ns", targets.clock_ns, clock, "without routing"),
        Row(f"{name}: states", None, synthesis.steps),
        Row(f"{name}: LUTs, estimated by bambu", None, synthesis.area),
        Row(f"{name}: flip-flops, estimated by bambu", None, synthesis.flip_flops),
        Row(f"{name}: DSPs, estimated by bambu", None, synthesis.dsps),
    ]
    if played is not None:
        rows += _played_rows(unit, process.ii, process.latency, played)
    return rows + [Row(f"{name}: {kind}, by Yosys", None, number) for kind, number in cells.items()]


def _played_rows(unit: Unit, ii: int, latency: int, played: dict[str, object]) -> list[Row]:
    ports = played["ports"]
    taken, clocks = played["taken"], played["clocks"]
    assert isinstance(ports, dict)
    assert isinstance(taken, int)
    assert isinstance(clocks, int)
    wrong = [port for port, result in ports.items() if result["different"] is not None or not result["words"]]
    if wrong:
        text = "its RTL does not write what C simulation does"
        raise UserError(f"{unit.process}: {text}: {', '.join(wrong)}")
    words = sum(result["words"] for result in ports.values())
    first = min(result["first"] for result in ports.values())
    # A unit that is told what there is takes a step whether or not there is something.
    what = "step" if next(iter(unit.inputs)).endswith("_status") else "token"
    return [
        Row(f"{unit.process}: clocks per {what}, simulated", ii, round(clocks / taken, 2), NO_PIPELINE),
        Row(f"{unit.process}: clocks to the first word, simulated", latency, first),
        Row(f"{unit.process}: words equal to C simulation", None, words),
    ]
