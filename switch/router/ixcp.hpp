// SPDX-License-Identifier: Apache-2.0
// The router of iXCP (Zan and Yang, "Improving XCP to achieve max-min fair bandwidth allocation", IFIP
// Networking 2007; Yang, Lu and Zan, Computer Networks 54(3), 2010): XCP that shuffles traffic, and spreads
// its feedback, only among the flows whose bottleneck is this link. XCP shuffles that of all, gives a part to
// flows which another link holds back, and its link stays empty by what they do not take.
//
// A reconstruction: of the papers only abstracts and an overview are public. Theirs has two fields, the
// bottleneck that the sender states and the one that routers find for the next round trip. Here both are
// `field`, the number of a hop (docs/wire-format.md), by the rule of generation 2 (docs/datapath.md): the hop
// that lowers the feedback writes its number unless a later one is named; a hop that is named and does not
// lower it writes 0, not known; and a flow of which it is not known is every hop's own. So a flow whose
// bottleneck moves to an earlier link belongs to nobody alone for a round trip. What a hop offers to the
// flows of a later one is not paid from its pools.
#pragma once

#include <algorithm>
#include <cstdint>

#include "router_law.hpp"
#include "xcp_control.hpp"
#include "xcp_data.hpp"

namespace clarion::emu {

class IxcpRouter final : public RouterLaw {
 public:
  IxcpRouter(const XcpGains& gains, std::uint8_t protocol, std::uint64_t rate_bps)
      : gains_(gains), protocol_(protocol), rate_bps_(rate_bps), control_(gains, bytes_per_s(rate_bps)) {}

  void set_rate(Nanoseconds /*now*/, std::uint64_t rate_bps) override {
    rate_bps_ = rate_bps;
    control_.set_capacity(bytes_per_s(rate_bps));
  }

  void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) override {
    const Meta meta = read_header(frame, length, protocol_);
    control_.arrive(now, xcp_packet(meta, length), meta.kind == Kind::data && is_own(frame, meta));
  }

  void queue_is(Nanoseconds now, std::uint64_t bytes) override {
    control_.queue_is(now, static_cast<double>(bytes));
  }

  void depart(Nanoseconds /*now*/, std::uint8_t* frame, std::uint32_t length) override {
    const Meta meta = read_header(frame, length, protocol_);
    if (meta.kind != Kind::data) return;
    const XcpPacket packet = xcp_packet(meta, length);
    if (is_held_back_later(frame, meta)) {
      offer(frame, meta, packet);
    } else if (is_own(frame, meta) || control_.offer(packet) < meta.delta_throughput) {
      grant(frame, meta, packet);
    }  // else an earlier hop holds it back
    write_hop(frame, meta);
  }

  void restart(Nanoseconds /*now*/) override { *this = IxcpRouter(gains_, protocol_, rate_bps_); }

  std::vector<std::pair<const char*, double>> report() const override {
    return {{"flows", control_.flows()}, {"own_flows", control_.own_flows()}};
  }

 private:
  static double bytes_per_s(std::uint64_t bps) { return static_cast<double>(bps) / 8; }

  static bool is_own(const std::uint8_t* frame, const Meta& meta) {
    const std::uint8_t field = read_field(frame, meta);
    return meta.rtt > 0 && (field == 0 || field == hop_behind(meta.flags));
  }

  static bool is_held_back_later(const std::uint8_t* frame, const Meta& meta) {
    return meta.rtt > 0 && read_field(frame, meta) > hop_behind(meta.flags);
  }

  // As if its flow were one of this hop's; but it will not take that, so the pools do not pay it. Should it
  // take it all the same, it becomes twice as fast in a round trip at most.
  void offer(std::uint8_t* frame, const Meta& meta, const XcpPacket& packet) {
    const double most = packet.bytes / control_.avg_rtt_s();
    const double offered = std::min(control_.offer(packet), most);
    write_delta_throughput(frame, meta, whole_feedback(offered, meta.delta_throughput));
  }

  void grant(std::uint8_t* frame, const Meta& meta, const XcpPacket& packet) {
    const std::int32_t wanted = meta.delta_throughput;
    const std::int32_t granted = grants_.of(control_.grant(packet, wanted), wanted);
    const std::uint8_t field = read_field(frame, meta);
    const std::uint8_t hop = hop_behind(meta.flags);
    if (meta.rtt > 0 && granted < wanted) write_field(frame, meta, hop);
    if (meta.rtt > 0 && granted == wanted && field == hop) write_field(frame, meta, 0);
    write_delta_throughput(frame, meta, granted);
  }

  XcpGains gains_;
  std::uint8_t protocol_;
  std::uint64_t rate_bps_;
  XcpControl control_;
  WholeGrants grants_;
};

}  // namespace clarion::emu
