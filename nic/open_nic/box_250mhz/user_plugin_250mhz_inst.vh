// SPDX-License-Identifier: Apache-2.0
// Included by the shell's box_250mhz.sv, inside its module: the box's only plug-in. clarion_build.vh is written by
// nic/build.sh, beside the constraints, for one board and one mode.
`include "clarion_build.vh"

assign mod_rst_done[15:1] = {15{1'b1}};  // unused resets are done

clarion_250mhz #(
  .NUM_CMAC_PORT (NUM_CMAC_PORT),
  .NUM_PHYS_FUNC (NUM_PHYS_FUNC),
  .NUM_QDMA      (NUM_QDMA),
  .USE_PHYS_FUNC (USE_PHYS_FUNC),
  .BUMP          (`CLARION_BUMP),
  .CLOCK_HZ      (`CLARION_CLOCK_HZ),
  .BUCKETS       (`CLARION_BUCKETS),
  .QUEUE_BEATS   (`CLARION_QUEUE_BEATS),
  .BUILD         (`CLARION_BUILD)
) clarion_250mhz_inst (
  .s_axil_awvalid                   (s_axil_awvalid),
  .s_axil_awaddr                    (s_axil_awaddr),
  .s_axil_awready                   (s_axil_awready),
  .s_axil_wvalid                    (s_axil_wvalid),
  .s_axil_wdata                     (s_axil_wdata),
  .s_axil_wready                    (s_axil_wready),
  .s_axil_bvalid                    (s_axil_bvalid),
  .s_axil_bresp                     (s_axil_bresp),
  .s_axil_bready                    (s_axil_bready),
  .s_axil_arvalid                   (s_axil_arvalid),
  .s_axil_araddr                    (s_axil_araddr),
  .s_axil_arready                   (s_axil_arready),
  .s_axil_rvalid                    (s_axil_rvalid),
  .s_axil_rdata                     (s_axil_rdata),
  .s_axil_rresp                     (s_axil_rresp),
  .s_axil_rready                    (s_axil_rready),

  .s_axis_qdma_h2c_tvalid           (s_axis_qdma_h2c_tvalid),
  .s_axis_qdma_h2c_tdata            (s_axis_qdma_h2c_tdata),
  .s_axis_qdma_h2c_tkeep            (s_axis_qdma_h2c_tkeep),
  .s_axis_qdma_h2c_tlast            (s_axis_qdma_h2c_tlast),
  .s_axis_qdma_h2c_tuser_size       (s_axis_qdma_h2c_tuser_size),
  .s_axis_qdma_h2c_tuser_src        (s_axis_qdma_h2c_tuser_src),
  .s_axis_qdma_h2c_tuser_dst        (s_axis_qdma_h2c_tuser_dst),
  .s_axis_qdma_h2c_tready           (s_axis_qdma_h2c_tready),

  .m_axis_qdma_c2h_tvalid           (m_axis_qdma_c2h_tvalid),
  .m_axis_qdma_c2h_tdata            (m_axis_qdma_c2h_tdata),
  .m_axis_qdma_c2h_tkeep            (m_axis_qdma_c2h_tkeep),
  .m_axis_qdma_c2h_tlast            (m_axis_qdma_c2h_tlast),
  .m_axis_qdma_c2h_tuser_size       (m_axis_qdma_c2h_tuser_size),
  .m_axis_qdma_c2h_tuser_src        (m_axis_qdma_c2h_tuser_src),
  .m_axis_qdma_c2h_tuser_dst        (m_axis_qdma_c2h_tuser_dst),
  .m_axis_qdma_c2h_tready           (m_axis_qdma_c2h_tready),

  .m_axis_adap_tx_250mhz_tvalid     (m_axis_adap_tx_250mhz_tvalid),
  .m_axis_adap_tx_250mhz_tdata      (m_axis_adap_tx_250mhz_tdata),
  .m_axis_adap_tx_250mhz_tkeep      (m_axis_adap_tx_250mhz_tkeep),
  .m_axis_adap_tx_250mhz_tlast      (m_axis_adap_tx_250mhz_tlast),
  .m_axis_adap_tx_250mhz_tuser_size (m_axis_adap_tx_250mhz_tuser_size),
  .m_axis_adap_tx_250mhz_tuser_src  (m_axis_adap_tx_250mhz_tuser_src),
  .m_axis_adap_tx_250mhz_tuser_dst  (m_axis_adap_tx_250mhz_tuser_dst),
  .m_axis_adap_tx_250mhz_tready     (m_axis_adap_tx_250mhz_tready),

  .s_axis_adap_rx_250mhz_tvalid     (s_axis_adap_rx_250mhz_tvalid),
  .s_axis_adap_rx_250mhz_tdata      (s_axis_adap_rx_250mhz_tdata),
  .s_axis_adap_rx_250mhz_tkeep      (s_axis_adap_rx_250mhz_tkeep),
  .s_axis_adap_rx_250mhz_tlast      (s_axis_adap_rx_250mhz_tlast),
  .s_axis_adap_rx_250mhz_tuser_size (s_axis_adap_rx_250mhz_tuser_size),
  .s_axis_adap_rx_250mhz_tuser_src  (s_axis_adap_rx_250mhz_tuser_src),
  .s_axis_adap_rx_250mhz_tuser_dst  (s_axis_adap_rx_250mhz_tuser_dst),
  .s_axis_adap_rx_250mhz_tready     (s_axis_adap_rx_250mhz_tready),

  .mod_rstn                         (mod_rstn[0]),
  .mod_rst_done                     (mod_rst_done[0]),
  .axil_aclk                        (axil_aclk),
  .axis_aclk                        (axis_aclk)
);
