// SPDX-License-Identifier: Apache-2.0
// The whole block: per port an ingress and an egress unit (hls/rtl), one register window, one clock of time.
//
//   BUMP 0, a network card                          BUMP 1, a bump in the wire of two ports
//
//   wire p ──► ingress p ──► host p                 wire 0 ──► ingress 0 ──► egress 1 ──► wire 1
//   wire p ◄── egress p ◄── host p                  wire 0 ◄── egress 0 ◄── ingress 1 ◄── wire 1
//
// In a bump the hosts are shut off: what they send is thrown away, nothing is sent to them.
// Streams of all ports lie side by side: port p is bit p, or slice [p * WIDTH +: WIDTH]. TUSER is {dst, src, size}.
`default_nettype none

module clarion_box #(
    parameter logic [31:0] PORTS = 2,
    parameter logic        BUMP = 1'b0,
    parameter logic [31:0] DATA_BITS = 512,       // of the streams
    parameter logic [31:0] USER_BITS = 48,
    parameter logic [31:0] CLOCK_HZ = 250000000,
    parameter logic [31:0] BUCKETS = 4096,        // of each port, a power of two from 2 to 65536
    parameter logic [31:0] QUEUE_BEATS = 4096,    // packet memory of each port, a power of two from 256 to 65536
    parameter logic [31:0] BUILD = 32'h0
) (
    input  wire aclk,
    input  wire aresetn,                          // synchronous

    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [15:0] s_axil_awaddr,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0]  s_axil_wstrb,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    output wire [1:0]  s_axil_bresp,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    input  wire [15:0] s_axil_araddr,
    output wire        s_axil_rvalid,
    input  wire        s_axil_rready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,

    input  wire [PORTS-1:0]             s_axis_wire_tvalid,
    output wire [PORTS-1:0]             s_axis_wire_tready,
    input  wire [PORTS*DATA_BITS-1:0]   s_axis_wire_tdata,
    input  wire [PORTS*DATA_BITS/8-1:0] s_axis_wire_tkeep,
    input  wire [PORTS-1:0]             s_axis_wire_tlast,
    input  wire [PORTS*USER_BITS-1:0]   s_axis_wire_tuser,

    output wire [PORTS-1:0]             m_axis_wire_tvalid,
    input  wire [PORTS-1:0]             m_axis_wire_tready,
    output wire [PORTS*DATA_BITS-1:0]   m_axis_wire_tdata,
    output wire [PORTS*DATA_BITS/8-1:0] m_axis_wire_tkeep,
    output wire [PORTS-1:0]             m_axis_wire_tlast,
    output wire [PORTS*USER_BITS-1:0]   m_axis_wire_tuser,

    input  wire [PORTS-1:0]             s_axis_host_tvalid,
    output wire [PORTS-1:0]             s_axis_host_tready,
    input  wire [PORTS*DATA_BITS-1:0]   s_axis_host_tdata,
    input  wire [PORTS*DATA_BITS/8-1:0] s_axis_host_tkeep,
    input  wire [PORTS-1:0]             s_axis_host_tlast,
    input  wire [PORTS*USER_BITS-1:0]   s_axis_host_tuser,

    output wire [PORTS-1:0]             m_axis_host_tvalid,
    input  wire [PORTS-1:0]             m_axis_host_tready,
    output wire [PORTS*DATA_BITS-1:0]   m_axis_host_tdata,
    output wire [PORTS*DATA_BITS/8-1:0] m_axis_host_tkeep,
    output wire [PORTS-1:0]             m_axis_host_tlast,
    output wire [PORTS*USER_BITS-1:0]   m_axis_host_tuser
);
`ifndef __ICARUS__  // which has no such check
    if (PORTS < 1 || PORTS > 2)
        $fatal(1, "clarion_box: PORTS = %0d: a card of the shell has 1 or 2", PORTS);
    if (DATA_BITS != 512)
        $fatal(1, "clarion_box: DATA_BITS = %0d: the units have streams of 512", DATA_BITS);
    if (USER_BITS != 48)
        $fatal(1, "clarion_box: USER_BITS = %0d: the units take 48, {dst, src, size}", USER_BITS);
    if (BUMP && PORTS != 2)
        $fatal(1, "clarion_box: PORTS = %0d: a bump in the wire joins 2", PORTS);
