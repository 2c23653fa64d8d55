// SPDX-License-Identifier: Apache-2.0
// The head of a DATA packet as simulated senders put it on the wire; its payload is never looked at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/config.hpp"
#include "core/header.hpp"
#include "core/types.hpp"

namespace clarion {

constexpr unsigned HEADER_AT = ETHERNET_BYTES + IPV4_MIN_BYTES;

using Frame = std::array<std::uint8_t, HEADER_AT + DATA_BYTES>;

// What a sender says of its flow.
struct Statement {
  double rtt_s = 0;  // 0: not measured yet
  double x_s = 0;    // between two packets
  std::int32_t wanted_bytes_per_s = 0;
  std::uint8_t field = 0;
};

inline std::uint32_t ticks_of(double duration_s) {
  return static_cast<std::uint32_t>(std::min(duration_s * TICKS_PER_SECOND, double{TICKS_MAX}));
}

// `packet_bytes` count Ethernet header and payload, too.
inline Frame data_frame(std::uint32_t packet_bytes, const Statement& statement) {
  Frame frame{};
  std::uint8_t* ip = frame.data() + ETHERNET_BYTES;
  store_be16(ip - 2, ETHERTYPE_IPV4);
  ip[0] = 0x45;
  store_be16(ip + 2, static_cast<std::uint16_t>(packet_bytes - ETHERNET_BYTES));
  ip[9] = DEFAULT_PROTOCOL;
  std::uint8_t* header = frame.data() + HEADER_AT;
  header[OFFSET_LENGTH] = DATA_BYTES;
  header[OFFSET_VERSION_FORMAT] = HEADER_VERSION << 4 | 1;
  store_be32(header + OFFSET_RTT, (ticks_of(statement.rtt_s) & RTT_MASK) | statement.field);
  store_be32(header + OFFSET_X, ticks_of(statement.x_s));
  store_be32(header + OFFSET_DELTA_THROUGHPUT, static_cast<std::uint32_t>(statement.wanted_bytes_per_s));
  return frame;
}

// Of the same size, with nothing that a router knows: UDP.
inline Frame plain_frame(std::uint32_t packet_bytes) {
  Frame frame = data_frame(packet_bytes, {});
  constexpr std::uint8_t UDP = 17;
  frame[ETHERNET_BYTES + 9] = UDP;
  return frame;
}

inline std::int32_t granted_bytes_per_s(const Frame& frame) {
  return static_cast<std::int32_t>(load_be32(frame.data() + HEADER_AT + OFFSET_DELTA_THROUGHPUT));
}

inline std::uint8_t field_of(const Frame& frame) { return frame[HEADER_AT + OFFSET_RTT + 3] & FIELD_MASK; }

}  // namespace clarion
