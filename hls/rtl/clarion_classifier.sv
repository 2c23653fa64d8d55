// SPDX-License-Identifier: Apache-2.0
// Finds the Clarion header of each frame that has come in.
module clarion_classifier (
    input wire clk_i,
    input wire rst_ni,
    input wire [7:0] protocol_i,  // of the Clarion header

    input wire arrival_valid_i,
    input clarion_block_pkg::arrival_t arrival_i,
    input wire [895:0] window_i,

    output wire packet_valid_o,
    output clarion_block_pkg::packet_t packet_o
);
  clarion_block_pkg::classify_results_t found;
  clarion_block_pkg::classify_arguments_t asked;
  clarion_block_pkg::arrival_t frame;

  assign asked.window = window_i;
  assign asked.length = arrival_i.length;
  assign asked.protocol = protocol_i;

  clarion_classify classify (
      .clk_i,
      .valid_i(arrival_valid_i),
      .arguments_i(asked),
      .results_o(found)
  );
  clarion_pipe #(
      .WIDTH($bits(arrival_i)),
      .LATENCY(clarion_block_pkg::CLASSIFY_LATENCY)
  ) frame_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(arrival_valid_i),
      .data_i(arrival_i),
      .valid_o(packet_valid_o),
      .data_o(frame)
  );

  always_comb begin
    packet_o.meta = found.meta;
    packet_o.field = found.field;
    packet_o.malformed = found.malformed;
    if (frame.errored) packet_o = '0;
    packet_o.frame = frame;
  end
endmodule
