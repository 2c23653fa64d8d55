// SPDX-License-Identifier: Apache-2.0
// clarion_egress_queue beside a packet memory of QUEUE_BEATS and the 4 of its way out: each frame with a beat there
// stands once, in order and as soon as documented, and none is lost; one without any does not stand.
// The first clock is one of reset; before it registers may hold anything, memory is zero.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_egress_queue_properties #(
    parameter logic [31:0] BUCKETS = 2,
    parameter logic [31:0] QUEUE_BEATS = 2  // up to 8
) (
    input wire clk_i,
    input wire rst_ni,
    input wire joins_i,
    input wire stored_i,
    input wire word_i,
    input wire ready_i,
    input wire follow_i  // free: the frame that joins now is the one that is followed
);
  localparam logic [31:0] SHOWN_AFTER = clarion_sizes_pkg::RAM_LATENCY + 32'd5;

  wire valid;
  clarion_block_pkg::waiting_t joining;
  clarion_block_pkg::waiting_t waiting;

  always_comb begin
    joining = '0;
    joining.stored = 8'(stored_i);
    joining.send = word_i;
  end

  clarion_egress_queue #(
      .BUCKETS(BUCKETS),
      .QUEUE_BEATS(QUEUE_BEATS)
  ) queue (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .joins_i(joins_i),
      .joins_waiting_i(joining),
      .waiting_valid_o(valid),
      .waiting_ready_i(ready_i),
      .waiting_o(waiting),
      .peek_i(1'b0),
      .peek_bucket_i(16'd0),
      .peek_number_o()
  );

  logic begun_q = 1'b0;
  logic enters;
  logic leaves;
  logic was_reset_q;
  logic was_stopped_q;
  logic was_word_q;
  logic [3:0] words_q;
  logic [2:0] waits_q;  // clocks in which a frame was inside and none was shown
  logic follows_q;
  logic word_q;
  logic [3:0] before_q;

  assign enters = joins_i && stored_i;
  assign leaves = valid && ready_i;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_stopped_q <= valid && !ready_i && rst_ni;
    was_word_q <= waiting.send;
    words_q <= words_q + 4'(enters) - 4'(leaves);
    waits_q <= valid || words_q == 4'd0 ? 3'd0 : waits_q + 3'd1;
    if (follows_q) begin
      if (leaves) before_q <= before_q - 4'd1;
      if (leaves && before_q == 4'd0) follows_q <= 1'b0;
    end else if (enters && follow_i) begin
      follows_q <= 1'b1;
      word_q <= word_i;
      before_q <= words_q - 4'(leaves);
    end
    if (!rst_ni) begin
      words_q <= 4'd0;
      waits_q <= 3'd0;
      follows_q <= 1'b0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (enters) has_a_beat : assume (32'(words_q) < QUEUE_BEATS + 32'd4);
    if (begun_q) begin
      if (was_reset_q) empty_after_reset : assert (!valid);
      stands_once : assert (!valid || words_q != 4'd0);
      flow : assert (32'(waits_q) < SHOWN_AFTER);
      if (valid && follows_q && before_q == 4'd0) order : assert (waiting.send == word_q);
      if (was_stopped_q) stable : assert (valid && waiting.send == was_word_q);

      reaches_full : assert (32'(words_q) != QUEUE_BEATS + 32'd4);
      reaches_last_in_line : assert (!(follows_q && 32'(before_q) == QUEUE_BEATS + 32'd3));
    end
  end
endmodule
`default_nettype wire
