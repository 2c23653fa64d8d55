// SPDX-License-Identifier: Apache-2.0
// The counter arrays of the P4 program, one cell per port. They count since the last reset, the statistics
// since start.
#pragma once

#include <array>
#include <cstddef>

#include "port.hpp"

namespace clarion::emu {

struct CounterArray {
  const char* name;
  CounterValue (*since_start)(const Port& port);
};

extern const std::array<CounterArray, COUNTER_ARRAYS> COUNTERS;

CounterValue read_counter(const Port& port, std::size_t array);
void reset_counters(Port& port);

}  // namespace clarion::emu
