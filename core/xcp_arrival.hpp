// SPDX-License-Identifier: Apache-2.0
// What XCP counts of the packets that arrive for a port during one control interval.
#pragma once

#include <cstdint>

#include "header.hpp"
#include "platform.hpp"
#include "types.hpp"

namespace clarion {

// x * rtt has 2^-56 s^2 units; 8 bits are rounded off so that 65536 flows of 1 s RTT fit into 64 bits.
constexpr unsigned X_RTT_SHIFT = 8;

struct IntervalSums {
  std::uint64_t input = 0;      // bytes of all traffic, at most BYTES_MAX
  std::uint64_t sum_x = 0;      // ticks, at most SUM_X_MAX
  std::uint64_t sum_x_rtt = 0;  // 2^-48 s^2, saturating at 64 bits
};

// What a DATA packet adds to the sum of x * rtt, rounded; at most 56 bits.
CLARION_INLINE std::uint64_t weight_of(std::uint32_t x, std::uint32_t rtt, std::uint32_t max_rtt) {
  const std::uint64_t x_rtt = static_cast<std::uint64_t>(x) * (rtt < max_rtt ? rtt : max_rtt);
  const std::uint64_t half = std::uint64_t{1} << (X_RTT_SHIFT - 1);
  return (x_rtt + half) >> X_RTT_SHIFT;
}

// A packet joins the sums; with its weight if it `counts`: DATA with an RTT.
CLARION_INLINE void count_arrival(IntervalSums& sums, std::uint32_t length, bool counts, std::uint32_t x,
                                  std::uint64_t weight) {
  sums.input = saturating_add(sums.input, length, BYTES_MAX);
  if (!counts) return;
  sums.sum_x = saturating_add(sums.sum_x, x, SUM_X_MAX);
  sums.sum_x_rtt = saturating_add64(sums.sum_x_rtt, weight);
}

class XcpArrival {
 public:
  CLARION_INLINE void step(const Meta& meta, std::uint32_t length, std::uint32_t max_rtt) {
    const bool counts = meta.kind == Kind::data && meta.rtt != 0;
    count_arrival(sums_, length, counts, meta.x, weight_of(meta.x, meta.rtt, max_rtt));
  }

  // The sums of the interval that ends here; the next one starts from zero.
  CLARION_INLINE IntervalSums take() {
    const IntervalSums ended = sums_;
    sums_ = IntervalSums{};
    return ended;
  }

  const IntervalSums& sums() const { return sums_; }

 private:
  IntervalSums sums_;
};

}  // namespace clarion
