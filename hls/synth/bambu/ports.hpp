// SPDX-License-Identifier: Apache-2.0
// Between bambu's streams, whose names make the ports, and the block's.
#ifndef CLARION_SYNTH_BAMBU_PORTS_HPP
#define CLARION_SYNTH_BAMBU_PORTS_HPP

#include <ac_channel.h>
#include <ac_int.h>

#include "hls/synth/bambu/tokens.hpp"

namespace clarion::synth {

using PortWord = ac_int<WORD_BITS, false>;
using Port = ac_channel<PortWord>;

CLARION_INLINE Word from(Port& port) {
  const PortWord word = port.read();
  Word::Bits bits;
  __builtin_memcpy(&bits, &word, sizeof bits);
  return Word::of(bits);
}

CLARION_INLINE void to(Port& port, const Word& value) {
  const Word::Bits bits = value.bits();
  PortWord word;
  __builtin_memcpy(&word, &bits, sizeof bits);
  port.write(word);
}

}  // namespace clarion::synth

#endif  // CLARION_SYNTH_BAMBU_PORTS_HPP
