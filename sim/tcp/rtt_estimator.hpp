// SPDX-License-Identifier: Apache-2.0
// Smoothed round trip time and retransmission timeout: RFC 6298 with Linux's variance that falls only once
// per round trip and its bounds (tcp_rtt_estimator, tcp_set_rto of net/ipv4/tcp_input.c); the minimum over a
// window (lib/win_minmax.c, which keeps the best three samples).
#pragma once

#include <algorithm>
#include <cstdint>

#include "types.hpp"

namespace clarion::sim {

constexpr Microseconds RTO_MIN_US = 200'000;
constexpr Microseconds RTO_MAX_US = 120'000'000;
constexpr Microseconds RTO_INITIAL_US = 1'000'000;
constexpr Microseconds MIN_RTT_WINDOW_US = 300'000'000;  // net.ipv4.tcp_min_rtt_wlen

// The least value within a window of time.
class WindowedMinimum {
 public:
  std::uint32_t value() const { return best_[0].value; }

  std::uint32_t update(Microseconds window_us, Microseconds now_us, std::uint32_t value) {
    const Sample sample{now_us, value};
    if (value <= best_[0].value || now_us - best_[2].at_us > window_us) {
      best_[0] = best_[1] = best_[2] = sample;
      return value;
    }
    if (value <= best_[1].value) {
      best_[1] = best_[2] = sample;
    } else if (value <= best_[2].value) {
      best_[2] = sample;
    }
    return age(window_us, sample);
  }

 private:
  struct Sample {
    Microseconds at_us = 0;
    std::uint32_t value = NO_RTT;
  };

  std::uint32_t age(Microseconds window_us, const Sample& sample) {
    const Microseconds passed_us = sample.at_us - best_[0].at_us;
    if (passed_us > window_us) {
      best_[0] = best_[1];
      best_[1] = best_[2];
      best_[2] = sample;
      if (sample.at_us - best_[0].at_us > window_us) {
        best_[0] = best_[1];
        best_[1] = best_[2];
        best_[2] = sample;
      }
    } else if (best_[1].at_us == best_[0].at_us && passed_us > window_us / 4) {
      best_[2] = best_[1] = sample;
    } else if (best_[2].at_us == best_[1].at_us && passed_us > window_us / 2) {
      best_[2] = sample;
    }
    return best_[0].value;
  }

  Sample best_[3];
};

class RttEstimator {
 public:
  std::uint32_t srtt_us() const { return srtt_us8_ >> 3; }
  std::uint32_t srtt_us8() const { return srtt_us8_; }
  bool is_known() const { return srtt_us8_ != 0; }
  std::uint32_t min_us() const { return min_.value(); }
  Microseconds rto_us() const { return rto_us_; }

  // A sample for the minimum, which may have waited for a delayed acknowledgement.
  void observe_minimum(Microseconds now_us, std::uint32_t rtt_us) {
    min_.update(MIN_RTT_WINDOW_US, now_us, rtt_us == 0 ? 1 : rtt_us);
  }

  // `una` and `next` tell when a round trip is over.
  void sample(std::uint32_t rtt_us, SegmentNumber una, SegmentNumber next) {
    const auto rtt = static_cast<std::int64_t>(rtt_us);
    if (srtt_us8_ == 0) {
      srtt_us8_ = static_cast<std::uint32_t>(std::max<std::int64_t>(rtt << 3, 1));
      mdev_us4_ = static_cast<std::uint32_t>(rtt << 1);
      rttvar_us4_ = std::max<std::uint32_t>(mdev_us4_, RTO_MIN_US);
      mdev_max_us4_ = rttvar_us4_;
      round_end_ = next;
    } else {
      smooth(rtt);
      end_round(una, next);
    }
    set_rto();
  }

  void set_rto() { rto_us_ = std::min<Microseconds>(srtt_us() + rttvar_us4_, RTO_MAX_US); }
  void back_off() { rto_us_ = std::min(2 * rto_us_, RTO_MAX_US); }

 private:
  void smooth(std::int64_t rtt_us) {
    std::int64_t error = rtt_us - static_cast<std::int64_t>(srtt_us8_ >> 3);
    srtt_us8_ = static_cast<std::uint32_t>(std::max<std::int64_t>(srtt_us8_ + error, 1));
    if (error < 0) {
      // A falling round trip must not raise the variance: an eighth of the weight (Eifel, as in Linux).
      error = -error - static_cast<std::int64_t>(mdev_us4_ >> 2);
      if (error > 0) error >>= 3;
    } else {
      error -= static_cast<std::int64_t>(mdev_us4_ >> 2);
    }
    mdev_us4_ = static_cast<std::uint32_t>(mdev_us4_ + error);
    if (mdev_us4_ > mdev_max_us4_) {
      mdev_max_us4_ = mdev_us4_;
      rttvar_us4_ = std::max(rttvar_us4_, mdev_max_us4_);
    }
  }

  void end_round(SegmentNumber una, SegmentNumber next) {
    if (una <= round_end_) return;
    if (mdev_max_us4_ < rttvar_us4_) rttvar_us4_ -= (rttvar_us4_ - mdev_max_us4_) >> 2;
    round_end_ = next;
    mdev_max_us4_ = RTO_MIN_US;
  }

  WindowedMinimum min_;
  std::uint32_t srtt_us8_ = 0;  // times 8
  std::uint32_t mdev_us4_ = 0;  // mean deviation, times 4
  std::uint32_t mdev_max_us4_ = 0;
  std::uint32_t rttvar_us4_ = 0;
  SegmentNumber round_end_ = 0;
  Microseconds rto_us_ = RTO_INITIAL_US;
};

}  // namespace clarion::sim
