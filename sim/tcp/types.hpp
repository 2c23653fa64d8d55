// SPDX-License-Identifier: Apache-2.0
// Words that all of the simulated TCP uses, in Linux's sense.
#pragma once

#include <cstdint>

namespace clarion::sim {

using Microseconds = std::uint64_t;  // since the simulation began; TCP's clock never shows 0

// Data is counted in segments of one MSS; only the last of a transfer may be shorter. Numbers do not wrap.
using SegmentNumber = std::uint64_t;

constexpr std::uint32_t NO_RTT = 0xffffffff;
constexpr std::uint32_t INFINITE_SSTHRESH = 0x7fffffff;

// tcp_ca_state of include/uapi/linux/tcp.h. The order matters: from `recovery` on data is resent.
enum class CaState : std::uint8_t { open, disorder, cwr, recovery, loss };

// Half-open, as SACK blocks are (RFC 2018).
struct SegmentRange {
  SegmentNumber begin = 0;
  SegmentNumber end = 0;

  bool empty() const { return begin >= end; }
  bool operator==(const SegmentRange& other) const { return begin == other.begin && end == other.end; }
};

}  // namespace clarion::sim
