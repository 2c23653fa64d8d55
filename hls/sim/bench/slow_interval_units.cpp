// SPDX-License-Identifier: Apache-2.0
// The block with the latency that hardware has for the divisions.
#include "hls/sim/bench/block_units.hpp"

namespace clarion::sim {
namespace {

class SlowIntervalStage {
 public:
  template <class Ends, class Reports>
  void step(Ends& ends, Reports& reports) {
    if (ends.empty()) return;
    if (++clocks_ < CLOCKS) return;
    clocks_ = 0;
    stage_.step(ends, reports);
  }

 private:
  static constexpr unsigned CLOCKS = 80;

  block::IntervalStage stage_;
  unsigned clocks_ = 0;
};

struct SlowIntervalParts : WatchedParts {
  using IntervalStage = SlowIntervalStage;
};

}  // namespace

std::unique_ptr<Units> make_units(Lanes& lanes, bool bump) {
  return std::make_unique<BlockUnits<SlowIntervalParts>>(lanes, bump);
}

}  // namespace clarion::sim
