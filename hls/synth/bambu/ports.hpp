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

// Whether there was a word to take, and whether there was room for one.
CLARION_INLINE bool from_if_any(Port& port, Word& value) {
  PortWord word = 0;
  if (!port.nb_read(word)) return false;
  Word::Bits bits;
  __builtin_memcpy(&bits, &word, sizeof bits);
  value = Word::of(bits);
  return true;
}

CLARION_INLINE bool to_if_room(Port& port, const Word& value) {
  const Word::Bits bits = value.bits();
  PortWord word;
  __builtin_memcpy(&word, &bits, sizeof bits);
  return port.nb_write(word);
}

}  // namespace clarion::synth

#endif  // CLARION_SYNTH_BAMBU_PORTS_HPP