`endif

    localparam logic [31:0] KEEP_BITS = DATA_BITS / 8;
    localparam logic [31:0] REPLY_BITS = 528;  // {data[511:0], 4'b0, status[7:0], last, index[2:0]}

    wire [63:0] now;
    wire [7:0]  protocol;

    wire [PORTS-1:0]            ingress_command_tvalid, ingress_command_tready;
    wire [PORTS*512-1:0]        ingress_command_tdata;
    wire [PORTS-1:0]            ingress_reply_tvalid, ingress_reply_tready;
    wire [PORTS*REPLY_BITS-1:0] ingress_reply_tdata;
    wire [PORTS-1:0]            egress_command_tvalid, egress_command_tready;
    wire [PORTS*512-1:0]        egress_command_tdata;
    wire [PORTS-1:0]            egress_reply_tvalid, egress_reply_tready;
    wire [PORTS*REPLY_BITS-1:0] egress_reply_tdata;

    // What an ingress unit passes on, and what an egress unit is given.
    wire [PORTS-1:0]           passed_tvalid, passed_tready, passed_tlast;
    wire [PORTS*DATA_BITS-1:0] passed_tdata;
    wire [PORTS*KEEP_BITS-1:0] passed_tkeep;
    wire [PORTS*USER_BITS-1:0] passed_tuser;
    wire [PORTS-1:0]           given_tvalid, given_tready, given_tlast;
    wire [PORTS*DATA_BITS-1:0] given_tdata;
    wire [PORTS*KEEP_BITS-1:0] given_tkeep;
    wire [PORTS*USER_BITS-1:0] given_tuser;

    clarion_clock #(.CLOCK_HZ(CLOCK_HZ)) clock (.aclk(aclk), .aresetn(aresetn), .now(now));

    clarion_axil #(
        .PORTS(PORTS),
        .BUCKETS(BUCKETS),
        .QUEUE_BEATS(QUEUE_BEATS),
        .CLOCK_HZ(CLOCK_HZ),
        .BUILD(BUILD)
    ) registers (
        .aclk(aclk),
        .aresetn(aresetn),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_awaddr(s_axil_awaddr),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_wdata(s_axil_wdata),
        .s_axil_wstrb(s_axil_wstrb),
        .s_axil_bvalid(s_axil_bvalid),
        .s_axil_bready(s_axil_bready),
        .s_axil_bresp(s_axil_bresp),
        .s_axil_arvalid(s_axil_arvalid),
        .s_axil_arready(s_axil_arready),
        .s_axil_araddr(s_axil_araddr),
        .s_axil_rvalid(s_axil_rvalid),
        .s_axil_rready(s_axil_rready),
        .s_axil_rdata(s_axil_rdata),
        .s_axil_rresp(s_axil_rresp),
        .ingress_command_tvalid(ingress_command_tvalid),
        .ingress_command_tready(ingress_command_tready),
        .ingress_command_tdata(ingress_command_tdata),
        .ingress_reply_tvalid(ingress_reply_tvalid),
        .ingress_reply_tready(ingress_reply_tready),
        .ingress_reply_tdata(ingress_reply_tdata),
        .egress_command_tvalid(egress_command_tvalid),
        .egress_command_tready(egress_command_tready),
        .egress_command_tdata(egress_command_tdata),
        .egress_reply_tvalid(egress_reply_tvalid),
        .egress_reply_tready(egress_reply_tready),
        .egress_reply_tdata(egress_reply_tdata),
        .now(now),
        .protocol(protocol)
    );

    for (genvar port = 0; port < PORTS; port++) begin : units
        clarion_ingress #(
            .BUCKETS(BUCKETS)
        ) ingress (
            .clk_i(aclk),
            .rst_ni(aresetn),
            .now_i(now),
            .protocol_i(protocol),
            .s_axis_tvalid(s_axis_wire_tvalid[port]),
            .s_axis_tready(s_axis_wire_tready[port]),
            .s_axis_tdata(s_axis_wire_tdata[port*DATA_BITS+:DATA_BITS]),
            .s_axis_tkeep(s_axis_wire_tkeep[port*KEEP_BITS+:KEEP_BITS]),
            .s_axis_tlast(s_axis_wire_tlast[port]),
            .s_axis_tuser(s_axis_wire_tuser[port*USER_BITS+:USER_BITS]),
            .m_axis_tvalid(passed_tvalid[port]),
            .m_axis_tready(passed_tready[port]),
            .m_axis_tdata(passed_tdata[port*DATA_BITS+:DATA_BITS]),
            .m_axis_tkeep(passed_tkeep[port*KEEP_BITS+:KEEP_BITS]),
            .m_axis_tlast(passed_tlast[port]),
            .m_axis_tuser(passed_tuser[port*USER_BITS+:USER_BITS]),
            .command_valid_i(ingress_command_tvalid[port]),
            .command_ready_o(ingress_command_tready[port]),
            .command_i(ingress_command_tdata[port*512+:512]),
            .reply_valid_o(ingress_reply_tvalid[port]),
            .reply_ready_i(ingress_reply_tready[port]),
            .reply_o(ingress_reply_tdata[port*REPLY_BITS+:REPLY_BITS])
        );

        clarion_egress #(
            .BUCKETS(BUCKETS),
            .QUEUE_BEATS(QUEUE_BEATS)
        ) egress (
            .clk_i(aclk),
            .rst_ni(aresetn),
            .now_i(now),
            .protocol_i(protocol),
            .queue_elsewhere_i(40'd0),  // the shell does not say what its transmit FIFO holds, 16 KiB at most
            .s_axis_tvalid(given_tvalid[port]),
            .s_axis_tready(given_tready[port]),
            .s_axis_tdata(given_tdata[port*DATA_BITS+:DATA_BITS]),
            .s_axis_tkeep(given_tkeep[port*KEEP_BITS+:KEEP_BITS]),
            .s_axis_tlast(given_tlast[port]),
            .s_axis_tuser(given_tuser[port*USER_BITS+:USER_BITS]),
            .m_axis_tvalid(m_axis_wire_tvalid[port]),
            .m_axis_tready(m_axis_wire_tready[port]),
            .m_axis_tdata(m_axis_wire_tdata[port*DATA_BITS+:DATA_BITS]),
            .m_axis_tkeep(m_axis_wire_tkeep[port*KEEP_BITS+:KEEP_BITS]),
            .m_axis_tlast(m_axis_wire_tlast[port]),
            .m_axis_tuser(m_axis_wire_tuser[port*USER_BITS+:USER_BITS]),
            .command_valid_i(egress_command_tvalid[port]),
            .command_ready_o(egress_command_tready[port]),
            .command_i(egress_command_tdata[port*512+:512]),
            .reply_valid_o(egress_reply_tvalid[port]),
            .reply_ready_i(egress_reply_tready[port]),
            .reply_o(egress_reply_tdata[port*REPLY_BITS+:REPLY_BITS]),
            .watch_o()
        );

        if (BUMP) begin : bump
            localparam logic [31:0] OTHER = PORTS - 1 - port;

            assign given_tvalid[port] = passed_tvalid[OTHER];
            assign given_tdata[port*DATA_BITS+:DATA_BITS] = passed_tdata[OTHER*DATA_BITS+:DATA_BITS];
            assign given_tkeep[port*KEEP_BITS+:KEEP_BITS] = passed_tkeep[OTHER*KEEP_BITS+:KEEP_BITS];
            assign given_tlast[port] = passed_tlast[OTHER];
            assign given_tuser[port*USER_BITS+:USER_BITS] = passed_tuser[OTHER*USER_BITS+:USER_BITS];
            assign passed_tready[OTHER] = given_tready[port];
        end else begin : nic
            assign given_tvalid[port] = s_axis_host_tvalid[port];
            assign given_tdata[port*DATA_BITS+:DATA_BITS] = s_axis_host_tdata[port*DATA_BITS+:DATA_BITS];
            assign given_tkeep[port*KEEP_BITS+:KEEP_BITS] = s_axis_host_tkeep[port*KEEP_BITS+:KEEP_BITS];
            assign given_tlast[port] = s_axis_host_tlast[port];
            assign given_tuser[port*USER_BITS+:USER_BITS] = s_axis_host_tuser[port*USER_BITS+:USER_BITS];
            assign passed_tready[port] = m_axis_host_tready[port];
        end
    end

    assign s_axis_host_tready = BUMP ? {PORTS{1'b1}} : given_tready;
    assign m_axis_host_tvalid = BUMP ? {PORTS{1'b0}} : passed_tvalid;
    assign m_axis_host_tdata = passed_tdata;
    assign m_axis_host_tkeep = passed_tkeep;
    assign m_axis_host_tlast = passed_tlast;
    assign m_axis_host_tuser = passed_tuser;

    wire unused = &{1'b0, s_axis_host_tvalid, s_axis_host_tdata, s_axis_host_tkeep, s_axis_host_tlast,
                    s_axis_host_tuser, m_axis_host_tready};
endmodule

`default_nettype wire
