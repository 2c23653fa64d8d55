// SPDX-License-Identifier: Apache-2.0
// What can be set per port at run time. Plain integers: they are table entries or registers on other targets.
// xcp_settings.hpp makes them from the units people use.
#pragma once

#include <cstdint>

#include "types.hpp"
#include "xcp_config.hpp"

namespace clarion {

constexpr std::uint8_t DEFAULT_PROTOCOL = 253;  // RFC 3692: for experiments

// Control interval and average RTT assumed before the first header with an RTT: 100 ms.
constexpr std::uint32_t INITIAL_RTT = 26843546;

// Loss causes. `check`, `edge` and `wire` act on frames that come in by this port, `stamp` on those that
// leave.
struct TagConfig {
  bool stamp = false;  // number packets of the outgoing link and count the drops of this port's queue
  bool check = false;  // count the losses of the incoming link
  bool edge = false;   // a host is behind this port: its claims about earlier losses are zeroed
  bool wire = false;  // the link is known to be a bare wire: without that `check` follows, but counts nothing
};

struct PortConfig {
  XcpConfig xcp;
  TagConfig tag;
};

// The nearest legal configuration: every later width depends on these limits.
CLARION_INLINE XcpConfig limited(XcpConfig xcp) {
  xcp = within_widths(xcp);
  if (xcp.min_interval == 0) xcp.min_interval = 1;
  if (xcp.max_interval < xcp.min_interval) xcp.max_interval = xcp.min_interval;
  return xcp;
}

}  // namespace clarion
