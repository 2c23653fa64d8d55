// SPDX-License-Identifier: Apache-2.0
// The ingress unit of the RTL that bambu makes of its processes, with the queues between them (hls/block/ingress.hpp).
`default_nettype none
module clarion_ingress (
    input  wire          ap_clk,
    input  wire          ap_rst_n,
    input  wire          from_wire_TVALID,
    output wire          from_wire_TREADY,
    input  wire  [511:0] from_wire_TDATA,
    input  wire  [ 63:0] from_wire_TKEEP,
    input  wire  [ 63:0] from_wire_TSTRB,
    input  wire  [  0:0] from_wire_TLAST,
    input  wire  [ 47:0] from_wire_TUSER,
    output wire          to_host_TVALID,
    input  wire          to_host_TREADY,
    output wire  [511:0] to_host_TDATA,
    output wire  [ 63:0] to_host_TKEEP,
    output wire  [ 63:0] to_host_TSTRB,
    output wire  [  0:0] to_host_TLAST,
    output wire  [ 47:0] to_host_TUSER,
    input  wire  [  7:0] protocol,
    input  wire          commands_TVALID,
    output wire          commands_TREADY,
    input  wire  [511:0] commands_TDATA,
    output wire          replies_TVALID,
    input  wire          replies_TREADY,
    output wire  [527:0] replies_TDATA,
    input  wire  [ 63:0] now
);
  /* verilator hier_block */  // is compiled once, however many ports
  localparam int unsigned RECEIVE_BEATS = 512;

  // Of the word n of stream s, s_n comes from its writer and goes to its reader as s_n_out.
  word_stream wire_0 (), wire_0_out (), wire_1 (), wire_1_out ();
  word_stream beats_0 (), beats_0_out (), beats_1 (), beats_1_out ();
  word_stream arrivals_0 (), arrivals_0_out (), arrivals_1 (), arrivals_1_out (), arrivals_2 (), arrivals_2_out ();
  word_stream packets_0 (), packets_0_out ();
  word_stream releases_0 (), releases_0_out ();
  word_stream commands_0 (), commands_0_out ();
  word_stream replies_0 (), replies_0_out (), replies_1 (), replies_1_out ();
  word_stream out_0 (), out_0_out (), out_1 (), out_1_out ();

  stream_fifo #(
      .WIDTH(512),
      .DEPTH(2)
  ) wire_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(wire_0),
      .to(wire_0_out)
  );
  stream_fifo #(
      .WIDTH(177),
      .DEPTH(2)
  ) wire_1_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(wire_1),
      .to(wire_1_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(RECEIVE_BEATS)
  ) beats_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(beats_0),
      .to(beats_0_out)
  );
  stream_fifo #(
      .WIDTH(113),
      .DEPTH(RECEIVE_BEATS)
  ) beats_1_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(beats_1),
      .to(beats_1_out)
  );
  stream_fifo #(
      .WIDTH(106),
      .DEPTH(2)
  ) arrivals_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(arrivals_0),
      .to(arrivals_0_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(2)
  ) arrivals_1_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(arrivals_1),
      .to(arrivals_1_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(2)
  ) arrivals_2_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(arrivals_2),
      .to(arrivals_2_out)
  );
  stream_fifo #(
      .WIDTH(309),
      .DEPTH(32)
  ) packets_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(packets_0),
      .to(packets_0_out)
  );
  stream_fifo #(
      .WIDTH(321),
      .DEPTH(RECEIVE_BEATS)
  ) releases_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(releases_0),
      .to(releases_0_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(2)
  ) commands_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(commands_0),
      .to(commands_0_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(8)
  ) replies_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(replies_0),
      .to(replies_0_out)
  );
  stream_fifo #(
      .WIDTH(12),
      .DEPTH(8)
  ) replies_1_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(replies_1),
      .to(replies_1_out)
  );
  stream_fifo #(
      .WIDTH(512),
      .DEPTH(2)
  ) out_0_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(out_0),
      .to(out_0_out)
  );
  stream_fifo #(
      .WIDTH(113),
      .DEPTH(2)
  ) out_1_fifo (
      .clock(ap_clk),
      .reset_n(ap_rst_n),
      .from(out_1),
      .to(out_1_out)
  );

  // A call after the other.
  logic start;
  always_ff @(posedge ap_clk) start <= ap_rst_n;

  // --- Ports

  wire wire_takes = wire_0.tready && wire_1.tready;
  assign from_wire_TREADY = wire_takes && ap_rst_n;
  assign wire_0.tvalid = from_wire_TVALID && from_wire_TREADY;
  assign wire_0.tdata = from_wire_TDATA;
  assign wire_1.tvalid = wire_0.tvalid;
  assign wire_1.tdata = 512'({now, from_wire_TLAST, from_wire_TUSER, from_wire_TKEEP});

  assign to_host_TVALID = out_0_out.tvalid && out_1_out.tvalid;
  assign out_0_out.tready = to_host_TVALID && to_host_TREADY;
  assign out_1_out.tready = out_0_out.tready;
  assign to_host_TDATA = out_0_out.tdata;
  assign {to_host_TLAST, to_host_TUSER, to_host_TKEEP} = out_1_out.tdata[112:0];
  assign to_host_TSTRB = to_host_TKEEP;

  assign commands_TREADY = commands_0.tready && ap_rst_n;
  assign commands_0.tvalid = commands_TVALID && ap_rst_n;
  assign commands_0.tdata = commands_TDATA;

  assign replies_TVALID = replies_0_out.tvalid && replies_1_out.tvalid;
  assign replies_0_out.tready = replies_TVALID && replies_TREADY;
  assign replies_1_out.tready = replies_0_out.tready;
  assign replies_TDATA = {replies_0_out.tdata, 4'b0, replies_1_out.tdata[11:0]};

  // --- Processes

  // What the units ask for before each step; the intake gets all of a beat but its data with that.
  word_stream intake_status (), status ();
  assign intake_status.tvalid = 1'b1;
  assign wire_1_out.tready = intake_status.tready && wire_0_out.tvalid;
  assign intake_status.tdata = 512'({
    wire_1_out.tdata[176:0],
    arrivals_0.tready && arrivals_1.tready && arrivals_2.tready,
    beats_0.tready && beats_1.tready,
    wire_0_out.tvalid && wire_1_out.tvalid
  });

  bambu_frame_intake frame_intake (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .intake_status_0_TDATA(intake_status.tdata),
      .intake_status_0_TVALID(intake_status.tvalid),
      .intake_status_0_TREADY(intake_status.tready),
      .intake_data_0_TDATA(wire_0_out.tdata),
      .intake_data_0_TVALID(wire_0_out.tvalid),
      .intake_data_0_TREADY(wire_0_out.tready),
      .beats_0_TDATA(beats_0.tdata),
      .beats_0_TVALID(beats_0.tvalid),
      .beats_0_TREADY(beats_0.tready),
      .beats_1_TDATA(beats_1.tdata),
      .beats_1_TVALID(beats_1.tvalid),
      .beats_1_TREADY(beats_1.tready),
      .arrivals_0_TDATA(arrivals_0.tdata),
      .arrivals_0_TVALID(arrivals_0.tvalid),
      .arrivals_0_TREADY(arrivals_0.tready),
      .arrivals_1_TDATA(arrivals_1.tdata),
      .arrivals_1_TVALID(arrivals_1.tvalid),
      .arrivals_1_TREADY(arrivals_1.tready),
      .arrivals_2_TDATA(arrivals_2.tdata),
      .arrivals_2_TVALID(arrivals_2.tvalid),
      .arrivals_2_TREADY(arrivals_2.tready)
  );

  bambu_classifier classifier (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .protocol(protocol),
      .arrivals_0_TDATA(arrivals_0_out.tdata),
      .arrivals_0_TVALID(arrivals_0_out.tvalid),
      .arrivals_0_TREADY(arrivals_0_out.tready),
      .arrivals_1_TDATA(arrivals_1_out.tdata),
      .arrivals_1_TVALID(arrivals_1_out.tvalid),
      .arrivals_1_TREADY(arrivals_1_out.tready),
      .arrivals_2_TDATA(arrivals_2_out.tdata),
      .arrivals_2_TVALID(arrivals_2_out.tvalid),
      .arrivals_2_TREADY(arrivals_2_out.tready),
      .packets_0_TDATA(packets_0.tdata),
      .packets_0_TVALID(packets_0.tvalid),
      .packets_0_TREADY(packets_0.tready)
  );

  assign status.tvalid = 1'b1;
  assign status.tdata = 512'({
    replies_0.tready && replies_1.tready,
    releases_0.tready,
    commands_0_out.tvalid,
    packets_0_out.tvalid
  });

  bambu_ingress_stage ingress_stage (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .ingress_status_0_TDATA(status.tdata),
      .ingress_status_0_TVALID(status.tvalid),
      .ingress_status_0_TREADY(status.tready),
      .ingress_packets_0_TDATA(packets_0_out.tdata),
      .ingress_packets_0_TVALID(packets_0_out.tvalid),
      .ingress_packets_0_TREADY(packets_0_out.tready),
      .ingress_commands_0_TDATA(commands_0_out.tdata),
      .ingress_commands_0_TVALID(commands_0_out.tvalid),
      .ingress_commands_0_TREADY(commands_0_out.tready),
      .ingress_releases_0_TDATA(releases_0.tdata),
      .ingress_releases_0_TVALID(releases_0.tvalid),
      .ingress_releases_0_TREADY(releases_0.tready),
      .ingress_replies_0_TDATA(replies_0.tdata),
      .ingress_replies_0_TVALID(replies_0.tvalid),
      .ingress_replies_0_TREADY(replies_0.tready),
      .ingress_replies_1_TDATA(replies_1.tdata),
      .ingress_replies_1_TVALID(replies_1.tvalid),
      .ingress_replies_1_TREADY(replies_1.tready)
  );

  bambu_frame_release frame_release (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .sent_0_TDATA(),
      .sent_0_TVALID(),
      .sent_0_TREADY(1'b1),
      .releases_0_TDATA(releases_0_out.tdata),
      .releases_0_TVALID(releases_0_out.tvalid),
      .releases_0_TREADY(releases_0_out.tready),
      .beats_0_TDATA(beats_0_out.tdata),
      .beats_0_TVALID(beats_0_out.tvalid),
      .beats_0_TREADY(beats_0_out.tready),
      .beats_1_TDATA(beats_1_out.tdata),
      .beats_1_TVALID(beats_1_out.tvalid),
      .beats_1_TREADY(beats_1_out.tready),
      .out_0_TDATA(out_0.tdata),
      .out_0_TVALID(out_0.tvalid),
      .out_0_TREADY(out_0.tready),
      .out_1_TDATA(out_1.tdata),
      .out_1_TVALID(out_1.tvalid),
      .out_1_TREADY(out_1.tready)
  );

  wire unused = &{from_wire_TSTRB, status.tready};
endmodule
`default_nettype wire
