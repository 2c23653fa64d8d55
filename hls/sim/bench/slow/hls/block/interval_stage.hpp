// SPDX-License-Identifier: Apache-2.0
// In place of the block's header of this name: divisions that take the clocks that they take in hardware.
#ifndef CLARION_SIM_BENCH_SLOW_INTERVAL_STAGE_HPP
#define CLARION_SIM_BENCH_SLOW_INTERVAL_STAGE_HPP

#define IntervalStage PromptIntervalStage
#include "../../../../../block/interval_stage.hpp"
#undef IntervalStage

namespace clarion::block {

class IntervalStage {
 public:
  template <class Ends, class Reports>
  void step(Ends& ends, Reports& reports) {
    if (ends.empty()) return;
    if (++clocks_ < CLOCKS) return;
    clocks_ = 0;
    prompt_.step(ends, reports);
  }

 private:
  static constexpr unsigned CLOCKS = 80;

  PromptIntervalStage prompt_;
  unsigned clocks_ = 0;
};

}  // namespace clarion::block

#endif  // CLARION_SIM_BENCH_SLOW_INTERVAL_STAGE_HPP
