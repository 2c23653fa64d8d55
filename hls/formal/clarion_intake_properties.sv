// SPDX-License-Identifier: Apache-2.0
// clarion_intake beside a packet memory that is ready or not, and a stage that decides on a frame after it has been
// announced: the sender is never held, each frame is announced or counted, and what is said about it is so.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_intake_properties #(
    parameter logic [31:0] ANNOUNCEMENTS = 2  // up to 6
) (
    input wire clk_i,
    input wire rst_ni,
    input wire valid_i,
    input wire last_i,
    input wire data_i,
    input wire user_i,
    input wire ready_i,
    input wire decided_i
);
  localparam logic [7:0] BEATS = 8'(clarion_sizes_pkg::FRAME_MAX_BEATS);
  localparam logic [31:0] STORED = clarion_block_pkg::LANES_LATENCY + 1;  // clocks from a beat to its being stored
  localparam logic [31:0] TOLD = STORED + 1;  // and to the announcement of a frame that it ends

  wire ready;
  wire beat_valid;
  wire [559:0] beat;  // a beat_t
  wire arrival_valid;
  clarion_block_pkg::arrival_t arrival;

  clarion_intake #(
      .ANNOUNCEMENTS(ANNOUNCEMENTS)
  ) intake (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .now_i(64'd0),
      .s_axis_tvalid(valid_i),
      .s_axis_tready(ready),
      .s_axis_tdata(512'(data_i)),
      .s_axis_tkeep('1),
      .s_axis_tlast(last_i),
      .s_axis_tuser(48'(user_i)),
      .beat_valid_o(beat_valid),
      .beat_ready_i(ready_i),
      .beat_o(beat),
      .arrival_valid_o(arrival_valid),
      .arrival_o(arrival),
      .window_o(),
      .decided_i(decided_i)
  );

  logic begun_q = 1'b0;
  logic was_reset_q;
  logic [STORED:1] came_q;  // [n]: a beat came n clocks ago
  logic [TOLD:1] ended_q;  // a frame's last one did
  logic [STORED:1] data_q;
  logic [STORED:1] user_q;
  logic [2:0] waiting_q;  // announced before this clock, and not decided on
  logic [2:0] waiting;
  logic was_full_q;
  logic stores;
  logic [7:0] beats_q;  // of the frame whose beats are stored in these clocks, one more than BEATS at most
  logic [7:0] stored_q;
  logic [7:0] frame_beats_q;  // of the frame before it, if that has ended in the last clock
  logic [7:0] frame_stored_q;
  logic [15:0] untold_q;

  assign waiting = waiting_q + 3'(arrival_valid);
  assign stores = beat_valid && ready_i;

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    came_q <= {came_q[STORED-1:1], valid_i && ready};
    ended_q <= {ended_q[STORED:1], valid_i && ready && last_i};
    data_q <= {data_q[STORED-1:1], data_i};
    user_q <= {user_q[STORED-1:1], user_i};
    waiting_q <= waiting - 3'(decided_i);
    was_full_q <= waiting == 3'(ANNOUNCEMENTS);
    if (came_q[STORED]) begin
      beats_q <= beats_q > BEATS ? beats_q : beats_q + 8'd1;
      stored_q <= stored_q + 8'(stores);
    end
    frame_beats_q <= beats_q > BEATS ? beats_q : beats_q + 8'd1;
    frame_stored_q <= stored_q + 8'(stores);
    if (ended_q[STORED]) {beats_q, stored_q} <= '0;
    if (ended_q[TOLD]) untold_q <= arrival_valid ? 16'd0 : untold_q == '1 ? untold_q : untold_q + 16'd1;
    if (!rst_ni) begin
      came_q <= '0;
      ended_q <= '0;
      waiting_q <= 3'd0;
      {beats_q, stored_q} <= '0;
      untold_q <= 16'd0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    if (decided_i) decides_on_what_was_announced : assume (waiting != 3'd0);
    if (begun_q) begin
      never_held : assert (ready == !was_reset_q);
      places_are_enough : assert (waiting <= 3'(ANNOUNCEMENTS));
      if (arrival_valid) announces_a_frame : assert (ended_q[TOLD]);
      if (arrival_valid) untold_is_exact : assert (arrival.untold == untold_q);
      if (ended_q[TOLD] && !arrival_valid) untold_for_want_of_a_place : assert (was_full_q);
      if (ended_q[TOLD] && !arrival_valid) untold_is_not_stored : assert (frame_stored_q == 8'd0);
      if (arrival_valid) stored_is_exact : assert (arrival.stored == frame_stored_q);
      if (arrival_valid) whole_is_exact : assert (arrival.whole == (frame_stored_q == frame_beats_q));
      if (arrival_valid && frame_beats_q > BEATS) too_long : assert (arrival.errored);
      if (beat_valid) stores_a_beat : assert (came_q[STORED] && beat[0] == data_q[STORED] && beat[512] == user_q[STORED]);
      if (beat_valid) stores_without_gaps : assert (stored_q == beats_q && beats_q < BEATS);
      // A frame with a place is stored as far as memory has room.
      if (came_q[STORED] && beats_q == 8'd0 && waiting < 3'(ANNOUNCEMENTS) && !was_full_q) begin
        stores_if_there_is_a_place : assert (beat_valid);
      end

      reaches_untold : assert (!(arrival_valid && untold_q > 16'd1));
      reaches_not_stored : assert (!(arrival_valid && arrival.stored == 8'd0 && untold_q != 16'd0));
      reaches_part_of_a_frame : assert (!(arrival_valid && frame_stored_q == 8'd1 && frame_beats_q == BEATS));
      reaches_whole : assert (!(arrival_valid && arrival.whole && !arrival.errored && frame_beats_q == BEATS));
    end
  end
endmodule
`default_nettype wire
