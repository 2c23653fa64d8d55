// SPDX-License-Identifier: Apache-2.0
// Restores what the kernel delivers as metadata beside a received frame: checksums left to offload, and
// stripped VLAN tags.
#pragma once

#include <cstdint>
#include <cstring>

#include "checksum.hpp"
#include "core/byte_order.hpp"

namespace clarion::emu {

constexpr std::uint32_t VLAN_TAG_BYTES = 4;

// Completes a checksum left to hardware offload: over the bytes from `start` on, into the field at `start` +
// `offset`, which already holds the sum of the pseudo header. Offsets outside the frame change nothing. A
// result of 0 becomes 0xffff, its equal in one's complement, because 0 means "no checksum" in UDP.
inline void complete_checksum(std::uint8_t* frame, std::uint32_t length, std::uint32_t start,
                              std::uint32_t offset) {
  if (start > length || start + offset + 2 > length) return;
  const std::uint16_t checksum = static_cast<std::uint16_t>(~internet_sum(frame + start, length - start));
  store_be16(frame + start + offset, checksum == 0 ? 0xffff : checksum);
}

// Needs 4 free bytes in front of the frame; returns the frame's new start.
inline std::uint8_t* insert_vlan_tag(std::uint8_t* frame, std::uint16_t tpid, std::uint16_t tci) {
  std::uint8_t* start = frame - VLAN_TAG_BYTES;
  std::memmove(start, frame, 12);
  store_be16(start + 12, tpid);
  store_be16(start + 14, tci);
  return start;
}

}  // namespace clarion::emu
