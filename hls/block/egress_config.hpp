// SPDX-License-Identifier: Apache-2.0
// What software sets an egress unit to, in the words of register_map.hpp.
#pragma once

#include "core/config.hpp"
#include "hls/block/mailbox.hpp"

namespace clarion::block {

struct EgressConfig {
  XcpConfig xcp;
  bool stamp = false;
  std::uint8_t epoch = 0;
  std::uint64_t queue_limit_bytes = QUEUE_MAX;  // none but packet memory
};

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
  return xcp;
}

CLARION_INLINE bool in_range(const XcpConfig& xcp) {
  const XcpConfig legal = limited(xcp);
  return legal.capacity_bytes_per_s == xcp.capacity_bytes_per_s && legal.alpha_q16 == xcp.alpha_q16 &&
         legal.beta_q16 == xcp.beta_q16 && legal.gamma_q16 == xcp.gamma_q16 &&
         legal.min_interval == xcp.min_interval && legal.max_interval == xcp.max_interval;
}

// False if a value of `configure` is out of its range; then `config` stays as it is.
CLARION_INLINE bool read_config(const Command& command, EgressConfig& config) {
  using namespace registers;
  const std::uint32_t enabled = word_of(command, EGRESS_CONFIGURE_XCP);
  const std::uint32_t stamp = word_of(command, EGRESS_CONFIGURE_STAMP);
  const std::uint32_t epoch = word_of(command, EGRESS_CONFIGURE_EPOCH);
  const std::uint64_t queue_limit_bytes = words_of(command, EGRESS_CONFIGURE_QUEUE_LIMIT);
  const XcpConfig xcp = read_xcp(command);
  if (!in_range(xcp) || queue_limit_bytes > QUEUE_MAX) return false;
  if (enabled > 1 || stamp > 1 || epoch > EGRESS_CONFIGURE_EPOCH_LIMIT) return false;
  if (enabled == 1 && epoch == 0) return false;
  config = EgressConfig{xcp, stamp == 1, static_cast<std::uint8_t>(epoch), queue_limit_bytes};
  return true;
}

// A beat of the reply to `read`.
CLARION_INLINE void put_config(Words& data, const EgressConfig& config, std::uint8_t running_epoch) {
  using namespace registers;
  put_word(data, EGRESS_READ_XCP, config.xcp.enabled);
  put_word(data, EGRESS_READ_STAMP, config.stamp);
  put_word(data, EGRESS_READ_EPOCH, config.epoch);
  put_words(data, EGRESS_READ_CAPACITY, config.xcp.capacity_bytes_per_s);
  put_word(data, EGRESS_READ_ALPHA, config.xcp.alpha_q16);
  put_word(data, EGRESS_READ_BETA, config.xcp.beta_q16);
  put_word(data, EGRESS_READ_GAMMA, config.xcp.gamma_q16);
  put_word(data, EGRESS_READ_MIN_INTERVAL, config.xcp.min_interval);
  put_word(data, EGRESS_READ_MAX_INTERVAL, config.xcp.max_interval);
  put_words(data, EGRESS_READ_QUEUE_LIMIT, config.queue_limit_bytes);
  put_word(data, EGRESS_READ_RUNNING_EPOCH, running_epoch);
}

}  // namespace clarion::block
