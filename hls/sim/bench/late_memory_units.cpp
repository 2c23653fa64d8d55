// SPDX-License-Identifier: Apache-2.0
// The block with a memory latency beyond its forwarding: tests must see it fail.
#include "hls/sim/bench/block_units.hpp"

namespace clarion::sim {
namespace {

// Two writes later than the block expects.
template <class Word, unsigned WORDS, unsigned WRITES>
class LateRam {
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

  block::SlowRam<Word, WORDS, WRITES> ram_;
  Late late_[2] = {};
  unsigned turn_ = 0;
};

struct LateMemoryParts : WatchedParts {
  template <class Slot, class Of = void>
  using Memory = block::BucketMemory<Slot, block::BUCKETS, Of, LateRam>;
};

}  // namespace

std::unique_ptr<Units> make_units(Lanes& lanes, bool bump) {
  return std::make_unique<BlockUnits<LateMemoryParts>>(lanes, bump);
}

}  // namespace clarion::sim
