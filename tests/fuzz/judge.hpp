// SPDX-License-Identifier: Apache-2.0
// What docs/wire-format.md says of a frame. Written from the document, not from a parser under test; a test
// holds it to the reference model of tests/conformance.
#pragma once

#include <cstdint>

namespace clarion::fuzz {

enum class Verdict : std::uint8_t { ordinary, malformed, valid };

struct Judgement {
  Verdict verdict = Verdict::ordinary;
  bool is_ip = false;            // the IP header can be read
  bool is_v4 = false;            // else IPv6
  bool is_fragment = false;      // IPv4
  std::uint8_t protocol = 0;     // that the IP header names
  std::uint32_t ip_at = 0;       // of the IP header, bytes from the start of the frame
  std::uint32_t payload_at = 0;  // behind the IP header
  std::uint32_t stated_end = 0;  // of the IP packet, by its own length; may be beyond the frame
  std::uint8_t format = 0;       // 1 DATA, 2 ACK, 3 TAG; valid headers only
  std::uint32_t header_bytes = 0;

  bool has_tags() const { return format == 1 || format == 3; }
  std::uint32_t tags_at() const { return payload_at + (format == 1 ? 20 : 4); }  // bucket, link_seq, ...
};

Judgement judge(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol);

// In network byte order.
std::uint16_t read16(const std::uint8_t* at);
std::uint32_t read32(const std::uint8_t* at);
void write16(std::uint8_t* at, std::uint32_t value);
void write32(std::uint8_t* at, std::uint32_t value);

// The sum that internet checksums are made of, modulo 65535: 0 over bytes whose checksum among them is right.
std::uint32_t ones_sum(const std::uint8_t* bytes, std::uint32_t length);

}  // namespace clarion::fuzz
