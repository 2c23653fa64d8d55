// SPDX-License-Identifier: Apache-2.0
// The coupled controller of DualPI2 (RFC 9332, appendix A): one PI controller of the Classic queue's delay,
// whose probability is squared for it and doubled for the low-latency queue.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../clock.hpp"
#include "../random.hpp"

namespace clarion::emu {

struct Pi2Settings {
  Nanoseconds target_ns = 15'000'000;
  Nanoseconds update_ns = 16'000'000;
  Nanoseconds step_ns = 1'000'000;    // low-latency packets that have waited longer are marked
  double alpha_hz = 0.16;
  double beta_hz = 3.2;
  double coupling = 2;                // k
};

class Pi2 {
 public:
  explicit Pi2(const Pi2Settings& settings) : settings_(settings) {}

  double base() const { return base_; }                                   // p'
  double classic() const { return base_ * base_; }                        // p_C
  double coupled() const { return settings_.coupling * base_; }           // p_CL
  // From here on a queue of unresponsive traffic is not marked but dropped.
  bool overloaded() const { return classic() >= 1 / (settings_.coupling * settings_.coupling); }
  bool is_step(Nanoseconds waited) const { return waited > settings_.step_ns; }

  // `delay_ns` of the queue now, the longer of both.
  void catch_up(Nanoseconds now, Nanoseconds delay_ns) {
    if (updated_ == 0) updated_ = now;
    while (now - updated_ >= settings_.update_ns) {
      updated_ += settings_.update_ns;
      const double off_s = seconds(delay_ns) - seconds(settings_.target_ns);
      const double moved_s = seconds(delay_ns) - seconds(delay_before_);
      base_ = std::clamp(base_ + settings_.alpha_hz * off_s + settings_.beta_hz * moved_s, 0.0, 1.0);
      delay_before_ = delay_ns;
    }
  }

 private:
  static double seconds(Nanoseconds t) { return static_cast<double>(t) * 1e-9; }

  Pi2Settings settings_;
  double base_ = 0;
  Nanoseconds delay_before_ = 0;
  Nanoseconds updated_ = 0;
};

}  // namespace clarion::emu
