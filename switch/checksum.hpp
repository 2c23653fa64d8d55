// SPDX-License-Identifier: Apache-2.0
// The Internet checksum (RFC 1071).
#pragma once

#include <cstdint>

#include "core/byte_order.hpp"

namespace clarion::emu {

// The sum over `length` bytes, folded to 16 bits, not complemented.
inline std::uint16_t internet_sum(const std::uint8_t* data, std::uint32_t length) {
  std::uint64_t sum = 0;
  for (; length >= 2; data += 2, length -= 2) sum += load_be16(data);
  if (length == 1) sum += static_cast<std::uint64_t>(*data) << 8;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// RFC 1624: the checksum after a 16-bit word has changed, right or wrong as it was.
inline std::uint16_t checksum_replace(std::uint16_t checksum, std::uint16_t from, std::uint16_t to) {
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
  sum += static_cast<std::uint16_t>(~from);
  sum += to;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace clarion::emu
