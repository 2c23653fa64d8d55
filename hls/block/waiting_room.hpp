// SPDX-License-Identifier: Apache-2.0
// The queue of records of the frames that wait in packet memory.
#pragma once

#include <ap_int.h>

#include "hls/block/sizes.hpp"
#include "hls/block/waiting.hpp"

namespace clarion::block {

// Never full: each frame has at least one beat in packet memory, and there are as many entries as beats. A
// frame may leave SETTLING clocks after it joined, when its entry has certainly reached memory.
class WaitingRoom {
 public:
  CLARION_INLINE void clock() { settling_ <<= 1; }

  CLARION_INLINE void push(const Waiting& waiting) {
    CLARION_RAM(entries_);
#pragma HLS dependence variable = entries_ type = inter direction = RAW distance = 8 true
    entries_[tail_ & (QUEUE_BEATS - 1)] = waiting;
    ++tail_;
    settling_[0] = 1;
  }

  // Whether the first entry has settled.
  CLARION_INLINE bool any() const {
    ap_uint<18> young = 0;
    for (unsigned i = 0; i < SETTLING; ++i) {
#pragma HLS unroll
      young += settling_[i];
    }
    return ap_uint<18>(tail_ - head_) > young;
  }

  CLARION_INLINE Waiting pop() { return entries_[head_++ & (QUEUE_BEATS - 1)]; }

 private:
  static constexpr unsigned SETTLING = 8;
  static_assert(SETTLING == 8, "the pragma takes a literal only");

  Waiting entries_[QUEUE_BEATS] = {};
  ap_uint<18> head_ = 0;  // of the first entry; the index is its low bits
  ap_uint<18> tail_ = 0;
  ap_uint<SETTLING> settling_ = 0;  // a bit per past clock: whether a frame joined in it
};

}  // namespace clarion::block
