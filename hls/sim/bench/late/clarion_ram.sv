// SPDX-License-Identifier: Apache-2.0
// In the place of hls/rtl/clarion_ram.sv for a build of the bench that must fail: memory of slots of buckets, and no
// other, says what it held a clock before, beyond what the block forwards.
`default_nettype none
module clarion_ram #(
    parameter logic [31:0] WIDTH = 8,
    parameter logic [31:0] DEPTH = 16,
    // verilator lint_off UNUSEDPARAM
    parameter              STYLE = "block",
    // verilator lint_on UNUSEDPARAM
    parameter logic [31:0] READ_LATENCY = 1
) (
    input wire clk_i,

    input wire                     write_i,
    input wire [$clog2(DEPTH)-1:0] write_address_i,
    input wire [WIDTH-1:0]         write_data_i,

    input  wire  [$clog2(DEPTH)-1:0] read_address_i,
    output logic [WIDTH-1:0]         read_data_o
);
  localparam logic IS_LATE = DEPTH == 8;  // buckets of that build; queues are longer

  logic [WIDTH-1:0] words[DEPTH];
  logic [WIDTH-1:0] read_q[READ_LATENCY];
  logic late_q;
  logic [$clog2(DEPTH)-1:0] late_address_q;
  logic [WIDTH-1:0] late_data_q;

  initial for (int i = 0; i < DEPTH; i++) words[i] = '0;

  always_ff @(posedge clk_i) begin
    late_q <= write_i;
    late_address_q <= write_address_i;
    late_data_q <= write_data_i;
    if (!IS_LATE && write_i) words[write_address_i] <= write_data_i;
    if (IS_LATE && late_q) words[late_address_q] <= late_data_q;
    read_q[0] <= words[read_address_i];
    for (int i = 1; i < READ_LATENCY; i++) read_q[i] <= read_q[i-1];
  end

  assign read_data_o = read_q[READ_LATENCY-1];
endmodule
`default_nettype wire
