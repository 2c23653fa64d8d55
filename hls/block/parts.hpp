// SPDX-License-Identifier: Apache-2.0
// The replaceable parts of the units: each unit takes a struct like Hardware as its template parameter. A
// test bench has its own, with an observer of the queue or with slower memory.
#pragma once

#include "core/types.hpp"
#include "hls/block/bucket_memory.hpp"
#include "hls/block/interval_stage.hpp"
#include "hls/block/sizes.hpp"

namespace clarion::block {

struct Unwatched {
  CLARION_INLINE void joins(Ticks /*now*/, std::uint64_t /*queue_bytes*/, bool /*dropped*/) {}
  CLARION_INLINE void leaves(std::uint64_t /*queue_bytes*/) {}
};

struct Hardware {
  // Sees the decisions of the egress queue in their order.
  using Watch = Unwatched;

  // A slot per bucket. `Of` sets memories of one shape apart.
  template <class Slot, class Of = void>
  using Memory = BucketMemory<Slot, BUCKETS, Of>;

  // The divisions of a control interval.
  using IntervalStage = block::IntervalStage;
};

}  // namespace clarion::block
