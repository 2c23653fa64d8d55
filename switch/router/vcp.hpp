// SPDX-License-Identifier: Apache-2.0
// The router of VCP (Xia, Subramanian, Stoica, Kalyanaraman, "One more bit is enough", SIGCOMM 2005):
// measures the load of its link and tells senders, in the two ECN bits of the IP header, whether it is low,
// high or too much.
#pragma once

#include <cstdint>

#include "../frame_edit.hpp"
#include "router_law.hpp"

namespace clarion::emu {

struct VcpSettings {
  Nanoseconds interval_ns = 200'000'000;  // t_rho
  Nanoseconds sample_ns = 10'000'000;     // t_q, between two looks at the queue; at most the interval
  double queue_gain = 0.5;                // kappa_q, the part of the standing queue that counts
  double queue_weight = 0.25;             // of the last interval's mean in the standing queue
  double target = 0.98;                   // gamma_l, the part of the rate that is to be used
};

// Intervals follow each other whether packets come or not. Nothing has a timer: what is due before a packet
// is made up for when it comes, which is exact, because between two calls the queue stays as it is.
class VcpRouter final : public RouterLaw {
 public:
  static constexpr double LOW_BELOW = 0.8;
  static constexpr double OVERLOAD_FROM = 1.0;

  // As the field shows it; 00 is a packet that is not VCP's.
  enum class Code : std::uint8_t { none = 0, low = 1, high = 2, overload = 3 };

  VcpRouter(const VcpSettings& settings, Nanoseconds now, std::uint64_t rate_bps)
      : settings_(settings), rate_bps_(rate_bps), began_(now), sampled_(now) {}

  void set_rate(Nanoseconds now, std::uint64_t rate_bps) override {
    catch_up(now);
    rate_bps_ = rate_bps;
  }

  void arrive(Nanoseconds now, const std::uint8_t* /*frame*/, std::uint32_t length) override {
    catch_up(now);
    input_bytes_ += length;
  }

  void queue_is(Nanoseconds now, std::uint64_t bytes) override {
    catch_up(now);
    queue_bytes_ = bytes;
  }

  // Only raises the code, so that it is that of the most loaded link of the path.
  void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    const auto found = static_cast<Code>(ecn_field(frame, length));
    if (found != Code::none && found < code_) set_ecn_field(frame, length, static_cast<EcnField>(code_));
  }

  void restart(Nanoseconds now) override { *this = VcpRouter(settings_, now, rate_bps_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"load", load_}, {"standing_queue_bytes", standing_bytes_}};
  }

  double load() const { return load_; }
  double standing_bytes() const { return standing_bytes_; }
  Code code() const { return code_; }

 private:
  void catch_up(Nanoseconds now) {
    while (now - began_ >= settings_.interval_ns) {
      const Nanoseconds end = began_ + settings_.interval_ns;
      sample_up_to(end);
      close_interval();
      began_ = sampled_ = end;
      skip_idle(now);
    }
    sample_up_to(now);
  }

  void sample_up_to(Nanoseconds time) {
    const Nanoseconds due = (time - sampled_) / settings_.sample_ns;
    sampled_ += due * settings_.sample_ns;
    samples_ += due;
    sampled_bytes_ += static_cast<double>(due) * static_cast<double>(queue_bytes_);
  }

  void close_interval() {
    const double mean = samples_ == 0 ? 0 : sampled_bytes_ / static_cast<double>(samples_);
    standing_bytes_ += settings_.queue_weight * (mean - standing_bytes_);
    const double seconds = static_cast<double>(settings_.interval_ns) / static_cast<double>(SECOND_NS);
    const double carried_bytes = settings_.target * static_cast<double>(rate_bps_) / 8 * seconds;
    load_ = (static_cast<double>(input_bytes_) + settings_.queue_gain * standing_bytes_) / carried_bytes;
    code_ = load_ < LOW_BELOW ? Code::low : load_ < OVERLOAD_FROM ? Code::high : Code::overload;
    input_bytes_ = samples_ = 0;
    sampled_bytes_ = 0;
  }

  // After so long without a packet nothing is left of the queue that stood.
  void skip_idle(Nanoseconds now) {
    constexpr Nanoseconds FORGOTTEN = 1000;  // intervals
    const Nanoseconds left = (now - began_) / settings_.interval_ns;
    if (left > FORGOTTEN) began_ = sampled_ += (left - FORGOTTEN) * settings_.interval_ns;
  }

  VcpSettings settings_;
  std::uint64_t rate_bps_;
  Nanoseconds began_;    // the interval
  Nanoseconds sampled_;  // the last look at the queue
  std::uint64_t input_bytes_ = 0;
  std::uint64_t queue_bytes_ = 0;
  std::uint64_t samples_ = 0;
  double sampled_bytes_ = 0;
  double standing_bytes_ = 0;
  double load_ = 0;
  Code code_ = Code::low;  // of the interval before
};

}  // namespace clarion::emu
