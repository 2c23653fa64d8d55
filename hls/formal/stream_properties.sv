// SPDX-License-Identifier: Apache-2.0
// What holds beside anything that words go through in their order, with a valid/ready handshake on both sides: the n-th
// word that comes out is the n-th that went in, for every n, under any pattern of valid, ready and reset.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none
module stream_properties #(
    parameter logic [31:0] ROOM = 2,        // words that always find room
    parameter logic [31:0] CAPACITY = 2,    // words that find room at most, up to 14
    parameter logic [31:0] SHOWN_AFTER = 1  // clocks after which a word with none before it is shown, 1 or more
) (
    input wire clk_i,
    input wire rst_ni,

    input wire       in_valid_i,
    input wire       in_ready_i,
    input wire       in_data_i,
    input wire       out_valid_i,
    input wire       out_ready_i,
    input wire       out_data_i,
    input wire       follow_i,  // free: the word that goes in now is the one that is followed

    output logic       begun_o,  // the first clock is over
    output logic [3:0] words_o   // inside
);
  logic begun_q = 1'b0;
  always_ff @(posedge clk_i) begun_q <= 1'b1;
  assign begun_o = begun_q;
  assign words_o = words_q;

  logic enters;
  logic leaves;
  assign enters = in_valid_i && in_ready_i;
  assign leaves = out_valid_i && out_ready_i;

  logic was_reset_q;
  logic was_stopped_q;
  logic was_data_q;
  logic [3:0] words_q;
  logic [SHOWN_AFTER:0] entered_q;  // [n]: a word went in n + 1 clocks ago
  logic [3:0] young;  // words that went in too recently to be shown for certain
  logic [3:0] flow_q;  // clocks in a row with a word in and a word out
  logic follows_q;
  logic [3:0] before_q;  // words that come out before the one that is followed
  logic followed_q;

  always_comb begin
    young = 4'd0;
    for (int n = 0; n + 1 < SHOWN_AFTER; n++) young = young + 4'(entered_q[n]);
  end

  always_ff @(posedge clk_i) begin
    was_reset_q <= !rst_ni;
    was_stopped_q <= out_valid_i && !out_ready_i && rst_ni;
    was_data_q <= out_data_i;
    words_q <= words_q + 4'(enters) - 4'(leaves);
    entered_q <= {entered_q[SHOWN_AFTER-1:0], enters};
    flow_q <= !enters || !leaves ? 4'd0 : flow_q == 4'd15 ? 4'd15 : flow_q + 4'd1;
    if (follows_q) begin
      if (leaves) before_q <= before_q - 4'd1;
      if (leaves && before_q == 4'd0) follows_q <= 1'b0;
    end else if (enters && follow_i) begin
      follows_q <= 1'b1;
      before_q <= words_q - 4'(leaves);
      followed_q <= in_data_i;
    end
    if (!rst_ni) begin
      words_q <= 4'd0;
      entered_q <= '0;
      flow_q <= 4'd0;
      follows_q <= 1'b0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (begun_q) begin
      overflow : assert (words_q <= 4'(CAPACITY));
      room : assert (in_ready_i || words_q >= 4'(ROOM));
      underflow : assert (!out_valid_i || words_q != 4'd0);
      flow : assert (out_valid_i || words_q <= young);
      if (out_valid_i && follows_q && before_q == 4'd0) order : assert (out_data_i == followed_q);
      if (was_stopped_q) stable : assert (out_valid_i && out_data_i == was_data_q);
      if (was_reset_q) empty_after_reset : assert (!out_valid_i && in_ready_i);

      reaches_full : assert (words_q != 4'(CAPACITY));
      reaches_full_rate : assert (flow_q != 4'd15);
      reaches_last_in_line : assert (!(follows_q && before_q == 4'(CAPACITY - 1)));
    end
  end
endmodule
`default_nettype wire
