// SPDX-License-Identifier: Apache-2.0
// What passes between a port and its path, whichever that is.
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
  no_memory,  // dropped too, because packet memory, not the limit, had no room
};

// Counted since start, and of the last control interval.
struct PortTelemetry {
  std::uint64_t malformed = 0;
  SequenceCounters wire;
  SequenceCounters queue;
  IntervalReport interval;
};

}  // namespace clarion::emu
