# SPDX-License-Identifier: Apache-2.0
"""Functions of the block (contract/functions.yaml) on their way to a circuit.

An HLS tool gets a top of C++ around a function. What it makes is put into the module that the shell calls,
with as many more registers as the tool has left out of the declared clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clarion_base.errors import UserError
from clarion_contract.generate import function_model
from clarion_contract.generate.function_model import Function, camel, width

CALL_CLOCKS = 3  # around a sequence of states: its arguments are held, it is reset, its results are kept
UNCERTAINTY_NS = 0.8  # kept free for what placing and routing add
WORD_BITS = 64

INCLUDES = """\
#include "hls/functions/functions.hpp"
#include "hls/functions/packing.hpp"
"""


@dataclass(frozen=True)
class Circuit:
    """What a tool has made of a function."""

    function: Function
    latency: int | None  # clocks, with a register at the results
    interval: int | None  # clocks from arguments to arguments
    clock_ns: float | None  # estimated, without routing
    limit: str = ""  # what the tool complains of


def chosen(only: Sequence[str] | None) -> list[Function]:
    """Return the functions of these names, or all of them."""
    functions = {function.name: function for function in function_model.read().functions}
    if unknown := [name for name in only or () if name not in functions]:
        raise UserError(f"--only {unknown[0]}: no function; there are {', '.join(functions)}")
    return [function for name, function in functions.items() if not only or name in only]


def is_pipelined(function: Function) -> bool:
    """Whether arguments come clock by clock, or nearly so; otherwise a circuit shares its units over time."""
    return function.interval <= 2


def clocks_outside(function: Function) -> int:
    """Return the clocks of a call that are not the tool's: at least a register at the results."""
    return 1 if is_pipelined(function) else CALL_CLOCKS


def budget_ns(clock_ns: float) -> float:
    """Return what a clock leaves for logic."""
    return clock_ns - UNCERTAINTY_NS


def words(fields_bits: int) -> int:
    """Return the words of 64 bits that hold these."""
    return -(-fields_bits // WORD_BITS)


def pipeline(function: Function, registers: int, instance: str) -> str:
    """Return the module that the shell calls; `instance` sets `results` in it, behind so many registers.

    At least one more is at the results: what the shell does with them has a clock of its own.
    """
    bits = width(function.results)
    return f"""\
{_head(function)}
  wire [{bits - 1}:0] results;
{instance}
  clarion_pipe #(
      .WIDTH({bits}),
      .LATENCY(LATENCY - {registers})
  ) rest (
      .clk_i,
      .rst_ni(1'b1),
      .valid_i(1'b1),
      .data_i(results),
      .valid_o(),
      .data_o(results_o)
  );
endmodule
"""


def sequence(function: Function, instance: str) -> str:
    """Return the same of a circuit that goes from state to state.

    It is reset at each call, so that it begins at its first state whatever happened before; `start` follows,
    and stays until `taken`. Its arguments are held meanwhile. `instance` keeps its results in `results`.
    """
    arguments, results = width(function.arguments), width(function.results)
    return f"""\
{_head(function)}
  logic [{WORD_BITS * words(arguments) - 1}:0] arguments;
  logic restart = 1'b0;
  logic start = 1'b0;
  wire taken;
  logic [{results - 1}:0] results;
  assign results_o = results;
  always_ff @(posedge clk_i) begin
    if (valid_i) arguments <= {WORD_BITS * words(arguments)}'(arguments_i);
    restart <= valid_i;
    start <= restart || start && !taken && !valid_i;
  end
{instance}
endmodule
"""


def _head(function: Function) -> str:
    name = function.name
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by clarion_synth: what an HLS tool has made of `{name}`.
module clarion_{name} #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::{name.upper()}_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,
    input clarion_block_pkg::{name}_arguments_t arguments_i,
    output clarion_block_pkg::{name}_results_t results_o
);"""


def struct(function: Function) -> str:
    """Return the name that its structs have in C++."""
    return camel(function.name)
