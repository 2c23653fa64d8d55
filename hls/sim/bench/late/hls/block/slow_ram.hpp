// SPDX-License-Identifier: Apache-2.0
// In place of the block's header of this name: memory that takes two writes longer than the block is told.
#ifndef CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP
#define CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP

#define SlowRam PunctualRam
#include "../../../../../block/slow_ram.hpp"
#undef SlowRam

namespace clarion::block {

template <class Word, unsigned WORDS, unsigned WRITES>
using SlowRam = PunctualRam<Word, WORDS, WRITES + 2>;

}  // namespace clarion::block

#endif  // CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP
