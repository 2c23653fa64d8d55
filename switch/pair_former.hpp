// SPDX-License-Identifier: Apache-2.0
// Pairs of packets for the capacity meter, where a link has more than its senders use and no packet waits: a
// packet that finds the link free is held back until the next one is there, so that this one waits for it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clock.hpp"

namespace clarion::emu {

class PairFormer {
 public:
  static constexpr std::uint32_t MOST_HOLDS = 8;  // per interval: twice what a measurement takes
  static constexpr std::uint64_t FRAME_BYTES = 1514;

  void interval_began(Nanoseconds now) {
    began_ns_ = now;
    holds_ = 0;
  }

  // How long a packet that finds the link free at `now` may be held; 0: it goes at once. `known_bytes_per_s`
  // is the last measurement, 0 for none.
  //
  // In the first half of an interval none is held, as packets that meet by chance may still be enough: on a
  // link that is used well no pair is ever formed. Where something has been measured, two full frames' time
  // is enough: senders that use less than half of the known capacity do not need a newer one. Before that, a
  // 64th of the interval bounds it, and nothing waits for the second half: until then nothing can be handed
  // out.
  Nanoseconds hold_ns(Nanoseconds now, Nanoseconds interval_ns, std::uint64_t known_bytes_per_s) {
    if (holds_ >= MOST_HOLDS) return 0;
    if (known_bytes_per_s != 0 && now - began_ns_ < interval_ns / 2) return 0;
    ++holds_;
    if (known_bytes_per_s == 0) return interval_ns / 64;
    return std::min(2 * FRAME_BYTES * SECOND_NS / known_bytes_per_s, interval_ns / 8);
  }

 private:
  Nanoseconds began_ns_ = 0;
  std::uint32_t holds_ = 0;
};

}  // namespace clarion::emu
