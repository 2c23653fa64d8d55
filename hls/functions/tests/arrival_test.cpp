// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "hls/functions/tests/called.hpp"
#include "hls/functions/tests/random.hpp"

namespace clarion::block {
namespace {

LanesResults lanes_of(std::uint64_t keep) { return called(lanes, LanesArguments{keep}); }

TEST(Lanes, CountTheBytesThatAreKept) {
  for (unsigned bytes = 1; bytes <= 64; ++bytes) {
    const LanesResults results = lanes_of(UINT64_MAX >> (64 - bytes));
    EXPECT_EQ(results.bytes, bytes);
    EXPECT_TRUE(results.contiguous);
    EXPECT_EQ(results.full, bytes == 64);
  }
}

TEST(Lanes, GapsAndNothingAreNotContiguous) {
  EXPECT_FALSE(lanes_of(0).contiguous);
  for (unsigned bytes = 2; bytes <= 64; ++bytes) {
    const std::uint64_t keep = UINT64_MAX >> (64 - bytes);
    for (unsigned hole = 0; hole + 1 < bytes; ++hole) {
      EXPECT_FALSE(lanes_of(keep & ~(std::uint64_t{1} << hole)).contiguous);
    }
  }
}

ClassifyResults classified(const std::vector<std::uint8_t>& frame, std::uint8_t protocol) {
  ClassifyArguments arguments;
  for (std::size_t i = 0; i < frame.size() && i < WINDOW_WORDS * WORD_BYTES; ++i) {
    arguments.window[i / WORD_BYTES] |= std::uint64_t{frame[i]} << (8 * (i % WORD_BYTES));
  }
  arguments.length = static_cast<std::uint16_t>(frame.size());
  arguments.protocol = protocol;
  return called(classify, arguments);
}

void expect_as_core(const std::vector<std::uint8_t>& frame, std::uint8_t protocol) {
  Meta meta;
  std::vector<std::uint8_t> padded = frame;
  padded.resize(frame.size() + 128);
  const ParseResult result = parse(padded.data(), static_cast<std::uint32_t>(frame.size()), protocol, meta);
  const ClassifyResults got = classified(frame, protocol);
  ASSERT_EQ(got.malformed, result == ParseResult::malformed);
  ASSERT_EQ(got.meta.kind, meta.kind);
  ASSERT_EQ(got.meta.offset, meta.offset);
  ASSERT_EQ(got.meta.bucket, meta.bucket);
  ASSERT_EQ(got.meta.link_seq, meta.link_seq);
  ASSERT_EQ(got.meta.corrupt, meta.corrupt);
  ASSERT_EQ(got.meta.congest, meta.congest);
  ASSERT_EQ(got.meta.flags, meta.flags);
  ASSERT_EQ(got.meta.rtt, meta.rtt);
  ASSERT_EQ(got.meta.x, meta.x);
  ASSERT_EQ(got.meta.delta_throughput, meta.delta_throughput);
  ASSERT_EQ(got.field, meta.kind == Kind::data ? read_field(padded.data(), meta) : 0);
}

// A frame with a header of any format behind any headers, of which some bytes may be wrong.
std::vector<std::uint8_t> any_frame(Random& random) {
  std::vector<std::uint8_t> frame(60 + random.below(80));
  for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random.below(256));
  const unsigned at = random.chance(2) ? 14 : 18;
  if (at == 18) store_be16(&frame[12], ETHERTYPE_VLAN);
  const bool ipv6 = random.chance(3);
  store_be16(&frame[at - 2], ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
  const auto words = static_cast<std::uint8_t>(5 + random.below(11));
  frame[at] = ipv6 ? 0x60 : static_cast<std::uint8_t>(0x40 + words);
  const unsigned begin = at + (ipv6 ? IPV6_BYTES : 4u * words);
  store_be16(&frame[at + (ipv6 ? 4 : 2)],
             static_cast<std::uint16_t>(frame.size() - at - (ipv6 ? IPV6_BYTES : 0)));
  if (!ipv6) store_be16(&frame[at + 6], 0);
  frame[at + (ipv6 ? 6 : 9)] = 253;
  const auto format = static_cast<std::uint8_t>(1 + random.below(3));
  if (begin + 3 < frame.size()) {
    frame[begin + OFFSET_LENGTH] = static_cast<std::uint8_t>(format_bytes(format));
    frame[begin + OFFSET_VERSION_FORMAT] = static_cast<std::uint8_t>(HEADER_VERSION << 4 | format);
  }
  if (random.chance(3))
    frame[12 + random.below(frame.size() - 12)] = static_cast<std::uint8_t>(random.below(256));
  return frame;
}

TEST(Classify, FindsHeadersAsTheCoreDoes) {
  Random random(1);
  unsigned kinds[4] = {};
  for (unsigned i = 0; i < 100'000; ++i) {
    const std::vector<std::uint8_t> frame = any_frame(random);
    expect_as_core(frame, 253);
    ++kinds[static_cast<unsigned>(classified(frame, 253).meta.kind)];
  }
  for (const unsigned frames : kinds) EXPECT_GT(frames, 5000u);
}

TEST(Judge, IsTheCheckOfTheCoreFromEveryDistance) {
  for (const bool based : {false, true}) {
    for (const unsigned far : {0u, 1u, 62u, 63u, 64u, 255u}) {
      for (unsigned ahead = 0; ahead < 65536; ++ahead) {
        JudgeArguments arguments;
        arguments.slot = SequenceSlot{40'000, 7, based, static_cast<std::uint8_t>(far)};
        arguments.number = static_cast<std::uint16_t>(40'000 + ahead);
        arguments.counts = true;
        SequenceSlot slot = arguments.slot;
        SequenceCounters counters;
        check_number(slot, counters, arguments.number);
        const JudgeResults got = called(judge, arguments);
        ASSERT_EQ(got.slot.expected, slot.expected);
        ASSERT_EQ(got.slot.total, slot.total);
        ASSERT_EQ(got.slot.based, slot.based);
        ASSERT_EQ(got.slot.far, slot.far);
        ASSERT_EQ(got.lost, counters.lost);
        ASSERT_EQ(got.late, counters.late);
        ASSERT_EQ(got.rebased, counters.rebased);
      }
    }
  }
}

TEST(Judge, FollowsNumbersThatMeanNothing) {
  JudgeArguments arguments;
  arguments.slot = SequenceSlot{5, 9, true, 3};
  arguments.number = 65535;
  const JudgeResults got = called(judge, arguments);
  EXPECT_EQ(got.slot.expected, 0u);
  EXPECT_EQ(got.slot.total, 9u);
  EXPECT_EQ(got.slot.far, 0u);
  EXPECT_EQ(got.lost, 0u);
}

TEST(Number, CountsModulo65536) {
  for (unsigned i = 0; i < 65536; ++i) {
    EXPECT_EQ(called(number, NumberArguments{static_cast<std::uint16_t>(i)}).number, (i + 1) % 65536);
  }
}

}  // namespace
}  // namespace clarion::block
