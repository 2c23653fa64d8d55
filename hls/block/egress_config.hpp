// SPDX-License-Identifier: Apache-2.0
// The configuration of an egress unit, in the words of register_map.hpp.
#pragma once

#include "core/config.hpp"
#include "hls/block/mailbox.hpp"
#include "hls/block/xcp_words.hpp"

namespace clarion::block {

struct EgressConfig {
  XcpConfig xcp;
  bool stamp = false;
  std::uint8_t epoch = 0;
  std::uint64_t queue_limit_bytes = QUEUE_MAX;  // no limit but that of packet memory
};

// False if a value of `configure` is out of its range; then `config` stays as it is.
CLARION_INLINE bool read_config(const Command& command, EgressConfig& config) {
  using namespace registers;
  const std::uint32_t enabled = word_of(command, EGRESS_CONFIGURE_XCP);
  const std::uint32_t stamp = word_of(command, EGRESS_CONFIGURE_STAMP);
  const std::uint32_t epoch = word_of(command, EGRESS_CONFIGURE_EPOCH);
  const std::uint64_t queue_limit_bytes = words_of(command, EGRESS_CONFIGURE_QUEUE_LIMIT);
  const XcpConfig xcp = read_xcp(command);
  if (xcp != limited(xcp) || xcp.generation == 0 || queue_limit_bytes > QUEUE_MAX) return false;
  if (enabled > 1 || stamp > 1 || epoch > EGRESS_CONFIGURE_EPOCH_LIMIT) return false;
  if (enabled == 1 && epoch == 0) return false;
  config = EgressConfig{xcp, stamp == 1, static_cast<std::uint8_t>(epoch), queue_limit_bytes};
  return true;
}

// A beat of the reply to `read`.
CLARION_INLINE void put_config(Words& data, const EgressConfig& config, std::uint8_t running_epoch) {
  using namespace registers;
  put_xcp(data, config.xcp);
  put_word(data, EGRESS_READ_STAMP, config.stamp);
  put_word(data, EGRESS_READ_EPOCH, config.epoch);
  put_words(data, EGRESS_READ_QUEUE_LIMIT, config.queue_limit_bytes);
  put_word(data, EGRESS_READ_RUNNING_EPOCH, running_epoch);
}

}  // namespace clarion::block
