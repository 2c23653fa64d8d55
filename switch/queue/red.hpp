// SPDX-License-Identifier: Apache-2.0
// RED (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", 1993): drops at the
// tail, at random, from an average queue of one threshold on, and every packet above the other.
#pragma once

#include <cmath>
#include <cstdint>

#include "../clock.hpp"
#include "../random.hpp"
#include "pie.hpp"

namespace clarion::emu {

struct RedSettings {
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
  double max_probability = 0.1;   // at the upper threshold
  double weight = 0.002;          // of a packet in the average
  std::uint64_t rate_bps = 0;     // of the link: how much an idle time counts
  std::uint32_t packet_bytes = 1000;  // mean
  bool gentle = false;            // above max_bytes the probability rises to 1 at twice that
};

class Red {
 public:
  Red(const RedSettings& settings, RandomStream random) : settings_(settings), random_(random) {}

  double average_bytes() const { return average_; }

  void emptied(Nanoseconds now) { idle_since_ = now; }

  // Of a packet that arrives at a queue of `queue_bytes`.
  Verdict arrived(Nanoseconds now, std::uint64_t queue_bytes, bool is_ecn_capable) {
    settle(now, queue_bytes);
    if (average_ < static_cast<double>(settings_.min_bytes)) {
      since_drop_ = -1;
      return Verdict::keep;
    }
    ++since_drop_;
    const double probability = base_probability();
    if (probability < 1) {
      // Spread evenly: 1/p on average, at most 2/p.
      const double left = 1 - since_drop_ * probability;
      const bool hits = left <= 0 || random_.uniform() < probability / left;
      if (!hits) return Verdict::keep;
    }
    since_drop_ = 0;
    return is_ecn_capable && probability < 1 ? Verdict::mark : Verdict::drop;
  }

 private:
  // While nothing waited, so many small packets could have come and gone.
  void settle(Nanoseconds now, std::uint64_t queue_bytes) {
    if (queue_bytes > 0 || idle_since_ == NEVER) {
      average_ += settings_.weight * (static_cast<double>(queue_bytes) - average_);
    } else {
      const double packet_s = settings_.packet_bytes * 8.0 / static_cast<double>(settings_.rate_bps);
      const double missed = static_cast<double>(now - idle_since_) * 1e-9 / packet_s;
      average_ *= std::pow(1 - settings_.weight, missed);
    }
    idle_since_ = NEVER;
  }

  double base_probability() const {
    const auto low = static_cast<double>(settings_.min_bytes);
    const auto high = static_cast<double>(settings_.max_bytes);
    if (average_ < high) return settings_.max_probability * (average_ - low) / (high - low);
    if (!settings_.gentle || average_ >= 2 * high) return 1;
    return settings_.max_probability + (1 - settings_.max_probability) * (average_ - high) / high;
  }

  RedSettings settings_;
  RandomStream random_;
  double average_ = 0;
  double since_drop_ = -1;  // packets
  Nanoseconds idle_since_ = NEVER;
};

}  // namespace clarion::emu
