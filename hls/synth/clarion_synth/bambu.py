# SPDX-License-Identifier: Apache-2.0
"""Functions through bambu (PandA), the open HLS tool.

It pipelines functions of up to 64 bits that return one number. So a function has a top for each 64 bits of
its results, and what they have in common is made more than once.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.paths import ROOT
from clarion_base.steps import Steps
from clarion_contract.boards import Board
from clarion_contract.generate.function_model import Function, width
from clarion_synth import bambu_report, circuits, logged
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


def top(function: Function, word: int) -> str:
    """Return the name of a top."""
    return f"clarion_{function.name}_{word}"


def source(function: Function, word: int) -> str:
    """Return the top of 64 bits of the results."""
    arguments = circuits.words(width(function.arguments))
    results = circuits.words(width(function.results))
    struct = circuits.struct(function)
    halves = ", ".join(
        f"static_cast<std::uint32_t>(a{i}), static_cast<std::uint32_t>(a{i} >> 32)" for i in range(arguments)
    )
    parameters = ", ".join(f"unsigned long long a{i}" for i in range(arguments))
    pipeline = f"#pragma HLS pipeline II = {function.interval}\n" if circuits.is_pipelined(function) else ""
    return f"""\
// Made by clarion_synth.
{circuits.INCLUDES}
extern "C" unsigned long long {top(function, word)}({parameters}) {{
{pipeline}  const std::uint32_t words[] = {{{halves}}};
  clarion::block::{struct}Arguments arguments;
  clarion::block::unpack(words, arguments);
  std::uint32_t made[{2 * results}] = {{}};
  clarion::block::pack(clarion::block::{function.name}(arguments), made);
  return made[{2 * word}] | static_cast<unsigned long long>(made[{2 * word + 1}]) << 32;
}}
"""


def make(steps: Steps, _tool: Tool, function: Function, board: Board, into: Path) -> Circuit:
    """Synthesise one function; its module and Verilog go to `into`."""
    device = device_of(board)
    clock_ns = 1e9 / board.clock_hz
    steps.note(f"{function.name} for {board.title}: {device}, {clock_ns:g} ns")
    made = [
        _make_word(steps, function, word, device, clock_ns, into)
        for word in range(circuits.words(width(function.results)))
    ]
    if steps.dry_run:
        return Circuit(function, None, None, None)
    states = [schedule.states for schedule in made]
    text = circuits.wrapper(function, max(states) - 1, _instances(function, states))
    into.joinpath(f"clarion_{function.name}.sv").write_text(text, encoding="utf-8")
    slack = min(schedule.slack_ns for schedule in made)
    interval = 1 if circuits.is_pipelined(function) else max(states)
    return Circuit(function, max(states), interval, round(clock_ns - slack, 2))


def _make_word(
    steps: Steps, function: Function, word: int, device: str, clock_ns: float, into: Path
) -> bambu_report.Schedule:
    name = top(function, word)
    folder = WORK / name
    if not steps.dry_run:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    steps.write(folder / f"{name}.cpp", source(function, word))
    command = [
        *("bambu", f"{name}.cpp", f"--top-fname={name}", "--std=c++17", "-O2", f"-I{ROOT}"),
        *("--generate-interface=INFER", f"--device-name={device}", f"--clock-period={clock_ns:g}", "-v3"),
    ]
    printed = logged.run(steps, command, folder / "bambu.log")
    if steps.dry_run:
        return bambu_report.Schedule(0, 0.0)
    _take(folder, name, into)
    return bambu_report.schedule(printed)


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


def _instances(function: Function, states: list[int]) -> str:
    arguments, results = width(function.arguments), width(function.results)
    wide = circuits.WORD_BITS * circuits.words(arguments)
    lines = [f"  wire [{wide - 1}:0] arguments = {wide}'(arguments_i);"]
    for word, number in enumerate(states):
        bits = min(circuits.WORD_BITS, results - circuits.WORD_BITS * word)
        inputs = "".join(
            f"      .a{i}(arguments[{circuits.WORD_BITS * i}+:{circuits.WORD_BITS}]),\n"
            for i in range(circuits.words(arguments))
        )
        lines.append(f"""\
  wire [63:0] word_{word};
  {top(function, word)} circuit_{word} (
      .clock(clk_i),
      .reset(1'b1),
      .start_port(valid_i),
{inputs}      .done_port(),
      .return_port(word_{word})
  );
  clarion_pipe #(
      .WIDTH({bits}),
      .LATENCY({max(states) - number})
  ) pipe_{word} (
      .clk_i,
      .rst_ni(1'b1),
      .valid_i(1'b1),
      .data_i(word_{word}[{bits - 1}:0]),
      .valid_o(),
      .data_o(results[{circuits.WORD_BITS * word}+:{bits}])
  );""")
    return "\n".join(lines)
