// SPDX-License-Identifier: Apache-2.0
// Takes frames out of packet memory and sends them with their new bytes, or discards them: one beat per clock, unless
// the receiver is not ready.
// Structs have members for other stages, too:
// verilator lint_off UNUSEDSIGNAL
module clarion_release (
    input wire clk_i,
    input wire rst_ni,

    input  wire release_valid_i,
    output wire release_ready_o,
    input clarion_block_pkg::release_t release_i,

    input  wire beat_valid_i,
    output wire beat_ready_o,
    input clarion_block_pkg::beat_t beat_i,

    output wire         m_axis_tvalid,
    input  wire         m_axis_tready,
    output wire [511:0] m_axis_tdata,
    output wire [ 63:0] m_axis_tkeep,
    output wire         m_axis_tlast,
    output wire [ 47:0] m_axis_tuser,

    output wire sent_o,  // the last beat of a frame has been taken
    output wire [15:0] sent_bytes_o  // its length
);
  // A frame on its way: its patch is moved to its place in the first two beats, in two steps.
  typedef struct packed {
    logic [7:0] left;  // beats
    logic send;
    logic [15:0] length;
    logic [4:0] words;  // of 4 bytes, that the patch is still to be moved by
    logic [127:0] enable;
    logic [1023:0] data;
  } placed_t;

  placed_t near_q, far_q, frame_q;
  logic near_valid_q, far_valid_q, frame_valid_q;
  logic [1:0] beat_q;  // index of the frame's next beat, at most 2: patches end before that

  wire fires;
  wire ends = fires && frame_q.left == 8'd1;
  wire frame_ready = !frame_valid_q || ends;
  wire far_ready = !far_valid_q || frame_ready;
  wire near_ready = !near_valid_q || far_ready;

  assign release_ready_o = near_ready;

  // Ethernet's 14 bytes are in front of every header, and all that may be behind them is a multiple of 4.
  wire [4:0] words = release_i.offset[6:2];

  always_ff @(posedge clk_i) begin
    if (near_ready) near_valid_q <= release_valid_i;
    if (near_ready && release_valid_i) begin
      near_q.left <= release_i.stored;
      near_q.send <= release_i.send;
      near_q.length <= release_i.length;
      near_q.words <= words;
      near_q.enable <= 128'({release_i.patch.enable, 2'b0});
      near_q.data <= 1024'({release_i.patch.data, 16'b0});
    end
    if (far_ready) far_valid_q <= near_valid_q;
    if (far_ready && near_valid_q) begin
      far_q <= near_q;
      far_q.enable <= near_q.enable << {near_q.words[1:0], 2'b0};
      far_q.data <= near_q.data << {near_q.words[1:0], 5'b0};
    end
    if (frame_ready) frame_valid_q <= far_valid_q;
    if (frame_ready && far_valid_q) begin
      frame_q <= far_q;
      frame_q.enable <= far_q.enable << {far_q.words[4:2], 4'b0};
      frame_q.data <= far_q.data << {far_q.words[4:2], 7'b0};
      beat_q <= 2'd0;
    end else if (fires) begin
      frame_q.left <= frame_q.left - 1'b1;
      if (!beat_q[1]) beat_q <= beat_q + 1'b1;
    end
    if (!rst_ni) {near_valid_q, far_valid_q, frame_valid_q} <= 3'b0;
  end

  logic [511:0] data;
  wire [63:0] enable = beat_q[0] ? frame_q.enable[127:64] : frame_q.enable[63:0];
  wire [511:0] patch = beat_q[0] ? frame_q.data[1023:512] : frame_q.data[511:0];
  wire last = frame_q.left == 8'd1;
  wire [63:0] keep = last && frame_q.length[5:0] != 6'd0 ? ~(64'hffff_ffff_ffff_ffff << frame_q.length[5:0]) : '1;

  always_comb begin
    data = beat_i.data;
    if (!beat_q[1] && enable != '0) begin
      for (int i = 0; i < 64; i++) if (enable[i]) data[8*i+:8] = patch[8*i+:8];
    end
  end

  wire out_ready;
  wire goes = frame_valid_q && beat_valid_i;
  assign fires = goes && (out_ready || !frame_q.send);
  assign beat_ready_o = frame_valid_q && (out_ready || !frame_q.send);

  wire [15:0] length;
  clarion_skid #(
      .WIDTH(16 + 1 + 48 + 64 + 512)
  ) out (
      .clk_i,
      .rst_ni,
      .valid_i(goes && frame_q.send),
      .ready_o(out_ready),
      .data_i({frame_q.length, last, beat_i.user, keep, data}),
      .valid_o(m_axis_tvalid),
      .ready_i(m_axis_tready),
      .data_o({length, m_axis_tlast, m_axis_tuser, m_axis_tkeep, m_axis_tdata})
  );

  assign sent_o = m_axis_tvalid && m_axis_tready && m_axis_tlast;
  assign sent_bytes_o = length;
endmodule
