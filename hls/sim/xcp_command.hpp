// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
// XCP's configuration as software writes it into a command.
#pragma once

#include "core/config.hpp"
#include "hls/sim/register_map.hpp"

namespace clarion::sim {

// Every argument with its place in the command: put(word, bits, integer).
template <class Put>
void put_xcp(const XcpConfig& xcp, Put put) {
  using namespace registers;
  put(EGRESS_CONFIGURE_CAPACITY, EGRESS_CONFIGURE_CAPACITY_BITS, xcp.capacity_bytes_per_s);
  put(EGRESS_CONFIGURE_ALPHA, EGRESS_CONFIGURE_ALPHA_BITS, xcp.alpha_q16);
  put(EGRESS_CONFIGURE_BETA, EGRESS_CONFIGURE_BETA_BITS, xcp.beta_q16);
  put(EGRESS_CONFIGURE_GAMMA, EGRESS_CONFIGURE_GAMMA_BITS, xcp.gamma_q16);
  put(EGRESS_CONFIGURE_MIN_INTERVAL, EGRESS_CONFIGURE_MIN_INTERVAL_BITS, xcp.min_interval);
  put(EGRESS_CONFIGURE_MAX_INTERVAL, EGRESS_CONFIGURE_MAX_INTERVAL_BITS, xcp.max_interval);
  put(EGRESS_CONFIGURE_GENERATION, EGRESS_CONFIGURE_GENERATION_BITS, xcp.generation);
}

}  // namespace clarion::sim
