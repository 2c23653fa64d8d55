// SPDX-License-Identifier: Apache-2.0
// A register slice: cuts every path between the two sides of a valid/ready handshake, and passes a word in each clock.
//
// The latency is one clock. `ready_o` is registered, so back-pressure reaches the source a clock late; the word that comes
// in that clock waits in the spare register.
// While rst_ni is low nothing is taken, whatever ready_o says.
`default_nettype none
module clarion_skid #(
    parameter logic [31:0] WIDTH = 8  // bits of a word, 1 or more
) (
    input wire clk_i,
    input wire rst_ni,

    input  wire              valid_i,
    output logic             ready_o,
    input  wire  [WIDTH-1:0] data_i,

    output logic             valid_o,
    input  wire              ready_i,
    output logic [WIDTH-1:0] data_o
);
`ifndef __ICARUS__  // which has no such check
  if (WIDTH < 1) $error("clarion_skid: WIDTH: 1 or more is needed");
`endif

  logic ready_q;  // the spare register is empty
  logic valid_q;
  logic [WIDTH-1:0] data_q;
  logic [WIDTH-1:0] spare_q;
  logic moves;  // the output register is free, or will be

  assign ready_o = ready_q;
  assign valid_o = valid_q;
  assign data_o = data_q;
  assign moves = ready_i || !valid_q;

  always_ff @(posedge clk_i) begin
    if (moves) begin
      ready_q <= 1'b1;
      valid_q <= valid_i || !ready_q;
    end else if (valid_i) begin
      ready_q <= 1'b0;
    end
    if (!rst_ni) begin
      ready_q <= 1'b1;
      valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (moves && !ready_q) data_q <= spare_q;
    else if (moves && valid_i) data_q <= data_i;
    if (ready_q && valid_i) spare_q <= data_i;
  end

endmodule
`default_nettype wire
