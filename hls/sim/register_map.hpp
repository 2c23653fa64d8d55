// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
#pragma once

namespace clarion {
namespace registers {

// The window, and the distance of its blocks, bytes.
constexpr unsigned WINDOW_BYTES = 0x10000;
constexpr unsigned STRIDE_BYTES = 0x1000;

// Every block: offsets of its registers, bytes.
constexpr unsigned AT_HEADER_TYPE = 0x0;
constexpr unsigned AT_HEADER_VERSION = 0x4;
constexpr unsigned AT_HEADER_NEXT = 0x8;
constexpr unsigned AT_HEADER_PORT = 0xc;

// What TYPE and VERSION hold.
constexpr unsigned TYPE_CLARION = 0x434c4152;
constexpr unsigned TYPE_INGRESS = 0x434c4149;
constexpr unsigned TYPE_EGRESS = 0x434c4145;
constexpr unsigned VERSION_CLARION = 0x10000;
constexpr unsigned VERSION_INGRESS = 0x20000;
constexpr unsigned VERSION_EGRESS = 0x20000;

// Block `clarion`: offsets, values after a reset, bits that can be written.
constexpr unsigned AT_CLARION_PORTS = 0x10;
constexpr unsigned AT_CLARION_BUCKETS = 0x14;
constexpr unsigned AT_CLARION_QUEUE_BEATS = 0x18;
constexpr unsigned AT_CLARION_CLOCK_HZ = 0x1c;
constexpr unsigned AT_CLARION_BUILD = 0x20;
constexpr unsigned AT_CLARION_SCRATCH = 0x24;
constexpr unsigned AT_CLARION_PROTOCOL = 0x28;
constexpr unsigned AT_CLARION_NOW_LOW = 0x2c;
constexpr unsigned AT_CLARION_NOW_HIGH = 0x30;
constexpr unsigned AT_CLARION_REFUSED = 0x34;
constexpr unsigned RESET_CLARION_SCRATCH = 0;
constexpr unsigned MASK_CLARION_SCRATCH = 0xffffffffu;
constexpr unsigned RESET_CLARION_PROTOCOL = 253;
constexpr unsigned MASK_CLARION_PROTOCOL = 0xff;

// Blocks with a mailbox: offsets, values after a reset, bits that can be written, sizes.
constexpr unsigned AT_MAILBOX_REQUEST = 0x10;
constexpr unsigned AT_MAILBOX_DONE = 0x14;
constexpr unsigned AT_MAILBOX_STATUS = 0x18;
constexpr unsigned RESET_MAILBOX_REQUEST = 0;
constexpr unsigned MASK_MAILBOX_REQUEST = 0xffffffffu;
constexpr unsigned AT_MAILBOX_COMMAND = 0x40;
constexpr unsigned AT_MAILBOX_REPLY = 0x100;
constexpr unsigned COMMAND_WORDS = 16;
constexpr unsigned REPLY_WORDS = 112;
constexpr unsigned BEAT_WORDS = 16;

// Word 0 of a command.
constexpr unsigned OP_CONFIGURE = 1;
constexpr unsigned OP_READ = 2;
constexpr unsigned OP_READ_BUCKET = 3;
constexpr unsigned OP_RESET = 4;

// How a request ended.
constexpr unsigned STATUS_OK = 0;
constexpr unsigned STATUS_UNKNOWN_OPERATION = 1;
constexpr unsigned STATUS_OUT_OF_RANGE = 2;

// Command `configure` of `ingress`: word (the low one of two), bits, limit.
constexpr unsigned INGRESS_CONFIGURE_CHECK = 1;
constexpr unsigned INGRESS_CONFIGURE_CHECK_BITS = 1;
constexpr unsigned INGRESS_CONFIGURE_CHECK_LIMIT = 0x1;
constexpr unsigned INGRESS_CONFIGURE_EDGE = 2;
constexpr unsigned INGRESS_CONFIGURE_EDGE_BITS = 1;
constexpr unsigned INGRESS_CONFIGURE_EDGE_LIMIT = 0x1;
constexpr unsigned INGRESS_CONFIGURE_WIRE = 3;
constexpr unsigned INGRESS_CONFIGURE_WIRE_BITS = 1;
constexpr unsigned INGRESS_CONFIGURE_WIRE_LIMIT = 0x1;
constexpr unsigned INGRESS_CONFIGURE_EPOCH = 4;
constexpr unsigned INGRESS_CONFIGURE_EPOCH_BITS = 8;
constexpr unsigned INGRESS_CONFIGURE_EPOCH_LIMIT = 0xff;

// Command `read_bucket` of `ingress`: word (the low one of two), bits, limit.
constexpr unsigned INGRESS_READ_BUCKET_BUCKET = 1;
constexpr unsigned INGRESS_READ_BUCKET_BUCKET_BITS = 16;
constexpr unsigned INGRESS_READ_BUCKET_BUCKET_LIMIT = 0xffff;

// Reply to `read` of `ingress`: beats, and place as beat * 16 + word.
constexpr unsigned INGRESS_READ_BEATS = 2;
constexpr unsigned INGRESS_READ_RX_PACKETS = 0;
constexpr unsigned INGRESS_READ_RX_BYTES = 2;
constexpr unsigned INGRESS_READ_MALFORMED = 4;
constexpr unsigned INGRESS_READ_ERRORED = 6;
constexpr unsigned INGRESS_READ_OVERFLOW = 8;
constexpr unsigned INGRESS_READ_LOST = 10;
constexpr unsigned INGRESS_READ_LATE = 12;
constexpr unsigned INGRESS_READ_REBASED = 14;
constexpr unsigned INGRESS_READ_CHECK = 16;
constexpr unsigned INGRESS_READ_EDGE = 17;
constexpr unsigned INGRESS_READ_WIRE = 18;
constexpr unsigned INGRESS_READ_EPOCH = 19;

// Reply to `read_bucket` of `ingress`: beats, and place as beat * 16 + word.
constexpr unsigned INGRESS_READ_BUCKET_BEATS = 1;
constexpr unsigned INGRESS_READ_BUCKET_EXPECTED = 0;
constexpr unsigned INGRESS_READ_BUCKET_TOTAL = 1;
constexpr unsigned INGRESS_READ_BUCKET_EPOCH = 2;
constexpr unsigned INGRESS_READ_BUCKET_FAR = 3;

// Command `configure` of `egress`: word (the low one of two), bits, limit.
constexpr unsigned EGRESS_CONFIGURE_XCP = 1;
constexpr unsigned EGRESS_CONFIGURE_XCP_BITS = 1;
constexpr unsigned EGRESS_CONFIGURE_XCP_LIMIT = 0x1;
constexpr unsigned EGRESS_CONFIGURE_STAMP = 2;
constexpr unsigned EGRESS_CONFIGURE_STAMP_BITS = 1;
constexpr unsigned EGRESS_CONFIGURE_STAMP_LIMIT = 0x1;
constexpr unsigned EGRESS_CONFIGURE_EPOCH = 3;
constexpr unsigned EGRESS_CONFIGURE_EPOCH_BITS = 8;
constexpr unsigned EGRESS_CONFIGURE_EPOCH_LIMIT = 0xff;
constexpr unsigned EGRESS_CONFIGURE_CAPACITY = 4;
constexpr unsigned EGRESS_CONFIGURE_CAPACITY_BITS = 64;
constexpr unsigned long long EGRESS_CONFIGURE_CAPACITY_LIMIT = 0x3fffffffffu;
constexpr unsigned EGRESS_CONFIGURE_ALPHA = 6;
constexpr unsigned EGRESS_CONFIGURE_ALPHA_BITS = 18;
constexpr unsigned EGRESS_CONFIGURE_ALPHA_LIMIT = 0x3ffff;
constexpr unsigned EGRESS_CONFIGURE_BETA = 7;
constexpr unsigned EGRESS_CONFIGURE_BETA_BITS = 18;
constexpr unsigned EGRESS_CONFIGURE_BETA_LIMIT = 0x3ffff;
constexpr unsigned EGRESS_CONFIGURE_GAMMA = 8;
constexpr unsigned EGRESS_CONFIGURE_GAMMA_BITS = 18;
constexpr unsigned EGRESS_CONFIGURE_GAMMA_LIMIT = 0x3ffff;
constexpr unsigned EGRESS_CONFIGURE_MIN_INTERVAL = 9;
constexpr unsigned EGRESS_CONFIGURE_MIN_INTERVAL_BITS = 32;
constexpr unsigned EGRESS_CONFIGURE_MIN_INTERVAL_LIMIT = 0xffffffffu;
constexpr unsigned EGRESS_CONFIGURE_MAX_INTERVAL = 10;
constexpr unsigned EGRESS_CONFIGURE_MAX_INTERVAL_BITS = 32;
constexpr unsigned EGRESS_CONFIGURE_MAX_INTERVAL_LIMIT = 0xffffffffu;
constexpr unsigned EGRESS_CONFIGURE_GENERATION = 11;
constexpr unsigned EGRESS_CONFIGURE_GENERATION_BITS = 2;
constexpr unsigned EGRESS_CONFIGURE_GENERATION_LIMIT = 0x2;
constexpr unsigned EGRESS_CONFIGURE_QUEUE_LIMIT = 12;
constexpr unsigned EGRESS_CONFIGURE_QUEUE_LIMIT_BITS = 64;
constexpr unsigned long long EGRESS_CONFIGURE_QUEUE_LIMIT_LIMIT = 0xffffffffffu;

// Command `read_bucket` of `egress`: word (the low one of two), bits, limit.
constexpr unsigned EGRESS_READ_BUCKET_BUCKET = 1;
constexpr unsigned EGRESS_READ_BUCKET_BUCKET_BITS = 16;
constexpr unsigned EGRESS_READ_BUCKET_BUCKET_LIMIT = 0xffff;

// Reply to `read` of `egress`: beats, and place as beat * 16 + word.
constexpr unsigned EGRESS_READ_BEATS = 7;
constexpr unsigned EGRESS_READ_TX_PACKETS = 0;
constexpr unsigned EGRESS_READ_TX_BYTES = 2;
constexpr unsigned EGRESS_READ_DROP_PACKETS = 4;
constexpr unsigned EGRESS_READ_DROP_BYTES = 6;
constexpr unsigned EGRESS_READ_OVERFLOW = 8;
constexpr unsigned EGRESS_READ_ERRORED = 10;
constexpr unsigned EGRESS_READ_QUEUE_BYTES = 12;
constexpr unsigned EGRESS_READ_QUEUE_BYTE_TICKS = 14;
constexpr unsigned EGRESS_READ_QUEUE_LOST = 16;
constexpr unsigned EGRESS_READ_QUEUE_LATE = 18;
constexpr unsigned EGRESS_READ_QUEUE_REBASED = 20;
constexpr unsigned EGRESS_READ_INPUT = 22;
constexpr unsigned EGRESS_READ_SUM_X = 24;
constexpr unsigned EGRESS_READ_SUM_X_RTT = 26;
constexpr unsigned EGRESS_READ_PERSISTENT_QUEUE = 28;
constexpr unsigned EGRESS_READ_LEAST_QUEUE = 30;
constexpr unsigned EGRESS_READ_INTERVALS = 32;
constexpr unsigned EGRESS_READ_RATE = 34;
constexpr unsigned EGRESS_READ_PHI = 36;
constexpr unsigned EGRESS_READ_INTERVAL_START = 38;
constexpr unsigned EGRESS_READ_WINDOW_START = 40;
constexpr unsigned EGRESS_READ_INTERVAL_INPUT = 42;
constexpr unsigned EGRESS_READ_INTERVAL_SUM_X = 44;
constexpr unsigned EGRESS_READ_INTERVAL_SUM_X_RTT = 46;
constexpr unsigned EGRESS_READ_AVG_RTT = 48;
constexpr unsigned EGRESS_READ_ELAPSED = 49;
constexpr unsigned EGRESS_READ_INTERVAL_QUEUE = 50;
constexpr unsigned EGRESS_READ_INTERVAL_POS = 52;
constexpr unsigned EGRESS_READ_INTERVAL_NEG = 54;
constexpr unsigned EGRESS_READ_INTERVAL_CP = 56;
constexpr unsigned EGRESS_READ_INTERVAL_CP_SHIFT = 57;
constexpr unsigned EGRESS_READ_INTERVAL_CN = 58;
constexpr unsigned EGRESS_READ_INTERVAL_CN_SHIFT = 59;
constexpr unsigned EGRESS_READ_INTERVAL_STARTED = 60;
constexpr unsigned EGRESS_READ_WINDOW_STARTED = 61;
constexpr unsigned EGRESS_READ_XCP = 64;
constexpr unsigned EGRESS_READ_STAMP = 65;
constexpr unsigned EGRESS_READ_EPOCH = 66;
constexpr unsigned EGRESS_READ_CAPACITY = 67;
constexpr unsigned EGRESS_READ_ALPHA = 69;
constexpr unsigned EGRESS_READ_BETA = 70;
constexpr unsigned EGRESS_READ_GAMMA = 71;
constexpr unsigned EGRESS_READ_MIN_INTERVAL = 72;
constexpr unsigned EGRESS_READ_MAX_INTERVAL = 73;
constexpr unsigned EGRESS_READ_GENERATION = 74;
constexpr unsigned EGRESS_READ_QUEUE_LIMIT = 75;
constexpr unsigned EGRESS_READ_RUNNING_EPOCH = 77;
constexpr unsigned EGRESS_READ_POS = 80;
constexpr unsigned EGRESS_READ_NEG = 82;
constexpr unsigned EGRESS_READ_CP = 84;
constexpr unsigned EGRESS_READ_CP_SHIFT = 85;
constexpr unsigned EGRESS_READ_CN = 86;
constexpr unsigned EGRESS_READ_CN_SHIFT = 87;
constexpr unsigned EGRESS_READ_CARRY = 88;
constexpr unsigned EGRESS_READ_BANK = 89;
constexpr unsigned EGRESS_READ_CREDIT = 91;
constexpr unsigned EGRESS_READ_FAIR = 96;
constexpr unsigned EGRESS_READ_FAIR_SHIFT = 97;
constexpr unsigned EGRESS_READ_LIFT = 98;
constexpr unsigned EGRESS_READ_LIFT_SHIFT = 99;
constexpr unsigned EGRESS_READ_GROWTH = 100;
constexpr unsigned EGRESS_READ_GROWTH_SHIFT = 101;
constexpr unsigned EGRESS_READ_OWN_INPUT = 102;
constexpr unsigned EGRESS_READ_OWN_SUM_X = 104;
constexpr unsigned EGRESS_READ_POOR_SUM_X = 106;
constexpr unsigned EGRESS_READ_LIMITED = 108;
constexpr unsigned EGRESS_READ_MAX_RTT = 110;

// Reply to `read_bucket` of `egress`: beats, and place as beat * 16 + word.
constexpr unsigned EGRESS_READ_BUCKET_BEATS = 1;
constexpr unsigned EGRESS_READ_BUCKET_QUEUE_NEXT = 0;
constexpr unsigned EGRESS_READ_BUCKET_QUEUE_EXPECTED = 1;
constexpr unsigned EGRESS_READ_BUCKET_QUEUE_TOTAL = 2;
constexpr unsigned EGRESS_READ_BUCKET_QUEUE_EPOCH = 3;
constexpr unsigned EGRESS_READ_BUCKET_LINK_NEXT = 4;
constexpr unsigned EGRESS_READ_BUCKET_QUEUE_FAR = 5;

}  // namespace registers
}  // namespace clarion
