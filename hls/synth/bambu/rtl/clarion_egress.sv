// SPDX-License-Identifier: Apache-2.0
// The egress unit of the RTL that bambu makes of its processes, with the queues between them (hls/block/egress.hpp).
`default_nettype none
module clarion_egress (
    input  wire          ap_clk,
    input  wire          ap_rst_n,
    input  wire          from_host_TVALID,
    output wire          from_host_TREADY,
    input  wire  [511:0] from_host_TDATA,
    input  wire  [ 63:0] from_host_TKEEP,
    input  wire  [ 63:0] from_host_TSTRB,
    input  wire  [  0:0] from_host_TLAST,
    input  wire  [ 47:0] from_host_TUSER,
    output wire          to_wire_TVALID,
    input  wire          to_wire_TREADY,
    output wire  [511:0] to_wire_TDATA,
    output wire  [ 63:0] to_wire_TKEEP,
    output wire  [ 63:0] to_wire_TSTRB,
    output wire  [  0:0] to_wire_TLAST,
    output wire  [ 47:0] to_wire_TUSER,
    input  wire  [  7:0] protocol,
    input  wire  [ 39:0] queue_elsewhere,
    input  wire          commands_TVALID,
    output wire          commands_TREADY,
    input  wire  [511:0] commands_TDATA,
    output wire          traffic_replies_TVALID,
    input  wire          traffic_replies_TREADY,
    output wire  [527:0] traffic_replies_TDATA,
    output wire          grant_replies_TVALID,
    input  wire          grant_replies_TREADY,
    output wire  [527:0] grant_replies_TDATA,
    input  wire  [ 63:0] now
);
  /* verilator hier_block */  // is compiled once, however many ports

  localparam int unsigned QUEUE_BEATS = 4096;
  localparam int unsigned DECISION_DEPTH = 128;
  localparam int unsigned DEPARTURES = 40;

  // Of the word n of stream s, s_n comes from its writer and goes to its reader as s_n_out.
  word_stream wire_0 (), wire_0_out (), wire_1 (), wire_1_out ();
  word_stream beats_0 (), beats_0_out (), beats_1 (), beats_1_out ();
  word_stream arrivals_0 (), arrivals_0_out (), arrivals_1 (), arrivals_1_out (), arrivals_2 (), arrivals_2_out ();
  word_stream packets_0 (), packets_0_out ();
  word_stream departures_0 (), departures_0_out ();
  word_stream taken_0 (), taken_0_out ();
  word_stream pool_0 (), pool_0_out ();
  word_stream grants_0 (), grants_0_out ();
  word_stream releases_0 (), releases_0_out ();
  word_stream sent_0 (), sent_0_out ();
  word_stream ends_0 (), ends_0_out (), ends_1 (), ends_1_out ();
  word_stream reports_0 (), reports_0_out (), reports_1 (), reports_1_out ();
  word_stream commands_0 (), commands_0_out ();
  word_stream traffic_replies_0 (), traffic_replies_0_out (), traffic_replies_1 (), traffic_replies_1_out ();
  word_stream grant_replies_0 (), grant_replies_0_out (), grant_replies_1 (), grant_replies_1_out ();
  word_stream out_0 (), out_0_out (), out_1 (), out_1_out ();

  stream_fifo #(.WIDTH(512), .DEPTH(2)) wire_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(wire_0), .to(wire_0_out));
  stream_fifo #(.WIDTH(177), .DEPTH(2)) wire_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(wire_1), .to(wire_1_out));
  stream_fifo #(.WIDTH(512), .DEPTH(QUEUE_BEATS)) beats_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(beats_0), .to(beats_0_out));
  stream_fifo #(.WIDTH(113), .DEPTH(QUEUE_BEATS)) beats_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(beats_1), .to(beats_1_out));
  stream_fifo #(.WIDTH(106), .DEPTH(2)) arrivals_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(arrivals_0), .to(arrivals_0_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) arrivals_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(arrivals_1), .to(arrivals_1_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) arrivals_2_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(arrivals_2), .to(arrivals_2_out));
  stream_fifo #(.WIDTH(309), .DEPTH(DECISION_DEPTH)) packets_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(packets_0), .to(packets_0_out));
  stream_fifo #(.WIDTH(322), .DEPTH(DEPARTURES)) departures_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(departures_0), .to(departures_0_out));
  stream_fifo #(.WIDTH(1), .DEPTH(DEPARTURES)) taken_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(taken_0), .to(taken_0_out));
  stream_fifo #(.WIDTH(344), .DEPTH(16)) pool_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(pool_0), .to(pool_0_out));
  stream_fifo #(.WIDTH(32), .DEPTH(64)) grants_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(grants_0), .to(grants_0_out));
  stream_fifo #(.WIDTH(321), .DEPTH(2)) releases_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(releases_0), .to(releases_0_out));
  stream_fifo #(.WIDTH(16), .DEPTH(4)) sent_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(sent_0), .to(sent_0_out));
  stream_fifo #(.WIDTH(225), .DEPTH(2)) ends_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(ends_0), .to(ends_0_out));
  stream_fifo #(.WIDTH(384), .DEPTH(2)) ends_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(ends_1), .to(ends_1_out));
  stream_fifo #(.WIDTH(320), .DEPTH(2)) reports_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(reports_0), .to(reports_0_out));
  stream_fifo #(.WIDTH(448), .DEPTH(2)) reports_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(reports_1), .to(reports_1_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) commands_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(commands_0), .to(commands_0_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) traffic_replies_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(traffic_replies_0), .to(traffic_replies_0_out));
  stream_fifo #(.WIDTH(12), .DEPTH(2)) traffic_replies_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(traffic_replies_1), .to(traffic_replies_1_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) grant_replies_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(grant_replies_0), .to(grant_replies_0_out));
  stream_fifo #(.WIDTH(12), .DEPTH(2)) grant_replies_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(grant_replies_1), .to(grant_replies_1_out));
  stream_fifo #(.WIDTH(512), .DEPTH(2)) out_0_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(out_0), .to(out_0_out));
  stream_fifo #(.WIDTH(113), .DEPTH(2)) out_1_fifo (.clock(ap_clk), .reset_n(ap_rst_n), .from(out_1), .to(out_1_out));

  // A call after the other.
  logic start;
  always_ff @(posedge ap_clk) start <= ap_rst_n;

  // --- Ports

  assign from_host_TREADY = wire_0.tready && wire_1.tready && ap_rst_n;
  assign wire_0.tvalid = from_host_TVALID && from_host_TREADY;
  assign wire_0.tdata = from_host_TDATA;
  assign wire_1.tvalid = wire_0.tvalid;
  assign wire_1.tdata = 512'({now, from_host_TLAST, from_host_TUSER, from_host_TKEEP});

  assign to_wire_TVALID = out_0_out.tvalid && out_1_out.tvalid;
  assign out_0_out.tready = to_wire_TVALID && to_wire_TREADY;
  assign out_1_out.tready = out_0_out.tready;
  assign to_wire_TDATA = out_0_out.tdata;
  assign {to_wire_TLAST, to_wire_TUSER, to_wire_TKEEP} = out_1_out.tdata[112:0];
  assign to_wire_TSTRB = to_wire_TKEEP;

  assign commands_TREADY = commands_0.tready && ap_rst_n;
  assign commands_0.tvalid = commands_TVALID && commands_TREADY;
  assign commands_0.tdata = commands_TDATA;

  assign traffic_replies_TVALID = traffic_replies_0_out.tvalid && traffic_replies_1_out.tvalid;
  assign traffic_replies_0_out.tready = traffic_replies_TVALID && traffic_replies_TREADY;
  assign traffic_replies_1_out.tready = traffic_replies_0_out.tready;
  assign traffic_replies_TDATA = {traffic_replies_0_out.tdata, 4'b0, traffic_replies_1_out.tdata[11:0]};

  assign grant_replies_TVALID = grant_replies_0_out.tvalid && grant_replies_1_out.tvalid;
  assign grant_replies_0_out.tready = grant_replies_TVALID && grant_replies_TREADY;
  assign grant_replies_1_out.tready = grant_replies_0_out.tready;
  assign grant_replies_TDATA = {grant_replies_0_out.tdata, 4'b0, grant_replies_1_out.tdata[11:0]};

  // --- Processes

  // What the units ask for before each step; the intake gets all of a beat but its data with that.
  word_stream intake_status ();
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

  // Of a packet that is out, and of a departure that was taken, the stage hears with that.
  word_stream egress_status ();
  assign egress_status.tvalid = 1'b1;
  assign egress_status.tdata = 512'({
    now,
    queue_elsewhere,
    sent_0_out.tvalid ? sent_0_out.tdata[15:0] : 16'd0,
    taken_0_out.tvalid,
    traffic_replies_0.tready && traffic_replies_1.tready,
    ends_0.tready && ends_1.tready,
    pool_0.tready,
    departures_0.tready,
    commands_0_out.tvalid,
    reports_0_out.tvalid && reports_1_out.tvalid,
    packets_0_out.tvalid
  });
  assign sent_0_out.tready = egress_status.tready;
  assign taken_0_out.tready = egress_status.tready;

  bambu_egress_stage egress_stage (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .egress_status_0_TDATA(egress_status.tdata),
      .egress_status_0_TVALID(egress_status.tvalid),
      .egress_status_0_TREADY(egress_status.tready),
      .packets_0_TDATA(packets_0_out.tdata),
      .packets_0_TVALID(packets_0_out.tvalid),
      .packets_0_TREADY(packets_0_out.tready),
      .reports_0_TDATA(reports_0_out.tdata),
      .reports_0_TVALID(reports_0_out.tvalid),
      .reports_0_TREADY(reports_0_out.tready),
      .reports_1_TDATA(reports_1_out.tdata),
      .reports_1_TVALID(reports_1_out.tvalid),
      .reports_1_TREADY(reports_1_out.tready),
      .commands_0_TDATA(commands_0_out.tdata),
      .commands_0_TVALID(commands_0_out.tvalid),
      .commands_0_TREADY(commands_0_out.tready),
      .departures_0_TDATA(departures_0.tdata),
      .departures_0_TVALID(departures_0.tvalid),
      .departures_0_TREADY(departures_0.tready),
      .pool_0_TDATA(pool_0.tdata),
      .pool_0_TVALID(pool_0.tvalid),
      .pool_0_TREADY(pool_0.tready),
      .ends_0_TDATA(ends_0.tdata),
      .ends_0_TVALID(ends_0.tvalid),
      .ends_0_TREADY(ends_0.tready),
      .ends_1_TDATA(ends_1.tdata),
      .ends_1_TVALID(ends_1.tvalid),
      .ends_1_TREADY(ends_1.tready),
      .traffic_replies_0_TDATA(traffic_replies_0.tdata),
      .traffic_replies_0_TVALID(traffic_replies_0.tvalid),
      .traffic_replies_0_TREADY(traffic_replies_0.tready),
      .traffic_replies_1_TDATA(traffic_replies_1.tdata),
      .traffic_replies_1_TVALID(traffic_replies_1.tvalid),
      .traffic_replies_1_TREADY(traffic_replies_1.tready)
  );

  bambu_interval_stage interval_stage (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .ends_0_TDATA(ends_0_out.tdata),
      .ends_0_TVALID(ends_0_out.tvalid),
      .ends_0_TREADY(ends_0_out.tready),
      .ends_1_TDATA(ends_1_out.tdata),
      .ends_1_TVALID(ends_1_out.tvalid),
      .ends_1_TREADY(ends_1_out.tready),
      .reports_0_TDATA(reports_0.tdata),
      .reports_0_TVALID(reports_0.tvalid),
      .reports_0_TREADY(reports_0.tready),
      .reports_1_TDATA(reports_1.tdata),
      .reports_1_TVALID(reports_1.tvalid),
      .reports_1_TREADY(reports_1.tready)
  );

  bambu_grant_stage grant_stage (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .pool_0_TDATA(pool_0_out.tdata),
      .pool_0_TVALID(pool_0_out.tvalid),
      .pool_0_TREADY(pool_0_out.tready),
      .grants_0_TDATA(grants_0.tdata),
      .grants_0_TVALID(grants_0.tvalid),
      .grants_0_TREADY(grants_0.tready),
      .replies_0_TDATA(grant_replies_0.tdata),
      .replies_0_TVALID(grant_replies_0.tvalid),
      .replies_0_TREADY(grant_replies_0.tready),
      .replies_1_TDATA(grant_replies_1.tdata),
      .replies_1_TVALID(grant_replies_1.tvalid),
      .replies_1_TREADY(grant_replies_1.tready)
  );

  word_stream join_status ();
  assign join_status.tvalid = 1'b1;
  assign join_status.tdata = 512'({releases_0.tready, grants_0_out.tvalid, departures_0_out.tvalid});

  assign taken_0.tvalid = departures_0_out.tvalid && departures_0_out.tready;
  assign taken_0.tdata = 512'd1;

  bambu_grant_join grant_join (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
      .join_status_0_TDATA(join_status.tdata),
      .join_status_0_TVALID(join_status.tvalid),
      .join_status_0_TREADY(join_status.tready),
      .departures_0_TDATA(departures_0_out.tdata),
      .departures_0_TVALID(departures_0_out.tvalid),
      .departures_0_TREADY(departures_0_out.tready),
      .grants_0_TDATA(grants_0_out.tdata),
      .grants_0_TVALID(grants_0_out.tvalid),
      .grants_0_TREADY(grants_0_out.tready),
      .releases_0_TDATA(releases_0.tdata),
      .releases_0_TVALID(releases_0.tvalid),
      .releases_0_TREADY(releases_0.tready)
  );

  bambu_frame_release frame_release (
      .clock(ap_clk),
      .reset(ap_rst_n),
      .start_port(start),
      .done_port(),
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
      .out_1_TREADY(out_1.tready),
      .sent_0_TDATA(sent_0.tdata),
      .sent_0_TVALID(sent_0.tvalid),
      .sent_0_TREADY(sent_0.tready)
  );

  wire unused = &{from_host_TSTRB, join_status.tready};
endmodule
`default_nettype wire
