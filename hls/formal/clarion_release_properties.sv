// SPDX-License-Identifier: Apache-2.0
// clarion_release: of each frame exactly its beats are taken, in order; those of a frame that is sent come out in their
// order, the last one marked and with the frame's length, those of a discarded one do not. Frames have up to three beats.
// The first clock is one of reset; before it registers may hold anything.
`default_nettype none

// A few bits stand for all:
// verilator lint_off UNUSEDSIGNAL
module clarion_release_properties (
    input wire clk_i,
    input wire rst_ni,
    input wire release_valid_i,
    input wire send_i,
    input wire [1:0] stored_i,
    input wire [15:0] length_i,
    input wire beat_valid_i,
    input wire user_i,
    input wire ready_i
);
  wire release_ready;
  wire beat_ready;
  wire valid;
  wire last;
  wire [63:0] keep;
  wire [47:0] user;
  wire sent;
  wire [15:0] sent_bytes;
  clarion_block_pkg::release_t frame;

  always_comb begin
    frame = '0;
    frame.stored = 8'(stored_i);
    frame.send = send_i;
    frame.length = length_i;
  end

  clarion_release out (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .release_valid_i(release_valid_i),
      .release_ready_o(release_ready),
      .release_i(frame),
      .beat_valid_i(beat_valid_i),
      .beat_ready_o(beat_ready),
      .beat_i(560'(user_i) << 512),
      .m_axis_tvalid(valid),
      .m_axis_tready(ready_i),
      .m_axis_tdata(),
      .m_axis_tkeep(keep),
      .m_axis_tlast(last),
      .m_axis_tuser(user),
      .sent_o(sent),
      .sent_bytes_o(sent_bytes)
  );

  // What is inside: up to three frames, the first of which gets the beats that are taken, and two beats on their
  // way out.
  logic begun_q = 1'b0;
  logic enters;
  logic takes;
  logic leaves;
  logic ends;
  logic puts;
  logic was_reset_q;
  logic was_ready_q;
  logic was_stopped_q;
  logic was_last_q;
  logic was_user_q;
  logic was_length_q;
  logic [1:0] frames_q;
  logic [1:0] frames;  // without the one that ends
  logic [5:0] frame_q[3];  // {bits 9 and 0 of its length, send, 0, beats left}
  logic [5:0] entering;
  logic [1:0] beats_q;
  logic [1:0] beats;
  logic [3:0] beat_q[2];  // {length, last, user}
  logic [1:0] young_q;  // [0]: a frame came in the last clock
  logic [3:0] flow_q;  // frames of one beat in as many clocks

  assign enters = release_valid_i && release_ready;
  assign takes = beat_valid_i && beat_ready;
  assign leaves = valid && ready_i;
  assign ends = takes && frame_q[0][1:0] == 2'd1;
  assign puts = takes && frame_q[0][3];
  assign frames = frames_q - 2'(ends);
  assign beats = beats_q - 2'(leaves);
  assign entering = {length_i[9], length_i[0], send_i, 1'b0, stored_i};

  always_ff @(posedge clk_i) begin
    begun_q <= 1'b1;
    was_reset_q <= !rst_ni;
    was_ready_q <= ready_i || !rst_ni;
    was_stopped_q <= valid && !ready_i && rst_ni;
    was_last_q <= last;
    was_user_q <= user[0];
    was_length_q <= sent_bytes[0];
    young_q <= {young_q[0], enters};
    flow_q <= !leaves || !last || !enters || stored_i != 2'd1 ? 4'd0 : flow_q == 4'd15 ? 4'd15 : flow_q + 4'd1;

    frames_q <= frames + 2'(enters);
    if (ends) begin
      frame_q[0] <= frame_q[1];
      frame_q[1] <= frame_q[2];
    end else if (takes) begin
      frame_q[0] <= frame_q[0] - 6'd1;
    end
    if (enters && frames == 2'd0) frame_q[0] <= entering;
    if (enters && frames == 2'd1) frame_q[1] <= entering;
    if (enters && frames == 2'd2) frame_q[2] <= entering;

    beats_q <= beats + 2'(puts);
    if (leaves) beat_q[0] <= beat_q[1];
    if (puts && beats == 2'd0) beat_q[0] <= {frame_q[0][5:4], frame_q[0][1:0] == 2'd1, user_i};
    if (puts && beats == 2'd1) beat_q[1] <= {frame_q[0][5:4], frame_q[0][1:0] == 2'd1, user_i};

    if (!rst_ni) begin
      {frames_q, beats_q} <= '0;
      young_q <= 2'd0;
      flow_q <= 4'd0;
    end
  end

  always_comb begin
    if (!begun_q) first_clock : assume (!rst_ni);
    has_a_beat : assume (stored_i != 2'd0);
    if (begun_q) begin
      if (was_reset_q) empty_after_reset : assert (!valid && release_ready && !beat_ready);
      takes_for_a_frame : assert (!beat_ready || frames_q != 2'd0);
      // The first beat of a frame is taken three clocks after it came, the next right behind, but for a slow receiver.
      if (was_ready_q && frames_q > 2'(young_q[0]) + 2'(young_q[1])) flow : assert (beat_ready);
      shows_what_was_taken : assert (valid == (beats_q != 2'd0));
      if (valid) begin
        order : assert (user[0] == beat_q[0][0]);
        last_of_a_frame : assert (last == beat_q[0][1]);
        length : assert ({sent_bytes[9], sent_bytes[0]} == beat_q[0][3:2]);
        keep_from_the_first : assert (keep[0]);
        keep_to_the_last : assert (keep[63] == (!last || sent_bytes[5:0] == 6'd0));
      end
      sent_with_the_last : assert (sent == (leaves && last));
      if (was_stopped_q) begin
        stable : assert (valid && last == was_last_q && user[0] == was_user_q && sent_bytes[0] == was_length_q);
      end

      reaches_full_rate : assert (flow_q != 4'd15);
      reaches_the_end : assert (!(ends && puts && young_q == 2'd0 && frames_q == 2'd3 && frame_q[1][1:0] == 2'd3));
      reaches_full : assert (!(frames_q == 2'd3 && beats_q == 2'd2));
      reaches_discarded : assert (!(takes && !puts && !ends && valid && !ready_i));
    end
  end
endmodule
`default_nettype wire
