// SPDX-License-Identifier: Apache-2.0
// clarion_egress_departures beside a queue that lets in only what there is a place for, and grants that come at any
// time: each departure is released once and in order, each regulated one with the grant whose turn it is.
// The first clock is one of reset; before it registers may hold anything. In place of the function `patch` comes
// one that passes on the lowest bit of the grant.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_departures_properties (
    input wire clk_i,
    input wire rst_ni,
    input wire departs_i,
    input wire regulated_i,
    input wire word_i,
    input wire granted_valid_i,
    input wire granted_i,
    input wire ready_i,
    input wire follow_i  // free: the frame that departs now is the one that is followed
);
  localparam logic [31:0] SHOWN_AFTER = clarion_block_pkg::PATCH_LATENCY + 32'd2;

  wire granted_ready;
  wire valid;
  clarion_block_pkg::departure_t departure;
  clarion_block_pkg::release_t frame;

  always_comb begin
    departure = '0;
    departure.regulated = regulated_i;
    departure.send = word_i;
  end

  clarion_egress_departures departures (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .departs_i(departs_i),
      .departure_i(departure),
      .granted_valid_i(granted_valid_i),
      .granted_ready_o(granted_ready),
      .granted_i({31'd0, granted_i}),
      .pays_i(1'b0),
      .release_valid_o(valid),
      .release_ready_i(ready_i),
      .release_o(frame)
  );

  logic begun_q = 1'b0;
  logic was_reset_q;
  logic was_stopped_q;
  logic was_word_q;
  logic takes;
  logic leaves;
  logic [3:0] words_q;  // inside
  logic [3:0] asking_q;  // regulated ones that have not got their grants
  logic [2:0] waits_q;  // clocks with grants for all, and nothing released
  logic follows_q;
  logic word_q;
  logic regulated_q;
  logic got_q;
  logic granted_q;
  logic [3:0] before_q;  // frames that come out before the followed one
  logic [3:0] asking_before_q;  // grants that are for others before it
  logic is_next;

  assign takes = granted_valid_i && granted_ready;
  assign leaves = valid && ready_i;
  assign is_next = follows_q && before_q == 4'd0;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_stopped_q <= valid && !ready_i && rst_ni;
    was_word_q <= frame.send;
    words_q <= words_q + 4'(departs_i) - 4'(leaves);
    asking_q <= asking_q + 4'(departs_i && regulated_i) - 4'(takes);
    if (valid || words_q == 4'd0 || (asking_q != 4'd0 && !granted_valid_i)) waits_q <= 3'd0;
    else if (waits_q != 3'd7) waits_q <= waits_q + 3'd1;
    if (follows_q) begin
      if (leaves && is_next) follows_q <= 1'b0;
      if (leaves) before_q <= before_q - 4'd1;
      if (takes && regulated_q && !got_q) begin
        if (asking_before_q != 4'd0) asking_before_q <= asking_before_q - 4'd1;
        else {got_q, granted_q} <= {1'b1, granted_i};
      end
    end else if (departs_i && follow_i) begin
      follows_q <= 1'b1;
      {word_q, regulated_q} <= {word_i, regulated_i};
      got_q <= 1'b0;
      before_q <= words_q - 4'(leaves);
      asking_before_q <= asking_q - 4'(takes);
    end
    if (!rst_ni) begin
      {words_q, asking_q} <= '0;
      waits_q <= 3'd0;
      follows_q <= 1'b0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (departs_i) there_is_a_place : assume (32'(words_q) < clarion_sizes_pkg::DEPARTURES);
    if (begun_q) begin
      if (was_reset_q) empty_after_reset : assert (!valid && !granted_ready);
      releases_no_more : assert (!valid || words_q > asking_q);
      takes_no_more_grants : assert (!granted_ready || (granted_valid_i && asking_q != 4'd0));
      flow : assert (waits_q < 3'(SHOWN_AFTER));  // a lost frame would never come
      if (valid && is_next) order : assert (frame.send == word_q);
      if (valid && is_next && regulated_q) granted_before : assert (got_q);
      if (valid && is_next && regulated_q) granted_its : assert (frame.patch.enable[0] == granted_q);
      if (was_stopped_q) stable : assert (valid && frame.send == was_word_q);

      reaches_full : assert (words_q != 4'(clarion_sizes_pkg::DEPARTURES));
      reaches_all_asking : assert (asking_q != 4'(clarion_sizes_pkg::DEPARTURES));
      reaches_granted_behind_another : assert (!(valid && is_next && regulated_q && granted_q && asking_q != 4'd0));
      reaches_last_in_line : assert (!(follows_q && before_q == 4'(clarion_sizes_pkg::DEPARTURES - 1)));
    end
  end
endmodule
`default_nettype wire
