// SPDX-License-Identifier: Apache-2.0
// The counter arrays of the P4 program, one cell per port. A controller may set a cell; the statistics go on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "port.hpp"

namespace clarion::emu {

struct CounterArray {
  const char* name;
  bool counts_bytes;
  CounterBase (*read)(const Port& port);  // since start
};

const std::vector<CounterArray>& counter_arrays();

// The array's position, or counter_arrays().size().
std::size_t find_counter(const std::string& name);

CounterBase read_counter(const Port& port, std::size_t array);
void write_counter(Port& port, std::size_t array, CounterBase value);

}  // namespace clarion::emu
