// SPDX-License-Identifier: Apache-2.0
// Takes a beat in every clock and stores it in packet memory; announces each frame behind its last beat.
//
// The sender is never held. A frame for which packet memory has no room is stored as far as it fits and announced as not
// whole. One that cannot even be announced, for too many wait to be decided on, is not stored, and counted with the next
// announcement. Invalid frames (length, keep, a wrong size in the side-band) are announced as well.
module clarion_intake #(
    parameter logic [31:0] ANNOUNCEMENTS = 64  // places for frames that wait to be decided on
) (
    input wire clk_i,
    input wire rst_ni,
    input wire [63:0] now_i,

    input  wire         s_axis_tvalid,
    output wire         s_axis_tready,
    input  wire [511:0] s_axis_tdata,
    input  wire [ 63:0] s_axis_tkeep,
    input  wire         s_axis_tlast,
    input  wire [ 47:0] s_axis_tuser,

    output wire beat_valid_o,
    input wire beat_ready_i,
    output clarion_block_pkg::beat_t beat_o,

    output logic arrival_valid_o,
    output clarion_block_pkg::arrival_t arrival_o,
    output logic [895:0] window_o,  // its first 112 bytes
    input wire decided_i  // a place is free again
);
  logic taking_q;
  logic valid_q;
  logic [63:0] keep_q;
  logic [63:0] now_q;
  logic last_q;
  clarion_block_pkg::beat_t beat_q;

  assign s_axis_tready = taking_q;

  always_ff @(posedge clk_i) begin
    taking_q <= rst_ni;
    valid_q <= rst_ni && taking_q && s_axis_tvalid;
    keep_q <= s_axis_tkeep;
    now_q <= now_i;
    last_q <= s_axis_tlast;
    beat_q <= {s_axis_tuser, s_axis_tdata};
  end

  wire valid, last;
  wire [63:0] now;
  clarion_block_pkg::beat_t beat;
  clarion_block_pkg::lanes_results_t lanes;

  clarion_lanes lanes_of_a_beat (
      .clk_i,
      .valid_i(valid_q),
      .arguments_i(keep_q),
      .results_o(lanes)
  );
  clarion_pipe #(
      .WIDTH(64 + 1 + $bits(beat_q)),
      .LATENCY(clarion_block_pkg::LANES_LATENCY)
  ) beat_pipe (
      .clk_i,
      .rst_ni,
      .valid_i(valid_q),
      .data_i({now_q, last_q, beat_q}),
      .valid_o(valid),
      .data_o({now, last, beat})
  );

  // Of the frame that is coming in.
  logic [7:0] count_q;  // beats, at most one more than the longest frame has
  logic [7:0] stored_q;
  logic told_q;  // it has a place
  logic whole_q;
  logic gaps_q;
  logic [15:0] stated_q;
  logic [511:0] first_q;
  logic [383:0] second_q;
  logic [15:0] untold_q;

  wire first = count_q == 0;
  wire free;
  wire told = first ? free : told_q;
  wire fits = (first ? free : whole_q) && count_q < 8'(clarion_sizes_pkg::FRAME_MAX_BEATS);
  wire stores = valid && fits && beat_ready_i;
  wire ends = valid && last;
  wire announces = ends && (told || free);  // without a place since its first beat: not stored, but judged

  assign beat_valid_o = valid && fits;
  assign beat_o = beat;

  clarion_credit #(
      .CREDITS(ANNOUNCEMENTS)
  ) places (
      .clk_i,
      .rst_ni,
      .take_i(valid && free && (first || (ends && !told_q))),
      .give_i(decided_i),
      .available_o(free),
      .idle_o()
  );

  wire [511:0] data = beat.data;
  wire gaps = (!first && gaps_q) || !lanes.contiguous || (!last && !lanes.full);
  wire [15:0] stated = first ? beat.user[15:0] : stated_q;
  wire [15:0] length = {2'b0, count_q, 6'b0} + 16'(lanes.bytes);
  wire long = count_q >= 8'(clarion_sizes_pkg::FRAME_MAX_BEATS);
  wire [7:0] stored = (first ? 8'd0 : stored_q) + 8'(stores);

  always_ff @(posedge clk_i) begin
    if (valid) begin
      count_q <= last ? 8'd0 : long ? count_q : count_q + 1'b1;
      stored_q <= stored;
      told_q <= told;
      whole_q <= stores;
      gaps_q <= gaps;
      stated_q <= stated;
      if (first) first_q <= data;
      if (count_q == 1) second_q <= data[383:0];
    end
    if (ends) untold_q <= announces ? 16'd0 : untold_q == '1 ? untold_q : untold_q + 1'b1;
    if (!rst_ni) begin
      count_q <= 8'd0;
      untold_q <= 16'd0;
    end
  end

  always_ff @(posedge clk_i) begin
    arrival_valid_o <= rst_ni && announces;
    arrival_o.length <= length;
    arrival_o.stored <= stored;
    arrival_o.whole <= stores;
    arrival_o.errored <= gaps || long || (stated != 0 && stated != length) ||
                         length < 16'(clarion_sizes_pkg::FRAME_MIN_BYTES) || length > 16'(clarion_sizes_pkg::FRAME_MAX_BYTES);
    arrival_o.untold <= untold_q;
    arrival_o.now <= now;
    if (first) window_o <= 896'(data);
    else window_o <= {count_q == 1 ? data[383:0] : second_q, first_q};
  end
endmodule
