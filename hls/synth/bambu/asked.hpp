// SPDX-License-Identifier: Apache-2.0
// Streams of a unit that asks them whether they are empty or full. bambu's streams cannot be asked, so a word
// comes first in each step which says that of all of them (`…_status_0`); the queues around the unit make it.
// What is there then is still there when it is read, and so is the room for what is written.
#ifndef CLARION_SYNTH_BAMBU_ASKED_HPP
#define CLARION_SYNTH_BAMBU_ASKED_HPP

#include "hls/synth/bambu/ports.hpp"

namespace clarion::synth {

template <class T>
class AskedInput {
 public:
  CLARION_INLINE AskedInput(Port& port, bool there) : port_(port), there_(there) {}

  CLARION_INLINE bool empty() const { return !there_; }
  CLARION_INLINE T read() { return unpacked<T>(Token{{from(port_), 0, 0}}); }

 private:
  Port& port_;
  bool there_;
};

template <class T>
class AskedOutput {
 public:
  CLARION_INLINE AskedOutput(Port& port, bool full) : port_(port), full_(full) {}

  CLARION_INLINE bool full() const { return full_; }
  CLARION_INLINE void write(const T& token) { to(port_, packed(token).word[0]); }

 private:
  Port& port_;
  bool full_;
};

// Tokens of two words, either way.
template <class T>
class AskedPair {
 public:
  CLARION_INLINE AskedPair(Port& first, Port& second, bool there)
      : first_(first), second_(second), there_(there) {}

  CLARION_INLINE bool empty() const { return !there_; }
  CLARION_INLINE bool full() const { return !there_; }
  CLARION_INLINE T read() { return unpacked<T>(Token{{from(first_), from(second_), 0}}); }
  CLARION_INLINE void write(const T& token) {
    const Token words = packed(token);
    to(first_, words.word[0]);
    to(second_, words.word[1]);
  }

 private:
  Port& first_;
  Port& second_;
  bool there_;
};

}  // namespace clarion::synth

#endif  // CLARION_SYNTH_BAMBU_ASKED_HPP
