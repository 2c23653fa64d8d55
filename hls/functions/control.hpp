// SPDX-License-Identifier: Apache-2.0
// The control step at the end of an interval, of either generation.
#pragma once

#include "core/maxmin_interval.hpp"
#include "core/pools.hpp"
#include "core/xcp_interval.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {

CLARION_INLINE ControlResults control(const ControlArguments& arguments) {
  IntervalReport last;
  last.avg_rtt = arguments.avg_rtt;
  last.phi_q8 = arguments.phi;
  MaxMinReport report;
  report.credit = arguments.credit;
  if (arguments.config.generation == 2) {
    const std::int64_t handed_out_q8 = last.phi_q8 - in_hand_q8(arguments.pools);
    report = maxmin_step(last, arguments.credit, arguments.config, arguments.sums, arguments.own,
                         handed_out_q8, arguments.queue_bytes, arguments.elapsed);
  } else {
    report.interval =
        control_step(last, arguments.config, arguments.sums, arguments.queue_bytes, arguments.elapsed);
  }
  ControlResults results;
  results.avg_rtt = report.interval.avg_rtt;
  results.rate = report.interval.rate_q8;
  results.phi = report.interval.phi_q8;
  results.shares = report.interval.shares;
  results.gains = report.gains;
  results.credit = report.credit;
  return results;
}

}  // namespace clarion::block
