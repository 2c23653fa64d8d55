// SPDX-License-Identifier: Apache-2.0
// Statistics of a queue: frames, bytes, drops, and the integral of its length over time.
#pragma once

#include "core/types.hpp"
#include "hls/block/mailbox.hpp"

namespace clarion::block {

struct QueueCounters {
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t drop_packets = 0;
  std::uint64_t drop_bytes = 0;
  std::uint64_t overflow = 0;
  std::uint64_t errored = 0;
  std::uint64_t byte_ticks = 0;
  Ticks last = 0;

  CLARION_INLINE void send(std::uint32_t length) {
    ++tx_packets;
    tx_bytes += length;
  }

  CLARION_INLINE void drop(std::uint32_t length, bool no_memory) {
    ++drop_packets;
    drop_bytes += length;
    if (no_memory) ++overflow;
  }

  // Frames that the intake could not announce, and so of unknown length: counted in frames only.
  CLARION_INLINE void drop_untold(std::uint64_t frames) {
    drop_packets += frames;
    overflow += frames;
  }

  // Clears all but the time of the last event.
  CLARION_INLINE void restart() {
    const Ticks now = last;
    *this = QueueCounters{};
    last = now;
  }

  CLARION_INLINE void time_passes(Ticks now, std::uint64_t queue_bytes) {
    byte_ticks += queue_bytes * elapsed_ticks(last, now);
    last = now;
  }

  // The first beat of the answer to `read`.
  CLARION_INLINE Reply reply(std::uint64_t queue_bytes) const {
    using namespace registers;
    Reply reply;
    put_words(reply.data, EGRESS_READ_TX_PACKETS, tx_packets);
    put_words(reply.data, EGRESS_READ_TX_BYTES, tx_bytes);
    put_words(reply.data, EGRESS_READ_DROP_PACKETS, drop_packets);
    put_words(reply.data, EGRESS_READ_DROP_BYTES, drop_bytes);
    put_words(reply.data, EGRESS_READ_OVERFLOW, overflow);
    put_words(reply.data, EGRESS_READ_ERRORED, errored);
    put_words(reply.data, EGRESS_READ_QUEUE_BYTES, queue_bytes);
    put_words(reply.data, EGRESS_READ_QUEUE_BYTE_TICKS, byte_ticks);
    return reply;
  }
};

}  // namespace clarion::block
