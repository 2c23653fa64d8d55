// SPDX-License-Identifier: Apache-2.0
// In place of the block's header of this name: memory that takes two writes longer than the block is told.
#ifndef CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP
#define CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP

#define SlowRam PunctualRam
#include "../../../../../block/slow_ram.hpp"
#undef SlowRam

namespace clarion::block {

template <class Word, unsigned WORDS, unsigned WRITES>
class SlowRam {
 public:
  Word read(unsigned index) const { return ram_.read(index); }

  void write(unsigned index, const Word& word) {
    const Late due = late_[turn_];
    if (due.valid) ram_.write(due.index, due.word);
    late_[turn_] = Late{true, index, word};
    turn_ = 1 - turn_;
  }

 private:
  struct Late {
    bool valid = false;
    unsigned index = 0;
    Word word{};
  };

  PunctualRam<Word, WORDS, WRITES> ram_;
  Late late_[2] = {};
  unsigned turn_ = 0;
};

}  // namespace clarion::block

#endif  // CLARION_SIM_BENCH_LATE_SLOW_RAM_HPP
