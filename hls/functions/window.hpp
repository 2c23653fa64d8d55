// SPDX-License-Identifier: Apache-2.0
// The start of a frame, and the bytes of a header that are to change, as registers. Both look to the core
// (core/header.hpp) like the pointers that it takes in software.
//
// The Clarion header ends within 112 bytes whatever is in front of it: 14 bytes of Ethernet, 4 of VLAN, 60 of
// IPv4 with all options (IPv6: 40) and 32 of its own make 110.
#pragma once

#include <cstdint>

#include "core/header.hpp"
#include "core/platform.hpp"

namespace clarion::block {

constexpr unsigned WORD_BYTES = 8;
constexpr unsigned WINDOW_WORDS = 14;
static_assert(ETHERNET_BYTES + VLAN_BYTES + 60 + DATA_BYTES <= WINDOW_WORDS * WORD_BYTES,
              "a header is cut off");

// Reads as a pointer does. A sum is a shift: of constants it costs nothing.
class Window {
 public:
  CLARION_INLINE explicit Window(const std::uint64_t (&words)[WINDOW_WORDS]) {
    CLARION_UNROLL
    for (unsigned i = 0; i < WINDOW_WORDS; ++i) {
      words_[i] = words[i];
    }
  }

  CLARION_INLINE Window operator+(unsigned bytes) const {
    Window window = *this;
    if (bytes & 64) window.drop_words(8);
    if (bytes & 32) window.drop_words(4);
    if (bytes & 16) window.drop_words(2);
    if (bytes & 8) window.drop_words(1);
    if (bytes & 4) window.drop_bytes(4);
    if (bytes & 2) window.drop_bytes(2);
    if (bytes & 1) window.drop_bytes(1);
    return window;
  }

  CLARION_INLINE std::uint8_t operator[](unsigned index) const {
    return static_cast<std::uint8_t>(words_[index / WORD_BYTES] >> (8 * (index % WORD_BYTES)));
  }

 private:
  CLARION_INLINE void drop_words(unsigned words) {
    CLARION_UNROLL
    for (unsigned i = 0; i < WINDOW_WORDS; ++i) {
      words_[i] = i + words < WINDOW_WORDS ? words_[i + words] : 0;
    }
  }

  CLARION_INLINE void drop_bytes(unsigned bytes) {
    CLARION_UNROLL
    for (unsigned i = 0; i < WINDOW_WORDS; ++i) {
      const std::uint64_t above = i + 1 < WINDOW_WORDS ? words_[i + 1] : 0;
      words_[i] = words_[i] >> (8 * bytes) | above << (64 - 8 * bytes);
    }
  }

  std::uint64_t words_[WINDOW_WORDS];
};

constexpr unsigned PATCH_WORDS = DATA_BYTES / WORD_BYTES;

// New bytes of a Clarion header.
struct HeaderPatch {
  std::uint32_t enable = 0;              // one bit per byte
  std::uint64_t data[PATCH_WORDS] = {};  // 0 where not enabled
};

// Writes as a pointer to the start of the header does, into a patch.
class PatchWriter {
 public:
  class Byte {
   public:
    CLARION_INLINE Byte(HeaderPatch& patch, unsigned index) : patch_(patch), index_(index) {}
    CLARION_INLINE void operator=(std::uint8_t value) {
      patch_.enable |= std::uint32_t{1} << index_;
      patch_.data[index_ / WORD_BYTES] |= std::uint64_t{value} << (8 * (index_ % WORD_BYTES));
    }

   private:
    HeaderPatch& patch_;
    unsigned index_;
  };

  CLARION_INLINE explicit PatchWriter(HeaderPatch& patch, unsigned at = 0) : patch_(patch), at_(at) {}
  CLARION_INLINE PatchWriter operator+(unsigned bytes) const { return PatchWriter(patch_, at_ + bytes); }
  CLARION_INLINE Byte operator[](unsigned index) const { return Byte(patch_, at_ + index); }

 private:
  HeaderPatch& patch_;
  unsigned at_;  // from the start of the header
};

}  // namespace clarion::block
