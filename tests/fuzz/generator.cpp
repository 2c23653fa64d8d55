// SPDX-License-Identifier: Apache-2.0
#include "generator.hpp"

#include <algorithm>
#include <cstring>

#include "judge.hpp"

namespace clarion::fuzz {
namespace {

constexpr std::uint32_t HEADERS_BYTES = 140;  // where most mutations are
constexpr std::uint32_t JUMBO_BYTES = 9000;
constexpr std::uint16_t ETHERTYPES[] = {0x0800, 0x86dd, 0x8100, 0x88a8, 0x88cc, 0x0806, 0x05dc, 0};
constexpr std::uint8_t PROTOCOLS[] = {PROTOCOL, PROTOCOL, 6, 17, 1, 58, 0, 43, 44, 50, 51, 60, 255};
constexpr std::uint8_t EXTENSIONS[] = {0, 43, 44, 51, 60};
constexpr std::uint8_t HEADER_LENGTHS[] = {0, 4, 11, 12, 13, 15, 16, 17, 31, 32, 33, 64, 255};
constexpr std::uint8_t OPTION_CLARION[] = {254, 5, 0xc1, 0xa7, 0};

}  // namespace

Generator::Generator(Random& random) : random_(random) {
  for (std::uint8_t& byte : noise_) byte = static_cast<std::uint8_t>(random.next());
}

std::uint32_t Generator::make(std::uint8_t* frame) {
  frame_ = frame;
  length_ = ip_at_ = clarion_at_ = tcp_at_ = 0;
  if (random_.one_in(64)) {
    noise(random_.below(200));
    return length_;
  }
  ethernet();
  mutate();
  return length_;
}

void Generator::ethernet() {
  constexpr std::uint8_t NEAREST_BRIDGE[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
  const std::uint64_t drawn = random_.next();
  const bool hello = drawn % 64 == 0;
  number(0x02000000);
  word(0x0100 + (drawn >> 6) % STATIONS);
  if (hello) std::memcpy(frame_, NEAREST_BRIDGE, 6);
  if (drawn % 64 == 1) std::memset(frame_, 0xff, 6);
  number(0x02000000);
  word(0x0100 + (drawn >> 16) % STATIONS);
  if ((drawn >> 24) % 4 == 0) {
    word((drawn >> 32) % 32 == 0 ? 0x88a8 : 0x8100);
    word(static_cast<std::uint32_t>(drawn >> 40));
    if ((drawn >> 32) % 32 == 1) number(0x81000001);
  }
  if (hello || (drawn >> 26) % 64 == 0) return lldp();
  if ((drawn >> 26) % 64 == 1) {
    word(random_.of(ETHERTYPES));
    return payload();
  }
  (drawn >> 56) % 8 < 5 ? ipv4() : ipv6();
  state_lengths();
  if (random_.one_in(16)) noise(random_.below(47));  // padding
}

std::uint8_t Generator::next_protocol() {
  const std::uint32_t drawn = random_.below(32);
  if (drawn < 24) return PROTOCOL;
  return drawn < 30 ? 6 : random_.of(PROTOCOLS);
}

void Generator::ipv4() {
  const std::uint64_t drawn = random_.next();
  const auto option_words = static_cast<std::uint32_t>(drawn % 4 == 0 ? (drawn >> 2) % 11 : 0);
  const std::uint8_t protocol = next_protocol();
  word(0x0800);
  ip_at_ = length_;
  byte(0x45 + option_words);
  byte(static_cast<std::uint32_t>(drawn >> 8));  // DSCP and ECN
  word(0);
  word(static_cast<std::uint32_t>(drawn >> 16));
  word((drawn >> 32) % 32 == 0 ? static_cast<std::uint32_t>(drawn >> 48) : 0x4000);
  byte(64);
  byte(protocol);
  word(0);
  number(0x0a000001);
  number(0x0a000002);
  noise(4 * option_words);
  transport(protocol);
}

void Generator::ipv6() {
  const std::uint64_t drawn = random_.next();
  const std::uint8_t protocol = next_protocol();
  const bool extended = drawn % 16 == 0;
  word(0x86dd);
  ip_at_ = length_;
  number(0x60000000 | static_cast<std::uint32_t>(drawn >> 36));
  word(0);
  byte(extended ? random_.of(EXTENSIONS) : protocol);
  byte(64);
  noise(32);
  if (extended) {
    byte(protocol);
    byte(0);
    noise(6);
  }
  transport(protocol);
}

// LLDP, with TLVs that fit and some that do not.
void Generator::lldp() {
  word(0x88cc);
  for (const std::uint32_t type : {1u, 2u, 3u, 127u, 127u, 5u, 0u}) {
    if (random_.one_in(16)) continue;
    const std::uint32_t bytes = type == 0 ? 0 : type == 3 ? 2 : 1 + random_.below(24);
    word(type << 9 | (random_.one_in(32) ? random_.below(512) : bytes));
    noise(bytes);
  }
}

void Generator::transport(std::uint8_t protocol) {
  if (protocol == PROTOCOL) clarion();
  if (protocol == 6) return tcp();
  if (protocol != PROTOCOL) payload();
}

void Generator::clarion() {
  const std::uint64_t drawn = random_.next();
  const std::uint32_t kind = drawn % 8 < 4 ? 1 : drawn % 8 < 6 ? 3 : 2;
  const bool is_tcp = (drawn >> 3) % 16 != 0;
  clarion_at_ = length_;
  byte(is_tcp ? 6 : random_.of(PROTOCOLS));
  byte(kind == 1 ? 32 : kind == 2 ? 12 : 16);
  byte(0x10 + kind);
  byte(static_cast<std::uint32_t>(drawn >> 8));
  if (kind == 1) {
    for (int i = 0; i < 3; ++i) number(random_.extreme());  // rtt, x, delta_throughput
  }
  if (kind != 3) number(static_cast<std::uint32_t>(drawn >> 16));  // reverse_feedback
  if (kind != 2) {
    word(static_cast<std::uint32_t>(drawn >> 48) % ((drawn >> 7) % 2 == 0 ? 4 : 65536));  // bucket
    word((drawn >> 12) % 16 == 0 ? random_.extreme() : ++link_seq_);
    number(random_.extreme());  // corrupt, congest
  }
  number(random_.extreme());  // rev_corrupt, rev_congest
  if (is_tcp) return tcp();
  payload();
}

void Generator::tcp() {
  const std::uint64_t drawn = random_.next();
  const bool syn = drawn % 8 == 0;
  tcp_at_ = length_;
  number(static_cast<std::uint32_t>(drawn >> 32));  // ports
  number(TCP_SEQ + (drawn >> 3) % 64);
  number(TCP_SEQ + (drawn >> 9) % 64);
  const auto words = static_cast<std::uint32_t>(syn ? (drawn >> 16) % 11 : 0);
  byte((5 + words) * 16);
  byte(syn ? 0x02 : (drawn >> 20) % 16 == 0 ? drawn >> 24 & 0xff : 0x10);
  number(static_cast<std::uint32_t>(drawn));  // window, checksum
  word(0);
  const std::uint32_t options_at = length_;
  noise(4 * words);
  if (words >= 2) {
    std::uint8_t* options = frame_ + options_at;
    const std::uint32_t at = random_.below(4 * words - 4);
    std::memset(options, 1, at);  // no operation
    std::memcpy(options + at, OPTION_CLARION, 5);
    options[at + 4] = static_cast<std::uint8_t>(drawn >> 56 & 0x83);
  }
  payload();
}

void Generator::payload() {
  const std::uint32_t drawn = random_.below(512);
  if (drawn < 128) return;
  if (drawn < 480) return noise(1 + drawn % 40);
  noise(random_.below(drawn == 511 ? JUMBO_BYTES : 1460));
}

void Generator::state_lengths() {
  std::uint8_t* ip = frame_ + ip_at_;
  const bool is_v4 = ip[0] / 16 == 4;
  if (!is_v4) return write16(ip + 4, length_ - ip_at_ - 40);
  write16(ip + 2, length_ - ip_at_);
  write16(ip + 10, 65535 - ones_sum(ip, ip[0] % 16 * 4u));
}

void Generator::mutate() {
  const std::uint32_t drawn = random_.below(16);
  const int times = drawn < 5 ? 0 : drawn < 13 ? 1 : static_cast<int>(drawn) - 11;
  for (int i = 0; i < times && length_ > 0; ++i) {
    const std::uint32_t at = random_.below(std::min(length_, HEADERS_BYTES));
    switch (random_.below(12)) {
      case 0:
        frame_[at] ^= static_cast<std::uint8_t>(1u << random_.below(8));
        break;
      case 1:
        frame_[random_.below(length_)] ^= static_cast<std::uint8_t>(1u << random_.below(8));
        break;
      case 2:
        frame_[at] = static_cast<std::uint8_t>(random_.extreme());
        break;
      case 3:
        if (at + 2 <= length_) write16(frame_ + at, random_.extreme());
        break;
      case 4:
        length_ = at;
        break;
      case 5:
        length_ = random_.below(length_ + 1);
        break;
      case 6:
        noise(random_.below(64));
        break;
      case 7:
        if (length_ >= 14) write16(frame_ + (ip_at_ == 18 && at % 2 == 0 ? 16 : 12), random_.of(ETHERTYPES));
        break;
      case 8: {  // a piece of the frame again, elsewhere
        const std::uint32_t from = random_.below(length_);
        std::memmove(frame_ + at, frame_ + from, std::min({length_ - from, length_ - at, 64u}));
        break;
      }
      case 9:
      case 10:
        lie_about_ip();
        break;
      default:
        lie_about_header();
        break;
    }
  }
}

// A length around that of what there is, around the end of the Clarion header, or any.
std::uint32_t Generator::wrong_length(std::uint32_t begin) {
  const std::uint32_t drawn = random_.below(4);
  if (drawn == 0) return random_.extreme();
  if (drawn == 1 || clarion_at_ == 0) return length_ - begin - 40 + random_.below(80);
  constexpr std::uint32_t HEADER_BYTES[] = {12, 16, 32};
  return clarion_at_ - begin + random_.of(HEADER_BYTES) - 2 + random_.below(4);
}

void Generator::lie_about_ip() {
  if (ip_at_ == 0 || length_ < ip_at_ + 20) return;
  std::uint8_t* ip = frame_ + ip_at_;
  const bool is_v4 = ip[0] / 16 == 4;
  switch (random_.below(6)) {
    case 0:
    case 1:
      return write16(ip + (is_v4 ? 2 : 4), wrong_length(ip_at_ + (is_v4 ? 0 : 40)));
    case 2:
      ip[0] = static_cast<std::uint8_t>((ip[0] & 0xf0) + random_.below(16));
      return;
    case 3:
      ip[0] = static_cast<std::uint8_t>(random_.next());
      return;
    case 4:
      ip[is_v4 ? 9 : 6] = random_.of(PROTOCOLS);
      return;
    default:
      if (is_v4) write16(ip + 6, random_.extreme());
      return;
  }
}

void Generator::lie_about_header() {
  const bool has_tcp = tcp_at_ != 0 && tcp_at_ + 20 <= length_;
  if (has_tcp && (clarion_at_ == 0 || random_.one_in(4))) {
    frame_[tcp_at_ + 12 + random_.below(2)] = static_cast<std::uint8_t>(random_.next());  // length or flags
    return;
  }
  if (clarion_at_ == 0 || clarion_at_ + 3 > length_) return;
  const std::uint32_t field = random_.below(4);
  if (field == 3) {
    frame_[clarion_at_ + 2] = static_cast<std::uint8_t>(0x10 + random_.below(5));
  } else if (field == 1) {
    frame_[clarion_at_ + 1] = random_.of(HEADER_LENGTHS);
  } else {
    frame_[clarion_at_ + field] = static_cast<std::uint8_t>(random_.next());
  }
}

void Generator::word(std::uint32_t value) {
  write16(frame_ + length_, value);
  length_ += 2;
}

void Generator::number(std::uint32_t value) {
  write32(frame_ + length_, value);
  length_ += 4;
}

void Generator::noise(std::uint32_t bytes) {
  const std::uint32_t taken = std::min(bytes, LONGEST_BYTES - length_);
  const auto from = random_.below(static_cast<std::uint32_t>(noise_.size()) - taken);
  std::memcpy(frame_ + length_, noise_.data() + from, taken);
  length_ += taken;
}

}  // namespace clarion::fuzz
