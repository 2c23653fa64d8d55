// SPDX-License-Identifier: Apache-2.0
#include "judge.hpp"

#include <algorithm>

namespace clarion::fuzz {

std::uint16_t read16(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] * 256 + at[1]); }

std::uint32_t read32(const std::uint8_t* at) { return read16(at) * 65536u + read16(at + 2); }

void write16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value / 256 % 256);
  at[1] = static_cast<std::uint8_t>(value % 256);
}

void write32(std::uint8_t* at, std::uint32_t value) {
  write16(at, value / 65536);
  write16(at + 2, value);
}

std::uint32_t ones_sum(const std::uint8_t* bytes, std::uint32_t length) {
  std::uint64_t sum = 0;
  for (std::uint32_t at = 0; at + 1 < length; at += 2) sum += read16(bytes + at);
  if (length % 2 == 1) sum += bytes[length - 1] * 256u;
  return static_cast<std::uint32_t>(sum % 65535);
}

namespace {

// "What is recognised": Ethernet II with at most one VLAN tag, then IPv4 with options or IPv6.
void find_ip(const std::uint8_t* frame, std::uint32_t length, Judgement& found) {
  if (length < 14) return;
  std::uint32_t ip_at = 14;
  std::uint32_t type = read16(frame + 12);
  if (type == 0x8100) {
    if (length < 18) return;
    ip_at = 18;
    type = read16(frame + 16);
  }
  const std::uint8_t* ip = frame + ip_at;
  if (type == 0x0800) {
    if (length < ip_at + 20 || ip[0] / 16 != 4 || ip[0] % 16 < 5) return;
    found.is_v4 = true;
    found.is_fragment = read16(ip + 6) % 0x4000 != 0;
    found.protocol = ip[9];
    found.payload_at = ip_at + ip[0] % 16 * 4u;
    found.stated_end = ip_at + read16(ip + 2);
  } else if (type == 0x86dd) {
    if (length < ip_at + 40 || ip[0] / 16 != 6) return;
    found.protocol = ip[6];
    found.payload_at = ip_at + 40;
    found.stated_end = ip_at + 40 + read16(ip + 4);
  } else {
    return;
  }
  found.is_ip = true;
  found.ip_at = ip_at;
}

}  // namespace

Judgement judge(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol) {
  Judgement found;
  find_ip(frame, length, found);
  if (!found.is_ip || found.protocol != protocol) return found;
  found.verdict = Verdict::malformed;
  const std::uint32_t end = std::min(found.stated_end, length);
  if (found.is_fragment || end < found.payload_at + 12) return found;
  constexpr std::uint32_t FORMAT_BYTES[] = {0, 32, 12, 16};
  const std::uint8_t* header = frame + found.payload_at;
  const std::uint8_t format = header[2] % 16;
  if (header[2] / 16 != 1 || format < 1 || format > 3) return found;
  if (header[1] != FORMAT_BYTES[format] || end < found.payload_at + header[1]) return found;
  found.verdict = Verdict::valid;
  found.format = format;
  found.header_bytes = header[1];
  return found;
}

}  // namespace clarion::fuzz
