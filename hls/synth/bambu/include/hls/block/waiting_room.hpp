// SPDX-License-Identifier: Apache-2.0
// hls/block/waiting_room.hpp as one process that takes a step after the other has it: no pipeline, so that an
// entry is in memory when its frame may leave. Its entries are packed, since bambu keeps arrays of structs,
// and whatever is in one object with them, byte by byte.
#ifndef CLARION_BLOCK_WAITING_ROOM_HPP
#define CLARION_BLOCK_WAITING_ROOM_HPP

#include "hls/block/sizes.hpp"
#include "hls/block/waiting.hpp"
#include "hls/synth/bambu/tokens.hpp"

namespace clarion::synth {

template <class V>
CLARION_INLINE void visit(V& v, Waiting& waiting) {
  visit(v, waiting.meta);
  v.field(waiting.length);
  v.field(waiting.stored);
  v.field(waiting.send);
}

}  // namespace clarion::synth

namespace clarion::block {

class WaitingRoom {
 public:
  CLARION_INLINE void clock() { settling_ <<= 1; }

  CLARION_INLINE void push(const Waiting& waiting) {
    const synth::Word word = synth::packed(waiting).word[0];
    const unsigned place = tail_++ & (QUEUE_BEATS - 1);
    quarter_0[place] = word.range(63, 0).to_uint64();
    quarter_1[place] = word.range(127, 64).to_uint64();
    quarter_2[place] = word.range(191, 128).to_uint64();
    quarter_3[place] = word.range(255, 192).to_uint64();
    settling_ |= 1;
  }

  // As many steps later as in the pipeline, so that the same happens in the same step.
  CLARION_INLINE bool any() const {
    return ((tail_ - head_) & (2 * QUEUE_BEATS - 1)) >
           static_cast<unsigned>(__builtin_popcount(settling_ & 0xff));
  }

  CLARION_INLINE Waiting pop() {
    const unsigned place = head_++ & (QUEUE_BEATS - 1);
    synth::Word word = quarter_0[place];
    word |= synth::Word(quarter_1[place]) << 64;
    word |= synth::Word(quarter_2[place]) << 128;
    word |= synth::Word(quarter_3[place]) << 192;
    return synth::unpacked<Waiting>(synth::Token{{word, 0, 0}});
  }

 private:
  inline static std::uint64_t quarter_0[QUEUE_BEATS] = {};
  inline static std::uint64_t quarter_1[QUEUE_BEATS] = {};
  inline static std::uint64_t quarter_2[QUEUE_BEATS] = {};
  inline static std::uint64_t quarter_3[QUEUE_BEATS] = {};

  unsigned head_ = 0;
  unsigned tail_ = 0;
  unsigned settling_ = 0;
};

}  // namespace clarion::block

#endif  // CLARION_BLOCK_WAITING_ROOM_HPP
