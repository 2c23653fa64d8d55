// SPDX-License-Identifier: Apache-2.0
// clarion_fifo: every word in its order, and `count_o` says how many are inside.
`default_nettype none
module clarion_fifo_properties #(
    parameter logic [31:0] DEPTH = 2,
    parameter              STYLE = "block",
    parameter logic [31:0] CAPACITY = 6,
    parameter logic [31:0] SHOWN_AFTER = 4
) (
    input wire clk_i,
    input wire rst_ni,
    input wire valid_i,
    input wire data_i,
    input wire ready_i,
    input wire follow_i
);
  wire ready;
  wire valid;
  wire data;
  wire [$clog2(DEPTH)+1:0] count;
  wire begun;
  wire [3:0] words;

  clarion_fifo #(
      .WIDTH(1),
      .DEPTH(DEPTH),
      .STYLE(STYLE)
  ) fifo (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(valid_i),
      .ready_o(ready),
      .data_i(data_i),
      .valid_o(valid),
      .ready_i(ready_i),
      .data_o(data),
      .count_o(count)
  );

  stream_properties #(
      .ROOM(DEPTH),
      .CAPACITY(CAPACITY),
      .SHOWN_AFTER(SHOWN_AFTER)
  ) stream (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .in_valid_i(valid_i),
      .in_ready_i(ready),
      .in_data_i(data_i),
      .out_valid_i(valid),
      .out_ready_i(ready_i),
      .out_data_i(data),
      .follow_i(follow_i),
      .begun_o(begun),
      .words_o(words)
  );

  always_comb if (begun) count_is_exact : assert (4'(count) == words);
endmodule
`default_nettype wire
