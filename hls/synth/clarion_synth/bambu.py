# SPDX-License-Identifier: Apache-2.0
"""Functions through bambu (PandA), the open HLS tool."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.paths import ROOT
from clarion_base.steps import Steps
from clarion_contract.boards import Board
from clarion_contract.generate.function_model import Function
from clarion_synth import bambu_report, bambu_tops, circuits, logged
from clarion_synth.circuits import Circuit
from clarion_synth.tools import Tool

WORK = ROOT / "build" / "hls" / "bambu"
PARTS = ("xcu55c", "xcu280")  # that bambu has a model of
MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
CONTENTS = re.compile(r'"([^"/]+\.mem)"')


def device_of(board: Board) -> str:
    """Return bambu's name of a board's part."""
    chip, package, grade = board.part.split("-")[:3]
    if chip not in PARTS:
        raise UserError(f"board {board.name}: bambu has no model of {chip}; it has of {', '.join(PARTS)}")
    return f"{chip}-{grade}{package}-VVD"


def make(steps: Steps, _tool: Tool, function: Function, board: Board, into: Path) -> Circuit:
    """Synthesise one function; its module and Verilog go to `into`.

    With time left for routing in each clock, if the declared clocks are enough then.
    """
    clock_ns = 1e9 / board.clock_hz
    for period_ns in (circuits.budget_ns(clock_ns), clock_ns):
        circuit = _make(steps, function, board, period_ns, into)
        if circuit.latency is None or circuit.latency <= function.latency:
            break
    return circuit


def _make(steps: Steps, function: Function, board: Board, period_ns: float, into: Path) -> Circuit:
    device = device_of(board)
    steps.note(f"{function.name} for {board.title}: {device}, {period_ns:g} ns")
    printed = [
        _synthesise(steps, function, name, ["--device-name=" + device, f"--clock-period={period_ns:g}"], into)
        for name in bambu_tops.names(function)
    ]
    if steps.dry_run:
        return Circuit(function, None, None, None)
    slack_ns = min(map(bambu_report.slack_ns, printed))
    if circuits.is_pipelined(function):
        states = list(map(bambu_report.states, printed))
        latency, interval = max(states), 1
        text = circuits.pipeline(function, latency - 1, bambu_tops.pipelines(function, states))
    else:
        latency = interval = max(map(bambu_report.cycles, printed)) + circuits.clocks_outside(function)
        text = circuits.sequence(function, bambu_tops.sequence(function))
    into.joinpath(f"clarion_{function.name}.sv").write_text(text, encoding="utf-8")
    return Circuit(function, latency, interval, round(period_ns - slack_ns, 2))


def _synthesise(steps: Steps, function: Function, name: str, options: list[str], into: Path) -> str:
    folder = WORK / name
    if not steps.dry_run:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    steps.write(folder / f"{name}.cpp", bambu_tops.source(function, name))
    command = [
        *("bambu", f"{name}.cpp", f"--top-fname={name}", "--std=c++17", "-O2", f"-I{ROOT}"),
        *("--generate-interface=INFER", *options, "-v3"),
    ]
    printed = logged.run(steps, command, folder / "bambu.log", folder)
    if not steps.dry_run:
        _take(folder, name, into)
    return printed


def _take(made: Path, name: str, into: Path) -> None:
    """Bring a top and its tables under names of their own: each comes with the same library."""
    path = made / f"{name}.v"
    if not path.is_file():
        raise UserError(f"{path}: bambu wrote no Verilog there")
    text = path.read_text(encoding="utf-8")
    names = MODULE.findall(text)
    words = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
    text = words.sub(lambda match: match[1] if match[1] == name else f"{name}_{match[1]}", text)
    for contents in made.glob("*.mem"):
        shutil.copy(contents, into / f"{name}_{contents.name}")
    into.joinpath(f"{name}.v").write_text(
        CONTENTS.sub(lambda match: f'"{name}_{match[1]}"', text), encoding="utf-8"
    )
