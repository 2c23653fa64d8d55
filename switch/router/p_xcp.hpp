// SPDX-License-Identifier: Apache-2.0
// The router of P-XCP (Zhou, Yeung and Li, "P-XCP: a transport layer protocol for satellite IP networks",
// GLOBECOM 2004): XCP whose link is not left empty by connections that cannot use what they are given. They
// "adjust the aggregated feedback based on the ratio of the number of rate-limited connections to the total
// number of connections sharing the link".
//
// A reconstruction from that sentence of the abstract, which is all that is public. Of N flows L ask for less
// than this link would give them: their sender, or a hop before this one, holds them back. Increases are
// spread over all, and L do not take theirs, so that the sum is multiplied by N / (N - L); by 2 at most,
// because a wrong L multiplies the gain of the loop. What a later hop holds back is not seen.
#pragma once

#include <algorithm>
#include <cstdint>

#include "router_law.hpp"
#include "xcp_control.hpp"
#include "xcp_data.hpp"

namespace clarion::emu {

class PXcpRouter final : public RouterLaw {
 public:
  static constexpr double LEAST_UPTAKE = 0.5;  // of the flows

  PXcpRouter(std::uint8_t protocol, std::uint64_t rate_bps)
      : protocol_(protocol), rate_bps_(rate_bps), control_(XcpGains{}, static_cast<double>(rate_bps) / 8) {}

  void set_rate(Nanoseconds /*now*/, std::uint64_t rate_bps) override {
    rate_bps_ = rate_bps;
    control_.set_capacity(static_cast<double>(rate_bps) / 8);
  }

  void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) override {
    if (control_.is_due(now)) judge_flows();
    control_.arrive(now, xcp_packet(read_header(frame, length, protocol_), length));
  }

  void queue_is(Nanoseconds now, std::uint64_t bytes) override {
    control_.queue_is(now, static_cast<double>(bytes));
  }

  void depart(Nanoseconds /*now*/, std::uint8_t* frame, std::uint32_t length) override {
    const Meta meta = read_header(frame, length, protocol_);
    if (meta.kind != Kind::data) return;
    const XcpPacket packet = xcp_packet(meta, length);
    const std::int32_t wanted = meta.delta_throughput;
    if (meta.rtt > 0) (wanted < control_.offer(packet) ? limited_x_s_ : other_x_s_) += packet.x_s;
    write_delta_throughput(frame, meta, grants_.of(control_.grant(packet, wanted), wanted));
    write_hop(frame, meta);
  }

  void restart(Nanoseconds /*now*/) override { *this = PXcpRouter(protocol_, rate_bps_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"flows", control_.flows()}, {"limited_share", limited_share_}};
  }

 private:
  // By what has left in the interval that ends.
  void judge_flows() {
    const double all_x_s = limited_x_s_ + other_x_s_;
    limited_share_ = all_x_s > 0 ? limited_x_s_ / all_x_s : 0;
    control_.set_uptake(std::max(LEAST_UPTAKE, 1 - limited_share_));
    limited_x_s_ = other_x_s_ = 0;
  }

  std::uint8_t protocol_;
  std::uint64_t rate_bps_;
  XcpControl control_;
  WholeGrants grants_;
  double limited_x_s_ = 0;
  double other_x_s_ = 0;
  double limited_share_ = 0;
};

}  // namespace clarion::emu
