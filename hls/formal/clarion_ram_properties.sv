// SPDX-License-Identifier: Apache-2.0
// clarion_ram: any word, read at any time, comes READ_LATENCY clocks later as it was when its address was sampled, zero
// if it was never written.
`default_nettype none
module clarion_ram_properties #(
    parameter logic [31:0] READ_LATENCY = 1
) (
    input wire clk_i,
    input wire write_i,
    input wire [1:0] write_address_i,
    input wire write_data_i,
    input wire [1:0] read_address_i
);
  wire data;

  clarion_ram #(
      .WIDTH(1),
      .DEPTH(4),
      .READ_LATENCY(READ_LATENCY)
  ) ram (
      .clk_i(clk_i),
      .write_i(write_i),
      .write_address_i(write_address_i),
      .write_data_i(write_data_i),
      .read_address_i(read_address_i),
      .read_data_o(data)
  );

  // verilator lint_off UNDRIVEN
  (* anyconst *) logic [1:0] watched;
  // verilator lint_on UNDRIVEN

  logic word_q = 1'b0;
  logic [READ_LATENCY:1] asked_q = '0;  // [n]: its address was given n clocks ago
  logic [READ_LATENCY:1] was_q;  // and it was this

  always_ff @(posedge clk_i) begin
    if (write_i && write_address_i == watched) word_q <= write_data_i;
    asked_q <= READ_LATENCY'({asked_q, read_address_i == watched});
    was_q <= READ_LATENCY'({was_q, word_q});
  end

  always_comb begin
    if (asked_q[READ_LATENCY]) word : assert (data == was_q[READ_LATENCY]);
    reaches_written : assert (!(asked_q[READ_LATENCY] && was_q[READ_LATENCY]));
  end
endmodule
`default_nettype wire
