// SPDX-License-Identifier: Apache-2.0
// One port's way in: from the wire to the host, or to the other port of a bump in the wire.
//
//   s_axis ─► reception ─► ingress_stage ─► releases ─► release ─► m_axis
//                 └──────────── packet memory ────────────┘

module clarion_ingress #(
    parameter logic [31:0] BUCKETS = 4096,  // a power of two, 2 to 65536
    parameter logic [31:0] RECEIVE_BEATS = 512  // packet memory, as QUEUE_BEATS of the egress: three of the longest frames
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

    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [ 63:0] m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [ 47:0] m_axis_tuser,

    input  wire         command_valid_i,
    output wire         command_ready_o,
    input  wire [511:0] command_i,
    output wire         reply_valid_o,
    input  wire         reply_ready_i,
    output wire [527:0] reply_o
);
  if (BUCKETS < 2 || BUCKETS > 65536 || (BUCKETS & (BUCKETS - 1)) != 0)
    $error("clarion_ingress: BUCKETS: a power of two is needed, 2 to 65536");
  if (RECEIVE_BEATS < 256 || RECEIVE_BEATS > 65536 || (RECEIVE_BEATS & (RECEIVE_BEATS - 1)) != 0)
    $error("clarion_ingress: RECEIVE_BEATS: a power of two is needed, 256 to 65536");

  localparam logic [31:0] PACKETS = 64;  // that wait for a decision, while commands take their clocks

  wire packet_valid, packet_ready, beat_valid, beat_ready;
  wire release_in_valid, release_valid, release_ready;
  clarion_block_pkg::beat_t beat;
  clarion_block_pkg::packet_t packet;
  clarion_block_pkg::release_t release_in, next;

  clarion_reception #(
      .PACKETS(PACKETS),
      .PACKETS_STYLE("distributed"),
      .BEATS(RECEIVE_BEATS),
      .BEATS_STYLE("block")
  ) reception (
      .clk_i,
      .rst_ni,
      .now_i,
      .protocol_i,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .packet_valid_o(packet_valid),
      .packet_ready_i(packet_ready),
      .packet_o(packet),
      .beat_valid_o(beat_valid),
      .beat_ready_i(beat_ready),
      .beat_o(beat)
  );

  clarion_ingress_stage #(
      .BUCKETS(BUCKETS),
      .RELEASES(RECEIVE_BEATS)
  ) stage (
      .clk_i,
      .rst_ni,
      .packet_valid_i(packet_valid),
      .packet_ready_o(packet_ready),
      .packet_i(packet),
      .release_valid_o(release_in_valid),
      .release_o(release_in),
      .released_i(release_valid && release_ready),
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .reply_valid_o,
      .reply_ready_i,
      .reply_o
  );

  // As many as packet memory has beats: so the stage never waits for a slow receiver, the frames do.
  clarion_fifo #(
      .WIDTH($bits(release_in)),
      .DEPTH(RECEIVE_BEATS),
      .STYLE("block")
  ) releases (
      .clk_i,
      .rst_ni,
      .valid_i(release_in_valid),
      .ready_o(),  // the stage has a place for each
      .data_i(release_in),
      .valid_o(release_valid),
      .ready_i(release_ready),
      .data_o(next),
      .count_o()
  );

  clarion_release out (
      .clk_i,
      .rst_ni,
      .release_valid_i(release_valid),
      .release_ready_o(release_ready),
      .release_i(next),
      .beat_valid_i(beat_valid),
      .beat_ready_o(beat_ready),
      .beat_i(beat),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .sent_o(),
      .sent_bytes_o()
  );
endmodule
