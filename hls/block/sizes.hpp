// SPDX-License-Identifier: Apache-2.0
// Build-time sizes of the block. docs/fpga.md has the memory that each costs.
#pragma once

#ifndef CLARION_BUCKETS
#define CLARION_BUCKETS 4096
#endif
#ifndef CLARION_QUEUE_BEATS
#define CLARION_QUEUE_BEATS 4096
#endif

namespace clarion::block {

constexpr unsigned PORTS = 2;
constexpr unsigned BUCKETS = CLARION_BUCKETS;          // per port, a power of two
constexpr unsigned QUEUE_BEATS = CLARION_QUEUE_BEATS;  // packet memory of an egress queue: 256 KiB by default
constexpr unsigned RECEIVE_BEATS = 512;  // packet memory of an ingress: three of the longest frames

// Packets that may wait for a decision while the divisions of a control interval run beside them; a packet
// comes in every clock at worst, and the divisions take fewer clocks than this.
constexpr unsigned DECISION_DEPTH = 128;

static_assert(BUCKETS >= 2 && BUCKETS <= 65536 && (BUCKETS & (BUCKETS - 1)) == 0,
              "CLARION_BUCKETS: a power of two from 2 to 65536");
static_assert(QUEUE_BEATS >= 256 && QUEUE_BEATS <= 65536 && (QUEUE_BEATS & (QUEUE_BEATS - 1)) == 0,
              "CLARION_QUEUE_BEATS: a power of two from 256 to 65536");

}  // namespace clarion::block
