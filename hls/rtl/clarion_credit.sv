// SPDX-License-Identifier: Apache-2.0
// Credits for places in a buffer: one is taken before something is sent towards it, and given back when the place is
// free again. So a pipeline that cannot be stopped never brings more than there is room for.
//
// `take_i` may be set only while `available_o` is; `give_i` only for a credit that is out. Both may come together. A
// credit that is given can be taken in the clock after that.
`default_nettype none
module clarion_credit #(
    parameter logic [31:0] CREDITS = 16  // in all, 1 to 2^31-1
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire  take_i,
    input  wire  give_i,
    output logic available_o,  // one or more can be taken
    output logic idle_o        // all are back
);
`ifndef __ICARUS__  // which has no such check
  if (CREDITS < 1 || CREDITS >= 32'h80000000) $error("clarion_credit: CREDITS: 1 to 2^31-1 is needed");
`endif

  localparam logic [31:0] BITS = $clog2(CREDITS + 1);

  logic [BITS-1:0] left_q;

  assign available_o = left_q != '0;
  assign idle_o = left_q == BITS'(CREDITS);

  always_ff @(posedge clk_i) begin
    if (give_i && !take_i) left_q <= left_q + 1'b1;
    if (take_i && !give_i) left_q <= left_q - 1'b1;
    if (!rst_ni) left_q <= BITS'(CREDITS);
  end

`ifndef SYNTHESIS
`ifndef __ICARUS__
  always_ff @(posedge clk_i) begin
    if (rst_ni) credit_underflow : assert (!take_i || available_o);
    if (rst_ni) credit_overflow : assert (!give_i || !idle_o);
    if (rst_ni) credit_range : assert (32'(left_q) <= CREDITS);
  end
`endif
`endif

endmodule
`default_nettype wire
