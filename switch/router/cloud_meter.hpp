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

// How much later than the fastest a packet comes out tells how long it has waited. Two that have waited one
// behind the other come out as far apart as the narrowest link takes for the second: the closest of some
// intervals tell its rate. As long as its queue never empties the link is full, and what comes out is all
// that it has for these packets, whoever else uses it; while it does empty, that may have become more, up to
// the rate; and while nothing waits the rate itself may be more than was found.
//
// Only the longest packets are measured: a shorter one is sooner through every link.
class CloudMeter {
 public:
  static constexpr std::uint32_t ENOUGH_PACKETS = 5;             // of an interval that counts
  static constexpr Nanoseconds FASTEST_FOR_NS = 10 * SECOND_NS;  // then a longer path is found out
  static constexpr double RECOVERY = 1.0 / 8;  // per interval, of what others use, or beyond the rate
  static constexpr double START = 2;           // times what comes there may be before anything has waited

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
    const bool has_waited = closest_s_[0] < FAR_S;
    available_bytes_per_s_ = available(input_bytes_ / elapsed_s, has_waited);
    known_rate_bytes_per_s_ = rate_bytes_per_s();
    if (has_waited) {
      std::rotate(closest_s_.begin(), closest_s_.end() - 1, closest_s_.end());
      closest_s_[0] = FAR_S;
    }
    input_bytes_ = 0;
    packets_ = 0;
    least_rise_s_ = FAR_S;
    return true;
  }

  double available_bytes_per_s() const { return available_bytes_per_s_; }  // 0: not known yet
  double queue_bytes() const { return rise_s_ * rate_bytes_per_s(); }      // now

  // Of the narrowest link; 0: not known yet.
  double rate_bytes_per_s() const {
    const double closest_s = *std::min_element(closest_s_.begin(), closest_s_.end());
    return closest_s < FAR_S ? longest_bytes_ / closest_s : 0;
  }

 private:
  static constexpr std::size_t INTERVALS = 5;  // the running one and four with packets that have waited
  static constexpr double FAR_S = 1e9;
  static constexpr double LEAST_WAIT = 1.0 / 8;  // of the time between two packets

  static constexpr std::array<double, INTERVALS> all_far() {
    std::array<double, INTERVALS> far{};
    for (double& each : far) each = FAR_S;
    return far;
  }

  // In the next interval, after one with such an input.
  double available(double input, bool has_waited) const {
    const double rate = rate_bytes_per_s();
    if (least_rise_s_ * rate > longest_bytes_) return input;
    if (rate == 0) return START * input;
    if (known_rate_bytes_per_s_ == 0) return rate;
    const double recovered = available_bytes_per_s_ + RECOVERY * std::max(0.0, rate - available_bytes_per_s_);
    return has_waited ? std::min(recovered, rate) : std::max(recovered, (1 + RECOVERY) * input);
  }

  void measure(Nanoseconds now, std::uint32_t departed_us) {
    ++packets_;
    const std::uint32_t delay_us = static_cast<std::uint32_t>(now / 1000) - departed_us;
    if (!first_delay_us_) {
      first_delay_us_ = delay_us;
      fastest_since_ = now;
    }
    // Clocks may disagree by any amount, so delays are against the first one, which may be less or more.
    const auto later_us = static_cast<std::int32_t>(delay_us - *first_delay_us_);
    note_fastest(now, later_us);
    rise_s_ = (later_us - std::min(fastest_us_, fastest_before_us_)) * 1e-6;
    least_rise_s_ = std::min(least_rise_s_, rise_s_);
    const double gap_s = static_cast<double>(now - last_ns_) / static_cast<double>(SECOND_NS);
    if (gap_s > 0 && rise_s_ > LEAST_WAIT * gap_s) closest_s_[0] = std::min(closest_s_[0], gap_s);
  }

  void note_fastest(Nanoseconds now, std::int32_t later_us) {
    if (now - fastest_since_ >= FASTEST_FOR_NS) {
      fastest_before_us_ = fastest_us_;
      fastest_us_ = later_us;
      fastest_since_ = now;
    }
    fastest_us_ = std::min(fastest_us_, later_us);
  }

  Nanoseconds last_ns_ = 0;  // a packet came
  double longest_bytes_ = 0;
  double input_bytes_ = 0;  // of the interval, as are the next two
  std::uint32_t packets_ = 0;
  double least_rise_s_ = FAR_S;
  std::array<double, INTERVALS> closest_s_ = all_far();  // the running interval's first
  double known_rate_bytes_per_s_ = 0;                    // as of the last interval
  std::optional<std::uint32_t> first_delay_us_;
  Nanoseconds fastest_since_ = 0;
  std::int32_t fastest_us_ = 0;
  std::int32_t fastest_before_us_ = 0;  // in the period before
  double rise_s_ = 0;
  double available_bytes_per_s_ = 0;
};

}  // namespace clarion::emu
