// SPDX-License-Identifier: Apache-2.0
// Serialisation at the link rate, exact in the long run: the fraction of a nanosecond that a packet's
// transmission time leaves over is carried to the next packet.
#pragma once

#include "clock.hpp"

namespace clarion::emu {

class Shaper {
 public:
  // 0 means unshaped. A transmission under way keeps its end.
  void set_rate(std::uint64_t rate_bps) {
    rate_bps_ = rate_bps;
    carry_ = 0;
  }

  // From when on the next packet may start.
  Nanoseconds free_at() const { return free_at_; }

  // Starts a packet at `start`, not before free_at(); returns the end of its last bit.
  Nanoseconds transmit(Nanoseconds start, std::uint32_t length_bytes) {
    if (rate_bps_ == 0) return free_at_ = start;
    if (start > free_at_) carry_ = 0;
    const std::uint64_t work = length_bytes * 8 * SECOND_NS + carry_;
    carry_ = work % rate_bps_;
    return free_at_ = start + work / rate_bps_;
  }

 private:
  std::uint64_t rate_bps_ = 0;
  std::uint64_t carry_ = 0;  // in units of 1/rate ns
  Nanoseconds free_at_ = 0;
};

}  // namespace clarion::emu
