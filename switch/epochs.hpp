// SPDX-License-Identifier: Apache-2.0
// Epochs, as in the P4 program: an entry with another epoch than that of the running state starts it from
// nothing; taking an entry away and putting it back with the same epoch does not.
#pragma once

#include <array>
#include <cstdint>

#include "core/data_plane.hpp"
#include "core/state_access.hpp"
#include "port_entries.hpp"

namespace clarion::emu {

using CorePort = DataPlane<1>::Port;

class Epochs {
 public:
  static constexpr unsigned kBuckets = DEFAULT_BUCKETS;

  // The entries that follow from now on. To be called before the core adopts them.
  void enter(CorePort& core, const PortEntries& entries) {
    settle(core);
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

  std::uint8_t xcp_running(const CorePort& core) {
    settle(core);
    return xcp_running_;
  }
  void set_xcp_running(CorePort& core, std::uint8_t epoch) {
    settle(core);
    xcp_running_ = epoch;
    core.xcp_begins = xcp_entry_ != xcp_running_;
  }

  std::uint8_t slot(CorePort& core, unsigned bucket) const {
    return StateAccess::based(core.wire_check, bucket) ? check_ : slots_[bucket];
  }
  void set_slot(CorePort& core, unsigned bucket, std::uint8_t epoch) {
    slots_[bucket] = epoch;
    StateAccess::based(core.wire_check, bucket) = check_ != 0 && epoch == check_;
  }

  // One that makes the controllers, or the check, begin anew.
  std::uint8_t fresh_xcp() const {
    const std::uint8_t next = next_epoch(xcp_entry_);
    return next == xcp_running_ ? next_epoch(next) : next;
  }
  std::uint8_t fresh_check() const { return next_epoch(check_); }

 private:
  // The core begins with a packet and says so by taking the mark away.
  void settle(const CorePort& core) {
    if (core.config.xcp.enabled && !core.xcp_begins) xcp_running_ = xcp_entry_;
  }

  // The core knows of a bucket only whether it has a base; which epoch the others are of is kept here.
  void check_with(CorePort& core, std::uint8_t epoch) {
    if (epoch == check_) return;
    for (unsigned bucket = 0; bucket < kBuckets; ++bucket) {
      slots_[bucket] = slot(core, bucket);
      StateAccess::based(core.wire_check, bucket) = slots_[bucket] == epoch;
    }
    check_ = epoch;
  }

  std::uint8_t xcp_entry_ = 0;    // of the entry, or of the last one
  std::uint8_t xcp_running_ = 0;  // of the controllers' state
  std::uint8_t check_ = 0;        // of the last entry with `check`
  std::array<std::uint8_t, kBuckets> slots_{};
};

}  // namespace clarion::emu
