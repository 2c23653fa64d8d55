// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/soak_traffic.hpp"

#include <algorithm>

#include "core/header.hpp"
#include "core/types.hpp"

namespace clarion::sim {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t PROTOCOL = 253;

void put_be(Bytes& bytes, std::uint64_t value, unsigned count) {
  for (unsigned i = count; i > 0; --i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * (i - 1)));
}

void set_be16(Bytes& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

// Ethernet and IP in front of a header; returns where the length of the IP packet is to be put.
std::size_t put_carrier(Bytes& bytes, Random& random, bool plain, std::size_t& ip) {
  bytes.assign(12, 2);
  if (!plain && random.chance(30)) put_be(bytes, 0x81000007, 4);
  const bool six = !plain && random.chance(30);
  put_be(bytes, six ? 0x86dd : 0x0800, 2);
  ip = bytes.size();
  if (six) {
    put_be(bytes, 0x60000000, 4);
    put_be(bytes, 0, 2);
    put_be(bytes, PROTOCOL << 8 | 64, 2);
    bytes.resize(bytes.size() + 32, 1);
    return ip + 4;
  }
  const auto options = static_cast<unsigned>(plain || random.chance(70) ? 0 : random.below(11));
  put_be(bytes, 0x45 + options, 1);
  bytes.resize(bytes.size() + 5, 0);
  put_be(bytes, random.chance(2) ? 0x2000 : 0x4000, 2);
  put_be(bytes, 64, 1);
  put_be(bytes, random.chance(plain ? 0 : 5) ? 6 : PROTOCOL, 1);
  bytes.resize(bytes.size() + 10 + std::size_t{4} * options, 9);
  return ip + 2;
}

}  // namespace

void SoakTraffic::put_tags(Bytes& bytes, const Mix& mix) {
  const auto bucket = static_cast<std::uint16_t>(random_.below(mix.buckets));
  std::uint16_t& next = next_seq_[bucket];
  if (random_.chance(5)) {
    next = static_cast<std::uint16_t>(next + random_.of<int>({-1, 1, 2, 3, -256, -257, -1000, -5000, -16383,
                                                              -16384, 16383, 16384, -32768}));
  }
  put_be(bytes, bucket, 2);
  put_be(bytes, next++, 2);
  put_be(bytes, random_.chance(80) ? 0 : random_.bits(32), 4);  // corrupt, congest
  put_be(bytes, random_.bits(32), 4);
}

void SoakTraffic::put_header(Bytes& bytes, const Mix& mix) {
  const bool tag_only = mix.kind == Mix::Kind::one_beat;
  const bool data_only = mix.kind == Mix::Kind::shortest_data;
  const auto choice = random_.below(100);
  if (!tag_only && (data_only || choice < 60)) {
    put_be(bytes, 0x06201100, 4);
    bytes.back() = static_cast<std::uint8_t>(random_.chance(50) ? 0 : random_.bits(8));
    put_be(bytes, random_.chance(5) ? random_.bits(3) : random_.scaled(mix.scale), 4);
    put_be(bytes, random_.scaled(mix.scale), 4);
    put_be(bytes, random_.chance(20) ? random_.bits(32) : random_.scaled(31), 4);
    put_be(bytes, random_.bits(32), 4);
    put_tags(bytes, mix);
  } else if (tag_only || choice < 85) {
    put_be(bytes, 0x06101300, 4);
    put_tags(bytes, mix);
  } else if (choice < 93) {
    put_be(bytes, 0x060c1200, 4);
    put_be(bytes, random_.bits(64), 8);
  } else {
    put_be(bytes, random_.bits(64), 8);
  }
}

std::size_t SoakTraffic::length_of(const Mix& mix, std::size_t least) {
  if (mix.kind == Mix::Kind::one_beat) return FRAME_MIN_BYTES + random_.below(5);
  if (mix.kind == Mix::Kind::shortest_data) return least;
  if (mix.kind == Mix::Kind::longest) return FRAME_MAX_BYTES - random_.below(200);
  const auto choice = random_.below(1000);
  if (choice < 500) return least + random_.below(8);
  if (choice < 800) return least + random_.below(140);
  if (choice < 995) return least + random_.below(1500);
  return least + random_.below(FRAME_MAX_BYTES - least + 1);
}

Bytes SoakTraffic::bytes_of(const Mix& mix) {
  Bytes bytes;
  bytes.reserve(256);
  std::size_t ip = 0;
  const bool plain = mix.kind == Mix::Kind::one_beat || mix.kind == Mix::Kind::shortest_data;
  const std::size_t length_at = put_carrier(bytes, random_, plain, ip);
  put_header(bytes, mix);
  const std::size_t length = length_of(mix, std::max<std::size_t>(bytes.size(), FRAME_MIN_BYTES));
  if (length < bytes.size()) bytes.resize(length);
  const std::size_t header_end = bytes.size();
  bytes.resize(length, static_cast<std::uint8_t>(random_.bits(8)));
  const bool whole = plain || random_.chance(98);
  const std::size_t stated = (random_.chance(50) ? header_end : length) - ip - (length_at == ip + 4 ? 40 : 0);
  set_be16(bytes, length_at, whole ? stated : random_.below(stated + 4));
  if (!plain && random_.chance(3)) {
    bytes[12 + random_.below(std::min<std::size_t>(length, 110) - 12)] =
        static_cast<std::uint8_t>(random_.bits(8));
  }
  return bytes;
}

