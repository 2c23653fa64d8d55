// SPDX-License-Identifier: Apache-2.0
// Where an IPv4 header has the option of a protocol whose routers read it.
#pragma once

#include <cstdint>

#include "../frame_edit.hpp"
#include "core/header.hpp"

namespace clarion::emu {

constexpr std::uint32_t IP_TTL_AT = 8;  // in the header

// `Bytes`: a pointer to the frame's bytes, const or not. Without an option both are null.
template <class Bytes>
struct IpOption {
  Bytes ip = nullptr;
  Bytes option = nullptr;

  bool found() const { return option != nullptr; }
};

// Of a frame of which at least the headers are there. Safe with any bytes.
template <class Bytes>
IpOption<Bytes> find_ip_option(Bytes frame, std::uint32_t length, std::uint8_t type, std::uint8_t bytes) {
  constexpr std::uint8_t END = 0;
  constexpr std::uint8_t NOP = 1;
  const IpPayload payload = parse_ip(frame, length);
  const std::uint32_t end = payload.begin;
  if (!payload.found || frame[payload.at] >> 4 != 4 || payload.at + end > length) return {};
  const Bytes ip = frame + payload.at;
  for (std::uint32_t at = IPV4_MIN_BYTES; at < end && ip[at] != END;) {
    if (ip[at] == NOP) {
      ++at;
      continue;
    }
    if (end - at < 2 || ip[at + 1] < 2 || ip[at + 1] > end - at) return {};
    if (ip[at] == type && ip[at + 1] == bytes) return {ip, ip + at};
    at += ip[at + 1];
  }
  return {};
}

// The packet passes a router, not a bridge, and that may write into the option: `edit(ip, option)`. The sum
// of the header stays as right or wrong as it was. A TTL of 1 stays, since nothing here returns errors.
template <class Edit>
void pass_router(const IpOption<std::uint8_t*>& found, Edit edit) {
  const std::uint16_t sum = ipv4_header_sum(found.ip);
  if (found.ip[IP_TTL_AT] > 1) --found.ip[IP_TTL_AT];
  edit(found.ip, found.option);
  keep_ipv4_header_sum(found.ip, sum);
}

}  // namespace clarion::emu
