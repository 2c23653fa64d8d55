// SPDX-License-Identifier: Apache-2.0
// Network byte order, written as shifts: no alignment or host order is assumed, compilers turn each
// function into one load or store with a byte swap, and synthesis turns it into wires.
//
// `Bytes` gives access to bytes: a pointer in software, in hardware a register as wide as the headers
// (hls/functions/window.hpp). It needs `bytes + n` and `bytes[n]`.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace clarion {

template <class Bytes>
CLARION_INLINE std::uint16_t load_be16(Bytes bytes) {
  return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

template <class Bytes>
CLARION_INLINE std::uint32_t load_be32(Bytes bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

template <class Bytes>
CLARION_INLINE void store_be16(Bytes bytes, std::uint16_t value) {
  bytes[0] = static_cast<std::uint8_t>(value >> 8);
  bytes[1] = static_cast<std::uint8_t>(value);
}

template <class Bytes>
CLARION_INLINE void store_be32(Bytes bytes, std::uint32_t value) {
  bytes[0] = static_cast<std::uint8_t>(value >> 24);
  bytes[1] = static_cast<std::uint8_t>(value >> 16);
  bytes[2] = static_cast<std::uint8_t>(value >> 8);
  bytes[3] = static_cast<std::uint8_t>(value);
}

}  // namespace clarion
