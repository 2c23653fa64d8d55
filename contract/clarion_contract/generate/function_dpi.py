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

// Results of a call, LATENCY clocks later; all ones where there was none.
module clarion_results #(
    parameter logic [31:0] WIDTH = 1,  // bits
    parameter logic [31:0] LATENCY = 0  // clocks
) (
    input wire clk_i,
    input wire valid_i,
    input wire [WIDTH-1:0] results_i,
    output wire [WIDTH-1:0] results_o
);
  wire valid;
  wire [WIDTH-1:0] results;

  clarion_pipe #(
      .WIDTH(WIDTH),
      .LATENCY(LATENCY)
  ) pipe (
      .clk_i,
      .rst_ni(1'b1),
      .valid_i,
      .data_i(results_i),
      .valid_o(valid),
      .data_o(results)
  );

  assign results_o = valid ? results : '1;
endmodule

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

  logic called_q = 0;
  results_t results_q;

  always @(posedge clk_i) begin
    called_q <= valid_i;
    if (valid_i) results_q <= called(arguments_i);
  end

  clarion_results #(
      .WIDTH({result_top} + 1),
      .LATENCY(LATENCY - 1)
  ) rest (
      .clk_i,
      .valid_i(called_q),
      .results_i(results_q),
      .results_o
  );
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
