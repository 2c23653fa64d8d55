// SPDX-License-Identifier: Apache-2.0
// The running control interval: what arrives in it, the queue meanwhile, and whether it is over.
#pragma once

#include "core/queue_tracker.hpp"
#include "core/xcp_arrival.hpp"
#include "core/xcp_interval.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {

CLARION_INLINE WeightResults weight(const WeightArguments& arguments) {
  WeightResults results;
  results.x_rtt = weight_of(arguments.x, arguments.rtt, arguments.max_interval);
  return results;
}

CLARION_INLINE SumsResults sums(const SumsArguments& arguments) {
  SumsResults results;
  if (!arguments.begins) results.sums = arguments.sums;
  count_arrival(results.sums, arguments.length, arguments.counts, arguments.x, arguments.x_rtt);
  return results;
}

CLARION_INLINE TrackerResults tracker(const TrackerArguments& arguments) {
  TrackerResults results;
  results.queue = arguments.queue;
  if (arguments.leaves) observe_queue(results.queue, arguments.left_bytes);
  if (arguments.joins)
    arrive_at_queue(results.queue, arguments.now, arguments.waiting_bytes, arguments.window);
  return results;
}

CLARION_INLINE LengthResults length(const LengthArguments& arguments) {
  XcpConfig config;
  config.min_interval = arguments.min_interval;
  config.max_interval = arguments.max_interval;
  LengthResults results;
  results.length = interval_length(arguments.avg_rtt, config);
  return results;
}

CLARION_INLINE OverResults over(const OverArguments& arguments) {
  OverResults results;
  results.clock = arguments.clock;
  results.ended = interval_ended(results.clock, arguments.now, arguments.length);
  if (results.ended) results.elapsed = next_interval(results.clock, arguments.now);
  return results;
}

}  // namespace clarion::block
