// SPDX-License-Identifier: Apache-2.0
// LLDP (IEEE 802.1AB) as bytes: what a port says of itself, and what another says of itself to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clarion::emu {

// To the neighbour on the same wire and no further: no bridge forwards it.
constexpr std::uint8_t NEAREST_BRIDGE[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};

bool is_for_nearest_bridge(const std::uint8_t* frame, std::uint32_t length);

// A chassis or port ID. Two are the same if all of it is.
struct LldpId {
  static constexpr std::uint8_t LOCAL = 7;  // subtype: what the system calls itself
  static constexpr std::size_t MAX_BYTES = 255;

  std::uint8_t subtype = LOCAL;
  std::string value;

  bool operator==(const LldpId& other) const { return subtype == other.subtype && value == other.value; }

  // Text as it is, other values in hexadecimal digits.
  std::string text() const;
};

// What Clarion's own TLV says of the port.
struct ClarionPort {
  bool stamps = false;
  bool checks = false;
};

struct LldpFrame {
  LldpId chassis;
  LldpId port;
  std::uint16_t ttl_s = 0;  // 0: the neighbour leaves
  std::optional<ClarionPort> clarion;
};

// An Ethernet frame. IDs longer than MAX_BYTES are cut.
std::vector<std::uint8_t> compose_lldp(const LldpFrame& frame);

// None: not LLDP, or malformed.
std::optional<LldpFrame> parse_lldp(const std::uint8_t* frame, std::uint32_t length);

}  // namespace clarion::emu
