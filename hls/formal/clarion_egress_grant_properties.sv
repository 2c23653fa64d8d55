// SPDX-License-Identifier: Apache-2.0
// clarion_egress_grant beside a queue that lets in only what there is a place for, and takes grants at any time: each
// packet gets one, in its order and within a bound; nothing is inside while it is idle, and new pools come only then.
// The first clock is one of reset; before it registers may hold anything. In place of the function `offer` comes
// one that passes on the lowest bit of the length.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_grant_properties (
    input wire clk_i,
    input wire rst_ni,
    input wire leaves_i,
    input wire maxmin_i,
    input wire word_i,
    input wire ready_i,
    input wire restart_i,
    input wire refill_i,
    input wire follow_i  // free: the packet that leaves now is the one that is followed
);
  // It is offered, and again, and granted; it stands once behind each of them.
  localparam logic [31:0] BOUND = 2 * clarion_block_pkg::OFFER_LATENCY + clarion_block_pkg::GRANT_LATENCY + 32'd3;

  wire valid;
  wire [31:0] granted;
  wire pays;
  wire idle;
  clarion_block_pkg::waiting_t waiting;

  always_comb begin
    waiting = '0;
    waiting.maxmin = maxmin_i;
    waiting.length[0] = word_i;
  end

  clarion_egress_grant grant (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .leaves_i(leaves_i),
      .waiting_i(waiting),
      .granted_valid_o(valid),
      .granted_ready_i(ready_i),
      .granted_o(granted),
      .pays_o(pays),
      .idle_o(idle),
      .restart_i(restart_i),
      .refill_i(refill_i),
      .shares_i('0),
      .gains_i('0),
      .pools_o(),
      .cp_o(),
      .cn_o(),
      .gains_o(),
      .own_o()
  );

  logic begun_q = 1'b0;
  logic was_reset_q;
  logic was_stopped_q;
  logic was_word_q;
  logic was_idle_q;
  logic leaves;
  logic [3:0] words_q;  // inside
  logic [5:0] waits_q;  // clocks in which none left the queue, and no grant was there
  logic follows_q;
  logic word_q;
  logic [3:0] before_q;

  assign leaves = valid && ready_i;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_stopped_q <= valid && !ready_i && rst_ni;
    was_word_q <= granted[0];
    was_idle_q <= idle && !leaves_i && rst_ni;
    words_q <= words_q + 4'(leaves_i) - 4'(leaves);
    if (valid || words_q == 4'd0 || leaves_i) waits_q <= 6'd0;
    else if (waits_q != 6'd63) waits_q <= waits_q + 6'd1;
    if (follows_q) begin
      if (leaves) before_q <= before_q - 4'd1;
      if (leaves && before_q == 4'd0) follows_q <= 1'b0;
    end else if (leaves_i && follow_i) begin
      follows_q <= 1'b1;
      word_q <= word_i;
      before_q <= words_q - 4'(leaves);
    end
    if (!rst_ni) begin
      words_q <= 4'd0;
      waits_q <= 6'd0;
      follows_q <= 1'b0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (leaves_i) there_is_a_place : assume (32'(words_q) < clarion_sizes_pkg::DEPARTURES);
    if (restart_i || refill_i) between_packets : assume (idle && !leaves_i);
    if (begun_q) begin
      if (was_reset_q) empty_after_reset : assert (!valid && idle);
      grants_no_more : assert (!valid || words_q != 4'd0);
      flow : assert (32'(waits_q) < BOUND);  // also if it is offered again; a lost one would never come
      if (valid && follows_q && before_q == 4'd0 && !pays) order : assert (granted[0] == word_q);
      if (was_stopped_q) stable : assert (valid && granted[0] == was_word_q);
      if (idle && words_q != 4'd0) idle_when_all_are_granted : assert (valid);
      if (was_idle_q) stays_idle : assert (idle);

      reaches_full : assert (!(words_q == 4'(clarion_sizes_pkg::DEPARTURES) && valid && idle));
      reaches_offered_again : assert (32'(waits_q) != BOUND - 1);
      reaches_second : assert (!(valid && follows_q && before_q == 4'd0 && word_q && words_q > 4'd1));
    end
  end
endmodule
`default_nettype wire
