// SPDX-License-Identifier: Apache-2.0
// What can be set per port at run time. Plain integers: they are table entries or registers on other targets.
// host_config.hpp makes them from the units people use.
#pragma once

#include <cstdint>

#include "types.hpp"

namespace clarion {

constexpr std::uint8_t DEFAULT_PROTOCOL = 253;  // RFC 3692: for experiments

constexpr std::uint32_t DEFAULT_ALPHA_Q16 = 26214;  // 0.4
constexpr std::uint32_t DEFAULT_BETA_Q16 = 14811;   // 0.226
constexpr std::uint32_t DEFAULT_GAMMA_Q16 = 6554;   // 0.1

constexpr std::uint32_t DEFAULT_MIN_INTERVAL = 268435;  // 1 ms
constexpr std::uint32_t DEFAULT_MAX_INTERVAL = TICKS_PER_SECOND;

// Control interval and average RTT assumed before the first header with an RTT: 100 ms.
constexpr std::uint32_t INITIAL_RTT = 26843546;

// Efficiency and fairness controllers of the traffic that leaves by this port.
struct XcpConfig {
  bool enabled = false;
  std::uint64_t capacity_bytes_per_s = 0;       // at most 2^38 - 1
  std::uint32_t alpha_q16 = DEFAULT_ALPHA_Q16;  // coefficients: below 4.0
  std::uint32_t beta_q16 = DEFAULT_BETA_Q16;
  std::uint32_t gamma_q16 = DEFAULT_GAMMA_Q16;
  std::uint32_t min_interval = DEFAULT_MIN_INTERVAL;  // ticks, at least 1
  std::uint32_t max_interval = DEFAULT_MAX_INTERVAL;  // ticks, at least min_interval
};

// Loss causes. `check` and `edge` act on frames that come in by this port, `stamp` on those that leave.
struct TagConfig {
  bool stamp = false;  // number packets of the outgoing link and count the drops of this port's queue
  bool check = false;  // count the losses of the incoming link
  bool edge = false;   // a host is behind this port: its claims about earlier losses are zeroed
};

struct PortConfig {
  XcpConfig xcp;
  TagConfig tag;
};

// The nearest legal configuration: every later width depends on these limits.
CLARION_INLINE XcpConfig limited(XcpConfig xcp) {
  const std::uint64_t rate_max = RATE_MAX >> RATE_FRACTION_BITS;
  xcp.capacity_bytes_per_s = min_u64(xcp.capacity_bytes_per_s, rate_max);
  xcp.alpha_q16 = static_cast<std::uint32_t>(min_u64(xcp.alpha_q16, COEFFICIENT_MAX));
  xcp.beta_q16 = static_cast<std::uint32_t>(min_u64(xcp.beta_q16, COEFFICIENT_MAX));
  xcp.gamma_q16 = static_cast<std::uint32_t>(min_u64(xcp.gamma_q16, COEFFICIENT_MAX));
  if (xcp.min_interval == 0) xcp.min_interval = 1;
  if (xcp.max_interval < xcp.min_interval) xcp.max_interval = xcp.min_interval;
  return xcp;
}

}  // namespace clarion
