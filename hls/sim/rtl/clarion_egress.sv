// SPDX-License-Identifier: Apache-2.0
// The egress unit in C simulation, as the module that an HLS tool would make of it: a clock is a call.
`default_nettype none
module clarion_egress (
    input  wire          ap_clk,
    input  wire          ap_rst_n,
    input  wire          from_host_TVALID,
    output logic         from_host_TREADY,
    input  wire  [511:0] from_host_TDATA,
    input  wire  [ 63:0] from_host_TKEEP,
    input  wire  [ 63:0] from_host_TSTRB,
    input  wire  [  0:0] from_host_TLAST,
    input  wire  [ 47:0] from_host_TUSER,
    output logic         to_wire_TVALID,
    input  wire          to_wire_TREADY,
    output wire  [511:0] to_wire_TDATA,
    output wire  [ 63:0] to_wire_TKEEP,
    output wire  [ 63:0] to_wire_TSTRB,
    output wire  [  0:0] to_wire_TLAST,
    output wire  [ 47:0] to_wire_TUSER,
    input  wire  [  7:0] protocol,
    input  wire  [ 39:0] queue_elsewhere,
    input  wire          commands_TVALID,
    output logic         commands_TREADY,
    input  wire  [511:0] commands_TDATA,
    output logic         traffic_replies_TVALID,
    input  wire          traffic_replies_TREADY,
    output logic [527:0] traffic_replies_TDATA,
    output logic         grant_replies_TVALID,
    input  wire          grant_replies_TREADY,
    output logic [527:0] grant_replies_TDATA,
    input  wire  [ 63:0] now
);
  // As in clarion_ingress.sv; the fifth of `taken` and `offers` is the grant stage's reply.
  import "DPI-C" function chandle c_egress_new();
  import "DPI-C" function void c_egress_delete(input chandle unit);
  import "DPI-C" function void c_egress_clock(
    input  chandle      unit,
    input  bit [  4:0]  taken,
    input  bit [624:0]  in_beat,
    input  bit [511:0]  command,
    input  bit [  7:0]  protocol,
    input  bit [ 63:0]  elsewhere,
    input  bit [ 63:0]  now,
    output bit [  4:0]  offers,
    output bit [624:0]  out_beat,
    output bit [527:0]  reply,
    output bit [527:0]  grant_reply
  );

  chandle unit = c_egress_new();
  final c_egress_delete(unit);

  bit [4:0] taken, offers;
  bit [624:0] in_beat, out_beat;
  bit [527:0] reply, grant_reply;
  logic [624:0] beat;

  assign taken = {
    grant_replies_TVALID && grant_replies_TREADY,
    traffic_replies_TVALID && traffic_replies_TREADY,
    commands_TVALID && commands_TREADY,
    to_wire_TVALID && to_wire_TREADY,
    from_host_TVALID && from_host_TREADY
  };
  assign in_beat = {from_host_TLAST, from_host_TUSER, from_host_TKEEP, from_host_TDATA};
  assign {to_wire_TLAST, to_wire_TUSER, to_wire_TKEEP, to_wire_TDATA} = beat;
  assign to_wire_TSTRB = to_wire_TKEEP;

  always @(posedge ap_clk) begin
    if (!ap_rst_n) begin
      {grant_replies_TVALID, traffic_replies_TVALID, commands_TREADY, to_wire_TVALID, from_host_TREADY} <= 5'b0;
    end else begin
      c_egress_clock(unit, taken, in_beat, commands_TDATA, protocol, 64'(queue_elsewhere), now, offers, out_beat,
                     reply, grant_reply);
      {grant_replies_TVALID, traffic_replies_TVALID, commands_TREADY, to_wire_TVALID, from_host_TREADY} <= offers;
      beat <= out_beat;
      traffic_replies_TDATA <= reply;
      grant_replies_TDATA <= grant_reply;
    end
  end

  wire unused = &from_host_TSTRB;
endmodule
`default_nettype wire
