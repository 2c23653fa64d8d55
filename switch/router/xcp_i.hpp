// SPDX-License-Identifier: Apache-2.0
// The router of XCP-i (Lopez Pacheco, Pham and Lefevre, "XCP-i: eXplicit Control Protocol for heterogeneous
// inter-networking of high-speed networks", GLOBECOM 2006): XCP on a path some of whose routers do not know
// it. Those lower the TTL of a packet and not its xcp_ttl. The XCP-i router behind such a cloud sees the
// difference, and gives the feedback of a virtual router in the cloud before its own.
//
// A reconstruction: public are an abstract and slides. In theirs the router behind the cloud asks the one
// before it to probe what is available between them, with a tool that they leave open; here it measures that
// in the packets which come, so packets have a time stamp, too (cloud_meter.hpp). A cloud between a host and
// the first or the last router is not seen: the paper has hosts play the router there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

#include "cloud_meter.hpp"
#include "ip_option.hpp"
#include "xcp_router.hpp"

namespace clarion::emu {

// Of IPv4, of a type for experiments (RFC 4727). The layout is ours:
//
//   type, length, xcp_ttl, 0 | number of the last XCP-i link passed (16 bits; 0: none yet), 0 |
//   when that sent the packet (32 bits, us)
namespace xcp_i {

constexpr std::uint8_t IP_OPTION = 158;
constexpr std::uint8_t BYTES = 12;
constexpr std::uint32_t TTL_AT = 2;
constexpr std::uint32_t LINK_AT = 4;
constexpr std::uint32_t DEPARTED_AT = 8;

// As a sender puts it on.
inline void write(std::uint8_t* option, std::uint8_t ttl, std::uint16_t link, std::uint32_t departed_us) {
  option[0] = IP_OPTION;
  option[1] = BYTES;
  option[TTL_AT] = ttl;
  option[TTL_AT + 1] = 0;
  store_be16(option + LINK_AT, link);
  store_be16(option + LINK_AT + 2, 0);
  store_be32(option + DEPARTED_AT, departed_us);
}

}  // namespace xcp_i

struct XcpISettings {
  bool aware = true;  // false: a router that does not know XCP
};

// XCP's controllers with what a cloud is found to have as their capacity.
class VirtualRouter {
 public:
  void arrive(Nanoseconds now, const XcpPacket& packet, std::uint32_t departed_us) {
    if (control_.is_due(now) && meter_.close(static_cast<double>(now - began_) / SECOND_NS)) began_ = now;
    if (began_ == 0) began_ = now;
    if (is_known()) control_.set_capacity(meter_.available_bytes_per_s());
    meter_.arrive(now, packet.bytes, departed_us);
    control_.arrive(now, packet);
    control_.queue_is(now, meter_.queue_bytes());
  }

  // As long as nothing is known nobody becomes faster.
  double grant(const XcpPacket& packet, double wanted) {
    return is_known() ? control_.grant(packet, wanted) : std::min(wanted, 0.0);
  }

  double available_bytes_per_s() const { return meter_.available_bytes_per_s(); }

 private:
  bool is_known() const { return meter_.available_bytes_per_s() > 0; }

  CloudMeter meter_;
  Nanoseconds began_ = 0;  // the meter's interval
  XcpControl control_{XcpGains{}, 1};
};

class XcpIRouter final : public XcpRouter {
 public:
  // `link`: what routers behind it know it by, never 0.
  XcpIRouter(const XcpISettings& settings, std::uint8_t protocol, std::uint16_t link, std::uint64_t rate_bps)
      : XcpRouter(XcpGains{}, protocol, rate_bps), settings_(settings), link_(link) {}

  void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) override {
    if (!settings_.aware) return;
    const XcpPacket packet = xcp_packet(read_header(frame, length, protocol_), length);
    const auto found = find_ip_option(frame, length, xcp_i::IP_OPTION, xcp_i::BYTES);
    if (VirtualRouter* cloud = cloud_before(found))
      cloud->arrive(now, packet, load_be32(found.option + xcp_i::DEPARTED_AT));
    control_.arrive(now, packet);
  }

  void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) override {
    const auto found = find_ip_option(frame, length, xcp_i::IP_OPTION, xcp_i::BYTES);
    if (settings_.aware) grant(frame, length, cloud_before(found));
    if (!found.found()) return;
    pass_router(found, [&](const std::uint8_t* ip, std::uint8_t* option) {
      // From here on the cloud is not to be seen.
      if (settings_.aware) xcp_i::write(option, ip[IP_TTL_AT], link_, static_cast<std::uint32_t>(now / 1000));
    });
  }

  void restart(Nanoseconds /*now*/) override { *this = XcpIRouter(settings_, protocol_, link_, rate_bps_); }

  std::vector<std::pair<const char*, double>> report() const override {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [last, cloud] : clouds_) least = std::min(least, cloud.available_bytes_per_s());
    return {{"clouds", static_cast<double>(clouds_.size())},
            {"least_available_bps", clouds_.empty() ? 0 : 8 * least}};
  }

 private:
  static constexpr std::size_t MOST_CLOUDS = 256;  // to bound what packets can make a router remember

  // The cloud that a packet has come out of, null for none.
  template <class Bytes>
  VirtualRouter* cloud_before(const IpOption<Bytes>& found) {
    if (!found.found() || found.option[xcp_i::TTL_AT] == found.ip[IP_TTL_AT]) return nullptr;
    const std::uint16_t last = load_be16(found.option + xcp_i::LINK_AT);
    const auto known = clouds_.find(last);
    if (known != clouds_.end()) return &known->second;
    if (last == 0 || clouds_.size() == MOST_CLOUDS) return nullptr;
    return &clouds_[last];
  }

  void grant(std::uint8_t* frame, std::uint32_t length, VirtualRouter* cloud) {
    const Meta meta = read_header(frame, length, protocol_);
    if (meta.kind != Kind::data) return;
    const XcpPacket packet = xcp_packet(meta, length);
    double granted = meta.delta_throughput;
    if (cloud != nullptr) granted = cloud->grant(packet, granted);
    granted = control_.grant(packet, granted);
    write_delta_throughput(frame, meta, grants_.of(granted, meta.delta_throughput));
    write_hop(frame, meta);
  }

  XcpISettings settings_;
  std::uint16_t link_;
  std::map<std::uint16_t, VirtualRouter> clouds_;  // by the last XCP-i link before each
};

}  // namespace clarion::emu
