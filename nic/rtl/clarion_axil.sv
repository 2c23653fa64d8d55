// SPDX-License-Identifier: Apache-2.0
// The AXI4-Lite front end of the FPGA block: the window of docs/registers.md, and a mailbox for each unit.
//
// Blocks in the window: `clarion`, the ingress units by port, the egress units by port. Port p of a stream is bit p of
// its valid and ready and slice p of its data. A unit takes a command with the last beat of its answer. One clock for
// everything, the data path's.
`default_nettype none
module clarion_axil #(
    parameter logic [31:0] PORTS       = 2,          // at most 15 units, as many as the window holds
    parameter logic        HAS_INGRESS = 1'b1,
    parameter logic        HAS_EGRESS  = 1'b1,
    parameter logic [31:0] BUCKETS     = 4096,       // from here on: only to be read
    parameter logic [31:0] QUEUE_BEATS = 4096,
    parameter logic [31:0] CLOCK_HZ    = 250000000,
    parameter logic [31:0] BUILD       = 32'h0
) (
    input wire aclk,
    input wire aresetn, // of the units too: a request that runs is forgotten

    input  wire         s_axil_awvalid,
    output logic        s_axil_awready,
    input  wire  [15:0] s_axil_awaddr,
    input  wire         s_axil_wvalid,
    output logic        s_axil_wready,
    input  wire  [31:0] s_axil_wdata,
    input  wire  [ 3:0] s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  wire         s_axil_bready,
    output logic [ 1:0] s_axil_bresp,
    input  wire         s_axil_arvalid,
    output logic        s_axil_arready,
    input  wire  [15:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  wire         s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [ 1:0] s_axil_rresp,

    output logic [    PORTS-1:0] ingress_command_tvalid,
    input  wire  [    PORTS-1:0] ingress_command_tready,
    output logic [PORTS*512-1:0] ingress_command_tdata,
    input  wire  [    PORTS-1:0] ingress_reply_tvalid,
    output logic [    PORTS-1:0] ingress_reply_tready,
    input  wire  [PORTS*528-1:0] ingress_reply_tdata,

    output logic [    PORTS-1:0] egress_command_tvalid,
    input  wire  [    PORTS-1:0] egress_command_tready,
    output logic [PORTS*512-1:0] egress_command_tdata,
    input  wire  [    PORTS-1:0] egress_reply_tvalid,
    output logic [    PORTS-1:0] egress_reply_tready,
    input  wire  [PORTS*528-1:0] egress_reply_tdata,

    input  wire  [63:0] now,
    output logic [ 7:0] protocol
);

  localparam logic [31:0] KINDS = (HAS_INGRESS ? 1 : 0) + (HAS_EGRESS ? 1 : 0);
  localparam logic [31:0] UNITS = KINDS * PORTS;
  localparam logic [31:0] OFFSET_BITS = $clog2(clarion_registers_pkg::STRIDE_BYTES);
  localparam logic [31:0] BLOCKS_MAX = clarion_registers_pkg::WINDOW_BYTES / clarion_registers_pkg::STRIDE_BYTES;

`ifndef __ICARUS__  // which has no such check
  if (UNITS == 0 || UNITS >= BLOCKS_MAX) $error("clarion_axil: PORTS and HAS_: 1 to 15 units are needed");
