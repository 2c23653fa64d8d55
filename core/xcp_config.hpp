// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
// XCP's configuration of a port in the data plane's own integers.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace clarion {

constexpr std::uint32_t DEFAULT_ALPHA_Q16 = 26214;
constexpr std::uint32_t DEFAULT_BETA_Q16 = 14811;
constexpr std::uint32_t DEFAULT_GAMMA_Q16 = 6554;
constexpr std::uint32_t DEFAULT_MIN_INTERVAL = 268435;
constexpr std::uint32_t DEFAULT_MAX_INTERVAL = 268435456;
constexpr std::uint32_t DEFAULT_GENERATION = 2;

// Efficiency and fairness controllers of the traffic that leaves by this port.
struct XcpConfig {
  bool enabled = false;
  std::uint64_t capacity_bytes_per_s = 0;             // bytes/s
  std::uint32_t alpha_q16 = DEFAULT_ALPHA_Q16;        // q16
  std::uint32_t beta_q16 = DEFAULT_BETA_Q16;          // q16
  std::uint32_t gamma_q16 = DEFAULT_GAMMA_Q16;        // q16
  std::uint32_t min_interval = DEFAULT_MIN_INTERVAL;  // ticks, at least 1
  std::uint32_t max_interval = DEFAULT_MAX_INTERVAL;  // ticks, at least min_interval
  std::uint32_t generation = DEFAULT_GENERATION;      // 1 or 2
};

CLARION_INLINE bool operator==(const XcpConfig& a, const XcpConfig& b) {
  return a.enabled == b.enabled && a.capacity_bytes_per_s == b.capacity_bytes_per_s &&
         a.alpha_q16 == b.alpha_q16 && a.beta_q16 == b.beta_q16 && a.gamma_q16 == b.gamma_q16 &&
         a.min_interval == b.min_interval && a.max_interval == b.max_interval && a.generation == b.generation;
}
CLARION_INLINE bool operator!=(const XcpConfig& a, const XcpConfig& b) { return !(a == b); }

// The nearest configuration whose integers fit their widths.
CLARION_INLINE XcpConfig within_widths(XcpConfig xcp) {
  if (xcp.capacity_bytes_per_s > 274877906943u) xcp.capacity_bytes_per_s = 274877906943u;
  if (xcp.alpha_q16 > 262143u) xcp.alpha_q16 = 262143u;
  if (xcp.beta_q16 > 262143u) xcp.beta_q16 = 262143u;
  if (xcp.gamma_q16 > 262143u) xcp.gamma_q16 = 262143u;
  if (xcp.generation > 2u) xcp.generation = 2u;
  return xcp;
}

// Every integer, by its type.
template <class Visitor>
CLARION_INLINE void visit_fields(Visitor& visitor, XcpConfig& xcp) {
  visitor.field(xcp.capacity_bytes_per_s);
  visitor.field(xcp.alpha_q16);
  visitor.field(xcp.beta_q16);
  visitor.field(xcp.gamma_q16);
  visitor.field(xcp.min_interval);
  visitor.field(xcp.max_interval);
  visitor.field(xcp.generation);
}

// Every integer as an argument of set_xcp_port: visit(name, integer, least, most).
template <class Config, class Visit>
void visit_arguments(Config& xcp, Visit visit) {
  visit("capacity", xcp.capacity_bytes_per_s, std::uint64_t{0}, std::uint64_t{274877906943});
  visit("alpha", xcp.alpha_q16, std::uint64_t{0}, std::uint64_t{262143});
  visit("beta", xcp.beta_q16, std::uint64_t{0}, std::uint64_t{262143});
  visit("gamma", xcp.gamma_q16, std::uint64_t{0}, std::uint64_t{262143});
  visit("min_interval", xcp.min_interval, std::uint64_t{1}, std::uint64_t{4294967295});
  visit("max_interval", xcp.max_interval, std::uint64_t{1}, std::uint64_t{4294967295});
  visit("generation", xcp.generation, std::uint64_t{1}, std::uint64_t{2});
}

}  // namespace clarion
