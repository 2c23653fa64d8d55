// SPDX-License-Identifier: Apache-2.0
// The block in C simulation, with the parts of hardware.
#include "hls/sim/bench/block_units.hpp"

namespace clarion::sim {

std::unique_ptr<Units> make_units(Lanes& lanes, bool bump) {
  return std::make_unique<BlockUnits<WatchedParts>>(lanes, bump);
}

}  // namespace clarion::sim
