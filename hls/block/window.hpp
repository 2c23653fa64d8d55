// SPDX-License-Identifier: Apache-2.0
// The start of a frame as one wide register, and the bytes of a header that are to be changed. Both look to
// the core (core/header.hpp) like the pointers it takes in software.
//
// The Clarion header ends within the first two beats whatever is in front of it: 14 bytes of Ethernet, 4 of
// VLAN, 60 of IPv4 with all options (IPv6: 40) and 32 of its own make 110.
#pragma once

#include <ap_int.h>

#include <cstdint>

#include "core/header.hpp"
#include "core/platform.hpp"
#include "hls/block/axis.hpp"

namespace clarion::block {

constexpr unsigned WINDOW_BYTES = 2 * BEAT_BYTES;
static_assert(ETHERNET_BYTES + VLAN_BYTES + 60 + DATA_BYTES <= WINDOW_BYTES, "headers reach a third beat");

// Reads as a pointer does. A sum is a shift: of constants it costs nothing.
class Window {
 public:
  Window() = default;
  CLARION_INLINE Window(const Data& first, const Data& second) : bits_((second, first)) {}

  CLARION_INLINE Window operator+(unsigned bytes) const { return Window(bits_ >> (8 * bytes)); }
  CLARION_INLINE std::uint8_t operator[](unsigned index) const {
    return static_cast<std::uint8_t>((bits_ >> (8 * index)).to_uint() & 0xffu);
  }

 private:
  using Bits = ap_uint<8 * WINDOW_BYTES>;
  CLARION_INLINE explicit Window(const Bits& bits) : bits_(bits) {}

  Bits bits_ = 0;
};

// New bytes of a Clarion header that starts `offset` bytes into its frame.
struct HeaderPatch {
  ap_uint<8> offset = 0;
  ap_uint<DATA_BYTES> enable = 0;    // one bit per byte
  ap_uint<8 * DATA_BYTES> data = 0;  // 0 where not enabled
};

// Writes as a pointer to the start of the frame does, into a patch.
class PatchWriter {
 public:
  class Byte {
   public:
    CLARION_INLINE Byte(HeaderPatch& patch, unsigned index) : patch_(patch), index_(index) {}
    CLARION_INLINE void operator=(std::uint8_t value) {
      patch_.enable |= ap_uint<DATA_BYTES>(1) << index_;
      patch_.data |= ap_uint<8 * DATA_BYTES>(value) << (8 * index_);
    }

   private:
    HeaderPatch& patch_;
    unsigned index_;
  };

  CLARION_INLINE explicit PatchWriter(HeaderPatch& patch) : patch_(patch), at_(0u - patch.offset.to_uint()) {}
  CLARION_INLINE PatchWriter operator+(unsigned bytes) const { return PatchWriter(patch_, at_ + bytes); }
  CLARION_INLINE Byte operator[](unsigned index) const { return Byte(patch_, at_ + index); }

 private:
  CLARION_INLINE PatchWriter(HeaderPatch& patch, unsigned at) : patch_(patch), at_(at) {}

  HeaderPatch& patch_;
  unsigned at_;  // from the start of the header
};

// The beats 0 and 1 of a frame with the patch in them.
class PatchMask {
 public:
  CLARION_INLINE explicit PatchMask(const HeaderPatch& patch) {
    Bits enabled = 0;
    for (unsigned i = 0; i < DATA_BYTES; ++i) {
#pragma HLS unroll
      if (patch.enable[i]) enabled.range(8 * i + 7, 8 * i) = 0xff;
    }
    mask_ = enabled << (8 * patch.offset);
    data_ = Bits(patch.data) << (8 * patch.offset);
  }

  CLARION_INLINE Data applied(const Data& data, bool second) const {
    const Data mask = half(mask_, second);
    return (data & ~mask) | half(data_, second);
  }

 private:
  using Bits = ap_uint<8 * WINDOW_BYTES>;
  CLARION_INLINE static Data half(const Bits& bits, bool second) {
    return second ? Data(bits >> (8 * BEAT_BYTES)) : Data(bits);
  }

  Bits mask_ = 0;
  Bits data_ = 0;
};

}  // namespace clarion::block
