// SPDX-License-Identifier: Apache-2.0
// RED (Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions
// on Networking 1(4), 1993): drops at the tail, at random, from an average queue of one threshold on, and
// every packet above the other.
#pragma once

#include <cmath>
#include <cstdint>

#include "../random.hpp"
#include "discipline.hpp"

namespace clarion::emu {

struct RedSettings {
  std::uint64_t min_bytes = 0;   // 0: a twelfth of the limit
  std::uint64_t max_bytes = 0;   // 0: a quarter of it
  double max_probability = 0.1;  // at the upper threshold
  double weight = 0.002;         // of a packet in the average
  bool gentle = false;           // above max_bytes the probability rises to 1 at twice that (Floyd, 2000)
};

class RedDiscipline final : public FifoDiscipline {
 public:
  RedDiscipline(const RedSettings& settings, bool ecn, RandomStream random, std::uint64_t rate_bps,
                QueueKeeper& keeper)
      : FifoDiscipline(keeper), settings_(settings), ecn_(ecn), random_(random), rate_bps_(rate_bps) {}

  double average_bytes() const { return average_bytes_; }

  void enqueue(Nanoseconds now, Waiting* packet) override {
    settle(now);
    if (!has_room_for(packet)) {
      since_drop_ = 0;
      return keeper_.drop(packet);
    }
    const double probability = base_probability();
    if (hits(probability) && discard(packet, ecn_ && probability < 1)) return;
    list_.push(packet);
  }

  Waiting* dequeue(Nanoseconds now) override {
    Waiting* packet = list_.pop();
    if (list_.empty()) idle_since_ = now;
    return packet;
  }

 private:
  static constexpr double MEAN_PACKET_BITS = 500 * 8;  // "small packets" that an idle link could have sent

  double min_bytes() const {
    return static_cast<double>(settings_.min_bytes != 0 ? settings_.min_bytes : limit_bytes_ / 12);
  }
  double max_bytes() const {
    return static_cast<double>(settings_.max_bytes != 0 ? settings_.max_bytes : limit_bytes_ / 4);
  }

  // The average follows the queue; while nothing waited, so many packets could have come and gone (section
  // 4).
  void settle(Nanoseconds now) {
    if (!list_.empty() || idle_since_ == NEVER) {
      average_bytes_ += settings_.weight * (static_cast<double>(list_.bytes()) - average_bytes_);
    } else {
      const double idle_s = static_cast<double>(now - idle_since_) * 1e-9;
      const double missed = idle_s * static_cast<double>(rate_bps_) / MEAN_PACKET_BITS;
      average_bytes_ *= std::pow(1 - settings_.weight, missed);
    }
    idle_since_ = NEVER;
  }

  double base_probability() const {
    const double low = min_bytes();
    const double high = max_bytes();
    if (average_bytes_ < low) return 0;
    if (average_bytes_ < high) return settings_.max_probability * (average_bytes_ - low) / (high - low);
    if (!settings_.gentle || average_bytes_ >= 2 * high) return 1;
    return settings_.max_probability + (1 - settings_.max_probability) * (average_bytes_ - high) / high;
  }

  // Even distances: between two of them lie from 1 to 1/p packets (section 6, method 2).
  bool hits(double probability) {
    if (probability == 0) {
      since_drop_ = -1;
      return false;
    }
    ++since_drop_;
    const double left = 1 - since_drop_ * probability;
    if (probability < 1 && left > 0 && random_.uniform() >= probability / left) return false;
    since_drop_ = 0;
    return true;
  }

  RedSettings settings_;
  bool ecn_;
  RandomStream random_;
  std::uint64_t rate_bps_;
  double average_bytes_ = 0;
  double since_drop_ = -1;  // packets; -1: below the lower threshold
  Nanoseconds idle_since_ = NEVER;
};

}  // namespace clarion::emu
