// SPDX-License-Identifier: Apache-2.0
// The module of the shell that includes the plug-in's files: its ports, parameters and the two includes.
module box_250mhz #(
    parameter int MIN_PKT_LEN   = 64,
    parameter int MAX_PKT_LEN   = 1518,
    parameter int USE_PHYS_FUNC = 1,
    parameter int NUM_PHYS_FUNC = 2,
    parameter int NUM_QDMA      = 1,
    parameter int NUM_CMAC_PORT = 2
) (
    input         s_axil_awvalid,
    input  [31:0] s_axil_awaddr,
    output        s_axil_awready,
    input         s_axil_wvalid,
    input  [31:0] s_axil_wdata,
    output        s_axil_wready,
    output        s_axil_bvalid,
    output  [1:0] s_axil_bresp,
    input         s_axil_bready,
    input         s_axil_arvalid,
    input  [31:0] s_axil_araddr,
    output        s_axil_arready,
    output        s_axil_rvalid,
    output [31:0] s_axil_rdata,
    output  [1:0] s_axil_rresp,
    input         s_axil_rready,

    input      [NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tvalid,
    input  [512*NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tdata,
    input   [64*NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tkeep,
    input      [NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tlast,
    input   [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tuser_size,
    input   [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tuser_src,
    input   [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tuser_dst,
    output     [NUM_PHYS_FUNC*NUM_QDMA-1:0] s_axis_qdma_h2c_tready,

    output     [NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tvalid,
    output [512*NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tdata,
    output  [64*NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tkeep,
    output     [NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tlast,
    output  [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tuser_size,
    output  [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tuser_src,
    output  [16*NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tuser_dst,
    input      [NUM_PHYS_FUNC*NUM_QDMA-1:0] m_axis_qdma_c2h_tready,

    output     [NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tvalid,
    output [512*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tdata,
    output  [64*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tkeep,
    output     [NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tlast,
    output  [16*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tuser_size,
    output  [16*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tuser_src,
    output  [16*NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tuser_dst,
    input      [NUM_CMAC_PORT-1:0] m_axis_adap_tx_250mhz_tready,

    input      [NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tvalid,
    input  [512*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tdata,
    input   [64*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tkeep,
    input      [NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tlast,
    input   [16*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tuser_size,
    input   [16*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tuser_src,
    input   [16*NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tuser_dst,
    output     [NUM_CMAC_PORT-1:0] s_axis_adap_rx_250mhz_tready,

    input   [15:0] mod_rstn,
    output  [15:0] mod_rst_done,
    input          box_rstn,
    output         box_rst_done,
    input          axil_aclk,
    input          axis_aclk
);
    `include "box_250mhz_address_map_inst.vh"
    `include "user_plugin_250mhz_inst.vh"

    assign box_rst_done = box_rstn;

    wire unused = &{1'b0, mod_rstn[15:1], 32'(MIN_PKT_LEN), 32'(MAX_PKT_LEN)};
endmodule
