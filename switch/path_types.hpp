// SPDX-License-Identifier: Apache-2.0
// Types of the interface between a port and its path (software core or FPGA block).
#pragma once

#include <cstdint>

#include "core/header.hpp"
#include "core/sequence_check.hpp"
#include "core/xcp_interval.hpp"

namespace clarion::emu {

struct Incoming {
  const std::uint8_t* frame;
  std::uint32_t length;
  Meta meta;
};

enum class Admission {
  taken,
  dropped,
  no_memory,  // dropped for want of packet memory, below the queue limit
};

// Counters since start, and the report of the last control interval.
struct PortTelemetry {
  std::uint64_t malformed = 0;
  SequenceCounters wire;
  SequenceCounters queue;
  IntervalReport interval;
};

}  // namespace clarion::emu
