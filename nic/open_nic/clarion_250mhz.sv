// SPDX-License-Identifier: Apache-2.0
// Clarion in the 250 MHz user box of OpenNIC: what the shell's names and clocks ask for, around clarion_box.
//
//   - reset: the shell's handshake, made into one synchronous reset for each clock
//   - registers: from the shell's 125 MHz to the 250 MHz of the data path; the shell's bus has no strobes
//   - tuser_dst: the shell delivers 0, and its transmit side drops what is not addressed to its port
`default_nettype none

module clarion_250mhz #(
    parameter logic [31:0] NUM_CMAC_PORT = 2,
    parameter logic [31:0] NUM_PHYS_FUNC = 2,
    parameter logic [31:0] NUM_QDMA = 1,
    parameter logic [31:0] USE_PHYS_FUNC = 1,
    parameter logic        BUMP = 1'b0,  // 0: a network card, 1: a bump in the wire
    parameter logic [31:0] CLOCK_HZ = 250000000,
    parameter logic [31:0] BUCKETS = 4096,
    parameter logic [31:0] QUEUE_BEATS = 4096,
    parameter logic [31:0] BUILD = 32'h0
) (
    input  wire        s_axil_awvalid,
    input  wire [31:0] s_axil_awaddr,
    output wire        s_axil_awready,
    input  wire        s_axil_wvalid,
    input  wire [31:0] s_axil_wdata,
    output wire        s_axil_wready,
    output wire        s_axil_bvalid,
    output wire [1:0]  s_axil_bresp,
    input  wire        s_axil_bready,
    input  wire        s_axil_arvalid,
    input  wire [31:0] s_axil_araddr,
    output wire        s_axil_arready,
    output wire        s_axil_rvalid,
    output wire [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,
    input  wire        s_axil_rready,

    input  wire [NUM_PHYS_FUNC-1:0]     s_axis_qdma_h2c_tvalid,
    input  wire [512*NUM_PHYS_FUNC-1:0] s_axis_qdma_h2c_tdata,
    input  wire [64*NUM_PHYS_FUNC-1:0]  s_axis_qdma_h2c_tkeep,
    input  wire [NUM_PHYS_FUNC-1:0]     s_axis_qdma_h2c_tlast,
    input  wire [16*NUM_PHYS_FUNC-1:0]  s_axis_qdma_h2c_tuser_size,
    input  wire [16*NUM_PHYS_FUNC-1:0]  s_axis_qdma_h2c_tuser_src,
    input  wire [16*NUM_PHYS_FUNC-1:0]  s_axis_qdma_h2c_tuser_dst,
    output wire [NUM_PHYS_FUNC-1:0]     s_axis_qdma_h2c_tready,

    output wire [NUM_PHYS_FUNC-1:0]     m_axis_qdma_c2h_tvalid,
    output wire [512*NUM_PHYS_FUNC-1:0] m_axis_qdma_c2h_tdata,
    output wire [64*NUM_PHYS_FUNC-1:0]  m_axis_qdma_c2h_tkeep,
    output wire [NUM_PHYS_FUNC-1:0]     m_axis_qdma_c2h_tlast,
    output wire [16*NUM_PHYS_FUNC-1:0]  m_axis_qdma_c2h_tuser_size,
    output wire [16*NUM_PHYS_FUNC-1:0]  m_axis_qdma_c2h_tuser_src,
    output wire [16*NUM_PHYS_FUNC-1:0]  m_axis_qdma_c2h_tuser_dst,
    input  wire [NUM_PHYS_FUNC-1:0]     m_axis_qdma_c2h_tready,

    output wire [NUM_CMAC_PORT-1:0]     m_axis_adap_tx_250mhz_tvalid,
    output wire [512*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tdata,
    output wire [64*NUM_CMAC_PORT-1:0]  m_axis_adap_tx_250mhz_tkeep,
    output wire [NUM_CMAC_PORT-1:0]     m_axis_adap_tx_250mhz_tlast,
    output wire [16*NUM_CMAC_PORT-1:0]  m_axis_adap_tx_250mhz_tuser_size,
    output wire [16*NUM_CMAC_PORT-1:0]  m_axis_adap_tx_250mhz_tuser_src,
    output wire [16*NUM_CMAC_PORT-1:0]  m_axis_adap_tx_250mhz_tuser_dst,
    input  wire [NUM_CMAC_PORT-1:0]     m_axis_adap_tx_250mhz_tready,

    input  wire [NUM_CMAC_PORT-1:0]     s_axis_adap_rx_250mhz_tvalid,
    input  wire [512*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tdata,
    input  wire [64*NUM_CMAC_PORT-1:0]  s_axis_adap_rx_250mhz_tkeep,
    input  wire [NUM_CMAC_PORT-1:0]     s_axis_adap_rx_250mhz_tlast,
    input  wire [16*NUM_CMAC_PORT-1:0]  s_axis_adap_rx_250mhz_tuser_size,
    input  wire [16*NUM_CMAC_PORT-1:0]  s_axis_adap_rx_250mhz_tuser_src,
    input  wire [16*NUM_CMAC_PORT-1:0]  s_axis_adap_rx_250mhz_tuser_dst,
    output wire [NUM_CMAC_PORT-1:0]     s_axis_adap_rx_250mhz_tready,

    input  wire mod_rstn,
    output wire mod_rst_done,
    input  wire axil_aclk,   // 125 MHz, phase-aligned with
    input  wire axis_aclk    // 250 MHz
);
`ifndef __ICARUS__  // which has no such check
    if (NUM_QDMA != 1)
        $fatal(1, "clarion_250mhz: NUM_QDMA = %0d: build the shell with -num_qdma 1", NUM_QDMA);
    if (USE_PHYS_FUNC != 1)
        $fatal(1, "clarion_250mhz: USE_PHYS_FUNC = %0d: build the shell with -use_phys_func 1", USE_PHYS_FUNC);
    if (NUM_PHYS_FUNC != NUM_CMAC_PORT)
        $fatal(1, "clarion_250mhz: NUM_PHYS_FUNC = %0d: a host function for each of the %0d ports is needed",
               NUM_PHYS_FUNC, NUM_CMAC_PORT);
