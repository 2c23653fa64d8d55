// SPDX-License-Identifier: Apache-2.0
// The router of MaxNet (Wydrowski, Zukerman, "MaxNet: a congestion control architecture", IEEE Communications
// Letters 6(11), 2002, and Andrew, Wydrowski, Zukerman after it), reconstructed: its constants are not
// public. The price of a link integrates what comes beyond its target, packets carry the highest price of
// their path, and all senders answer to a price with the same rate (hosts/bpf/cc/maxnet.h):
//
//   p <- max(floor, p + kappa * T * (z - 1))      z = bytes that came / (target * rate * T)
//   rate of a sender = FASTEST * e^-p             p in nepers
//
// kappa is half of one over the longest round trip, below the pi / 2 at which a delayed integral swings. The
// floor is ours, since an idle link would ask everyone for everything: the price at which one flow fills the
// link; and, while there is room, that at which the fastest flow of the interval would grow by what is free
// if all others did as well. The fastest flow is known from the interval that packets carry.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "link_option.hpp"
#include "router_law.hpp"

namespace clarion::emu {

struct MaxnetSettings {
  Nanoseconds interval_ns = 10'000'000;  // T; at most the longest round trip
  Nanoseconds max_rtt_ns = 200'000'000;  // of all flows
  double target = 0.95;                  // mu, the part of the rate that is to be used
};

class MaxnetRouter final : public RouterLaw {
 public:
  static constexpr double FASTEST_BPS = 400e9;            // of a sender, where the price is 0
  static constexpr double WORD_NEPERS = 1.0 / (1 << 24);  // of one unit of the word
  static constexpr double LOOP_GAIN = 0.5;                // kappa times the longest round trip

  MaxnetRouter(const MaxnetSettings& settings, Nanoseconds now, std::uint64_t rate_bps, std::uint16_t link)
      : settings_(settings), rate_bps_(rate_bps), link_(link), began_(now), price_(price_of(target_bps())) {}

  void set_rate(Nanoseconds now, std::uint64_t rate_bps) override {
    catch_up(now);
    rate_bps_ = rate_bps;
  }

  void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    bytes_ += length;
    const link_option::Place place(frame, length);
    if (!place.found()) return;
    const double seconds =
        static_cast<double>(std::max(place.read().interval_ns, 1U)) / static_cast<double>(SECOND_NS);
    fastest_bps_ = std::max(fastest_bps_, 8.0 * length / seconds);
  }

  void queue_is(Nanoseconds /*now*/, std::uint64_t /*bytes*/) override {}

  void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    link_option::Place place(frame, length);
    if (!place.found()) return;
    const auto word = static_cast<std::uint32_t>(price_ / WORD_NEPERS);
    if (word >= place.read().word) place.propose(link_, word);
  }

  void restart(Nanoseconds now) override { *this = MaxnetRouter(settings_, now, rate_bps_, link_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"price", price_}, {"sender_bps", FASTEST_BPS * std::exp(-price_)}, {"load", load_}};
  }

  double price() const { return price_; }
  double load() const { return load_; }

 private:
  static double price_of(double bps) { return std::max(0.0, std::log(FASTEST_BPS / bps)); }

  double target_bps() const { return settings_.target * static_cast<double>(rate_bps_); }

  void catch_up(Nanoseconds now) {
    const Nanoseconds over = (now - began_) / settings_.interval_ns;
    if (over > 0) close_intervals(1);
    if (over > 1) close_intervals(over - 1);  // nothing has come in them
    began_ += over * settings_.interval_ns;
  }

  // `intervals`, each with as much as the present one.
  void close_intervals(Nanoseconds intervals) {
    const double seconds = static_cast<double>(settings_.interval_ns) / static_cast<double>(SECOND_NS);
    load_ = 8 * static_cast<double>(bytes_) / seconds / target_bps();
    const double gain =
        LOOP_GAIN * static_cast<double>(settings_.interval_ns) / static_cast<double>(settings_.max_rtt_ns);
    price_ = std::max(price_ + gain * static_cast<double>(intervals) * (load_ - 1), price_of(target_bps()));
    if (load_ < 1 && load_ > 0 && fastest_bps_ > 0) {
      price_ = std::max(price_, price_of(fastest_bps_ / load_));
    }
    bytes_ = 0;
    fastest_bps_ = 0;
  }

  MaxnetSettings settings_;
  std::uint64_t rate_bps_;
  std::uint16_t link_;
  Nanoseconds began_;  // the interval
  std::uint64_t bytes_ = 0;
  double fastest_bps_ = 0;
  double price_;
  double load_ = 0;  // z, of the interval before
};

}  // namespace clarion::emu
