// SPDX-License-Identifier: Apache-2.0
// The RTL that rtl_units.cpp clocks: the register front end, and units of each port, from an HLS tool or, as stand-ins,
// the block in C simulation (clarion_ingress.sv, clarion_egress.sv).
//
// Each unit has a clock of its own, so that a test can hold all but one of them. A unit that is held does not take part
// in a handshake: `_on` says which ones are clocked. What is narrower than a multiple of 64 bits lies in the low end of
// that many, port by port, so that C++ finds it.
`default_nettype none
module rtl_bench #(
    parameter logic [31:0] PORTS = 3
) (
    input wire             aclk,
    input wire             aresetn,
    input wire [PORTS-1:0] ingress_clk,
    input wire [PORTS-1:0] egress_clk,
    input wire [PORTS-1:0] ingress_on,
    input wire [PORTS-1:0] egress_on,

    input wire [        63:0] now,
    input wire [         7:0] protocol,
    input wire [PORTS*64-1:0] queue_elsewhere,

    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [15:0] s_axil_awaddr,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    input  wire [31:0] s_axil_wdata,
    output wire        s_axil_bvalid,
    output wire [ 1:0] s_axil_bresp,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    input  wire [15:0] s_axil_araddr,
    output wire        s_axil_rvalid,
    output wire [31:0] s_axil_rdata,
    output wire [ 1:0] s_axil_rresp,

    // [2*p]: the wire of port p, [2*p+1]: its host.
    input  wire [    2*PORTS-1:0] in_tvalid,
    output wire [    2*PORTS-1:0] in_tready,
    input  wire [2*PORTS*512-1:0] in_tdata,
    input  wire [ 2*PORTS*64-1:0] in_tkeep,
    input  wire [ 2*PORTS*64-1:0] in_tuser,
    input  wire [    2*PORTS-1:0] in_tlast,
    output wire [    2*PORTS-1:0] out_tvalid,
    input  wire [    2*PORTS-1:0] out_tready,
    output wire [2*PORTS*512-1:0] out_tdata,
    output wire [ 2*PORTS*64-1:0] out_tkeep,
    output wire [ 2*PORTS*64-1:0] out_tuser,
    output wire [    2*PORTS-1:0] out_tlast
);
  wire [PORTS-1:0] ingress_command_tvalid, ingress_command_tready;
  wire [PORTS-1:0] ingress_reply_tvalid, ingress_reply_tready;
  wire [PORTS-1:0] egress_command_tvalid, egress_command_tready;
  wire [PORTS-1:0] egress_reply_tvalid, egress_reply_tready;
  wire [PORTS-1:0] egress_grant_reply_tvalid, egress_grant_reply_tready;
  wire [PORTS*512-1:0] ingress_command_tdata, egress_command_tdata;
  wire [PORTS*528-1:0] ingress_reply_tdata, egress_reply_tdata, egress_grant_reply_tdata;

  // What the units themselves say.
  wire [PORTS-1:0] ingress_takes, ingress_answers, egress_takes, egress_answers, egress_grants;

  assign ingress_command_tready = ingress_takes & ingress_on;
  assign ingress_reply_tvalid = ingress_answers & ingress_on;
  assign egress_command_tready = egress_takes & egress_on;
  assign egress_reply_tvalid = egress_answers & egress_on;
  assign egress_grant_reply_tvalid = egress_grants & egress_on;

  wire [7:0] unused_protocol;

  clarion_axil #(
      .PORTS(PORTS)
  ) registers (
      .aclk,
      .aresetn,
      .s_axil_awvalid,
      .s_axil_awready,
      .s_axil_awaddr,
      .s_axil_wvalid,
      .s_axil_wready,
      .s_axil_wdata,
      .s_axil_wstrb(4'hf),
      .s_axil_bvalid,
      .s_axil_bready(1'b1),
      .s_axil_bresp,
      .s_axil_arvalid,
      .s_axil_arready,
      .s_axil_araddr,
      .s_axil_rvalid,
      .s_axil_rready(1'b1),
      .s_axil_rdata,
      .s_axil_rresp,
      .ingress_command_tvalid,
      .ingress_command_tready,
      .ingress_command_tdata,
      .ingress_reply_tvalid,
      .ingress_reply_tready,
      .ingress_reply_tdata,
      .egress_command_tvalid,
      .egress_command_tready,
      .egress_command_tdata,
      .egress_reply_tvalid,
      .egress_reply_tready,
      .egress_reply_tdata,
      .egress_grant_reply_tvalid,
      .egress_grant_reply_tready,
      .egress_grant_reply_tdata,
      .now,
      .protocol(unused_protocol)
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    localparam logic [31:0] WIRE = 2 * p;
    localparam logic [31:0] HOST = 2 * p + 1;
    wire [63:0] unused_host_tstrb, unused_wire_tstrb;
    wire unused = &{queue_elsewhere[64*p+40+:24], in_tuser[64*WIRE+48+:16], in_tuser[64*HOST+48+:16]};

    assign out_tuser[64*WIRE+48+:16] = 16'h0;
    assign out_tuser[64*HOST+48+:16] = 16'h0;

    clarion_ingress ingress (
        .ap_clk(ingress_clk[p]),
        .ap_rst_n(aresetn),
        .from_wire_TVALID(in_tvalid[WIRE] && ingress_on[p]),
        .from_wire_TREADY(in_tready[WIRE]),
        .from_wire_TDATA(in_tdata[512*WIRE+:512]),
        .from_wire_TKEEP(in_tkeep[64*WIRE+:64]),
        .from_wire_TSTRB(in_tkeep[64*WIRE+:64]),
        .from_wire_TLAST(in_tlast[WIRE]),
        .from_wire_TUSER(in_tuser[64*WIRE+:48]),
        .to_host_TVALID(out_tvalid[HOST]),
        .to_host_TREADY(out_tready[HOST] && ingress_on[p]),
        .to_host_TDATA(out_tdata[512*HOST+:512]),
        .to_host_TKEEP(out_tkeep[64*HOST+:64]),
        .to_host_TSTRB(unused_host_tstrb),
        .to_host_TLAST(out_tlast[HOST]),
        .to_host_TUSER(out_tuser[64*HOST+:48]),
        .protocol,
        .commands_TVALID(ingress_command_tvalid[p] && ingress_on[p]),
        .commands_TREADY(ingress_takes[p]),
        .commands_TDATA(ingress_command_tdata[512*p+:512]),
        .replies_TVALID(ingress_answers[p]),
        .replies_TREADY(ingress_reply_tready[p] && ingress_on[p]),
        .replies_TDATA(ingress_reply_tdata[528*p+:528]),
        .now
    );

    clarion_egress egress (
        .ap_clk(egress_clk[p]),
        .ap_rst_n(aresetn),
        .from_host_TVALID(in_tvalid[HOST] && egress_on[p]),
        .from_host_TREADY(in_tready[HOST]),
        .from_host_TDATA(in_tdata[512*HOST+:512]),
        .from_host_TKEEP(in_tkeep[64*HOST+:64]),
        .from_host_TSTRB(in_tkeep[64*HOST+:64]),
        .from_host_TLAST(in_tlast[HOST]),
        .from_host_TUSER(in_tuser[64*HOST+:48]),
        .to_wire_TVALID(out_tvalid[WIRE]),
        .to_wire_TREADY(out_tready[WIRE] && egress_on[p]),
        .to_wire_TDATA(out_tdata[512*WIRE+:512]),
        .to_wire_TKEEP(out_tkeep[64*WIRE+:64]),
        .to_wire_TSTRB(unused_wire_tstrb),
        .to_wire_TLAST(out_tlast[WIRE]),
        .to_wire_TUSER(out_tuser[64*WIRE+:48]),
        .protocol,
        .queue_elsewhere(queue_elsewhere[64*p+:40]),
        .commands_TVALID(egress_command_tvalid[p] && egress_on[p]),
        .commands_TREADY(egress_takes[p]),
        .commands_TDATA(egress_command_tdata[512*p+:512]),
        .traffic_replies_TVALID(egress_answers[p]),
        .traffic_replies_TREADY(egress_reply_tready[p] && egress_on[p]),
        .traffic_replies_TDATA(egress_reply_tdata[528*p+:528]),
        .grant_replies_TVALID(egress_grants[p]),
        .grant_replies_TREADY(egress_grant_reply_tready[p] && egress_on[p]),
        .grant_replies_TDATA(egress_grant_reply_tdata[528*p+:528]),
        .now
    );
  end
endmodule
`default_nettype wire
