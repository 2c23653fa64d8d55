// SPDX-License-Identifier: Apache-2.0
// The control step beside the packets: five divisions in a pipeline of their own. There is one in an
// interval, so it may take its time: spread over 16 clocks, the divisions share their multipliers.
#pragma once

#include "core/config.hpp"
#include "core/xcp_interval.hpp"

namespace clarion::block {

// An interval that has ended.
struct IntervalEnd {
  XcpConfig config;
  std::uint64_t intervals;  // before it
  std::uint32_t avg_rtt;    // of the one before it
  IntervalSums sums;
  std::uint64_t queue_bytes;
  std::uint32_t elapsed;
};

class IntervalStage {
 public:
  template <class Ends, class Reports>
  CLARION_PROCESS void step(Ends& ends, Reports& reports) {
#pragma HLS pipeline II = 16
    if (ends.empty() || reports.full()) return;
    const IntervalEnd end = ends.read();
    IntervalReport last;
    last.intervals = end.intervals;
    last.avg_rtt = end.avg_rtt;
    reports.write(control_step(last, end.config, end.sums, end.queue_bytes, end.elapsed));
  }
};

}  // namespace clarion::block
