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

class XcpArrival {
 public:
  CLARION_INLINE void step(const Meta& meta, std::uint32_t length, std::uint32_t max_rtt) {
    sums_.input = saturating_add(sums_.input, length, BYTES_MAX);
    if (meta.kind != Kind::data || meta.rtt == 0) return;
    const std::uint32_t rtt = meta.rtt < max_rtt ? meta.rtt : max_rtt;
    const std::uint64_t x_rtt = static_cast<std::uint64_t>(meta.x) * rtt;
    const std::uint64_t half = std::uint64_t{1} << (X_RTT_SHIFT - 1);
    sums_.sum_x = saturating_add(sums_.sum_x, meta.x, SUM_X_MAX);
    sums_.sum_x_rtt = saturating_add(sums_.sum_x_rtt, (x_rtt + half) >> X_RTT_SHIFT, UINT64_MAX);
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
