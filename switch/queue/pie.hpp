// SPDX-License-Identifier: Apache-2.0
// PIE (RFC 8033): drops at the tail, at random, with a probability that a controller of the delay sets. The
// delay is that of the packet that left last (time stamps, section 5.2), not estimated from the rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../random.hpp"
#include "discipline.hpp"

namespace clarion::emu {

struct PieSettings {
  Nanoseconds target_ns = 15'000'000;  // QDELAY_REF
  Nanoseconds update_ns = 15'000'000;  // T_UPDATE
  Nanoseconds burst_ns = 150'000'000;  // MAX_BURST
  double alpha_hz = 0.125;
  double beta_hz = 1.25;
  double mark_up_to = 0.1;  // MAX_ECNTH: above this probability capable packets are dropped, too
};

class PieDiscipline final : public FifoDiscipline {
 public:
  PieDiscipline(const PieSettings& settings, bool ecn, RandomStream random, QueueKeeper& keeper)
      : FifoDiscipline(keeper), settings_(settings), ecn_(ecn), random_(random) {}

  double probability() const { return probability_; }
  bool is_active() const { return is_active_; }
  Nanoseconds burst_left() const { return burst_left_; }

  void enqueue(Nanoseconds now, Waiting* packet) override {
    catch_up(now);
    if (!has_room_for(packet)) return keeper_.drop(packet);
    const bool hits = is_active_ && burst_left_ == 0 && drops_early();
    if (hits) accumulated_ = 0;
    if (hits && discard(packet, ecn_ && probability_ <= settings_.mark_up_to)) return;
    list_.push(packet);
    if (!is_active_ && list_.bytes() * 3 >= limit_bytes_) activate(now);
  }

  Waiting* dequeue(Nanoseconds now) override {
    catch_up(now);
    Waiting* packet = list_.pop();
    delay_ = packet == nullptr || list_.empty() ? 0 : packet->waited(now);
    return packet;
  }

 private:
  static constexpr std::uint64_t MEAN_PACKET_BYTES = 1500;
  static constexpr double CALM_PROBABILITY = 0.2;
  static constexpr double SURELY_KEPT = 0.85;  // de-randomisation (5.4)
  static constexpr double SURELY_DROPPED = 8.5;

  void activate(Nanoseconds now) {
    is_active_ = true;
    probability_ = accumulated_ = 0;
    delay_before_ = 0;
    burst_left_ = settings_.burst_ns;
    updated_ = now;
  }

  // drop_early() of appendix A
  bool drops_early() {
    const bool is_calm = delay_before_ < settings_.target_ns / 2 && probability_ < CALM_PROBABILITY;
    if (is_calm || list_.bytes() <= 2 * MEAN_PACKET_BYTES) return false;
    if (probability_ == 0) accumulated_ = 0;
    accumulated_ += probability_;
    if (accumulated_ < SURELY_KEPT) return false;
    return accumulated_ >= SURELY_DROPPED || random_.uniform() < probability_;
  }

  // The updates that have been due since.
  void catch_up(Nanoseconds now) {
    while (is_active_ && now - updated_ >= settings_.update_ns) {
      updated_ += settings_.update_ns;
      update();
    }
  }

  // Section 4.2, and status_update() of appendix A
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
    if (probability_ == 0 && delay_ == 0 && delay_before_ == 0 && list_.empty()) is_active_ = false;
    delay_before_ = delay_;
  }

  // Small probabilities move in small steps (5.1).
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
  bool ecn_;
  RandomStream random_;
  double probability_ = 0;
  double accumulated_ = 0;
  Nanoseconds delay_ = 0;
  Nanoseconds delay_before_ = 0;
  Nanoseconds burst_left_ = 0;
  Nanoseconds updated_ = 0;
  bool is_active_ = false;
};

}  // namespace clarion::emu
