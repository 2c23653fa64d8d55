// SPDX-License-Identifier: Apache-2.0
// clarion_egress for Verilator: what comes in goes to registers only, so that all logic is evaluated once in a clock.
// See simulated_ingress.sv.
`default_nettype none
module simulated_egress #(
    parameter logic [31:0] BUCKETS = 4096,
    parameter logic [31:0] QUEUE_BEATS = 4096
) (
    input wire clk_i,
    input wire rst_ni,
    input wire [63:0] now_i,
    input wire [7:0] protocol_i,

    input wire s_axis_tvalid,
    input wire [511:0] s_axis_tdata,
    input wire [63:0] s_axis_tkeep,
    input wire s_axis_tlast,
    input wire [47:0] s_axis_tuser,

    input wire m_axis_tready,
    output wire sends_o,  // a beat
    output wire [511:0] m_axis_tdata,
    output wire [63:0] m_axis_tkeep,
    output wire m_axis_tlast,
    output wire [47:0] m_axis_tuser,

    input  wire         command_valid_i,
    output wire         command_ready_o,
    input  wire [511:0] command_i,
    output wire         reply_valid_o,
    output wire [527:0] reply_o,

    output wire joins_o,  // what is decided on a frame
    output wire drops_o
);
  logic ready_q, command_valid_q;
  logic [7:0] protocol_q;
  logic [511:0] command_q;
  wire s_axis_tready, m_axis_tvalid;
  clarion_block_pkg::watch_t watch;

  always_ff @(posedge clk_i) begin
    ready_q <= m_axis_tready;
    protocol_q <= protocol_i;
    command_valid_q <= command_valid_i;
    if (command_valid_i) command_q <= command_i;
  end

  assign sends_o = m_axis_tvalid && ready_q;
  assign joins_o = watch.joins;
  assign drops_o = watch.drops;

  clarion_egress #(
      .BUCKETS(BUCKETS),
      .QUEUE_BEATS(QUEUE_BEATS)
  ) unit (
      .clk_i,
      .rst_ni,
      .now_i,
      .protocol_i(protocol_q),
      .queue_elsewhere_i(40'd0),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .m_axis_tvalid,
      .m_axis_tready(ready_q),
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .command_valid_i(command_valid_q),
      .command_ready_o,
      .command_i(command_q),
      .reply_valid_o,
      .reply_ready_i(1'b1),
      .reply_o,
      .watch_o(watch)
  );

  logic running_q;  // reset has been over for a clock
  always_ff @(posedge clk_i) begin
    running_q <= rst_ni;
    if (running_q && s_axis_tvalid) takes_every_beat : assert (s_axis_tready);
  end

  wire unused = &{1'b0, watch.now, watch.waiting_bytes, watch.left_bytes, watch.leaves};
endmodule
`default_nettype wire
