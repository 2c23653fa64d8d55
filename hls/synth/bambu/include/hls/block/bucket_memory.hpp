// SPDX-License-Identifier: Apache-2.0
// hls/block/bucket_memory.hpp as one process that takes a step after the other has it: what was written is in
// memory before it is read again. An array of its own for each memory, of packed slots.
#ifndef CLARION_BLOCK_BUCKET_MEMORY_HPP
#define CLARION_BLOCK_BUCKET_MEMORY_HPP

#include <cstdint>

#include "core/platform.hpp"
#include "core/sequence_check.hpp"

namespace clarion::block {

CLARION_INLINE std::uint64_t slot_bits(std::uint16_t slot) { return slot; }
CLARION_INLINE void slot_from(std::uint64_t bits, std::uint16_t& slot) {
  slot = static_cast<std::uint16_t>(bits);
}

CLARION_INLINE std::uint64_t slot_bits(const SequenceSlot& slot) {
  return std::uint64_t{slot.far} << 40 | std::uint64_t{slot.based} << 32 | std::uint64_t{slot.total} << 16 |
         slot.expected;
}
CLARION_INLINE void slot_from(std::uint64_t bits, SequenceSlot& slot) {
  slot.expected = static_cast<std::uint16_t>(bits);
  slot.total = static_cast<std::uint16_t>(bits >> 16);
  slot.based = (bits >> 32 & 1) != 0;
  slot.far = static_cast<std::uint8_t>(bits >> 40);
}

template <class Slot, unsigned BUCKETS, class Of = void>
class BucketMemory {
 public:
  CLARION_INLINE static std::uint16_t index_of(std::uint16_t bucket) { return bucket & (BUCKETS - 1); }

  CLARION_INLINE Slot read(std::uint16_t bucket) const {
    Slot slot{};
    slot_from(slots_[index_of(bucket)], slot);
    return slot;
  }

  CLARION_INLINE void write(std::uint16_t bucket, const Slot& slot) {
    slots_[index_of(bucket)] = slot_bits(slot);
  }

 private:
  inline static std::uint64_t slots_[BUCKETS] = {};
};

}  // namespace clarion::block

#endif  // CLARION_BLOCK_BUCKET_MEMORY_HPP
