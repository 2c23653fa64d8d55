// SPDX-License-Identifier: Apache-2.0
// One port's way out: from the host, or from the other port of a bump in the wire, through a queue to the wire.
//
//   s_axis ─► reception ─► stage ─► queue ─► stage ─┬─► tags ──► departures ─► release ─► m_axis
//                 │         ▲▼                      └─► grant ──────┘            ▲
//                 │      interval                                               │
//                 └───────────────────── packet memory ─────────────────────────┘

module clarion_egress #(
    parameter logic [31:0] BUCKETS = 4096,  // a power of two, 2 to 65536
    parameter logic [31:0] QUEUE_BEATS = 4096  // packet memory, a power of two, 256 to 65536; 64 bytes each
) (
    input wire clk_i,
    input wire rst_ni,
    input wire [63:0] now_i,  // ticks of 2^-28 s
    input wire [7:0] protocol_i,  // of the Clarion header
    input wire [39:0] queue_elsewhere_i,  // bytes that wait for this port behind the block, 0 if nothing queues there

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
    output wire [527:0] reply_o,

    output clarion_block_pkg::watch_t watch_o  // for a test bench
);
  if (BUCKETS < 2 || BUCKETS > 65536 || (BUCKETS & (BUCKETS - 1)) != 0)
    $error("clarion_egress: BUCKETS: a power of two is needed, 2 to 65536");
  if (QUEUE_BEATS < 256 || QUEUE_BEATS > 65536 || (QUEUE_BEATS & (QUEUE_BEATS - 1)) != 0)
    $error("clarion_egress: QUEUE_BEATS: a power of two is needed, 256 to 65536");

  // Packets that wait for a decision while an interval ends, or software is answered; one comes in every clock at worst.
  localparam logic [31:0] PACKETS = 512;

  wire packet_valid, packet_ready, beat_valid, beat_ready;
  clarion_block_pkg::beat_t beat;
  clarion_block_pkg::packet_t packet;

  clarion_reception #(
      .PACKETS(PACKETS),
      .PACKETS_STYLE("block"),
      .BEATS(QUEUE_BEATS),
      .BEATS_STYLE("ultra")
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

  // --- Decisions -------------------------------------------------------------------------------------------

  clarion_block_pkg::egress_config_t configuration;
  clarion_block_pkg::waiting_t joins_waiting, waiting;
  wire joins, waiting_valid, waiting_ready, leaves, regulates, place, sent, hold, held, clear;
  wire drops, drops_unstored, discards;
  wire xcp_leaves, xcp_joins, prepares, ended, restart, control, done, grants_idle;
  wire [15:0] sent_bytes;
  wire [23:0] queue_bytes;
  wire [7:0] running_epoch;

  clarion_egress_stage stage (
      .clk_i,
      .rst_ni,
      .config_i(configuration),
      .packet_valid_i(packet_valid),
      .packet_ready_o(packet_ready),
      .packet_i(packet),
      .joins_o(joins),
      .joins_waiting_o(joins_waiting),
      .waiting_valid_i(waiting_valid),
      .waiting_ready_o(waiting_ready),
      .waiting_i(waiting),
      .leaves_o(leaves),
      .regulates_o(regulates),
      .place_i(place),
      .sent_i(sent),
      .sent_bytes_i(sent_bytes),
      .elsewhere_i(queue_elsewhere_i),
      .xcp_leaves_o(xcp_leaves),
      .xcp_joins_o(xcp_joins),
      .queue_bytes_o(queue_bytes),
      .ended_i(ended),
      .prepares_o(prepares),
      .restart_o(restart),
      .control_o(control),
      .done_i(done),
      .grants_idle_i(grants_idle),
      .hold_i(hold),
      .held_o(held),
      .clear_i(clear),
      .running_epoch_o(running_epoch),
      .watch_o,
      .drops_o(drops),
      .drops_unstored_o(drops_unstored),
      .discards_o(discards)
  );

  wire peek;
  wire [15:0] peek_bucket, queue_next, link_next;
  clarion_block_pkg::slot_t queue_slot;

  clarion_egress_queue #(
      .BUCKETS(BUCKETS),
      .QUEUE_BEATS(QUEUE_BEATS)
  ) queue (
      .clk_i,
      .rst_ni,
      .joins_i(joins),
      .joins_waiting_i(joins_waiting),
      .waiting_valid_o(waiting_valid),
      .waiting_ready_i(waiting_ready),
      .waiting_o(waiting),
      .peek_i(peek),
      .peek_bucket_i(peek_bucket),
      .peek_number_o(queue_next)
  );

  clarion_block_pkg::sums_t sums;
  clarion_block_pkg::queue_t least;
  clarion_block_pkg::clock_t clock;
  clarion_block_pkg::report_t report;
  wire [4:0] credit;
  clarion_block_pkg::shares_t shares;
  clarion_block_pkg::gains_t new_gains, gains;
  clarion_block_pkg::pools_t pools;
  clarion_block_pkg::own_t own;
  clarion_block_pkg::gain_t cp, cn;

  clarion_egress_interval interval (
      .clk_i,
      .rst_ni,
      .config_i(configuration.xcp),
      .leaves_i(xcp_leaves),
      .left_length_i(waiting.length),
      .joins_i(xcp_joins),
      .packet_i(packet),
      .queue_bytes_i(queue_bytes),
      .elsewhere_i(queue_elsewhere_i),
      .ended_o(ended),
      .hold_i(prepares),
      .restart_i(restart),
      .control_i(control),
      .done_o(done),
      .pools_i(pools),
      .own_i(own),
      .shares_o(shares),
      .gains_o(new_gains),
      .sums_o(sums),
      .queue_o(least),
      .clock_o(clock),
      .report_o(report),
      .credit_o(credit)
  );

  // --- Departures ------------------------------------------------------------------------------------------

  wire release_valid, release_ready, departs, granted_valid, granted_ready, pays;
  wire [31:0] granted;
  wire [63:0] lost, late, rebased;
  clarion_block_pkg::departure_t departure;
  clarion_block_pkg::release_t next;

  clarion_credit #(
      .CREDITS(clarion_sizes_pkg::DEPARTURES)
  ) places (
      .clk_i,
      .rst_ni,
      .take_i(leaves),
      .give_i(release_valid && release_ready),
      .available_o(place),
      .idle_o()
  );
  clarion_egress_tags #(
      .BUCKETS(BUCKETS)
  ) tags (
      .clk_i,
      .rst_ni,
      .leaves_i(leaves),
      .waiting_i(waiting),
      .departs_o(departs),
      .departure_o(departure),
      .clear_i(clear),
      .lost_o(lost),
      .late_o(late),
      .rebased_o(rebased),
      .peek_i(peek),
      .peek_bucket_i(peek_bucket),
      .peek_slot_o(queue_slot),
      .peek_link_o(link_next)
  );
  clarion_egress_grant grant (
      .clk_i,
      .rst_ni,
      .leaves_i(regulates),
      .waiting_i(waiting),
      .granted_valid_o(granted_valid),
      .granted_ready_i(granted_ready),
      .granted_o(granted),
      .pays_o(pays),
      .idle_o(grants_idle),
      .restart_i(restart),
      .refill_i(done),
      .shares_i(shares),
      .gains_i(new_gains),
      .pools_o(pools),
      .cp_o(cp),
      .cn_o(cn),
      .gains_o(gains),
      .own_o(own)
  );
  clarion_egress_departures departures (
      .clk_i,
      .rst_ni,
      .departs_i(departs),
      .departure_i(departure),
      .granted_valid_i(granted_valid),
      .granted_ready_o(granted_ready),
      .granted_i(granted),
      .pays_i(pays),
      .release_valid_o(release_valid),
      .release_ready_i(release_ready),
      .release_o(next)
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
      .sent_o(sent),
      .sent_bytes_o(sent_bytes)
  );

  // --- Software --------------------------------------------------------------------------------------------

  clarion_egress_registers #(
      .BUCKETS(BUCKETS)
  ) registers (
      .clk_i,
      .rst_ni,
      .command_valid_i,
      .command_ready_o,
      .command_i,
      .reply_valid_o,
      .reply_ready_i,
      .reply_o,
      .hold_o(hold),
      .held_i(held),
      .clear_o(clear),
      .config_o(configuration),
      .peek_o(peek),
      .peek_bucket_o(peek_bucket),
      .queue_next_i(queue_next),
      .queue_slot_i(queue_slot),
      .link_next_i(link_next),
      .drops_i(drops),
      .drops_unstored_i(drops_unstored),
      .discards_i(discards),
      .length_i(packet.frame.length),
      .decides_i(joins),
      .untold_i(packet.frame.untold),
      .leaves_i(watch_o.leaves),
      .left_length_i(waiting.length),
      .queue_bytes_i(queue_bytes),
      .now_i,
      .lost_i(lost),
      .late_i(late),
      .rebased_i(rebased),
      .running_epoch_i(running_epoch),
      .sums_i(sums),
      .queue_i(least),
      .clock_i(clock),
      .report_i(report),
      .credit_i(credit),
      .pools_i(pools),
      .cp_i(cp),
      .cn_i(cn),
      .gains_i(gains),
      .own_i(own)
  );
endmodule
