// SPDX-License-Identifier: Apache-2.0
// PIE (RFC 8033): drops at the tail, at random, with a probability that a controller of the delay sets. The
// delay is that of the packet that left last (5.3, time stamps), not estimated from the rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../clock.hpp"
#include "../random.hpp"

namespace clarion::emu {

struct PieSettings {
  Nanoseconds target_ns = 15'000'000;       // QDELAY_REF
  Nanoseconds update_ns = 15'000'000;       // T_UPDATE
  Nanoseconds burst_ns = 150'000'000;       // MAX_BURST
  double alpha_hz = 0.125;
  double beta_hz = 1.25;
  double mark_up_to = 0.1;                  // above this probability capable packets are dropped, too
  std::uint64_t limit_bytes = 0;            // TAIL_DROP
};

enum class Verdict : std::uint8_t { keep, mark, drop };

class Pie {
 public:
  Pie(const PieSettings& settings, RandomStream random) : settings_(settings), random_(random) {}

  double probability() const { return probability_; }
  bool active() const { return active_; }

  // The packet at the head has waited so long.
  void departed(Nanoseconds waited) { delay_ = waited; }
  void emptied() { delay_ = 0; }

  // Of a packet that arrives at a queue of `queue_bytes` (4.1, 4.4).
  Verdict arrived(Nanoseconds now, std::uint64_t queue_bytes, bool is_ecn_capable) {
    catch_up(now);
    if (!active_) {
      if (queue_bytes * 3 < settings_.limit_bytes) return Verdict::keep;
      activate(now);
    }
    if (burst_left_ > 0 || !drops_early(queue_bytes)) return Verdict::keep;
    accumulated_ = 0;
    return is_ecn_capable && probability_ <= settings_.mark_up_to ? Verdict::mark : Verdict::drop;
  }

 private:
  static constexpr std::uint64_t MEAN_PACKET_BYTES = 1500;
  static constexpr double CALM_PROBABILITY = 0.2;
  static constexpr double SURELY_KEPT = 0.85;  // de-randomisation (5.1)
  static constexpr double SURELY_DROPPED = 8.5;

  void activate(Nanoseconds now) {
    active_ = true;
    probability_ = accumulated_ = 0;
    delay_before_ = 0;
    burst_left_ = settings_.burst_ns;
    updated_ = now;
  }

  bool drops_early(std::uint64_t queue_bytes) {
    const bool is_calm = delay_before_ < settings_.target_ns / 2 && probability_ < CALM_PROBABILITY;
    if (is_calm || queue_bytes <= 2 * MEAN_PACKET_BYTES) return false;
    if (probability_ == 0) accumulated_ = 0;
    accumulated_ += probability_;
    if (accumulated_ < SURELY_KEPT) return false;
    if (accumulated_ >= SURELY_DROPPED) return true;
    return random_.uniform() < probability_;
  }

  // The updates that were due meanwhile (4.2).
  void catch_up(Nanoseconds now) {
    while (active_ && now - updated_ >= settings_.update_ns) {
      updated_ += settings_.update_ns;
      update();
    }
  }

  void update() {
    const double off_s = seconds(delay_) - seconds(settings_.target_ns);
    const double moved_s = seconds(delay_) - seconds(delay_before_);
    double change = (settings_.alpha_hz * off_s + settings_.beta_hz * moved_s) / damping();
    if (probability_ >= 0.1) change = std::min(change, 0.02);
    probability_ += change;
    if (delay_ == 0 && delay_before_ == 0) probability_ *= 0.98;
    probability_ = std::clamp(probability_, 0.0, 1.0);
    burst_left_ -= std::min(burst_left_, settings_.update_ns);
    const bool is_short = delay_ < settings_.target_ns / 2 && delay_before_ < settings_.target_ns / 2;
    if (probability_ == 0 && is_short) burst_left_ = settings_.burst_ns;
    if (probability_ == 0 && delay_ == 0 && delay_before_ == 0) active_ = false;
    delay_before_ = delay_;
  }

  // Small probabilities move in small steps.
  double damping() const {
    if (probability_ < 1e-6) return 2048;
    if (probability_ < 1e-5) return 512;
    if (probability_ < 1e-4) return 128;
    if (probability_ < 1e-3) return 32;
    if (probability_ < 1e-2) return 8;
    return probability_ < 1e-1 ? 2 : 1;
  }

  static double seconds(Nanoseconds t) { return static_cast<double>(t) * 1e-9; }

  PieSettings settings_;
  RandomStream random_;
  double probability_ = 0;
  double accumulated_ = 0;
  Nanoseconds delay_ = 0;
  Nanoseconds delay_before_ = 0;
  Nanoseconds burst_left_ = 0;
  Nanoseconds updated_ = 0;
  bool active_ = false;
};

}  // namespace clarion::emu
