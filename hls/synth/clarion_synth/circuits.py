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
    """Whether arguments come clock by clock, or nearly so; otherwise a circuit may share its units over time."""
    return function.interval <= 2


def budget_ns(clock_ns: float) -> float:
    """Return what a clock leaves for logic."""
    return clock_ns - UNCERTAINTY_NS


def words(fields_bits: int) -> int:
    """Return the words of 64 bits that hold these."""
    return -(-fields_bits // WORD_BITS)


def wrapper(function: Function, registers: int, instance: str) -> str:
    """Return the module that the shell calls; `instance` sets `results` in it, behind so many registers.

    At least one more is at the results: what the shell does with them has a clock of its own.
    """
    name, bits = function.name, width(function.results)
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by clarion_synth: `{name}` of an HLS tool, which has {registers} registers in a row.
module clarion_{name} #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::{name.upper()}_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,
    input clarion_block_pkg::{name}_arguments_t arguments_i,
    output clarion_block_pkg::{name}_results_t results_o
);
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


def struct(function: Function) -> str:
    """Return the name that its structs have in C++."""
    return camel(function.name)
