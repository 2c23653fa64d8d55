// SPDX-License-Identifier: Apache-2.0
// One slot per bucket in block RAM: read, changed and written back once per clock.
//
// The last FORWARDED writes are forwarded to reads, because they may not be in memory yet. So packets of one
// bucket in consecutive clocks give the same results as in software, and a write may come up to FORWARDED - 1
// clocks after the read that it follows from.
#pragma once

#include <cstdint>

#include "core/platform.hpp"
#include "hls/block/slow_ram.hpp"

namespace clarion::block {

constexpr unsigned FORWARDED = 4;

// `Of` makes memories of the same shape distinct types, for tools that make one array per type. `Ram` is the
// memory itself.
template <class Slot, unsigned BUCKETS, class Of = void,
          template <class Word, unsigned WORDS, unsigned WRITES> class Ram = SlowRam>
class BucketMemory {
 public:
  CLARION_INLINE static std::uint16_t index_of(std::uint16_t bucket) { return bucket & (BUCKETS - 1); }

  CLARION_INLINE Slot read(std::uint16_t bucket) const {
    const std::uint16_t index = index_of(bucket);
    Slot slot = ram_.read(index);
    for (unsigned i = FORWARDED; i > 0; --i) {  // the newest last, so that it wins
#pragma HLS unroll
      if (recent_[i - 1].valid && recent_[i - 1].index == index) slot = recent_[i - 1].slot;
    }
    return slot;
  }

  CLARION_INLINE void write(std::uint16_t bucket, const Slot& slot) {
#pragma HLS array_partition variable = recent_ type = complete
    const std::uint16_t index = index_of(bucket);
    ram_.write(index, slot);
    for (unsigned i = FORWARDED - 1; i > 0; --i) {
#pragma HLS unroll
      recent_[i] = recent_[i - 1];
    }
    recent_[0] = Recent{true, index, slot};
  }

 private:
  struct Recent {
    bool valid = false;
    std::uint16_t index = 0;
    Slot slot{};
  };

  Ram<Slot, BUCKETS, FORWARDED> ram_;
  Recent recent_[FORWARDED] = {};
};

}  // namespace clarion::block
