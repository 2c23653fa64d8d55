// SPDX-License-Identifier: Apache-2.0
// State that a function changes: its results are the state from the clock in which they are there, and stay it until
// the next call. `load_i` sets it to `load_value_i` instead, while no call is on its way.
`default_nettype none

module clarion_state #(
    parameter logic [31:0] WIDTH = 8,  // bits
    parameter logic [31:0] LATENCY = 1,  // clocks, of the function
    parameter logic [WIDTH-1:0] INITIAL = '0  // after a reset
) (
    input  wire             clk_i,
    input  wire             rst_ni,
    input  wire             load_i,
    input  wire [WIDTH-1:0] load_value_i,
    input  wire             called_i,  // arguments with this state are given to the function
    input  wire [WIDTH-1:0] result_i,
    output wire [WIDTH-1:0] state_o  // not valid while a call is on its way
);
  logic [LATENCY-1:0] called_q;
  logic [WIDTH-1:0] held_q;

  assign state_o = called_q[LATENCY-1] ? result_i : held_q;

  always_ff @(posedge clk_i) begin
    called_q <= LATENCY'({called_q, called_i});
    if (called_q[LATENCY-1]) held_q <= result_i;
    if (load_i) held_q <= load_value_i;
    if (!rst_ni) begin
      called_q <= '0;
      held_q <= INITIAL;
    end
  end
endmodule
`default_nettype wire
