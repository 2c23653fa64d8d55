// SPDX-License-Identifier: Apache-2.0
// What the link behind a port carries, measured where packets wait for it. While packets wait a link is never
// idle, so from the departure of one packet to that of the next the link carried just the first of them.
//
// It needs what any switch sees at its queue, and nothing that a shaper or a setting says: when the link took
// a packet, how long that was, and whether the link had been busy until then. In the embedded switch the time
// is the virtual one: that at which the link takes the packet, as a network card would stamp it. The time at
// which the process wakes to carry that out is up to 100 us later and says nothing about the link.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clock.hpp"
#include "core/types.hpp"

namespace clarion::emu {

class CapacityMeter {
 public:
  // Gaps that a measurement takes at least. A rate of few packets is one of a clock's grain, and of one pair
  // that met a link in the middle of something; with fewer, the sums wait for the next interval.
  static constexpr std::uint32_t ENOUGH_GAPS = 4;
  // Intervals that fewer gaps wait for more; then they are of a link as it was.
  static constexpr std::uint32_t PATIENCE_INTERVALS = 16;
  static constexpr std::uint64_t MOST_BYTES_PER_S = max_of_bits(38);  // what reports and the core hold

  // The link takes a packet at `now`. `waited`: it had been busy up to now, with the packet before.
  void departure(Nanoseconds now, std::uint32_t length_bytes, bool waited) {
    if (waited && last_bytes_ != 0 && now > last_ns_) {
      busy_ns_ += now - last_ns_;
      busy_bytes_ += last_bytes_;
      ++gaps_;
    }
    last_ns_ = now;
    last_bytes_ = length_bytes;
  }

  // An interval ends: what it has measured, 0 for nothing, is in measured_bytes_per_s() until the next ends.
  //
  // The sum over the interval and not, say, the median of its gaps: short packets make short gaps, which the
  // clock's grain falsifies most, and a sum gives each gap its length as weight. And where a link's rate
  // varies within an interval, bytes over time are what it carried.
  void close() {
    measured_bytes_per_s_ = 0;
    if (gaps_ < ENOUGH_GAPS) {
      if (++few_intervals_ >= PATIENCE_INTERVALS) forget_gaps();
      return;
    }
    const auto bytes = static_cast<unsigned __int128>(busy_bytes_) * SECOND_NS;
    const auto rate =
        static_cast<std::uint64_t>(std::min<unsigned __int128>(bytes / busy_ns_, MOST_BYTES_PER_S));
    measured_bytes_per_s_ = known_bytes_per_s_ = std::max<std::uint64_t>(rate, 1);
    forget_gaps();
  }

  // Of the interval that ended last; 0: too few packets waited.
  std::uint64_t measured_bytes_per_s() const { return measured_bytes_per_s_; }

  // The last measurement, however old; 0: there has been none.
  std::uint64_t known_bytes_per_s() const { return known_bytes_per_s_; }

  bool has_enough() const { return gaps_ >= ENOUGH_GAPS; }

 private:
  void forget_gaps() { busy_bytes_ = busy_ns_ = gaps_ = few_intervals_ = 0; }

  Nanoseconds last_ns_ = 0;       // departure of the packet before
  std::uint32_t last_bytes_ = 0;  // 0: there was none
  std::uint32_t gaps_ = 0;
  std::uint32_t few_intervals_ = 0;  // in a row that have ended with fewer gaps than a measurement takes
  std::uint64_t busy_bytes_ = 0;     // of the interval
  Nanoseconds busy_ns_ = 0;
  std::uint64_t measured_bytes_per_s_ = 0;
  std::uint64_t known_bytes_per_s_ = 0;
};

}  // namespace clarion::emu