`endif

  logic write;
  logic [15:0] write_address;
  logic [31:0] write_data;
  logic [15:0] read_address;
  logic refused_write;
  logic refused_read;

  // Of every block, 0 being `clarion`.
  logic [UNITS:0] block_writes;
  logic [UNITS:0] block_write_known;
  logic [UNITS:0] block_read_known;
  logic [32*(UNITS+1)-1:0] block_read_data;

  logic [15-OFFSET_BITS:0] write_block;
  logic [15-OFFSET_BITS:0] read_block;
  logic [31:0] write_offset;
  logic [31:0] read_offset;
  assign write_block = write_address[15:OFFSET_BITS];
  assign read_block = read_address[15:OFFSET_BITS];
  assign write_offset = 32'(write_address[OFFSET_BITS-1:0]);
  assign read_offset = 32'(read_address[OFFSET_BITS-1:0]);

  logic write_known;
  logic read_known;
  logic [31:0] read_data;

  always_comb begin
    write_known = 1'b0;
    read_known = 1'b0;
    read_data = 32'h0;
    for (int unsigned i = 0; i <= UNITS; i++) begin
      block_writes[i] = write && 32'(write_block) == i;
      if (32'(write_block) == i) write_known = block_write_known[i];
      if (32'(read_block) == i) begin
        read_known = block_read_known[i];
        read_data  = block_read_data[32*i+:32];
      end
    end
  end

  clarion_axil_channels channels (
      .aclk,
      .aresetn,
      .s_axil_awvalid,
      .s_axil_awready,
      .s_axil_awaddr,
      .s_axil_wvalid,
      .s_axil_wready,
      .s_axil_wdata,
      .s_axil_wstrb,
      .s_axil_bvalid,
      .s_axil_bready,
      .s_axil_bresp,
      .s_axil_arvalid,
      .s_axil_arready,
      .s_axil_araddr,
      .s_axil_rvalid,
      .s_axil_rready,
      .s_axil_rdata,
      .s_axil_rresp,
      .write,
      .write_address,
      .write_data,
      .write_known,
      .read_address,
      .read_data,
      .read_known,
      .refused_write,
      .refused_read
  );

  clarion_identity #(
      .PORTS(PORTS),
      .BUCKETS(BUCKETS),
      .QUEUE_BEATS(QUEUE_BEATS),
      .CLOCK_HZ(CLOCK_HZ),
      .BUILD(BUILD)
  ) identity (
      .aclk,
      .aresetn,
      .write(block_writes[0]),
      .write_offset,
      .write_data,
      .write_known(block_write_known[0]),
      .read_offset,
      .read_data(block_read_data[31:0]),
      .read_known(block_read_known[0]),
      .refused_write,
      .refused_read,
      .now,
      .protocol
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_ingress
    if (HAS_INGRESS) begin : gen_unit
      localparam logic [31:0] BLOCK = 1 + p;
      clarion_mailbox #(
          .TYPE(clarion_registers_pkg::TYPE_INGRESS),
          .VERSION(clarion_registers_pkg::VERSION_INGRESS),
          .NEXT(BLOCK == UNITS ? 0 : clarion_registers_pkg::STRIDE_BYTES * (BLOCK + 1)),
          .PORT(p)
      ) registers (
          .aclk,
          .aresetn,
          .write(block_writes[BLOCK]),
          .write_offset,
          .write_data,
          .write_known(block_write_known[BLOCK]),
          .read_offset,
          .read_data(block_read_data[32*BLOCK+:32]),
          .read_known(block_read_known[BLOCK]),
          .command_tvalid(ingress_command_tvalid[p]),
          .command_tready(ingress_command_tready[p]),
          .command_tdata(ingress_command_tdata[512*p+:512]),
          .reply_tvalid(ingress_reply_tvalid[p]),
          .reply_tready(ingress_reply_tready[p]),
          .reply_tdata(ingress_reply_tdata[528*p+:528])
      );
    end else begin : gen_none
      assign ingress_command_tvalid[p] = 1'b0;
      assign ingress_command_tdata[512*p+:512] = 512'h0;
      assign ingress_reply_tready[p] = 1'b1;
      wire unused = &{ingress_command_tready[p], ingress_reply_tvalid[p], ingress_reply_tdata[528*p+:528]};
    end
  end

  for (genvar p = 0; p < PORTS; p++) begin : gen_egress
    if (HAS_EGRESS) begin : gen_unit
      localparam logic [31:0] BLOCK = 1 + (HAS_INGRESS ? PORTS : 0) + p;
      clarion_mailbox #(
          .TYPE(clarion_registers_pkg::TYPE_EGRESS),
          .VERSION(clarion_registers_pkg::VERSION_EGRESS),
          .NEXT(BLOCK == UNITS ? 0 : clarion_registers_pkg::STRIDE_BYTES * (BLOCK + 1)),
          .PORT(p)
      ) registers (
          .aclk,
          .aresetn,
          .write(block_writes[BLOCK]),
          .write_offset,
          .write_data,
          .write_known(block_write_known[BLOCK]),
          .read_offset,
          .read_data(block_read_data[32*BLOCK+:32]),
          .read_known(block_read_known[BLOCK]),
          .command_tvalid(egress_command_tvalid[p]),
          .command_tready(egress_command_tready[p]),
          .command_tdata(egress_command_tdata[512*p+:512]),
          .reply_tvalid(egress_reply_tvalid[p]),
          .reply_tready(egress_reply_tready[p]),
          .reply_tdata(egress_reply_tdata[528*p+:528])
      );
    end else begin : gen_none
      assign egress_command_tvalid[p] = 1'b0;
      assign egress_command_tdata[512*p+:512] = 512'h0;
      assign egress_reply_tready[p] = 1'b1;
      wire unused = &{egress_command_tready[p], egress_reply_tvalid[p], egress_reply_tdata[528*p+:528]};
    end
  end

endmodule
`default_nettype wire
