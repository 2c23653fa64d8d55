// SPDX-License-Identifier: Apache-2.0
// Registers of the block `clarion`, the first of the window: what this is, and what all ports share.
`default_nettype none
module clarion_identity #(
    parameter logic [31:0] PORTS = 2,
    parameter logic [31:0] BUCKETS = 4096,
    parameter logic [31:0] QUEUE_BEATS = 4096,
    parameter logic [31:0] CLOCK_HZ = 250000000,
    parameter logic [31:0] BUILD = 0
) (
    input wire aclk,
    input wire aresetn,

    input  wire         write,
    input  wire  [31:0] write_offset,
    input  wire  [31:0] write_data,
    output logic        write_known,
    input  wire  [31:0] read_offset,
    output logic [31:0] read_data,
    output logic        read_known,

    input  wire         refused_write,
    input  wire         refused_read,
    input  wire  [63:0] now,
    output logic [ 7:0] protocol
);

  logic [31:0] scratch;
  logic [31:0] refused;

  always_comb begin
    case (write_offset)
      clarion_registers_pkg::AT_CLARION_SCRATCH, clarion_registers_pkg::AT_CLARION_PROTOCOL: write_known = 1'b1;
      default: write_known = 1'b0;
    endcase
  end

  always_ff @(posedge aclk) begin
    if (write) begin
      case (write_offset)
        clarion_registers_pkg::AT_CLARION_SCRATCH: scratch <= write_data;
        clarion_registers_pkg::AT_CLARION_PROTOCOL:
        protocol <= write_data[7:0] & clarion_registers_pkg::MASK_CLARION_PROTOCOL[7:0];
        default: ;
      endcase
    end
    // Two in a clock leave it at the end too: from the last but one they reach it, not 0.
    if (refused_write && refused_read && refused < 32'hfffffffe) refused <= refused + 32'd2;
    else if ((refused_write || refused_read) && refused != 32'hffffffff) refused <= refused + 32'd1;
    if (!aresetn) begin
      scratch <= clarion_registers_pkg::RESET_CLARION_SCRATCH;
      protocol <= clarion_registers_pkg::RESET_CLARION_PROTOCOL[7:0];
      refused <= 32'h0;
    end
  end

  always_ff @(posedge aclk) begin
    read_known <= 1'b1;
    case (read_offset)
      clarion_registers_pkg::AT_HEADER_TYPE: read_data <= clarion_registers_pkg::TYPE_CLARION;
      clarion_registers_pkg::AT_HEADER_VERSION: read_data <= clarion_registers_pkg::VERSION_CLARION;
      clarion_registers_pkg::AT_HEADER_NEXT: read_data <= clarion_registers_pkg::STRIDE_BYTES;
      clarion_registers_pkg::AT_HEADER_PORT: read_data <= 32'hffffffff;
      clarion_registers_pkg::AT_CLARION_PORTS: read_data <= PORTS;
      clarion_registers_pkg::AT_CLARION_BUCKETS: read_data <= BUCKETS;
      clarion_registers_pkg::AT_CLARION_QUEUE_BEATS: read_data <= QUEUE_BEATS;
      clarion_registers_pkg::AT_CLARION_CLOCK_HZ: read_data <= CLOCK_HZ;
      clarion_registers_pkg::AT_CLARION_BUILD: read_data <= BUILD;
      clarion_registers_pkg::AT_CLARION_SCRATCH: read_data <= scratch;
      clarion_registers_pkg::AT_CLARION_PROTOCOL: read_data <= {24'h0, protocol};
      clarion_registers_pkg::AT_CLARION_NOW_LOW: read_data <= now[31:0];
      clarion_registers_pkg::AT_CLARION_NOW_HIGH: read_data <= now[63:32];
      clarion_registers_pkg::AT_CLARION_REFUSED: read_data <= refused;
      default: begin
        read_data <= 32'h0;
        read_known <= 1'b0;
      end
    endcase
  end

endmodule
`default_nettype wire
