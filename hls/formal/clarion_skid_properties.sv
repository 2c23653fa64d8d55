// SPDX-License-Identifier: Apache-2.0
// clarion_skid: every word in its order, shown in the clock after it came, and room for two.
`default_nettype none
module clarion_skid_properties (
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
  wire begun;
  wire [3:0] words;

  clarion_skid #(
      .WIDTH(1)
  ) skid (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .valid_i(valid_i),
      .ready_o(ready),
      .data_i(data_i),
      .valid_o(valid),
      .ready_i(ready_i),
      .data_o(data)
  );

  stream_properties #(
      .ROOM(2),
      .CAPACITY(2),
      .SHOWN_AFTER(1)
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

  wire unused = &{1'b0, begun, words};
endmodule
`default_nettype wire
