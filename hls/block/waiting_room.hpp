// SPDX-License-Identifier: Apache-2.0
// What is known of the frames that wait in packet memory, in their order.
#pragma once

#include <ap_int.h>

#include "hls/block/sizes.hpp"
#include "hls/block/waiting.hpp"

namespace clarion::block {

// Never full: each frame has a beat in packet memory, and that has as many places. A frame may leave SETTLING
// clocks after it joined, when its entry is sure to be in memory.
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

  // One has settled.
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
  ap_uint<18> head_ = 0;  // counts on
  ap_uint<18> tail_ = 0;
  ap_uint<SETTLING> settling_ = 0;  // one bit per clock: has one joined?
};

}  // namespace clarion::block
