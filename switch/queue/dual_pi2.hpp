// SPDX-License-Identifier: Apache-2.0
// DualPI2 (RFC 9332, appendix A): one queue for packets of scalable senders (ECT(1) or CE), which are marked
// early, one for all others; a PI controller of the delay sets the probabilities of both so that a flow of
// either kind gets about the same rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "discipline.hpp"

namespace clarion::emu {

struct DualPi2Settings {
  Nanoseconds target_ns = 15'000'000;
  Nanoseconds update_ns = 15'000'000;   // Tupdate = min(target, RTT_max / 3) with RTT_max = 100 ms
  Nanoseconds step_ns = 800'000;        // minTh: packets of scalable senders that waited less are not marked
  Nanoseconds step_range_ns = 400'000;  // and all that waited so much more
  double alpha_hz = 0.15;               // 0.1 Tupdate / RTT_max^2
  double beta_hz = 3;                   // 0.3 / RTT_max
  double coupling = 2;                  // k
};

class DualPi2Discipline final : public QueueDiscipline {
 public:
  DualPi2Discipline(const DualPi2Settings& settings, bool ecn, QueueKeeper& keeper)
      : QueueDiscipline(keeper), settings_(settings), ecn_(ecn) {}

  std::uint64_t bytes() const override { return low_.list.bytes() + classic_.list.bytes(); }
  std::size_t packets() const override { return low_.list.packets() + classic_.list.packets(); }

  double base_probability() const { return base_; }                                         // p'
  double classic_probability() const { return base_ * base_; }                              // p_C
  double coupled_probability() const { return std::min(settings_.coupling * base_, 1.0); }  // p_CL

  // A.1, figure 3
  void enqueue(Nanoseconds now, Waiting* packet) override {
    catch_up(now);
    if (!has_room_for(packet)) return keeper_.drop(packet);
    (ecn_ && is_scalable(*packet) ? low_ : classic_).list.push(packet);
  }

  // A.2, figure 8
  Waiting* dequeue(Nanoseconds now) override {
    catch_up(now);
    while (packets() > 0) {
      const bool is_low = takes_low();
      Queue& queue = is_low ? low_ : classic_;
      Waiting* packet = queue.list.pop();
      if (is_low ? passes_low(now, packet) : passes_classic(packet)) {
        if (is_low && !classic_.list.empty()) credit_bytes_ -= packet->length;
        if (!is_low && !low_.list.empty()) credit_bytes_ += CLASSIC_TURNS * packet->length;
        return packet;
      }
    }
    return nullptr;
  }

 private:
  static constexpr std::int64_t CLASSIC_TURNS = 15;  // of 16 bytes the classic queue gets one, if both wait

  struct Queue {
    WaitingList list;
    double count = 0;

    // Deterministic instead of random: every 1/likelihood packets (recur() of figure 6).
    bool recurs(double likelihood) {
      count += likelihood;
      if (count <= 1) return false;
      count -= 1;
      return true;
    }
  };

  // Of a scalable sender. Already marked it may be of either kind and counts as one of those (RFC 9331,
  // section 5.1), but one with a number stays behind the unmarked ones of its slot.
  bool is_scalable(const Waiting& packet) {
    if (!packet.is_numbered()) return packet.ecn == EcnField::ect1 || packet.ecn == EcnField::marked;
    if (packet.ecn != EcnField::marked) is_classic_[packet.slot()] = packet.ecn != EcnField::ect1;
    return !is_classic_[packet.slot()];
  }

  // Weighted round robin.
  bool takes_low() {
    if (low_.list.empty()) return false;
    if (classic_.list.empty()) return true;
    return credit_bytes_ > 0;
  }

  // The ramp of the low-latency queue's own AQM (laqm, figure 4).
  double ramp(Nanoseconds waited) const {
    if (waited < settings_.step_ns) return 0;
    if (waited >= settings_.step_ns + settings_.step_range_ns) return 1;
    return static_cast<double>(waited - settings_.step_ns) / static_cast<double>(settings_.step_range_ns);
  }

  bool is_overloaded() const { return coupled_probability() >= 1; }

  bool passes_low(Nanoseconds now, Waiting* packet) {
    if (is_overloaded() && low_.recurs(classic_probability())) {
      keeper_.drop(packet);
      return false;
    }
    const double own = is_overloaded() ? 0 : ramp(packet->waited(now));
    if (low_.recurs(std::max(own, coupled_probability())) && packet->is_ecn_capable()) keeper_.mark(packet);
    return true;
  }

  bool passes_classic(Waiting* packet) {
    if (!classic_.recurs(classic_probability())) return true;
    return !discard(packet, ecn_ && !is_overloaded());
  }

  // dualpi2_update(), figure 5, as often as it has been due.
  void catch_up(Nanoseconds now) {
    if (updated_ == 0) updated_ = now;
    while (now - updated_ >= settings_.update_ns) {
      updated_ += settings_.update_ns;
      const Nanoseconds delay = std::max(head_delay(low_, updated_), head_delay(classic_, updated_));
      const double off_s = seconds(delay) - seconds(settings_.target_ns);
      const double moved_s = seconds(delay) - seconds(delay_before_);
      base_ = std::clamp(base_ + settings_.alpha_hz * off_s + settings_.beta_hz * moved_s, 0.0, 1.0);
      delay_before_ = delay;
    }
  }

  static Nanoseconds head_delay(const Queue& queue, Nanoseconds now) {
    const Waiting* first = queue.list.front();
    return first == nullptr || first->since >= now ? 0 : first->waited(now);
  }
  static double seconds(Nanoseconds t) { return static_cast<double>(t) * 1e-9; }

  DualPi2Settings settings_;
  bool ecn_;
  Queue low_;
  Queue classic_;
  std::vector<bool> is_classic_ = std::vector<bool>(DEFAULT_BUCKETS);  // the last unmarked packet, by slot
  double base_ = 0;
  Nanoseconds delay_before_ = 0;
  Nanoseconds updated_ = 0;
  std::int64_t credit_bytes_ = 0;  // of the low-latency queue
};

}  // namespace clarion::emu
