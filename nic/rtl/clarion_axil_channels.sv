// SPDX-License-Identifier: Apache-2.0
// The five channels of an AXI4-Lite slave, 32 bits wide, over a bus of registers without handshakes.
//
// One write and one read are under way at a time, each on its own; address and data of a write may come in any order.
// What no register takes is answered by SLVERR, a read with 0, and counted in `refused`.
`default_nettype none
module clarion_axil_channels (
    input wire aclk,
    input wire aresetn,

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

    // A write lasts one clock; in it, `write_known` says whether there is a register that takes it.
    output logic        write,
    output logic [15:0] write_address,
    output logic [31:0] write_data,
    input  wire         write_known,
    // The address stands still until the answer has been taken; data follows it by one clock.
    output logic [15:0] read_address,
    input  wire  [31:0] read_data,
    input  wire         read_known,

    output logic refused_write,  // for one clock each
    output logic refused_read
);

  localparam logic [1:0] OKAY = 2'b00;
  localparam logic [1:0] SLVERR = 2'b10;

  // Writes: both halves are held until they are together and the last answer has gone.
  logic has_address;
  logic has_data;
  logic [3:0] strobes;
  logic complete;
  logic accepted;

  assign s_axil_awready = !has_address;
  assign s_axil_wready = !has_data;
  assign complete = has_address && has_data && !s_axil_bvalid;
  assign write = complete && strobes == 4'hf && write_address[1:0] == 2'b00;
  assign accepted = write && write_known;
  assign refused_write = complete && !accepted;

  always_ff @(posedge aclk) begin
    if (s_axil_awready) write_address <= s_axil_awaddr;
    if (s_axil_wready) begin
      write_data <= s_axil_wdata;
      strobes <= s_axil_wstrb;
    end
    if (s_axil_awvalid) has_address <= 1'b1;
    if (s_axil_wvalid) has_data <= 1'b1;
    if (s_axil_bready) s_axil_bvalid <= 1'b0;
    if (complete) begin
      has_address <= 1'b0;
      has_data <= 1'b0;
      s_axil_bvalid <= 1'b1;
      s_axil_bresp <= accepted ? OKAY : SLVERR;
    end
    if (!aresetn) begin
      has_address <= 1'b0;
      has_data <= 1'b0;
      s_axil_bvalid <= 1'b0;
    end
  end

  // Reads: one clock for the registers to look it up, one to answer.
  logic looking;
  logic found;

  assign s_axil_arready = !looking && !found && !s_axil_rvalid;
  assign refused_read = found && !(read_known && read_address[1:0] == 2'b00);

  always_ff @(posedge aclk) begin
    if (s_axil_arready) read_address <= s_axil_araddr;
    looking <= s_axil_arready && s_axil_arvalid;
    found <= looking;
    if (s_axil_rready) s_axil_rvalid <= 1'b0;
    if (found) begin
      s_axil_rvalid <= 1'b1;
      s_axil_rresp <= refused_read ? SLVERR : OKAY;
      s_axil_rdata <= refused_read ? 32'h0 : read_data;
    end
    if (!aresetn) begin
      looking <= 1'b0;
      found <= 1'b0;
      s_axil_rvalid <= 1'b0;
    end
  end

endmodule
`default_nettype wire
