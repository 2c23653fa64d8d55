// SPDX-License-Identifier: Apache-2.0
// In the place of switch/registers.cpp: the block's state is in its own registers, not in the P4 program's
// arrays.
#include "error.hpp"
#include "registers.hpp"

namespace clarion::emu {

const RegisterArray* find_register(const std::string&) {
  throw ConfigError("register",
                    "hls-sim has none here; the block's are in its register window: clarion nic --bar FILE");
}

std::uint64_t register_limit(const RegisterArray&) { return 0; }

}  // namespace clarion::emu
