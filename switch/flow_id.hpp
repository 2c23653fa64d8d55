// SPDX-License-Identifier: Apache-2.0
// Who a lost packet belonged to: the addresses and, behind the Clarion header if there is one, the ports.
// Only for the truth log; the data plane itself parses in the core.
#pragma once

#include <cstdint>

namespace clarion::emu {

struct FlowId {
  std::uint8_t ip_version = 0;  // 0: not IP, and nothing below is set
  std::uint8_t protocol = 0;    // of the transport header
  std::uint8_t format = 0;      // of the Clarion header: 0 none, 1 DATA, 2 ACK, 3 TAG
  std::uint16_t bucket = 0;     // DATA and TAG only
  std::uint8_t source[16] = {};
  std::uint8_t destination[16] = {};
  std::uint16_t source_port = 0;  // TCP or UDP, whole datagram, header not cut short; else all 0
  std::uint16_t destination_port = 0;
  std::uint32_t tcp_sequence = 0;
  std::uint32_t payload_bytes = 0;
};

// Reads what is there; never past `length`.
FlowId identify_flow(const std::uint8_t* frame, std::uint32_t length, std::uint8_t clarion_protocol);

}  // namespace clarion::emu
