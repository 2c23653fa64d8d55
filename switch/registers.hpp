// SPDX-License-Identifier: Apache-2.0
// The register arrays of the P4 program, as views of the core's state: one cell per port, or per port and
// bucket at number * 4096 + bucket.
#pragma once

#include <cstdint>

namespace clarion::emu {

struct Port;

struct RegisterArray {
  const char* name;
  unsigned bits;
  bool per_bucket;
  std::uint64_t (*read)(Port& port, unsigned bucket);
  void (*write)(Port& port, unsigned bucket, std::uint64_t value);  // null: the switch keeps it itself
};

// The largest value that a cell may hold.
std::uint64_t register_limit(const RegisterArray& array);

}  // namespace clarion::emu
