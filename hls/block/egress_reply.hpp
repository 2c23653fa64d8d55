// SPDX-License-Identifier: Apache-2.0
// State of an egress unit's controllers and checks as beats of the reply to `read`, in the words of
// register_map.hpp.
#pragma once

#include "core/queue_tracker.hpp"
#include "core/sequence_check.hpp"
#include "core/xcp_arrival.hpp"
#include "core/xcp_interval.hpp"
#include "hls/block/mailbox.hpp"

namespace clarion::block {

// The running control interval.
CLARION_INLINE void put_running(Words& data, const SequenceCounters& queue, const IntervalSums& sums,
                                const QueueTracker& tracker) {
  using namespace registers;
  put_words(data, EGRESS_READ_QUEUE_LOST, queue.lost);
  put_words(data, EGRESS_READ_QUEUE_LATE, queue.late);
  put_words(data, EGRESS_READ_QUEUE_REBASED, queue.rebased);
  put_words(data, EGRESS_READ_INPUT, sums.input);
  put_words(data, EGRESS_READ_SUM_X, sums.sum_x);
  put_words(data, EGRESS_READ_SUM_X_RTT, sums.sum_x_rtt);
  put_words(data, EGRESS_READ_PERSISTENT_QUEUE, tracker.persistent_bytes());
  put_words(data, EGRESS_READ_LEAST_QUEUE, tracker.minimum_bytes());
}

// The last control interval: its measurements.
CLARION_INLINE void put_rates(Words& data, const XcpInterval& interval, const QueueTracker& tracker) {
  using namespace registers;
  const IntervalReport& report = interval.report();
  put_words(data, EGRESS_READ_INTERVALS, report.intervals);
  put_words(data, EGRESS_READ_RATE, report.rate_q8);
  put_words(data, EGRESS_READ_PHI, static_cast<std::uint64_t>(report.phi_q8));
  put_words(data, EGRESS_READ_INTERVAL_START, interval.start());
  put_words(data, EGRESS_READ_WINDOW_START, tracker.window_start());
  put_words(data, EGRESS_READ_INTERVAL_INPUT, report.sums.input);
  put_words(data, EGRESS_READ_INTERVAL_SUM_X, report.sums.sum_x);
  put_words(data, EGRESS_READ_INTERVAL_SUM_X_RTT, report.sums.sum_x_rtt);
}

// The last control interval: its lengths, queue and shares.
CLARION_INLINE void put_shares(Words& data, const XcpInterval& interval, const QueueTracker& tracker) {
  using namespace registers;
  const IntervalReport& report = interval.report();
  put_word(data, EGRESS_READ_AVG_RTT, report.avg_rtt);
  put_word(data, EGRESS_READ_ELAPSED, report.elapsed);
  put_words(data, EGRESS_READ_INTERVAL_QUEUE, report.queue_bytes);
  put_words(data, EGRESS_READ_INTERVAL_POS, report.shares.pos);
  put_words(data, EGRESS_READ_INTERVAL_NEG, report.shares.neg);
  put_word(data, EGRESS_READ_INTERVAL_CP, report.shares.cp.mantissa);
  put_word(data, EGRESS_READ_INTERVAL_CP_SHIFT, report.shares.cp.shift);
  put_word(data, EGRESS_READ_INTERVAL_CN, report.shares.cn.mantissa);
  put_word(data, EGRESS_READ_INTERVAL_CN_SHIFT, report.shares.cn.shift);
  put_word(data, EGRESS_READ_INTERVAL_STARTED, interval.started());
  put_word(data, EGRESS_READ_WINDOW_STARTED, tracker.started());
}

}  // namespace clarion::block
