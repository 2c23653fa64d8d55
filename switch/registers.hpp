// SPDX-License-Identifier: Apache-2.0
// A register array of the P4 program, as a view of a port's state: one cell per port, or per port and bucket
// at number * 4096 + bucket.
#pragma once

#include <cstdint>

namespace clarion::emu {

struct Port;

struct RegisterArray {
  const char* name;
  bool per_bucket;
  std::uint64_t (*read)(const Port& port, std::uint16_t bucket);  // bucket 0 unless per_bucket
};

}  // namespace clarion::emu
