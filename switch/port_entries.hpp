// SPDX-License-Identifier: Apache-2.0
// What a port does, in the data plane's own integers: the same as the entries of the P4 program's port
// tables. They come from the configuration, from `set`, or from a controller.
#pragma once

#include <cstdint>
#include <optional>

#include "core/config.hpp"
#include "options.hpp"

namespace clarion::emu {

constexpr std::uint8_t LAST_EPOCH = 255;  // epochs run from 1 to 255 and again from 1; 0: never started

inline std::uint8_t next_epoch(std::uint8_t epoch) {
  return epoch == LAST_EPOCH ? std::uint8_t{1} : static_cast<std::uint8_t>(epoch + 1);
}

struct XcpEntry {
  XcpConfig config;  // `enabled` is true
  std::uint8_t epoch = 1;
};

struct TagEntry {
  bool check = false;
  bool edge = false;
  bool wire = false;  // declared
  std::uint8_t epoch = 1;
};

struct PortEntries {
  std::optional<XcpEntry> xcp;
  std::optional<TagEntry> tag;
  bool stamp = false;
  std::optional<std::uint64_t> queue_limit_bytes;  // none: that of the options
};

// Whether the port is to measure what its link carries, and to hand that out: its capacity is 0.
inline bool measures(const PortEntries& entries) {
  return entries.xcp && entries.xcp->config.capacity_bytes_per_s == 0;
}

// The core's configuration for these entries.
inline PortConfig core_config(const PortEntries& entries) {
  PortConfig config;
  if (entries.xcp) config.xcp = entries.xcp->config;
  if (entries.tag) {
    config.tag.check = entries.tag->check;
    config.tag.edge = entries.tag->edge;
    config.tag.wire = entries.tag->wire;
  }
  config.tag.stamp = entries.stamp;
  return config;
}

}  // namespace clarion::emu
