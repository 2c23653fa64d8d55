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
  localparam logic [31:0] VERSION_EGRESS = 32'h00020000;

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
  localparam logic [31:0] REPLY_WORDS = 32'd112;
  localparam logic [31:0] BEAT_WORDS = 32'd16;

  // Word 0 of a command.
  localparam logic [31:0] OP_CONFIGURE = 32'd1;
  localparam logic [31:0] OP_READ = 32'd2;
  localparam logic [31:0] OP_READ_BUCKET = 32'd3;
  localparam logic [31:0] OP_RESET = 32'd4;

  // How a request ended.
  localparam logic [31:0] STATUS_OK = 32'd0;
  localparam logic [31:0] STATUS_UNKNOWN_OPERATION = 32'd1;
  localparam logic [31:0] STATUS_OUT_OF_RANGE = 32'd2;

  // Command `configure` of `ingress`: word (the low one of two), bits, limit.
  localparam logic [31:0] INGRESS_CONFIGURE_CHECK = 32'd1;
  localparam logic [31:0] INGRESS_CONFIGURE_CHECK_BITS = 32'd1;
  localparam logic [31:0] INGRESS_CONFIGURE_CHECK_LIMIT = 32'h00000001;
  localparam logic [31:0] INGRESS_CONFIGURE_EDGE = 32'd2;
  localparam logic [31:0] INGRESS_CONFIGURE_EDGE_BITS = 32'd1;
  localparam logic [31:0] INGRESS_CONFIGURE_EDGE_LIMIT = 32'h00000001;
  localparam logic [31:0] INGRESS_CONFIGURE_WIRE = 32'd3;
  localparam logic [31:0] INGRESS_CONFIGURE_WIRE_BITS = 32'd1;
  localparam logic [31:0] INGRESS_CONFIGURE_WIRE_LIMIT = 32'h00000001;
  localparam logic [31:0] INGRESS_CONFIGURE_EPOCH = 32'd4;
  localparam logic [31:0] INGRESS_CONFIGURE_EPOCH_BITS = 32'd8;
  localparam logic [31:0] INGRESS_CONFIGURE_EPOCH_LIMIT = 32'h000000ff;

  // Command `read_bucket` of `ingress`: word (the low one of two), bits, limit.
  localparam logic [31:0] INGRESS_READ_BUCKET_BUCKET = 32'd1;
  localparam logic [31:0] INGRESS_READ_BUCKET_BUCKET_BITS = 32'd16;
  localparam logic [31:0] INGRESS_READ_BUCKET_BUCKET_LIMIT = 32'h0000ffff;

  // Reply to `read` of `ingress`: beats, and place as beat * 16 + word.
  localparam logic [31:0] INGRESS_READ_BEATS = 32'd2;
  localparam logic [31:0] INGRESS_READ_RX_PACKETS = 32'd0;
  localparam logic [31:0] INGRESS_READ_RX_BYTES = 32'd2;
  localparam logic [31:0] INGRESS_READ_MALFORMED = 32'd4;
  localparam logic [31:0] INGRESS_READ_ERRORED = 32'd6;
  localparam logic [31:0] INGRESS_READ_OVERFLOW = 32'd8;
  localparam logic [31:0] INGRESS_READ_LOST = 32'd10;
  localparam logic [31:0] INGRESS_READ_LATE = 32'd12;
  localparam logic [31:0] INGRESS_READ_REBASED = 32'd14;
  localparam logic [31:0] INGRESS_READ_CHECK = 32'd16;
  localparam logic [31:0] INGRESS_READ_EDGE = 32'd17;
  localparam logic [31:0] INGRESS_READ_WIRE = 32'd18;
  localparam logic [31:0] INGRESS_READ_EPOCH = 32'd19;

  // Reply to `read_bucket` of `ingress`: beats, and place as beat * 16 + word.
  localparam logic [31:0] INGRESS_READ_BUCKET_BEATS = 32'd1;
  localparam logic [31:0] INGRESS_READ_BUCKET_EXPECTED = 32'd0;
  localparam logic [31:0] INGRESS_READ_BUCKET_TOTAL = 32'd1;
  localparam logic [31:0] INGRESS_READ_BUCKET_EPOCH = 32'd2;
  localparam logic [31:0] INGRESS_READ_BUCKET_FAR = 32'd3;

  // Command `configure` of `egress`: word (the low one of two), bits, limit.
  localparam logic [31:0] EGRESS_CONFIGURE_XCP = 32'd1;
  localparam logic [31:0] EGRESS_CONFIGURE_XCP_BITS = 32'd1;
  localparam logic [31:0] EGRESS_CONFIGURE_XCP_LIMIT = 32'h00000001;
  localparam logic [31:0] EGRESS_CONFIGURE_STAMP = 32'd2;
  localparam logic [31:0] EGRESS_CONFIGURE_STAMP_BITS = 32'd1;
  localparam logic [31:0] EGRESS_CONFIGURE_STAMP_LIMIT = 32'h00000001;
  localparam logic [31:0] EGRESS_CONFIGURE_EPOCH = 32'd3;
  localparam logic [31:0] EGRESS_CONFIGURE_EPOCH_BITS = 32'd8;
  localparam logic [31:0] EGRESS_CONFIGURE_EPOCH_LIMIT = 32'h000000ff;
  localparam logic [31:0] EGRESS_CONFIGURE_CAPACITY = 32'd4;
  localparam logic [31:0] EGRESS_CONFIGURE_CAPACITY_BITS = 32'd64;
  localparam logic [63:0] EGRESS_CONFIGURE_CAPACITY_LIMIT = 64'h0000003fffffffff;
  localparam logic [31:0] EGRESS_CONFIGURE_ALPHA = 32'd6;
  localparam logic [31:0] EGRESS_CONFIGURE_ALPHA_BITS = 32'd18;
  localparam logic [31:0] EGRESS_CONFIGURE_ALPHA_LIMIT = 32'h0003ffff;
  localparam logic [31:0] EGRESS_CONFIGURE_BETA = 32'd7;
  localparam logic [31:0] EGRESS_CONFIGURE_BETA_BITS = 32'd18;
  localparam logic [31:0] EGRESS_CONFIGURE_BETA_LIMIT = 32'h0003ffff;
  localparam logic [31:0] EGRESS_CONFIGURE_GAMMA = 32'd8;
  localparam logic [31:0] EGRESS_CONFIGURE_GAMMA_BITS = 32'd18;
  localparam logic [31:0] EGRESS_CONFIGURE_GAMMA_LIMIT = 32'h0003ffff;
  localparam logic [31:0] EGRESS_CONFIGURE_MIN_INTERVAL = 32'd9;
  localparam logic [31:0] EGRESS_CONFIGURE_MIN_INTERVAL_BITS = 32'd32;
  localparam logic [31:0] EGRESS_CONFIGURE_MIN_INTERVAL_LIMIT = 32'hffffffff;
  localparam logic [31:0] EGRESS_CONFIGURE_MAX_INTERVAL = 32'd10;
  localparam logic [31:0] EGRESS_CONFIGURE_MAX_INTERVAL_BITS = 32'd32;
  localparam logic [31:0] EGRESS_CONFIGURE_MAX_INTERVAL_LIMIT = 32'hffffffff;
  localparam logic [31:0] EGRESS_CONFIGURE_GENERATION = 32'd11;
  localparam logic [31:0] EGRESS_CONFIGURE_GENERATION_BITS = 32'd2;
  localparam logic [31:0] EGRESS_CONFIGURE_GENERATION_LIMIT = 32'h00000002;
  localparam logic [31:0] EGRESS_CONFIGURE_QUEUE_LIMIT = 32'd12;
  localparam logic [31:0] EGRESS_CONFIGURE_QUEUE_LIMIT_BITS = 32'd64;
  localparam logic [63:0] EGRESS_CONFIGURE_QUEUE_LIMIT_LIMIT = 64'h000000ffffffffff;

  // Command `read_bucket` of `egress`: word (the low one of two), bits, limit.
  localparam logic [31:0] EGRESS_READ_BUCKET_BUCKET = 32'd1;
  localparam logic [31:0] EGRESS_READ_BUCKET_BUCKET_BITS = 32'd16;
  localparam logic [31:0] EGRESS_READ_BUCKET_BUCKET_LIMIT = 32'h0000ffff;

  // Reply to `read` of `egress`: beats, and place as beat * 16 + word.
  localparam logic [31:0] EGRESS_READ_BEATS = 32'd7;
  localparam logic [31:0] EGRESS_READ_TX_PACKETS = 32'd0;
  localparam logic [31:0] EGRESS_READ_TX_BYTES = 32'd2;
  localparam logic [31:0] EGRESS_READ_DROP_PACKETS = 32'd4;
  localparam logic [31:0] EGRESS_READ_DROP_BYTES = 32'd6;
  localparam logic [31:0] EGRESS_READ_OVERFLOW = 32'd8;
  localparam logic [31:0] EGRESS_READ_ERRORED = 32'd10;
  localparam logic [31:0] EGRESS_READ_QUEUE_BYTES = 32'd12;
  localparam logic [31:0] EGRESS_READ_QUEUE_BYTE_TICKS = 32'd14;
  localparam logic [31:0] EGRESS_READ_QUEUE_LOST = 32'd16;
  localparam logic [31:0] EGRESS_READ_QUEUE_LATE = 32'd18;
  localparam logic [31:0] EGRESS_READ_QUEUE_REBASED = 32'd20;
  localparam logic [31:0] EGRESS_READ_INPUT = 32'd22;
  localparam logic [31:0] EGRESS_READ_SUM_X = 32'd24;
  localparam logic [31:0] EGRESS_READ_SUM_X_RTT = 32'd26;
  localparam logic [31:0] EGRESS_READ_PERSISTENT_QUEUE = 32'd28;
  localparam logic [31:0] EGRESS_READ_LEAST_QUEUE = 32'd30;
  localparam logic [31:0] EGRESS_READ_INTERVALS = 32'd32;
  localparam logic [31:0] EGRESS_READ_RATE = 32'd34;
  localparam logic [31:0] EGRESS_READ_PHI = 32'd36;
  localparam logic [31:0] EGRESS_READ_INTERVAL_START = 32'd38;
  localparam logic [31:0] EGRESS_READ_WINDOW_START = 32'd40;
  localparam logic [31:0] EGRESS_READ_INTERVAL_INPUT = 32'd42;
  localparam logic [31:0] EGRESS_READ_INTERVAL_SUM_X = 32'd44;
  localparam logic [31:0] EGRESS_READ_INTERVAL_SUM_X_RTT = 32'd46;
  localparam logic [31:0] EGRESS_READ_AVG_RTT = 32'd48;
  localparam logic [31:0] EGRESS_READ_ELAPSED = 32'd49;
  localparam logic [31:0] EGRESS_READ_INTERVAL_QUEUE = 32'd50;
  localparam logic [31:0] EGRESS_READ_INTERVAL_POS = 32'd52;
  localparam logic [31:0] EGRESS_READ_INTERVAL_NEG = 32'd54;
  localparam logic [31:0] EGRESS_READ_INTERVAL_CP = 32'd56;
  localparam logic [31:0] EGRESS_READ_INTERVAL_CP_SHIFT = 32'd57;
  localparam logic [31:0] EGRESS_READ_INTERVAL_CN = 32'd58;
  localparam logic [31:0] EGRESS_READ_INTERVAL_CN_SHIFT = 32'd59;
  localparam logic [31:0] EGRESS_READ_INTERVAL_STARTED = 32'd60;
  localparam logic [31:0] EGRESS_READ_WINDOW_STARTED = 32'd61;
  localparam logic [31:0] EGRESS_READ_XCP = 32'd64;
  localparam logic [31:0] EGRESS_READ_STAMP = 32'd65;
  localparam logic [31:0] EGRESS_READ_EPOCH = 32'd66;
  localparam logic [31:0] EGRESS_READ_CAPACITY = 32'd67;
  localparam logic [31:0] EGRESS_READ_ALPHA = 32'd69;
  localparam logic [31:0] EGRESS_READ_BETA = 32'd70;
  localparam logic [31:0] EGRESS_READ_GAMMA = 32'd71;
  localparam logic [31:0] EGRESS_READ_MIN_INTERVAL = 32'd72;
  localparam logic [31:0] EGRESS_READ_MAX_INTERVAL = 32'd73;
  localparam logic [31:0] EGRESS_READ_GENERATION = 32'd74;
  localparam logic [31:0] EGRESS_READ_QUEUE_LIMIT = 32'd75;
  localparam logic [31:0] EGRESS_READ_RUNNING_EPOCH = 32'd77;
  localparam logic [31:0] EGRESS_READ_POS = 32'd80;
  localparam logic [31:0] EGRESS_READ_NEG = 32'd82;
  localparam logic [31:0] EGRESS_READ_CP = 32'd84;
  localparam logic [31:0] EGRESS_READ_CP_SHIFT = 32'd85;
  localparam logic [31:0] EGRESS_READ_CN = 32'd86;
  localparam logic [31:0] EGRESS_READ_CN_SHIFT = 32'd87;
  localparam logic [31:0] EGRESS_READ_CARRY = 32'd88;
  localparam logic [31:0] EGRESS_READ_BANK = 32'd89;
  localparam logic [31:0] EGRESS_READ_CREDIT = 32'd91;
  localparam logic [31:0] EGRESS_READ_FAIR = 32'd96;
  localparam logic [31:0] EGRESS_READ_FAIR_SHIFT = 32'd97;
  localparam logic [31:0] EGRESS_READ_LIFT = 32'd98;
  localparam logic [31:0] EGRESS_READ_LIFT_SHIFT = 32'd99;
  localparam logic [31:0] EGRESS_READ_GROWTH = 32'd100;
  localparam logic [31:0] EGRESS_READ_GROWTH_SHIFT = 32'd101;
  localparam logic [31:0] EGRESS_READ_OWN_INPUT = 32'd102;
  localparam logic [31:0] EGRESS_READ_OWN_SUM_X = 32'd104;
  localparam logic [31:0] EGRESS_READ_POOR_SUM_X = 32'd106;
  localparam logic [31:0] EGRESS_READ_LIMITED = 32'd108;
  localparam logic [31:0] EGRESS_READ_MAX_RTT = 32'd110;

  // Reply to `read_bucket` of `egress`: beats, and place as beat * 16 + word.
  localparam logic [31:0] EGRESS_READ_BUCKET_BEATS = 32'd1;
  localparam logic [31:0] EGRESS_READ_BUCKET_QUEUE_NEXT = 32'd0;
  localparam logic [31:0] EGRESS_READ_BUCKET_QUEUE_EXPECTED = 32'd1;
  localparam logic [31:0] EGRESS_READ_BUCKET_QUEUE_TOTAL = 32'd2;
  localparam logic [31:0] EGRESS_READ_BUCKET_QUEUE_EPOCH = 32'd3;
  localparam logic [31:0] EGRESS_READ_BUCKET_LINK_NEXT = 32'd4;
  localparam logic [31:0] EGRESS_READ_BUCKET_QUEUE_FAR = 32'd5;

endpackage