void SoakTraffic::damage(Made& made) {
  using Damage = SentFrame::Damage;
  SentFrame& frame = made.frame;
  const std::size_t length = frame.bytes.size();
  made.valid = false;
  switch (random_.below(7)) {
    case 0:
      frame.bytes.resize(1 + random_.below(FRAME_MIN_BYTES - 1));
      frame.user &= ~std::uint64_t{0xffff};
      return;
    case 1:
      frame.bytes.resize(FRAME_MAX_BYTES + 1 + random_.below(300));
      frame.user &= ~std::uint64_t{0xffff};
      return;
    case 2:
      frame.damage = Damage::no_end;  // with its size, for it may end with a full beat
      frame.user = (frame.user & ~std::uint64_t{0xffff}) | length;
      made.told = false;
      return;
    case 3:
      frame.user = (frame.user & ~std::uint64_t{0xffff}) | (length + random_.of<int>({-1, 1, 64}));
      return;
    case 4:
      frame.damage = length > BEAT_BYTES ? Damage::short_beat : Damage::hole;
      return;
    case 5:
      frame.damage = Damage::empty_end;
      return;
    default:
      frame.damage = random_.chance(50) ? Damage::hole : Damage::hole_at_end;
      return;
  }
}

SoakTraffic::Made SoakTraffic::make(const Mix& mix) {
  Made made{{}, true, true};
  made.frame.bytes = bytes_of(mix);
  made.frame.gap = mix.gap == 0 ? 0 : static_cast<std::uint32_t>(random_.below(mix.gap + 1));
  made.frame.user = random_.bits(16) << 32 | std::uint64_t{++number_} << 16;
  if (random_.chance(88)) made.frame.user |= made.frame.bytes.size();
  if (random_.below(100) < mix.damaged) damage(made);
  if (endless_) made.valid = false;
  endless_ = !made.told;
  return made;
}

Words ingress_configuration(Random& random) {
  using namespace registers;
  Words words{OP_CONFIGURE};
  words[INGRESS_CONFIGURE_CHECK] = random.chance(85);
  words[INGRESS_CONFIGURE_EDGE] = random.chance(20);
  words[INGRESS_CONFIGURE_WIRE] = random.chance(80);
  words[INGRESS_CONFIGURE_EPOCH] =
      static_cast<std::uint32_t>(words[INGRESS_CONFIGURE_CHECK] + random.below(3));
  return words;
}

Words egress_configuration(Random& random, std::uint64_t ticks) {
  using namespace registers;
  const auto put2 = [](Words& words, unsigned at, std::uint64_t value) {
    words[at] = static_cast<std::uint32_t>(value);
    words[at + 1] = static_cast<std::uint32_t>(value >> 32);
  };
  const auto coefficient = [&](std::uint32_t usual) {
    return random.chance(70) ? usual : static_cast<std::uint32_t>(random.scaled(18));
  };
  Words words{OP_CONFIGURE};
  words[EGRESS_CONFIGURE_XCP] = random.chance(85);
  words[EGRESS_CONFIGURE_STAMP] = random.chance(85);
  words[EGRESS_CONFIGURE_EPOCH] = static_cast<std::uint32_t>(words[EGRESS_CONFIGURE_XCP] + random.below(3));
  put2(words, EGRESS_CONFIGURE_CAPACITY,
       random.of<std::uint64_t>({125'000, 12'500'000, 12'500'000'000, random.scaled(38), 0}));
  words[EGRESS_CONFIGURE_ALPHA] = coefficient(26214);
  words[EGRESS_CONFIGURE_BETA] = coefficient(14811);
  words[EGRESS_CONFIGURE_GAMMA] = coefficient(6554);
  words[EGRESS_CONFIGURE_MIN_INTERVAL] =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(ticks, UINT32_MAX));
  words[EGRESS_CONFIGURE_MAX_INTERVAL] = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ticks * random.of<unsigned>({1, 5, 1000}), UINT32_MAX));
  words[EGRESS_CONFIGURE_GENERATION] = random.of<unsigned>({1, 2});
  put2(words, EGRESS_CONFIGURE_QUEUE_LIMIT,
       random.chance(60) ? QUEUE_MAX
                         : random.of<std::uint64_t>({0, random.below(3000), random.below(60'000)}));
  return words;
}

}  // namespace clarion::sim
