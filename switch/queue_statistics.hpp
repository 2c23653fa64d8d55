// SPDX-License-Identifier: Apache-2.0
// Queue length over time: integral, maximum and a time-weighted histogram with 16 bins per octave.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "clock.hpp"

namespace clarion::emu {

class QueueStatistics {
 public:
  static constexpr unsigned SUB_BIN_BITS = 4;
  static constexpr unsigned OCTAVES = 32;
  static constexpr std::size_t BINS = (OCTAVES + 1) << SUB_BIN_BITS;

  // Bins are one byte wide below 16, then 16 to the octave: at most 6.25 % wide, the last one open.
  static std::size_t bin_of(std::uint64_t bytes) {
    if (bytes < (1U << SUB_BIN_BITS)) return bytes;
    const unsigned shift = 63U - static_cast<unsigned>(__builtin_clzll(bytes)) - SUB_BIN_BITS;
    return std::min<std::size_t>((static_cast<std::size_t>(shift) << SUB_BIN_BITS) + (bytes >> shift),
                                 BINS - 1);
  }

  // Smallest queue length that falls into the bin.
  static std::uint64_t lower_edge(std::size_t bin) {
    if (bin < (2U << SUB_BIN_BITS)) return bin;
    const std::size_t shift = (bin >> SUB_BIN_BITS) - 1;
    return (bin - (shift << SUB_BIN_BITS)) << shift;
  }

  // The queue holds `bytes` from `now` on. Times never go back.
  void change(Nanoseconds now, std::uint64_t bytes) {
    settle(now);
    bytes_ = bytes;
    bin_ = bin_of(bytes);
    max_bytes_ = std::max(max_bytes_, bytes);
  }

  // Brings the sums up to `now`.
  void settle(Nanoseconds now) {
    if (since_ != 0 && now > since_) {
      const Nanoseconds held = now - since_;
      byte_ns_ += static_cast<unsigned __int128>(bytes_) * held;
      time_in_bin_ns_[bin_] += held;
    }
    since_ = std::max(since_, now);
  }

  std::uint64_t byte_us() const { return static_cast<std::uint64_t>(byte_ns_ / 1000); }
  std::uint64_t max_bytes() const { return max_bytes_; }
  std::uint64_t time_in_bin_us(std::size_t bin) const { return time_in_bin_ns_[bin] / 1000; }

 private:
  std::uint64_t bytes_ = 0;
  std::size_t bin_ = 0;
  std::uint64_t max_bytes_ = 0;
  Nanoseconds since_ = 0;
  unsigned __int128 byte_ns_ = 0;
  std::array<Nanoseconds, BINS> time_in_bin_ns_{};
};

}  // namespace clarion::emu
