// SPDX-License-Identifier: Apache-2.0
// Learned MAC addresses of one switch: open addressing, fixed size, no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "clock.hpp"

namespace clarion::emu {

class ForwardingTable {
 public:
  static constexpr std::size_t SLOTS = 4096;
  static constexpr std::size_t PROBES = 16;  // an address lives within this distance of its hash
  static constexpr Nanoseconds AGEING_NS = 300 * SECOND_NS;  // IEEE 802.1D default

  static bool is_group(const std::uint8_t* mac) { return (mac[0] & 1) != 0; }

  // Notes that `mac` is behind `port`. In a full neighbourhood the entry seen longest ago gives way.
  void learn(const std::uint8_t* mac, std::uint16_t port, Nanoseconds now) {
    if (is_group(mac)) return;
    const std::uint64_t key = key_of(mac);
    Entry* oldest = nullptr;
    for (std::size_t i = 0; i < PROBES; ++i) {
      Entry& entry = entries_[(hash(key) + i) % SLOTS];
      if (entry.key == key) {
        entry = {key, now, port};
        return;
      }
      if (oldest == nullptr || entry.seen < oldest->seen) oldest = &entry;
    }
    *oldest = {key, now, port};
  }

  // The port behind which `mac` was seen within the ageing time, or nothing: flood.
  std::optional<std::uint16_t> find(const std::uint8_t* mac, Nanoseconds now) const {
    const std::uint64_t key = key_of(mac);
    for (std::size_t i = 0; i < PROBES; ++i) {
      const Entry& entry = entries_[(hash(key) + i) % SLOTS];
      if (entry.key == key && now - entry.seen <= AGEING_NS) return entry.port;
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;  // 0: empty
    Nanoseconds seen = 0;
    std::uint16_t port = 0;
  };

  // Bit 48 is set so that no address, not even all zeros, has the key of an empty entry.
  static std::uint64_t key_of(const std::uint8_t* mac) {
    std::uint64_t key = 1;
    for (int i = 0; i < 6; ++i) key = key << 8 | mac[i];
    return key;
  }

  static std::size_t hash(std::uint64_t key) {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15 >> 40);
  }

  std::array<Entry, SLOTS> entries_{};
};

}  // namespace clarion::emu
