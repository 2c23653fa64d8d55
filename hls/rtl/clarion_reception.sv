// SPDX-License-Identifier: Apache-2.0
// What both ways begin with: frames go to packet memory, their headers are found, and they wait to be decided on.
//
//   s_axis ─► intake ─► classifier ─► packets ─► packet
//                └──────── packet memory ──────► beats

module clarion_reception #(
    parameter logic [31:0] PACKETS = 64,  // frames that may wait to be decided on, a power of two
    parameter PACKETS_STYLE = "block",  // of their memory, see clarion_ram
    parameter logic [31:0] BEATS = 512,  // packet memory, a power of two; 64 bytes each
    parameter BEATS_STYLE = "block"
) (
    input wire clk_i,
    input wire rst_ni,
    input wire [63:0] now_i,  // ticks of 2^-28 s
    input wire [7:0] protocol_i,  // of the Clarion header

    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire [511:0] s_axis_tdata,
    input  wire [ 63:0] s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [ 47:0] s_axis_tuser,

    output wire packet_valid_o,
    input  wire packet_ready_i,
    output clarion_block_pkg::packet_t packet_o,

    output wire beat_valid_o,
    input  wire beat_ready_i,
    output clarion_block_pkg::beat_t beat_o
);
  wire arrival_valid, packet_valid, beat_valid, beat_ready;
  clarion_block_pkg::beat_t beat;
  clarion_block_pkg::arrival_t arrival;
  clarion_block_pkg::packet_t packet;
  wire [895:0] window;

  clarion_intake #(
      .ANNOUNCEMENTS(PACKETS)
  ) intake (
      .clk_i,
      .rst_ni,
      .now_i,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .beat_valid_o(beat_valid),
      .beat_ready_i(beat_ready),
      .beat_o(beat),
      .arrival_valid_o(arrival_valid),
      .arrival_o(arrival),
      .window_o(window),
      .decided_i(packet_valid_o && packet_ready_i)
  );
  clarion_fifo #(
      .WIDTH($bits(beat)),
      .DEPTH(BEATS),
      .STYLE(BEATS_STYLE)
  ) packet_memory (
      .clk_i,
      .rst_ni,
      .valid_i(beat_valid),
      .ready_o(beat_ready),
      .data_i(beat),
      .valid_o(beat_valid_o),
      .ready_i(beat_ready_i),
      .data_o(beat_o),
      .count_o()
  );
  clarion_classifier classifier (
      .clk_i,
      .rst_ni,
      .protocol_i,
      .arrival_valid_i(arrival_valid),
      .arrival_i(arrival),
      .window_i(window),
      .packet_valid_o(packet_valid),
      .packet_o(packet)
  );
  clarion_fifo #(
      .WIDTH($bits(packet)),
      .DEPTH(PACKETS),
      .STYLE(PACKETS_STYLE)
  ) packets (
      .clk_i,
      .rst_ni,
      .valid_i(packet_valid),
      .ready_o(),  // intake has a place for each
      .data_i(packet),
      .valid_o(packet_valid_o),
      .ready_i(packet_ready_i),
      .data_o(packet_o),
      .count_o()
  );
endmodule
