// SPDX-License-Identifier: Apache-2.0
// Recognition and rewriting of headers, byte for byte.
#include "core/header.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace clarion {
namespace {

using Bytes = std::vector<std::uint8_t>;

// DATA with a different value in every byte from 4 on: 0x04, 0x05, ...
Bytes data_header() {
  Bytes header = {6, 32, 0x11, 0xa5};
  for (std::uint8_t i = 4; i < 32; ++i) header.push_back(i);
  return header;
}

Bytes ipv4(const Bytes& payload, std::uint8_t words = 5) {
  Bytes frame(12, 2);
  const std::size_t total = words * 4u + payload.size();
  frame.insert(frame.end(), {8, 0, static_cast<std::uint8_t>(0x40 | words), 0});
  frame.insert(frame.end(), {static_cast<std::uint8_t>(total >> 8), static_cast<std::uint8_t>(total)});
  frame.insert(frame.end(), {0, 0, 0x40, 0, 64, 253, 0, 0});
  frame.resize(14u + words * 4u, 1);
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

ParseResult parsed(const Bytes& frame, Meta& meta) {
  return parse(frame.data(), static_cast<std::uint32_t>(frame.size()), 253, meta);
}

TEST(Parse, ReadsEveryFieldOfData) {
  Meta meta;
  ASSERT_EQ(parsed(ipv4(data_header()), meta), ParseResult::valid);
  EXPECT_EQ(meta.kind, Kind::data);
  EXPECT_EQ(meta.offset, 34);
  EXPECT_EQ(meta.rtt, 0x04050600u);
  EXPECT_EQ(meta.x, 0x08090a0bu);
  EXPECT_EQ(meta.delta_throughput, 0x0c0d0e0f);
  EXPECT_EQ(meta.bucket, 0x1415);
  EXPECT_EQ(meta.link_seq, 0x1617);
  EXPECT_EQ(meta.corrupt, 0x1819);
  EXPECT_EQ(meta.congest, 0x1a1b);
}

TEST(Parse, NegativeDelta) {
  Bytes header = data_header();
  for (int i = 12; i < 16; ++i) header[static_cast<std::size_t>(i)] = 0xff;
  Meta meta;
  ASSERT_EQ(parsed(ipv4(header), meta), ParseResult::valid);
  EXPECT_EQ(meta.delta_throughput, -1);
}

TEST(Parse, ReadsTag) {
  Meta meta;
  ASSERT_EQ(parsed(ipv4({6, 16, 0x13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), meta), ParseResult::valid);
  EXPECT_EQ(meta.kind, Kind::tag);
  EXPECT_EQ(meta.bucket, 0x0102);
  EXPECT_EQ(meta.link_seq, 0x0304);
  EXPECT_EQ(meta.corrupt, 0x0506);
  EXPECT_EQ(meta.congest, 0x0708);
}

TEST(Parse, OptionsMoveTheHeader) {
  Meta meta;
  ASSERT_EQ(parsed(ipv4(data_header(), 15), meta), ParseResult::valid);
  EXPECT_EQ(meta.offset, 14 + 60);
}

TEST(Parse, AnotherProtocolNumber) {
  const Bytes frame = ipv4(data_header());
  Meta meta;
  EXPECT_EQ(parse(frame.data(), static_cast<std::uint32_t>(frame.size()), 254, meta), ParseResult::ordinary);
}

TEST(Parse, ForgetsWhatWasInTheMeta) {
  Meta meta;
  meta.bucket = 9;
  meta.in_queue = true;
  EXPECT_EQ(parsed(Bytes(60, 0), meta), ParseResult::ordinary);
  EXPECT_EQ(meta.bucket, 0);
  EXPECT_FALSE(meta.in_queue);
}

TEST(Parse, EveryLengthOfAFrameInABlockOfItsSize) {
  const Bytes whole = ipv4(data_header());
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    Meta meta;
    const ParseResult expected = length < 34   ? ParseResult::ordinary
                                 : length < 66 ? ParseResult::malformed
                                               : ParseResult::valid;
    EXPECT_EQ(parsed(cut, meta), expected) << length;
  }
}

TEST(Rewrite, TouchesItsFieldsOnly) {
  const Bytes before = ipv4(data_header());
  Bytes frame = before;
  Meta meta;
  ASSERT_EQ(parsed(frame, meta), ParseResult::valid);
  meta.corrupt = 0xa1a2;
  meta.congest = 0xb1b2;
  write_totals(frame.data(), meta);
  write_link_seq(frame.data(), meta, 0xc1c2);
  write_delta_throughput(frame.data(), meta, -2);
  write_hop(frame.data(), meta);
  Bytes expected = before;
  const Bytes delta = {0xff, 0xff, 0xff, 0xfe};
  const Bytes tags = {0xc1, 0xc2, 0xa1, 0xa2, 0xb1, 0xb2};
  expected[34 + 3] = 0xa7;  // hop 2 became 3
  std::copy(delta.begin(), delta.end(), expected.begin() + 34 + 12);
  std::copy(tags.begin(), tags.end(), expected.begin() + 34 + 22);
  EXPECT_EQ(frame, expected);
}

TEST(Rewrite, HopSaturatesAndLeavesTheOtherFlags) {
  for (unsigned flags = 0; flags < 256; ++flags) {
    const unsigned hop = flags >> 1 & 7;
    const unsigned after = (flags & ~0x0eu) | std::min(hop + 1, 7u) << 1;
    EXPECT_EQ(flags_with_hop(static_cast<std::uint8_t>(flags)), after);
  }
}

}  // namespace
}  // namespace clarion
