// SPDX-License-Identifier: Apache-2.0
// Loss detection by numbering, one number and one total per bucket: the same check finds losses of a wire
// and drops of a queue.
#pragma once

#include <cstdint>

#include "platform.hpp"
#include "types.hpp"

namespace clarion {

constexpr std::int32_t GAP_LIMIT = 16384;  // a step this long or longer, ahead or behind, is a jump
constexpr std::int32_t LATE_LIMIT = 256;   // a packet at most this far behind was overtaken
constexpr std::uint8_t FAR_LIMIT = 64;     // so many in a row further behind are a restart

constexpr std::uint16_t number_after(std::uint16_t number) { return static_cast<std::uint16_t>(number + 1); }

// Numbers the packets of each bucket, from 0, modulo 2^16.
template <unsigned BUCKETS>
class SequenceStamp {
  static_assert(BUCKETS > 0 && (BUCKETS & (BUCKETS - 1)) == 0, "the bucket index is a mask");

 public:
  CLARION_INLINE std::uint16_t step(std::uint16_t bucket) {
    std::uint16_t& next = next_[bucket & (BUCKETS - 1)];
    const std::uint16_t number = next;
    next = number_after(number);
    return number;
  }

  std::uint16_t next(std::uint16_t bucket) const { return next_[bucket & (BUCKETS - 1)]; }

 private:
  std::uint16_t next_[BUCKETS] = {};
};

// What a check has seen since start, over all buckets; saturating.
struct SequenceCounters {
  std::uint64_t lost = 0;     // packets missing in gaps
  std::uint64_t late = 0;     // packets that came after they were counted as lost
  std::uint64_t rebased = 0;  // jumps that were not believed
};

// What a check keeps of one bucket.
struct SequenceSlot {
  std::uint16_t expected = 0;  // next number
  std::uint16_t total = 0;     // running loss total, modulo 2^16
  bool based = false;          // a first packet has set `expected`
  std::uint8_t far = 0;        // packets in a row further behind than LATE_LIMIT
};

// Takes the number as a new base: so that no gap from before it counts once gaps do.
CLARION_INLINE void follow_number(SequenceSlot& slot, std::uint16_t seq) {
  slot.based = true;
  slot.far = 0;
  slot.expected = number_after(seq);
}

// Whether a packet behind the expected number was overtaken. A path may reorder over any distance, but a
// sender that has started again stays far behind.
CLARION_INLINE bool is_late(SequenceSlot& slot, std::int16_t ahead) {
  if (ahead >= 0 || ahead <= -GAP_LIMIT) return false;
  slot.far = ahead < -LATE_LIMIT ? static_cast<std::uint8_t>(slot.far + 1) : std::uint8_t{0};
  return slot.far < FAR_LIMIT;
}

// Compares the number `seq` of one packet with what its bucket expects. On its own so that hardware can
// forward a slot that is not yet written back to the packet behind it.
CLARION_INLINE void check_number(SequenceSlot& slot, SequenceCounters& counters, std::uint16_t seq) {
  const auto ahead = static_cast<std::int16_t>(static_cast<std::uint16_t>(seq - slot.expected));
  if (slot.based && is_late(slot, ahead)) {
    slot.total = static_cast<std::uint16_t>(slot.total - 1);
    counters.late = saturating_add(counters.late, 1, UINT64_MAX);
    return;
  }
  if (slot.based && ahead >= 0 && ahead < GAP_LIMIT) {
    slot.total = static_cast<std::uint16_t>(slot.total + ahead);
    counters.lost = saturating_add(counters.lost, static_cast<std::uint64_t>(ahead), UINT64_MAX);
  } else if (slot.based) {
    counters.rebased = saturating_add(counters.rebased, 1, UINT64_MAX);
  }
  follow_number(slot, seq);
}

// Compares numbers with what is expected and keeps the running loss total of each bucket.
template <unsigned BUCKETS>
class SequenceCheck {
  static_assert(BUCKETS > 0 && (BUCKETS & (BUCKETS - 1)) == 0, "the bucket index is a mask");

 public:
  // Forgets the numbers, not the totals: for a link that was not watched for a while.
  void restart() {
    for (unsigned i = 0; i < BUCKETS; ++i) slots_[i].based = false;
  }

  // The same for one bucket, or the reverse: its number counts again. For a caller that keeps epochs.
  void set_based(std::uint16_t bucket, bool based) { slots_[bucket & (BUCKETS - 1)].based = based; }

  // One packet with number `seq` in `bucket`; returns the bucket's total after it.
  CLARION_INLINE std::uint16_t step(std::uint16_t bucket, std::uint16_t seq) {
    SequenceSlot slot = slots_[bucket & (BUCKETS - 1)];
    check_number(slot, counters_, seq);
    slots_[bucket & (BUCKETS - 1)] = slot;
    return slot.total;
  }

  // The same on a link whose gaps mean nothing: the total stays.
  CLARION_INLINE std::uint16_t follow(std::uint16_t bucket, std::uint16_t seq) {
    SequenceSlot slot = slots_[bucket & (BUCKETS - 1)];
    follow_number(slot, seq);
    slots_[bucket & (BUCKETS - 1)] = slot;
    return slot.total;
  }

  std::uint16_t total(std::uint16_t bucket) const { return slots_[bucket & (BUCKETS - 1)].total; }
  std::uint16_t expected(std::uint16_t bucket) const { return slots_[bucket & (BUCKETS - 1)].expected; }
  bool based(std::uint16_t bucket) const { return slots_[bucket & (BUCKETS - 1)].based; }
  std::uint8_t far(std::uint16_t bucket) const { return slots_[bucket & (BUCKETS - 1)].far; }
  const SequenceCounters& counters() const { return counters_; }

 private:
  SequenceSlot slots_[BUCKETS] = {};
  SequenceCounters counters_;
};

}  // namespace clarion
