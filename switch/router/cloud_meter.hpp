// SPDX-License-Identifier: Apache-2.0
// What a stretch of path between two routers has for the packets that pass both, measured where they come out
// of it, in these packets alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "../clock.hpp"

namespace clarion::emu {

// Two packets that have waited one behind the other come out as far apart as the narrowest link takes for the
// second: the closest ones of some intervals tell its rate. How much later than the fastest a packet comes
// out tells the queue. As long as that never empties the link is full, and what comes out is all that it has
// for these packets, whoever else uses it; while it does empty, that may have become more, up to the rate.
//
// Only the longest packets are measured: a shorter one is sooner through every link.
class CloudMeter {
 public:
  static constexpr std::uint32_t ENOUGH_PACKETS = 5;          // of an interval that counts
  static constexpr Nanoseconds FASTEST_FOR = 10 * SECOND_NS;  // after which a path that has become longer is
                                                              // found out
  static constexpr double RECOVERY = 1.0 / 8;  // per interval, of what others were found to use

  // `departed_us`: when the packet went into the stretch, by a clock that need not agree with ours.
  void arrive(Nanoseconds now, double bytes, std::uint32_t departed_us) {
    input_bytes_ += bytes;
    longest_bytes_ = std::max(longest_bytes_, bytes);
    if (bytes == longest_bytes_) measure(now, departed_us);
    last_ns_ = now;
  }

  // An interval ends that was so long. False: it had too few packets, and goes on.
  bool close(double elapsed_s) {
    if (packets_ < ENOUGH_PACKETS) return false;
    std::rotate(closest_s_.begin(), closest_s_.end() - 1, closest_s_.end());
    closest_s_[0] = running_closest_s_;
    const double rate = rate_bytes_per_s();
    const bool was_full = least_rise_s_ * rate > longest_bytes_;
    const double before = is_known() ? available_bytes_per_s_ : rate;
    available_bytes_per_s_ = was_full ? input_bytes_ / elapsed_s : before + RECOVERY * (rate - before);
    available_bytes_per_s_ = std::min(available_bytes_per_s_, rate);
    input_bytes_ = 0;
    packets_ = 0;
    running_closest_s_ = least_rise_s_ = FAR_S;
    return true;
  }

  bool is_known() const { return available_bytes_per_s_ > 0; }
  double available_bytes_per_s() const { return available_bytes_per_s_; }
  double queue_bytes() const { return is_known() ? rise_s_ * rate_bytes_per_s() : 0; }  // now

  // Of the narrowest link; only while something is known.
  double rate_bytes_per_s() const {
    return longest_bytes_ / *std::min_element(closest_s_.begin(), closest_s_.end());
  }

 private:
  static constexpr std::size_t INTERVALS = 4;  // after which a link that has become slower is found out
  static constexpr double FAR_S = 1e9;

  static constexpr std::array<double, INTERVALS> all_far() {
    std::array<double, INTERVALS> far{};
    for (double& each : far) each = FAR_S;
    return far;
  }

  static double seconds(Nanoseconds ns) { return static_cast<double>(ns) / static_cast<double>(SECOND_NS); }

  void measure(Nanoseconds now, std::uint32_t departed_us) {
    ++packets_;
    if (now > last_ns_ && last_ns_ != 0)
      running_closest_s_ = std::min(running_closest_s_, seconds(now - last_ns_));
    const std::uint32_t delay_us = static_cast<std::uint32_t>(now / 1000) - departed_us;
    if (!first_delay_us_) first_delay_us_ = delay_us;
    // Clocks may disagree by any amount, so delays are against the first one, which may be less or more.
    const auto later_us = static_cast<std::int32_t>(delay_us - *first_delay_us_);
    note_fastest(now, later_us);
    rise_s_ = (later_us - std::min(fastest_us_, fastest_before_us_)) * 1e-6;
    least_rise_s_ = std::min(least_rise_s_, rise_s_);
  }

  void note_fastest(Nanoseconds now, std::int32_t later_us) {
    if (now - fastest_since_ >= FASTEST_FOR) {
      fastest_before_us_ = fastest_since_ == 0 ? later_us : fastest_us_;
      fastest_us_ = later_us;
      fastest_since_ = now;
    }
    fastest_us_ = std::min(fastest_us_, later_us);
  }

  Nanoseconds last_ns_ = 0;  // a packet came
  double longest_bytes_ = 0;
  double input_bytes_ = 0;  // of the interval, as are the next three
  std::uint32_t packets_ = 0;
  double running_closest_s_ = FAR_S;
  double least_rise_s_ = FAR_S;
  std::array<double, INTERVALS> closest_s_ = all_far();
  std::optional<std::uint32_t> first_delay_us_;
  Nanoseconds fastest_since_ = 0;
  std::int32_t fastest_us_ = 0;
  std::int32_t fastest_before_us_ = 0;  // in the period before
  double rise_s_ = 0;
  double available_bytes_per_s_ = 0;
};

}  // namespace clarion::emu
