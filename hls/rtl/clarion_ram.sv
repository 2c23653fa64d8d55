// SPDX-License-Identifier: Apache-2.0
// Memory with one write port and one read port; the only file with a synthesis attribute, `ram_style`.
//
// The read address is sampled at an edge; READ_LATENCY - 1 edges later `read_data_o` is that word (latency 1: right
// after the edge). A word that is written at the edge at which it is read comes out as it was before. All words are
// zero at power-on; there is no reset, and none of the neighbours' touches them.
`default_nettype none
module clarion_ram #(
    parameter logic [31:0] WIDTH = 8,         // bits of a word, 1 or more
    parameter logic [31:0] DEPTH = 16,        // words, 2 or more
    parameter              STYLE = "block",   // "block", "ultra" or "distributed"
    parameter logic [31:0] READ_LATENCY = 1   // clocks, 1 to 3
) (
    input wire clk_i,

    input wire                     write_i,
    input wire [$clog2(DEPTH)-1:0] write_address_i,
    input wire [WIDTH-1:0]         write_data_i,

    input  wire  [$clog2(DEPTH)-1:0] read_address_i,
    output logic [WIDTH-1:0]         read_data_o
);
  // verilator lint_off WIDTH
  localparam logic IS_KNOWN = STYLE == "block" || STYLE == "ultra" || STYLE == "distributed";
  // verilator lint_on WIDTH

`ifndef __ICARUS__  // which has no such check
  if (WIDTH < 1) $error("clarion_ram: WIDTH: 1 or more is needed");
  if (DEPTH < 2) $error("clarion_ram: DEPTH: 2 or more is needed");
  if (!IS_KNOWN) $error("clarion_ram: STYLE: block, ultra or distributed is needed");
  if (READ_LATENCY < 1 || READ_LATENCY > 3) $error("clarion_ram: READ_LATENCY: 1 to 3 is needed");
`endif

  (* ram_style = STYLE *) logic [WIDTH-1:0] words[DEPTH];
  logic [WIDTH-1:0] first_q;

  // Memory of an FPGA is zero at power-on if nothing else is asked for. Asking for zero would keep UltraRAM from being
  // inferred, and tools are slow at it, so only simulation and proofs are told.
`ifndef SYNTHESIS
  initial for (int i = 0; i < DEPTH; i++) words[i] = '0;
`endif

  always_ff @(posedge clk_i) begin
    if (write_i) words[write_address_i] <= write_data_i;
    first_q <= words[read_address_i];
  end

  if (READ_LATENCY == 1) begin : one
    assign read_data_o = first_q;
  end else if (READ_LATENCY == 2) begin : two
    logic [WIDTH-1:0] second_q;
    always_ff @(posedge clk_i) second_q <= first_q;
    assign read_data_o = second_q;
  end else begin : three
    logic [WIDTH-1:0] second_q;
    logic [WIDTH-1:0] third_q;
    always_ff @(posedge clk_i) begin
      second_q <= first_q;
      third_q <= second_q;
    end
    assign read_data_o = third_q;
  end

endmodule
`default_nettype wire
