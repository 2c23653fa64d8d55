// SPDX-License-Identifier: Apache-2.0
// A host's own device behind a token bucket, as `tc qdisc add ... tbf` makes it: what its queue does not hold
// is dropped before it was ever sent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "host.hpp"

namespace clarion::sim {

struct DeviceSettings {
  std::uint64_t rate_bps = 0;  // 0: the device takes no time
  std::uint64_t burst_bytes = 0;
  std::uint64_t limit_bytes = 0;
};

class Device final : public Uplink {
 public:
  // Frames that have left it go to `wire`. `now` is read from the caller's clock.
  Device(const DeviceSettings& settings, Uplink& wire)
      : settings_(settings), wire_(wire), tokens_bytes_(static_cast<double>(settings.burst_bytes)) {}

  bool send(Nanoseconds now, const Frame& frame, Endpoint* owner) override {
    if (waiting_bytes_ + frame.length > settings_.limit_bytes) return false;
    waiting_.push_back({frame, owner});
    waiting_bytes_ += frame.length;
    release(now);
    return true;
  }

  // When the next frame may leave.
  Nanoseconds next_timer() const {
    if (waiting_.empty()) return emu::NEVER;
    const double missing = static_cast<double>(waiting_.front().frame.length) - tokens_bytes_;
    return filled_at_ + (missing > 0 ? static_cast<Nanoseconds>(missing / bytes_per_ns()) + 1 : 0);
  }

  void on_timer(Nanoseconds now) { release(now); }

  // Whose frame left last: it may have more to send.
  template <class Left>
  void each_that_left(Left left) {
    while (!left_.empty()) {
      Endpoint* owner = left_.front();
      left_.pop_front();
      left(owner);
    }
  }

 private:
  struct Waiting {
    Frame frame;
    Endpoint* owner;
  };

  double bytes_per_ns() const { return static_cast<double>(settings_.rate_bps) / 8e9; }

  void release(Nanoseconds now) {
    const auto burst = static_cast<double>(settings_.burst_bytes);
    tokens_bytes_ = std::min(burst, tokens_bytes_ + static_cast<double>(now - filled_at_) * bytes_per_ns());
    filled_at_ = now;
    while (!waiting_.empty() && tokens_bytes_ >= waiting_.front().frame.length) {
      const Waiting& head = waiting_.front();
      tokens_bytes_ -= head.frame.length;
      waiting_bytes_ -= head.frame.length;
      wire_.send(now, head.frame, head.owner);
      left_.push_back(head.owner);
      waiting_.pop_front();
    }
  }

  DeviceSettings settings_;
  Uplink& wire_;
  std::deque<Waiting> waiting_;
  std::deque<Endpoint*> left_;
  std::uint64_t waiting_bytes_ = 0;
  double tokens_bytes_;
  Nanoseconds filled_at_ = 0;
};

}  // namespace clarion::sim
