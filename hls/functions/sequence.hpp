// SPDX-License-Identifier: Apache-2.0
// Numbers of buckets.
#pragma once

#include "core/sequence_check.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {

CLARION_INLINE NumberResults number(const NumberArguments& arguments) {
  NumberResults results;
  results.number = number_after(arguments.number);
  return results;
}

CLARION_INLINE JudgeResults judge(const JudgeArguments& arguments) {
  JudgeResults results;
  results.slot = arguments.slot;
  SequenceCounters counters;
  if (arguments.counts) {
    check_number(results.slot, counters, arguments.number);
  } else {
    follow_number(results.slot, arguments.number);
  }
  results.lost = static_cast<std::uint16_t>(counters.lost);
  results.late = counters.late != 0;
  results.rebased = counters.rebased != 0;
  return results;
}

}  // namespace clarion::block
