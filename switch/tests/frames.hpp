// SPDX-License-Identifier: Apache-2.0
// Frames of TCP segments, with and without a Clarion header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/byte_order.hpp"

namespace clarion::emu {

inline std::vector<std::uint8_t> ipv4_frame(std::uint8_t protocol, const std::vector<std::uint8_t>& rest) {
  std::vector<std::uint8_t> frame(14 + 20 + rest.size());
  store_be16(frame.data() + 12, 0x0800);
  std::uint8_t* ip = frame.data() + 14;
  ip[0] = 0x45;
  store_be16(ip + 2, static_cast<std::uint16_t>(20 + rest.size()));
  ip[9] = protocol;
  const std::uint8_t addresses[] = {10, 0, 0, 1, 10, 0, 0, 2};
  std::memcpy(ip + 12, addresses, 8);
  std::copy(rest.begin(), rest.end(), frame.begin() + 34);
  return frame;
}

inline std::vector<std::uint8_t> tcp_segment(std::size_t payload) {
  std::vector<std::uint8_t> tcp(20 + payload);
  store_be16(tcp.data(), 40000);
  store_be16(tcp.data() + 2, 5001);
  store_be32(tcp.data() + 4, 0x01020304);
  tcp[12] = 0x50;
  return tcp;
}

// Behind a TAG header of bucket 777.
inline std::vector<std::uint8_t> tagged_frame(std::size_t payload) {
  const auto tcp = tcp_segment(payload);
  std::vector<std::uint8_t> rest(16 + tcp.size());
  rest[0] = 6;
  rest[1] = 16;
  rest[2] = 0x13;
  store_be16(rest.data() + 4, 777);
  std::copy(tcp.begin(), tcp.end(), rest.begin() + 16);
  return ipv4_frame(253, rest);
}

inline std::vector<std::uint8_t> ipv6_frame(std::uint8_t protocol, const std::vector<std::uint8_t>& rest) {
  std::vector<std::uint8_t> frame(14 + 40 + rest.size());
  store_be16(frame.data() + 12, 0x86dd);
  std::uint8_t* ip = frame.data() + 14;
  ip[0] = 0x60;
  store_be16(ip + 4, static_cast<std::uint16_t>(rest.size()));
  ip[6] = protocol;
  ip[23] = 1;  // ::1 to ::2
  ip[39] = 2;
  std::copy(rest.begin(), rest.end(), frame.begin() + 54);
  return frame;
}

}  // namespace clarion::emu
