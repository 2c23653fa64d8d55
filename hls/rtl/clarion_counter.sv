// SPDX-License-Identifier: Apache-2.0
// A counter that stops at its largest value instead of wrapping. The sum is shown in the clock after `add_i`.
// `clear_i` starts again from 0 and counts what is added in the same clock, so that reading and clearing loses nothing.
`default_nettype none
module clarion_counter #(
    parameter logic [31:0] WIDTH = 64,    // bits of the value, 1 or more
    parameter logic [31:0] STEP_BITS = 1  // bits of what is added in a clock, 1 to WIDTH
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire                  clear_i,
    input  wire  [STEP_BITS-1:0] add_i,
    output logic [WIDTH-1:0]     value_o
);
`ifndef __ICARUS__  // which has no such check
  if (WIDTH < 1) $error("clarion_counter: WIDTH: 1 or more is needed");
  if (STEP_BITS < 1 || STEP_BITS > WIDTH) $error("clarion_counter: STEP_BITS: 1 to WIDTH is needed");
`endif

  logic [WIDTH-1:0] value_q;
  logic [WIDTH:0] sum;

  assign value_o = value_q;
  assign sum = (clear_i ? '0 : {1'b0, value_q}) + (WIDTH + 1)'(add_i);

  always_ff @(posedge clk_i) begin
    value_q <= sum[WIDTH] ? '1 : sum[WIDTH-1:0];
    if (!rst_ni) value_q <= '0;
  end

endmodule
`default_nettype wire