`endif

    localparam logic [31:0] PORTS = NUM_CMAC_PORT;

    wire axil_aresetn, axis_aresetn;

    wire        box_awvalid, box_awready, box_wvalid, box_wready, box_bvalid, box_bready;
    wire        box_arvalid, box_arready, box_rvalid, box_rready;
    wire [15:0] box_awaddr, box_araddr;
    wire [31:0] box_wdata, box_rdata;
    wire [3:0]  box_wstrb;
    wire [1:0]  box_bresp, box_rresp;

    wire [48*PORTS-1:0] rx_tuser, h2c_tuser, tx_tuser, c2h_tuser;

    generic_reset #(
        .NUM_INPUT_CLK(2),
        .RESET_DURATION(100)
    ) reset (
        .mod_rstn(mod_rstn),
        .mod_rst_done(mod_rst_done),
        .clk({axis_aclk, axil_aclk}),
        .rstn({axis_aresetn, axil_aresetn})
    );

    clarion_axil_crossing crossing (
        .s_aclk(axil_aclk),
        .s_aresetn(axil_aresetn),
        .s_axil_awvalid(s_axil_awvalid),
        .s_axil_awready(s_axil_awready),
        .s_axil_awaddr(s_axil_awaddr),
        .s_axil_wvalid(s_axil_wvalid),
        .s_axil_wready(s_axil_wready),
        .s_axil_wdata(s_axil_wdata),
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
        .m_aclk(axis_aclk),
        .m_aresetn(axis_aresetn),
        .m_axil_awvalid(box_awvalid),
        .m_axil_awready(box_awready),
        .m_axil_awaddr(box_awaddr),
        .m_axil_wvalid(box_wvalid),
        .m_axil_wready(box_wready),
        .m_axil_wdata(box_wdata),
        .m_axil_wstrb(box_wstrb),
        .m_axil_bvalid(box_bvalid),
        .m_axil_bready(box_bready),
        .m_axil_bresp(box_bresp),
        .m_axil_arvalid(box_arvalid),
        .m_axil_arready(box_arready),
        .m_axil_araddr(box_araddr),
        .m_axil_rvalid(box_rvalid),
        .m_axil_rready(box_rready),
        .m_axil_rdata(box_rdata),
        .m_axil_rresp(box_rresp)
    );

    clarion_box #(
        .PORTS(PORTS),
        .BUMP(BUMP),
        .CLOCK_HZ(CLOCK_HZ),
        .BUCKETS(BUCKETS),
        .QUEUE_BEATS(QUEUE_BEATS),
        .BUILD(BUILD)
    ) box (
        .aclk(axis_aclk),
        .aresetn(axis_aresetn),
        .s_axil_awvalid(box_awvalid),
        .s_axil_awready(box_awready),
        .s_axil_awaddr(box_awaddr),
        .s_axil_wvalid(box_wvalid),
        .s_axil_wready(box_wready),
        .s_axil_wdata(box_wdata),
        .s_axil_wstrb(box_wstrb),
        .s_axil_bvalid(box_bvalid),
        .s_axil_bready(box_bready),
        .s_axil_bresp(box_bresp),
        .s_axil_arvalid(box_arvalid),
        .s_axil_arready(box_arready),
        .s_axil_araddr(box_araddr),
        .s_axil_rvalid(box_rvalid),
        .s_axil_rready(box_rready),
        .s_axil_rdata(box_rdata),
        .s_axil_rresp(box_rresp),
        .s_axis_wire_tvalid(s_axis_adap_rx_250mhz_tvalid),
        .s_axis_wire_tready(s_axis_adap_rx_250mhz_tready),
        .s_axis_wire_tdata(s_axis_adap_rx_250mhz_tdata),
        .s_axis_wire_tkeep(s_axis_adap_rx_250mhz_tkeep),
        .s_axis_wire_tlast(s_axis_adap_rx_250mhz_tlast),
        .s_axis_wire_tuser(rx_tuser),
        .m_axis_wire_tvalid(m_axis_adap_tx_250mhz_tvalid),
        .m_axis_wire_tready(m_axis_adap_tx_250mhz_tready),
        .m_axis_wire_tdata(m_axis_adap_tx_250mhz_tdata),
        .m_axis_wire_tkeep(m_axis_adap_tx_250mhz_tkeep),
        .m_axis_wire_tlast(m_axis_adap_tx_250mhz_tlast),
        .m_axis_wire_tuser(tx_tuser),
        .s_axis_host_tvalid(s_axis_qdma_h2c_tvalid),
        .s_axis_host_tready(s_axis_qdma_h2c_tready),
        .s_axis_host_tdata(s_axis_qdma_h2c_tdata),
        .s_axis_host_tkeep(s_axis_qdma_h2c_tkeep),
        .s_axis_host_tlast(s_axis_qdma_h2c_tlast),
        .s_axis_host_tuser(h2c_tuser),
        .m_axis_host_tvalid(m_axis_qdma_c2h_tvalid),
        .m_axis_host_tready(m_axis_qdma_c2h_tready),
        .m_axis_host_tdata(m_axis_qdma_c2h_tdata),
        .m_axis_host_tkeep(m_axis_qdma_c2h_tkeep),
        .m_axis_host_tlast(m_axis_qdma_c2h_tlast),
        .m_axis_host_tuser(c2h_tuser)
    );

    for (genvar port = 0; port < PORTS; port++) begin : side_band
        assign rx_tuser[48*port+:48] = {s_axis_adap_rx_250mhz_tuser_dst[16*port+:16],
                                        s_axis_adap_rx_250mhz_tuser_src[16*port+:16],
                                        s_axis_adap_rx_250mhz_tuser_size[16*port+:16]};
        assign h2c_tuser[48*port+:48] = {s_axis_qdma_h2c_tuser_dst[16*port+:16],
                                         s_axis_qdma_h2c_tuser_src[16*port+:16],
                                         s_axis_qdma_h2c_tuser_size[16*port+:16]};

        assign m_axis_adap_tx_250mhz_tuser_size[16*port+:16] = tx_tuser[48*port+:16];
        assign m_axis_adap_tx_250mhz_tuser_src[16*port+:16] = tx_tuser[48*port+16+:16];
        assign m_axis_adap_tx_250mhz_tuser_dst[16*port+:16] = 16'd1 << (6 + port);  // bits 6 up: MAC ports
        assign m_axis_qdma_c2h_tuser_size[16*port+:16] = c2h_tuser[48*port+:16];
        assign m_axis_qdma_c2h_tuser_src[16*port+:16] = c2h_tuser[48*port+16+:16];
        assign m_axis_qdma_c2h_tuser_dst[16*port+:16] = 16'd1 << port;              // bits 3..0: host functions

        wire unused = &{1'b0, tx_tuser[48*port+32+:16], c2h_tuser[48*port+32+:16]};
    end
endmodule

`default_nettype wire
