// SPDX-License-Identifier: Apache-2.0
// What the routers of XCP's variants have in common: a link's controller, fed with its rate and queue.
#pragma once

#include <cstdint>

#include "router_law.hpp"
#include "xcp_control.hpp"
#include "xcp_data.hpp"

namespace clarion::emu {

class XcpRouter : public RouterLaw {
 public:
  XcpRouter(const XcpGains& gains, std::uint8_t protocol, std::uint64_t rate_bps)
      : gains_(gains), protocol_(protocol), rate_bps_(rate_bps), control_(gains, bytes_per_s(rate_bps)) {}

  void set_rate(Nanoseconds /*now*/, std::uint64_t rate_bps) override {
    rate_bps_ = rate_bps;
    control_.set_capacity(bytes_per_s(rate_bps));
  }

  void queue_is(Nanoseconds now, std::uint64_t bytes) override {
    control_.queue_is(now, static_cast<double>(bytes));
  }

 protected:
  XcpGains gains_;
  std::uint8_t protocol_;
  std::uint64_t rate_bps_;
  XcpControl control_;
  WholeGrants grants_;

 private:
  static double bytes_per_s(std::uint64_t bps) { return static_cast<double>(bps) / 8; }
};

}  // namespace clarion::emu
