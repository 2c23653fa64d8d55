// SPDX-License-Identifier: Apache-2.0
// Memory with a write latency, as in a pipeline: a word becomes readable only WRITES writes later. The only
// header of the block that differs between synthesis and C simulation: hardware has a plain array, with a
// pragma that allows this latency; C simulation always has all of it, so that code that relies on a shorter
// latency fails there.
#pragma once

#include <cstdint>

#include "core/platform.hpp"

namespace clarion::block {

#ifdef __SYNTHESIS__

template <class Word, unsigned WORDS, unsigned WRITES>
class SlowRam {
  static_assert(WRITES == 4, "the pragma takes a literal only");

 public:
  CLARION_INLINE Word read(unsigned index) const { return words_[index]; }
  CLARION_INLINE void write(unsigned index, const Word& word) {
    CLARION_RAM(words_);
#pragma HLS dependence variable = words_ type = inter direction = RAW distance = 4 true
    words_[index] = word;
  }

 private:
  Word words_[WORDS] = {};
};

#else

template <class Word, unsigned WORDS, unsigned WRITES>
class SlowRam {
  static_assert(WRITES == 4, "the pragma takes a literal only");

 public:
  CLARION_INLINE Word read(unsigned index) const { return words_[index]; }
  CLARION_INLINE void write(unsigned index, const Word& word) {
    const Late due = late_[next_];
    if (due.valid) words_[due.index] = due.word;
    late_[next_] = Late{true, index, word};
    next_ = (next_ + 1) % WRITES;
  }

 private:
  struct Late {
    bool valid = false;
    unsigned index = 0;
    Word word{};
  };

  Word words_[WORDS] = {};
  Late late_[WRITES] = {};
  unsigned next_ = 0;
};

#endif

}  // namespace clarion::block
