// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
// XCP's configuration in the words of a command, and of the reply that shows it.
#pragma once

#include "core/config.hpp"
#include "hls/block/mailbox.hpp"

namespace clarion::block {

CLARION_INLINE XcpConfig read_xcp(const Command& command) {
  using namespace registers;
  XcpConfig xcp;
  xcp.enabled = word_of(command, EGRESS_CONFIGURE_XCP) == 1;
  xcp.capacity_bytes_per_s = words_of(command, EGRESS_CONFIGURE_CAPACITY);
  xcp.alpha_q16 = word_of(command, EGRESS_CONFIGURE_ALPHA);
  xcp.beta_q16 = word_of(command, EGRESS_CONFIGURE_BETA);
  xcp.gamma_q16 = word_of(command, EGRESS_CONFIGURE_GAMMA);
  xcp.min_interval = word_of(command, EGRESS_CONFIGURE_MIN_INTERVAL);
  xcp.max_interval = word_of(command, EGRESS_CONFIGURE_MAX_INTERVAL);
  xcp.generation = word_of(command, EGRESS_CONFIGURE_GENERATION);
  return xcp;
}

CLARION_INLINE void put_xcp(Words& data, const XcpConfig& xcp) {
  using namespace registers;
  put_word(data, EGRESS_READ_XCP, xcp.enabled);
  put_words(data, EGRESS_READ_CAPACITY, xcp.capacity_bytes_per_s);
  put_word(data, EGRESS_READ_ALPHA, xcp.alpha_q16);
  put_word(data, EGRESS_READ_BETA, xcp.beta_q16);
  put_word(data, EGRESS_READ_GAMMA, xcp.gamma_q16);
  put_word(data, EGRESS_READ_MIN_INTERVAL, xcp.min_interval);
  put_word(data, EGRESS_READ_MAX_INTERVAL, xcp.max_interval);
  put_word(data, EGRESS_READ_GENERATION, xcp.generation);
}

}  // namespace clarion::block
