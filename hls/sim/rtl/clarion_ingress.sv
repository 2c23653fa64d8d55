// SPDX-License-Identifier: Apache-2.0
// The ingress unit in C simulation, as the module that an HLS tool would make of it: a clock is a call.
`default_nettype none
module clarion_ingress (
    input  wire          ap_clk,
    input  wire          ap_rst_n,
    input  wire          from_wire_TVALID,
    output logic         from_wire_TREADY,
    input  wire  [511:0] from_wire_TDATA,
    input  wire  [ 63:0] from_wire_TKEEP,
    input  wire  [ 63:0] from_wire_TSTRB,
    input  wire  [  0:0] from_wire_TLAST,
    input  wire  [ 47:0] from_wire_TUSER,
    output logic         to_host_TVALID,
    input  wire          to_host_TREADY,
    output wire  [511:0] to_host_TDATA,
    output wire  [ 63:0] to_host_TKEEP,
    output wire  [ 63:0] to_host_TSTRB,
    output wire  [  0:0] to_host_TLAST,
    output wire  [ 47:0] to_host_TUSER,
    input  wire  [  7:0] protocol,
    input  wire          commands_TVALID,
    output logic         commands_TREADY,
    input  wire  [511:0] commands_TDATA,
    output logic         replies_TVALID,
    input  wire          replies_TREADY,
    output logic [527:0] replies_TDATA,
    input  wire  [ 63:0] now
);
  // A beat is {last, user, keep, data}. `taken`: of outputs then inputs {reply, command, out, in}, what changed hands.
  import "DPI-C" function chandle c_ingress_new();
  import "DPI-C" function void c_ingress_delete(input chandle unit);
  import "DPI-C" function void c_ingress_clock(
    input  chandle      unit,
    input  bit [  3:0]  taken,
    input  bit [624:0]  in_beat,
    input  bit [511:0]  command,
    input  bit [  7:0]  protocol,
    input  bit [ 63:0]  now,
    output bit [  3:0]  offers,
    output bit [624:0]  out_beat,
    output bit [527:0]  reply
  );

  chandle unit = c_ingress_new();
  final c_ingress_delete(unit);

  bit [3:0] taken, offers;
  bit [624:0] in_beat, out_beat;
  bit [527:0] reply;
  logic [624:0] beat;

  assign taken = {
    replies_TVALID && replies_TREADY,
    commands_TVALID && commands_TREADY,
    to_host_TVALID && to_host_TREADY,
    from_wire_TVALID && from_wire_TREADY
  };
  assign in_beat = {from_wire_TLAST, from_wire_TUSER, from_wire_TKEEP, from_wire_TDATA};
  assign {to_host_TLAST, to_host_TUSER, to_host_TKEEP, to_host_TDATA} = beat;
  assign to_host_TSTRB = to_host_TKEEP;

  always @(posedge ap_clk) begin
    if (!ap_rst_n) begin
      {replies_TVALID, commands_TREADY, to_host_TVALID, from_wire_TREADY} <= 4'b0;
    end else begin
      c_ingress_clock(unit, taken, in_beat, commands_TDATA, protocol, now, offers, out_beat, reply);
      {replies_TVALID, commands_TREADY, to_host_TVALID, from_wire_TREADY} <= offers;
      beat <= out_beat;
      replies_TDATA <= reply;
    end
  end

  wire unused = &from_wire_TSTRB;
endmodule
`default_nettype wire
