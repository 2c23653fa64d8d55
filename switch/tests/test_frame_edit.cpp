// SPDX-License-Identifier: Apache-2.0
// What queues and middleboxes read and change in frames.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "frame_edit.hpp"
#include "frames.hpp"

namespace clarion::emu {
namespace {

constexpr std::uint8_t CLARION = 253;

std::uint32_t size(const std::vector<std::uint8_t>& frame) {
  return static_cast<std::uint32_t>(frame.size());
}

void set_checksum(std::vector<std::uint8_t>& frame) {
  store_be16(frame.data() + 24, 0);
  store_be16(frame.data() + 24, static_cast<std::uint16_t>(~internet_sum(frame.data() + 14, 20)));
}

bool checksum_holds(const std::vector<std::uint8_t>& frame) {
  return internet_sum(frame.data() + 14, 20) == 0xffff;
}

TEST(FrameEdit, MarksWhatIsCapableAndKeepsTheChecksum) {
  for (int service = 0; service < 256; ++service) {
    auto frame = ipv4_frame(6, tcp_segment(10));
    frame[15] = static_cast<std::uint8_t>(service);
    set_checksum(frame);
    const int ecn = service & 3;
    EXPECT_EQ(is_ecn_capable(frame.data(), size(frame)), ecn == 1 || ecn == 2);
    if (ecn == 0 || ecn == 3) continue;
    mark_congestion(frame.data(), size(frame));
    EXPECT_EQ(frame[15], service | 3);
    EXPECT_TRUE(checksum_holds(frame)) << service;
  }
}

TEST(FrameEdit, AWrongChecksumStaysWrong) {
  auto frame = ipv4_frame(6, tcp_segment(10));
  frame[15] = 2;
  set_checksum(frame);
  frame[24] ^= 0x40;
  mark_congestion(frame.data(), size(frame));
  EXPECT_FALSE(checksum_holds(frame));
}

TEST(FrameEdit, MarksIpv6) {
  auto frame = ipv6_frame(6, tcp_segment(10));
  frame[14] = 0x6a;  // traffic class 0xa2: ECT(0)
  frame[15] = 0x2b;
  EXPECT_TRUE(is_ecn_capable(frame.data(), size(frame)));
  mark_congestion(frame.data(), size(frame));
  EXPECT_EQ(frame[14], 0x6a);
  EXPECT_EQ(frame[15], 0x3b);
  EXPECT_FALSE(is_ecn_capable(frame.data(), size(frame)));  // CE already
}

TEST(FrameEdit, StripsAHeaderAndLeavesAPlainPacket) {
  auto frame = tagged_frame(10);
  set_checksum(frame);
  ASSERT_TRUE(strip_header(frame, CLARION));
  auto plain = ipv4_frame(6, tcp_segment(10));
  set_checksum(plain);
  EXPECT_EQ(frame, plain);
  EXPECT_FALSE(strip_header(frame, CLARION));
  EXPECT_EQ(frame, plain);
}

TEST(FrameEdit, StripsOfIpv6) {
  std::vector<std::uint8_t> rest(16, 0);
  rest[0] = 6;
  rest[1] = 16;
  rest[2] = 0x13;
  const auto tcp = tcp_segment(3);
  rest.insert(rest.end(), tcp.begin(), tcp.end());
  auto frame = ipv6_frame(CLARION, rest);
  ASSERT_TRUE(strip_header(frame, CLARION));
  EXPECT_EQ(frame, ipv6_frame(6, tcp));
}

TEST(FrameEdit, KnowsPureAcknowledgements) {
  const auto with_flags = [](std::uint8_t flags, std::size_t payload) {
    auto tcp = tcp_segment(payload);
    tcp[13] = flags;
    const auto frame = ipv4_frame(6, tcp);
    return is_pure_ack(frame.data(), size(frame), CLARION);
  };
  EXPECT_TRUE(with_flags(0x10, 0));
  EXPECT_TRUE(with_flags(0x50, 0));  // with ECE
  EXPECT_FALSE(with_flags(0x10, 1));
  EXPECT_FALSE(with_flags(0x12, 0));  // SYN
  EXPECT_FALSE(with_flags(0x11, 0));  // FIN
  const auto tagged = tagged_frame(0);
  EXPECT_TRUE(is_pure_ack(tagged.data(), size(tagged), CLARION));
  const auto data = tagged_frame(1);
  EXPECT_FALSE(is_pure_ack(data.data(), size(data), CLARION));
}

TEST(FrameEdit, TooBigGoesBackInTheNameOfTheDestination) {
  auto frame = ipv4_frame(6, tcp_segment(1000));
  for (std::uint8_t i = 0; i < 12; ++i) frame[i] = i;
  const auto answer = too_big(frame.data(), size(frame), 576);
  ASSERT_EQ(answer.size(), 14U + 20 + 8 + 548);
  EXPECT_EQ(answer[0], 6);
  EXPECT_EQ(answer[6], 0);
  EXPECT_TRUE(checksum_holds(answer));
  EXPECT_EQ(answer[14 + 12 + 3], 2);  // from 10.0.0.2 to 10.0.0.1
  EXPECT_EQ(answer[14 + 16 + 3], 1);
  const std::uint8_t* icmp = answer.data() + 34;
  EXPECT_EQ(load_be16(icmp), 0x0304);
  EXPECT_EQ(load_be16(icmp + 6), 576);
  EXPECT_EQ(internet_sum(icmp, 8 + 548), 0xffff);
  EXPECT_TRUE(std::equal(icmp + 8, icmp + 8 + 548, frame.begin() + 14));
}

TEST(FrameEdit, TooBigOfIpv6) {
  const auto frame = ipv6_frame(6, tcp_segment(1400));
  const auto answer = too_big(frame.data(), size(frame), 1280);
  ASSERT_EQ(answer.size(), 14U + 40 + 8 + 1232);
  const std::uint8_t* ip = answer.data() + 14;
  EXPECT_EQ(ip[6], 58);
  EXPECT_EQ(ip[23], 2);
  EXPECT_EQ(ip[39], 1);
  const std::uint8_t* icmp = ip + 40;
  EXPECT_EQ(icmp[0], 2);
  EXPECT_EQ(load_be32(icmp + 4), 1280U);
  const std::uint32_t sum = internet_sum(ip + 8, 32) + 1240U + 58U + internet_sum(icmp, 1240);
  EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffU);
}

TEST(FrameEdit, NothingIsAnsweredToIcmpOrToWhatIsNotIp) {
  const auto icmp = ipv4_frame(1, std::vector<std::uint8_t>(1000));
  EXPECT_TRUE(too_big(icmp.data(), size(icmp), 576).empty());
  const std::vector<std::uint8_t> other(1000);
  EXPECT_TRUE(too_big(other.data(), size(other), 576).empty());
}

TEST(FrameEdit, EveryTruncationIsSafe) {
  for (const auto& whole : {tagged_frame(20), ipv6_frame(CLARION, std::vector<std::uint8_t>(40))}) {
    for (std::size_t length = 0; length <= whole.size(); ++length) {
      std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      is_pure_ack(cut.data(), size(cut), CLARION);
      is_ecn_capable(cut.data(), size(cut));
      mark_congestion(cut.data(), size(cut));
      too_big(cut.data(), size(cut), 576);
      const HeaderPlace place = header_place(cut.data(), size(cut), CLARION);
      EXPECT_LE(place.at + place.bytes, cut.size());
      strip_header(cut, CLARION);
    }
  }
}

}  // namespace
}  // namespace clarion::emu
