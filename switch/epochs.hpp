// SPDX-License-Identifier: Apache-2.0
// Epochs, as in the P4 program: an entry with another epoch than that of the running state starts it from
// nothing; taking an entry away and putting it back with the same epoch does not.
#pragma once

#include <array>
#include <cstdint>

#include "core/data_plane.hpp"
#include "port_entries.hpp"

namespace clarion::emu {

using CorePort = DataPlane<1>::PortState;

class Epochs {
 public:
  static constexpr unsigned BUCKETS = DEFAULT_BUCKETS;

  // The entries that follow from now on. To be called before the core adopts them.
  void enter(CorePort& core, const PortEntries& entries) {
    xcp_running_ = xcp_running(core);
    if (entries.xcp) {
      xcp_entry_ = entries.xcp->epoch;
      core.xcp_begins = xcp_entry_ != xcp_running_;
    }
    if (entries.tag && entries.tag->check) check_with(core, entries.tag->epoch);
  }

  // Controllers and checks start from nothing, whatever the next epoch is.
  void forget(CorePort& core) {
    xcp_entry_ = xcp_running_ = check_ = 0;
    core.xcp_begins = false;
    core.wire_check.restart();
    slots_.fill(0);
  }

  // Of the controllers' state. The core begins with a packet and says so by taking the mark away.
  std::uint8_t xcp_running(const CorePort& core) const {
    return core.config.xcp.enabled && !core.xcp_begins ? xcp_entry_ : xcp_running_;
  }

  // Of a bucket of the wire check.
  std::uint8_t slot(const CorePort& core, std::uint16_t bucket) const {
    return core.wire_check.based(bucket) ? check_ : slots_[bucket];
  }

  // One that makes the controllers, or the check, begin anew.
  std::uint8_t fresh_xcp() const {
    const std::uint8_t next = next_epoch(xcp_entry_);
    return next == xcp_running_ ? next_epoch(next) : next;
  }
  std::uint8_t fresh_check() const { return next_epoch(check_); }

 private:
  // The core knows of a bucket only whether it has a base; which epoch the others are of is kept here.
  void check_with(CorePort& core, std::uint8_t epoch) {
    if (epoch == check_) return;
    for (unsigned i = 0; i < BUCKETS; ++i) {
      const auto bucket = static_cast<std::uint16_t>(i);
      slots_[bucket] = slot(core, bucket);
      core.wire_check.set_based(bucket, slots_[bucket] == epoch);
    }
    check_ = epoch;
  }

  std::uint8_t xcp_entry_ = 0;    // of the entry, or of the last one
  std::uint8_t xcp_running_ = 0;  // of the controllers' state, before the last entry
  std::uint8_t check_ = 0;        // of the last entry with `check`
  std::array<std::uint8_t, BUCKETS> slots_{};
};

}  // namespace clarion::emu
