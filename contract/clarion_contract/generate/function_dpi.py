# SPDX-License-Identifier: Apache-2.0
"""The functions as modules of a simulator: each calls its C++ by DPI and has the clocks that it may take."""

from __future__ import annotations

from clarion_contract.generate import layout
from clarion_contract.generate.function_model import Function, Functions, camel, width

MODULES = """\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// The block's functions in C++ (functions_dpi.cpp) with the clocks that they may take. Results of a clock
// without arguments are all ones, so that a shell that uses them is found out.
`default_nettype none
// One file has all modules, and none of them is above the others.
// verilator lint_off DECLFILENAME
// verilator lint_off MULTITOP

{modules}

// verilator lint_on DECLFILENAME
// verilator lint_on MULTITOP
`default_nettype wire
"""

MODULE = """\
// {about}
module clarion_{name} #(
    parameter logic [31:0] LATENCY = clarion_block_pkg::{NAME}_LATENCY  // clocks to the results
) (
    input wire clk_i,
    input wire valid_i,  // there are arguments
    input wire clarion_block_pkg::{name}_arguments_t arguments_i,
    output clarion_block_pkg::{name}_results_t results_o  // LATENCY edges later
);
  import "DPI-C" function void clarion_{name}_dpi(
    input  bit [{argument_top}:0] arguments,
    output bit [{result_top}:0] results
  );

  typedef clarion_block_pkg::{name}_results_t results_t;

  function automatic results_t called(input bit [{argument_top}:0] arguments);
    bit [{result_top}:0] results;
    clarion_{name}_dpi(arguments, results);
    called = results;
  endfunction

  initial results_o = '1;

  // Without `else`: of that Verilator makes a choice between two values, and calls the function in every clock.
  if (LATENCY <= 1) begin : g_register
    always @(posedge clk_i) begin
      results_o <= '1;
      if (valid_i) results_o <= called(arguments_i);
    end
  end else begin : g_ring
    localparam logic [31:0] LAST = LATENCY - 2;
    results_t ring[LATENCY-1];
    bit filled[LATENCY-1];
    bit [31:0] at = 0;  // the oldest, to be replaced by the newest
    initial for (int i = 0; i < int'(LATENCY) - 1; i++) filled[i] = 0;
    always @(posedge clk_i) begin
      if (filled[at]) results_o <= ring[at];
      else results_o <= '1;
      filled[at] <= valid_i;
      if (valid_i) ring[at] <= called(arguments_i);
      at <= at == LAST ? 0 : at + 1;
    end
  end
endmodule"""

CALLS = """\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// What clarion_functions_dpi.sv calls.
#include <svdpi.h>

#include "hls/functions/functions.hpp"
#include "hls/functions/packing.hpp"

namespace clarion::block {{

{calls}

}}  // namespace clarion::block
"""

CALL = """\
extern "C" void clarion_{name}_dpi(const svBitVecVal* arguments, svBitVecVal* results) {{
  {struct}Arguments given;
  unpack(arguments, given);
  pack({name}(given), results);
}}"""


def as_modules(functions: Functions) -> str:
    """Return hls/sim/functions/clarion_functions_dpi.sv."""
    return MODULES.format(modules="\n\n".join(_module(each) for each in functions.functions))


def as_calls(functions: Functions) -> str:
    """Return hls/sim/functions/functions_dpi.cpp."""
    calls = (CALL.format(name=each.name, struct=camel(each.name)) for each in functions.functions)
    return layout.cpp(CALLS.format(calls="\n\n".join(calls)))


def _module(function: Function) -> str:
    return MODULE.format(
        about=function.about,
        name=function.name,
        NAME=function.name.upper(),
        argument_top=width(function.arguments) - 1,
        result_top=width(function.results) - 1,
    )
