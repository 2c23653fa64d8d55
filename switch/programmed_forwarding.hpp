// SPDX-License-Identifier: Apache-2.0
// Where frames go when a controller says so: ports by address, and a set of ports for all other addresses.
// Without either the switch learns.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace clarion::emu {

struct Port;

constexpr std::uint16_t MAX_PORT_NUMBER = 63;  // ports 0 to 63, as in the P4 program
constexpr std::uint16_t CPU_PORT = 63;         // the controller, unless a port has that number

// Null stands for the controller's port.
struct ProgrammedForwarding {
  std::unordered_map<std::uint64_t, Port*> addresses;  // by address as a number
  std::optional<std::vector<Port*>> flood;             // none: no group, unknown addresses are dropped

  bool active() const { return flood || !addresses.empty(); }

  static std::uint64_t key_of(const std::uint8_t* mac) {
    std::uint64_t key = 0;
    for (int i = 0; i < 6; ++i) key = key << 8 | mac[i];
    return key;
  }
};

}  // namespace clarion::emu
