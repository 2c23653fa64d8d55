// SPDX-License-Identifier: Apache-2.0
// The private state of the stages, to be read and written between packets by a control plane that offers it
// as registers. No stage uses this, and synthesis does not see it.
#ifndef CLARION_CORE_STATE_ACCESS_HPP
#define CLARION_CORE_STATE_ACCESS_HPP

#include <cstdint>

#include "queue_tracker.hpp"
#include "sequence_check.hpp"
#include "xcp_arrival.hpp"
#include "xcp_departure.hpp"
#include "xcp_interval.hpp"

namespace clarion {

struct StateAccess {
  static IntervalSums& sums(XcpArrival& arrival) { return arrival.sums_; }

  static std::uint64_t& persistent(QueueTracker& queue) { return queue.persistent_; }
  static std::uint64_t& minimum(QueueTracker& queue) { return queue.minimum_; }
  static Ticks& window_start(QueueTracker& queue) { return queue.start_; }
  static bool& started(QueueTracker& queue) { return queue.started_; }

  static IntervalReport& report(XcpInterval& interval) { return interval.report_; }
  static Ticks& interval_start(XcpInterval& interval) { return interval.start_; }
  static bool& started(XcpInterval& interval) { return interval.started_; }

  static Shares& left(XcpDeparture& departure) { return departure.left_; }
  static std::uint8_t& carry(XcpDeparture& departure) { return departure.carry_; }

  template <unsigned BUCKETS>
  static std::uint16_t& next(SequenceStamp<BUCKETS>& stamp, unsigned bucket) {
    return stamp.next_[bucket];
  }
  template <unsigned BUCKETS>
  static std::uint16_t& expected(SequenceCheck<BUCKETS>& check, unsigned bucket) {
    return check.slots_[bucket].expected;
  }
  template <unsigned BUCKETS>
  static std::uint16_t& total(SequenceCheck<BUCKETS>& check, unsigned bucket) {
    return check.slots_[bucket].total;
  }
  template <unsigned BUCKETS>
  static bool& based(SequenceCheck<BUCKETS>& check, unsigned bucket) {
    return check.slots_[bucket].based;
  }
  template <unsigned BUCKETS>
  static SequenceCounters& counters(SequenceCheck<BUCKETS>& check) {
    return check.counters_;
  }
};

}  // namespace clarion

#endif  // CLARION_CORE_STATE_ACCESS_HPP
