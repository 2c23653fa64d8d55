// SPDX-License-Identifier: Apache-2.0
// The protocols with routers of their own that a port may serve, as the user asks for them.
#pragma once

#include <cstdint>
#include <memory>

#include "ixcp.hpp"
#include "jetmax.hpp"
#include "maxnet.hpp"
#include "p_xcp.hpp"
#include "quick_start.hpp"
#include "router_law.hpp"
#include "vcp.hpp"
#include "xcp_i.hpp"

namespace clarion::emu {

struct RouterOptions {
  enum class Law : std::uint8_t { none, vcp, quick_start, ixcp, p_xcp, jetmax, maxnet, xcp_i };

  Law law = Law::none;
  VcpSettings vcp;
  QuickStartSettings quick_start;
  XcpGains ixcp;
  JetmaxSettings jetmax;
  MaxnetSettings maxnet;
  XcpISettings xcp_i;

  bool on() const { return law != Law::none; }
};

constexpr const char* name_of(RouterOptions::Law law) {
  constexpr const char* NAMES[] = {"none",  "vcp",    "quick-start", "ixcp",
                                   "p-xcp", "jetmax", "maxnet",      "xcp-i"};
  return NAMES[static_cast<std::size_t>(law)];
}

// Null: none. `link` is a number that no other link of the fabric has, and not 0; `protocol` is that of
// Clarion's header.
inline std::unique_ptr<RouterLaw> make_router_law(const RouterOptions& options, Nanoseconds now,
                                                  std::uint64_t rate_bps, RandomStream random,
                                                  std::uint16_t link, std::uint8_t protocol) {
  switch (options.law) {
    case RouterOptions::Law::vcp:
      return std::make_unique<VcpRouter>(options.vcp, now, rate_bps);
    case RouterOptions::Law::quick_start:
      return std::make_unique<QuickStartRouter>(options.quick_start, now, rate_bps, random);
    case RouterOptions::Law::ixcp:
      return std::make_unique<IxcpRouter>(options.ixcp, protocol, rate_bps);
    case RouterOptions::Law::p_xcp:
      return std::make_unique<PXcpRouter>(protocol, rate_bps);
    case RouterOptions::Law::jetmax:
      return std::make_unique<JetmaxRouter>(options.jetmax, now, rate_bps, link);
    case RouterOptions::Law::maxnet:
      return std::make_unique<MaxnetRouter>(options.maxnet, now, rate_bps, link);
    case RouterOptions::Law::xcp_i:
      return std::make_unique<XcpIRouter>(options.xcp_i, protocol, link, rate_bps);
    case RouterOptions::Law::none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace clarion::emu
