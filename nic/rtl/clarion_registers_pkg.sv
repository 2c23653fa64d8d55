// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
package clarion_registers_pkg;
  // verilator lint_off UNUSEDPARAM

  // The window, and the distance of its blocks, bytes.
  localparam logic [31:0] WINDOW_BYTES = 32'h00010000;
  localparam logic [31:0] STRIDE_BYTES = 32'h00001000;

  // Every block: offsets of its registers, bytes.
  localparam logic [31:0] AT_HEADER_TYPE = 32'h00000000;
  localparam logic [31:0] AT_HEADER_VERSION = 32'h00000004;
  localparam logic [31:0] AT_HEADER_NEXT = 32'h00000008;
  localparam logic [31:0] AT_HEADER_PORT = 32'h0000000c;

  // What TYPE and VERSION hold.
  localparam logic [31:0] TYPE_CLARION = 32'h434c4152;
  localparam logic [31:0] TYPE_INGRESS = 32'h434c4149;
  localparam logic [31:0] TYPE_EGRESS = 32'h434c4145;
  localparam logic [31:0] VERSION_CLARION = 32'h00010000;
  localparam logic [31:0] VERSION_INGRESS = 32'h00020000;
  localparam logic [31:0] VERSION_EGRESS = 32'h00010001;

  // Block `clarion`: offsets, values after a reset, bits that can be written.
  localparam logic [31:0] AT_CLARION_PORTS = 32'h00000010;
  localparam logic [31:0] AT_CLARION_BUCKETS = 32'h00000014;
  localparam logic [31:0] AT_CLARION_QUEUE_BEATS = 32'h00000018;
  localparam logic [31:0] AT_CLARION_CLOCK_HZ = 32'h0000001c;
  localparam logic [31:0] AT_CLARION_BUILD = 32'h00000020;
  localparam logic [31:0] AT_CLARION_SCRATCH = 32'h00000024;
  localparam logic [31:0] AT_CLARION_PROTOCOL = 32'h00000028;
  localparam logic [31:0] AT_CLARION_NOW_LOW = 32'h0000002c;
  localparam logic [31:0] AT_CLARION_NOW_HIGH = 32'h00000030;
  localparam logic [31:0] AT_CLARION_REFUSED = 32'h00000034;
  localparam logic [31:0] RESET_CLARION_SCRATCH = 32'd0;
  localparam logic [31:0] MASK_CLARION_SCRATCH = 32'hffffffff;
  localparam logic [31:0] RESET_CLARION_PROTOCOL = 32'd253;
  localparam logic [31:0] MASK_CLARION_PROTOCOL = 32'h000000ff;

  // Blocks with a mailbox: offsets, values after a reset, bits that can be written, sizes.
  localparam logic [31:0] AT_MAILBOX_REQUEST = 32'h00000010;
  localparam logic [31:0] AT_MAILBOX_DONE = 32'h00000014;
  localparam logic [31:0] AT_MAILBOX_STATUS = 32'h00000018;
  localparam logic [31:0] RESET_MAILBOX_REQUEST = 32'd0;
  localparam logic [31:0] MASK_MAILBOX_REQUEST = 32'hffffffff;
  localparam logic [31:0] AT_MAILBOX_COMMAND = 32'h00000040;
  localparam logic [31:0] AT_MAILBOX_REPLY = 32'h00000100;
  localparam logic [31:0] COMMAND_WORDS = 32'd16;
  localparam logic [31:0] REPLY_WORDS = 32'd96;

endpackage
