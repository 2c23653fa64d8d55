// SPDX-License-Identifier: Apache-2.0
// Runs beside a function of known latency and carries what the function does not need: data comes out LATENCY clocks
// after it went in, one word per clock. Only what is valid is carried: without `valid_o`, `data_o` means nothing.
//
// Long pipes keep their words in place, in a ring of LATENCY - 1 of them before the output register: small memory in
// hardware, and in simulation no word is copied from register to register.
`default_nettype none
module clarion_pipe #(
    parameter logic [31:0] WIDTH = 8,   // bits of a word, 1 or more
    parameter logic [31:0] LATENCY = 1  // clocks, 0 (wires) or more
) (
    input wire clk_i,
    input wire rst_ni,

    input wire             valid_i,
    input wire [WIDTH-1:0] data_i,

    output logic             valid_o,
    output logic [WIDTH-1:0] data_o
);
`ifndef __ICARUS__  // which has no such check
  if (WIDTH < 1) $error("clarion_pipe: WIDTH: 1 or more is needed");
`endif

  if (LATENCY == 0) begin : wires
    assign valid_o = valid_i;
    assign data_o = data_i;
    wire unused = &{1'b0, clk_i, rst_ni};
  end else if (LATENCY == 1) begin : one
    logic valid_q;
    logic [WIDTH-1:0] data_q;

    always_ff @(posedge clk_i) begin
      valid_q <= valid_i && rst_ni;
      if (valid_i) data_q <= data_i;
    end

    assign valid_o = valid_q;
    assign data_o = data_q;
  end else begin : ring
    localparam logic [31:0] PLACES = LATENCY - 1;
    localparam logic [31:0] BITS = PLACES == 1 ? 1 : $clog2(PLACES);

    logic [LATENCY-1:0] valid_q;
    logic [WIDTH-1:0] words[PLACES];
    logic [BITS-1:0] at_q;  // the place of the word that came PLACES clocks ago and of the one that comes now
    logic [WIDTH-1:0] data_q;

    always_ff @(posedge clk_i) begin
      valid_q <= {valid_q[LATENCY-2:0], valid_i};
      at_q <= at_q == BITS'(PLACES - 1) ? '0 : at_q + 1'b1;
      if (!rst_ni) begin
        valid_q <= '0;
        at_q <= '0;
      end
    end

    always_ff @(posedge clk_i) begin
      if (valid_i) words[at_q] <= data_i;
      if (valid_q[PLACES-1]) data_q <= words[at_q];
    end

    assign valid_o = valid_q[LATENCY-1];
    assign data_o = data_q;

`ifndef SYNTHESIS
`ifndef __ICARUS__
    always_ff @(posedge clk_i) if (rst_ni) at_place : assert (32'(at_q) < PLACES);
`endif
`endif
  end

endmodule
`default_nettype wire
