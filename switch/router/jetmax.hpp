// SPDX-License-Identifier: Apache-2.0
// The router of JetMax (Zhang, Leonard, Loguinov, "JetMax: Scalable Max-Min Congestion Control for High-Speed
// Heterogeneous Networks", Computer Networks 52(6), 2008), reconstructed: its equations are not public.
//
//   g = (target * rate - u) / N      u: the rate of what the link does not control, N: flows that it controls
//
// Every packet brings the interval between two of its flow, and the sum of these over a control interval is
// N control intervals. That is from memory of the paper; the rule by which a link comes to control a flow is
// ours. A link that does not control a flow of rate x bids what the flow would get if it did,
// (target * rate - u + x) / (N + 1), and a little more, so that noise moves no flow. The least rate that is
// written wins. A flow rests where no other link would give it less, which is the max-min fair share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "link_option.hpp"
#include "router_law.hpp"

namespace clarion::emu {

struct JetmaxSettings {
  Nanoseconds interval_ns = 100'000'000;  // the control interval
  double target = 0.95;                   // part of the rate that is to be used
};

class JetmaxRouter final : public RouterLaw {
 public:
  static constexpr double WORD_BPS = 100;           // of one unit of the word
  static constexpr std::uint32_t NO_RATE = ~0U;     // the word of a packet that no router has seen
  static constexpr double HANDICAP = 33.0 / 32;     // ours: of a bid
  static constexpr double LEAST_SHARE = 1.0 / 100;  // ours: of the rate, whatever is not controlled takes

  JetmaxRouter(const JetmaxSettings& settings, Nanoseconds now, std::uint64_t rate_bps, std::uint16_t link)
      : settings_(settings), rate_bps_(rate_bps), link_(link), began_(now) {}

  void set_rate(Nanoseconds now, std::uint64_t rate_bps) override {
    catch_up(now);
    rate_bps_ = rate_bps;
  }

  void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    const link_option::Place place(frame, length);
    const LinkOption option = place.found() ? place.read() : LinkOption{};
    if (option.controlling == link_) {
      intervals_ns_ += option.interval_ns;
    } else {
      others_bytes_ += length;
    }
  }

  void queue_is(Nanoseconds /*now*/, std::uint64_t /*bytes*/) override {}

  void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) override {
    catch_up(now);
    link_option::Place place(frame, length);
    if (!place.found()) return;
    const LinkOption option = place.read();
    const double bps = option.controlling == link_ ? fair_bps() : bid_bps(option, length);
    const std::uint32_t word = word_of(bps);
    if (word < option.word) place.propose(link_, word);
  }

  void restart(Nanoseconds now) override { *this = JetmaxRouter(settings_, now, rate_bps_, link_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"fair_bps", fair_bps()}, {"flows", flows_}, {"others_bps", others_bps_}};
  }

  // g
  double fair_bps() const { return left_bps(others_bps_) / std::max(1.0, flows_); }
  double flows() const { return flows_; }
  double others_bps() const { return others_bps_; }

 private:
  static std::uint32_t word_of(double bps) {
    return static_cast<std::uint32_t>(std::min(bps / WORD_BPS, static_cast<double>(NO_RATE)));
  }

  // By what takes `others_bps` of the rate.
  double left_bps(double others_bps) const {
    const auto rate = static_cast<double>(rate_bps_);
    return std::max(settings_.target * rate - others_bps, LEAST_SHARE * rate);
  }

  // What is not controlled here has been counted with the others.
  double bid_bps(const LinkOption& option, std::uint32_t length) const {
    const double seconds =
        static_cast<double>(std::max(option.interval_ns, 1U)) / static_cast<double>(SECOND_NS);
    const double own_bps = std::min(8.0 * length / seconds, others_bps_);
    return HANDICAP * left_bps(others_bps_ - own_bps) / (flows_ + 1);
  }

  void catch_up(Nanoseconds now) {
    const Nanoseconds over = (now - began_) / settings_.interval_ns;
    if (over > 0) close_interval();
    if (over > 1) close_interval();  // nothing came in it, nor in those after it
    began_ += over * settings_.interval_ns;
  }

  void close_interval() {
    const auto interval_ns = static_cast<double>(settings_.interval_ns);
    flows_ = static_cast<double>(intervals_ns_) / interval_ns;
    others_bps_ = 8 * static_cast<double>(others_bytes_) * static_cast<double>(SECOND_NS) / interval_ns;
    intervals_ns_ = others_bytes_ = 0;
  }

  JetmaxSettings settings_;
  std::uint64_t rate_bps_;
  std::uint16_t link_;
  Nanoseconds began_;  // the interval
  std::uint64_t intervals_ns_ = 0;
  std::uint64_t others_bytes_ = 0;
  double flows_ = 0;       // N, of the interval before
  double others_bps_ = 0;  // u
};

}  // namespace clarion::emu
