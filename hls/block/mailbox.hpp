// SPDX-License-Identifier: Apache-2.0
// Commands from software to a unit and its answers; the words are those of register_map.hpp.
#pragma once

#include <ap_int.h>
#include <hls_stream.h>

#include <cstdint>

#include "core/platform.hpp"
#include "hls/sim/register_map.hpp"

namespace clarion::block {

using Words = ap_uint<32 * registers::BEAT_WORDS>;
using Command = Words;

// One beat of an answer; the last one is marked, and comes after all others. Packed from the low
// end, in the layout of the register front end (nic/rtl/clarion_axil.sv).
struct Reply {
  ap_uint<3> index = 0;
  ap_uint<1> last = 0;
  ap_uint<8> status = 0;
  ap_uint<4> reserved = 0;
  Words data = 0;
};

CLARION_INLINE std::uint32_t word_of(const Words& words, unsigned word) {
  return static_cast<std::uint32_t>(words.range(32 * word + 31, 32 * word).to_uint());
}

CLARION_INLINE std::uint64_t words_of(const Words& words, unsigned low) {
  return std::uint64_t{word_of(words, low + 1)} << 32 | word_of(words, low);
}

// `place` is beat * 16 + word, as in the map; only its word counts here.
CLARION_INLINE void put_word(Words& words, unsigned place, std::uint32_t value) {
  const unsigned word = place % registers::BEAT_WORDS;
  words.range(32 * word + 31, 32 * word) = value;
}

CLARION_INLINE void put_words(Words& words, unsigned place, std::uint64_t value) {
  put_word(words, place, static_cast<std::uint32_t>(value));
  put_word(words, place + 1, static_cast<std::uint32_t>(value >> 32));
}

CLARION_INLINE Reply answer(unsigned status) {
  Reply reply;
  reply.last = 1;
  reply.status = status;
  return reply;
}

}  // namespace clarion::block
