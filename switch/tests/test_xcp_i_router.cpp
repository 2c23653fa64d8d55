// SPDX-License-Identifier: Apache-2.0
// The router of XCP-i: which packets have passed a cloud, what a virtual router gives them, and what their
// headers say afterwards. This link has 100 Mbit/s; a cloud carries 1,000,000 bytes/s.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "core/tests/data_frame.hpp"
#include "router/xcp_i.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;
constexpr std::uint32_t BYTES = 1000;
constexpr std::uint8_t PROTOCOL = 253;
constexpr std::uint16_t LINK = 7;
constexpr std::uint16_t BEFORE = 3;  // the link before the cloud
constexpr std::int32_t MUCH = 1'000'000'000;
constexpr std::uint32_t IP_AT = 14;
constexpr std::uint32_t OPTION_AT = IP_AT + 20;
constexpr std::uint32_t DATA_AT = OPTION_AT + xcp_i::BYTES;

struct Option {
  std::uint8_t ttl;
  std::uint16_t link;
  std::uint32_t departed_us;
};

// Of a flow of 500,000 bytes/s and 100 ms.
std::vector<std::uint8_t> frame_of(std::uint8_t ttl, const Option& option, std::int32_t wanted = MUCH) {
  const clarion::Frame plain = data_frame(BYTES, {0.1, 1000.0 / 500'000, wanted, 0});
  std::vector<std::uint8_t> frame(plain.begin(), plain.end());
  frame.insert(frame.begin() + OPTION_AT, xcp_i::BYTES, std::uint8_t{0});
  std::uint8_t* ip = frame.data() + IP_AT;
  ip[0] = 0x48;
  ip[8] = ttl;
  xcp_i::write(frame.data() + OPTION_AT, option.ttl, option.link, option.departed_us);
  store_be16(ip + 10, static_cast<std::uint16_t>(~internet_sum(ip, 32)));
  return frame;
}

std::int32_t feedback_of(const std::vector<std::uint8_t>& frame) {
  return static_cast<std::int32_t>(load_be32(frame.data() + DATA_AT + OFFSET_DELTA_THROUGHPUT));
}

class XcpIRouterTest : public testing::Test {
 protected:
  static std::uint32_t departed(Nanoseconds now) { return static_cast<std::uint32_t>(now / 1000) - 20'000; }

  void arrive(Nanoseconds now, std::uint8_t ttl, std::uint8_t xcp_ttl, std::uint16_t link = BEFORE) {
    const auto frame = frame_of(ttl, {xcp_ttl, link, departed(now)});
    router_.arrive(now, frame.data(), BYTES);
  }
  // 50 packets in 100 ms, 1 ms apart where they have waited, then the first of the next interval.
  void half_fill_the_cloud(std::uint16_t link = BEFORE) {
    for (Nanoseconds n = 0; n < 50; ++n) arrive(START + n * MS, 62, 63, link);
    arrive(START + 100 * MS, 62, 63, link);
  }
  std::vector<std::uint8_t> left(std::vector<std::uint8_t> frame, Nanoseconds now = START + 100 * MS) {
    router_.depart(now, frame.data(), BYTES);
    EXPECT_EQ(internet_sum(frame.data() + IP_AT, (frame[IP_AT] & 0xfU) * 4), 0xffff);
    return frame;
  }
  double reported(std::size_t which) { return router_.report()[which].second; }

  XcpIRouter router_{XcpISettings{}, PROTOCOL, LINK, 100'000'000};
};

TEST_F(XcpIRouterTest, BehindARouterOfItsKindThereIsNoCloud) {
  for (Nanoseconds n = 0; n < 60; ++n) arrive(START + n * MS, 63, 63);
  EXPECT_EQ(reported(0), 0);
}

TEST_F(XcpIRouterTest, ATtlThatIsLowerShowsACloudAndWhatItHas) {
  half_fill_the_cloud();
  EXPECT_EQ(reported(0), 1);
  EXPECT_NEAR(reported(1), 8'000'000, 1e-3);
}

TEST_F(XcpIRouterTest, BeforeTheFirstRouterACloudIsNotSeen) {
  half_fill_the_cloud(0);
  EXPECT_EQ(reported(0), 0);
}

TEST_F(XcpIRouterTest, EachLinkBeforeHasACloudOfItsOwn) {
  half_fill_the_cloud();
  half_fill_the_cloud(BEFORE + 1);
  EXPECT_EQ(reported(0), 2);
}

// Of the virtual router half is spare: 0.4 * 500,000 over 50 packets. The link itself, of 12,500,000 bytes/s,
// would give 0.4 * 12,000,000 / 50.
TEST_F(XcpIRouterTest, TheVirtualRouterGivesBeforeTheLink) {
  half_fill_the_cloud();
  EXPECT_NEAR(feedback_of(left(frame_of(62, {63, BEFORE, departed(START)}))), 4000, 1);
  EXPECT_NEAR(feedback_of(left(frame_of(63, {63, BEFORE, departed(START)}))), 96'000, 1);
}

TEST_F(XcpIRouterTest, FeedbackIsOnlyLowered) {
  half_fill_the_cloud();
  EXPECT_EQ(feedback_of(left(frame_of(62, {63, BEFORE, departed(START)}, 10))), 10);
}

TEST_F(XcpIRouterTest, OfACloudOfWhichNothingIsKnownNothingIsHandedOut) {
  half_fill_the_cloud();  // the link has much
  const auto first = frame_of(62, {63, BEFORE + 1, departed(START)});
  router_.arrive(START + 100 * MS, first.data(), BYTES);
  EXPECT_EQ(feedback_of(left(frame_of(62, {63, BEFORE + 1, departed(START)}))), 0);
  EXPECT_EQ(feedback_of(left(frame_of(62, {63, BEFORE + 1, departed(START)}, -5))), -5);
}

TEST_F(XcpIRouterTest, AQueueInTheCloudIsTakenBack) {
  // The link in the cloud is full, all by these: 100 packets in 100 ms, of which no one waits less than 10 ms
  // once the fastest has passed. 0.226 * 10,000 bytes / 0.1 s are taken from 100 packets, and shuffled is
  // less than a tenth, so that this flow, which sends all, gets as much as it loses.
  arrive(START, 62, 63);
  for (Nanoseconds n = 1; n <= 250; ++n) {
    const Nanoseconds now = START + n * MS;
    const auto frame = frame_of(62, {63, BEFORE, departed(now) - 10'000});
    router_.arrive(now, frame.data(), BYTES);
  }
  EXPECT_NEAR(reported(1), 8'000'000, 1e-3);
  // x says 2 ms of each packet: a flow of 500,000 bytes/s has half of the packets. It is given 77,400 of
  // what is shuffled, and loses 100,000.
  EXPECT_NEAR(feedback_of(left(frame_of(62, {63, BEFORE, departed(START)}))), -226, 1);
}

TEST_F(XcpIRouterTest, ThePacketLeavesAsFromARouterOfItsKind) {
  const auto frame = left(frame_of(62, {63, BEFORE, departed(START)}), START + 123'456'789);
  EXPECT_EQ(frame[IP_AT + 8], 61);
  EXPECT_EQ(frame[OPTION_AT + xcp_i::TTL_AT], 61);
  EXPECT_EQ(load_be16(frame.data() + OPTION_AT + xcp_i::LINK_AT), LINK);
  EXPECT_EQ(load_be32(frame.data() + OPTION_AT + xcp_i::DEPARTED_AT), 5'123'456U);
  EXPECT_EQ((frame[DATA_AT + OFFSET_FLAGS] & FLAGS_HOP_MASK) >> FLAGS_HOP_SHIFT, 1);
}

TEST_F(XcpIRouterTest, ATtlOfOneStays) {
  const auto frame = left(frame_of(1, {63, BEFORE, departed(START)}));
  EXPECT_EQ(frame[IP_AT + 8], 1);
  EXPECT_EQ(frame[OPTION_AT + xcp_i::TTL_AT], 1);
}

TEST_F(XcpIRouterTest, ARouterThatDoesNotKnowXcpOnlyLowersTheTtl) {
  XcpIRouter plain({false}, PROTOCOL, LINK, 8'000'000);
  const auto before = frame_of(64, {63, BEFORE, 1000});
  auto frame = before;
  plain.arrive(START, frame.data(), BYTES);
  plain.depart(START, frame.data(), BYTES);
  EXPECT_EQ(frame[IP_AT + 8], 63);
  EXPECT_EQ(internet_sum(frame.data() + IP_AT, 32), 0xffff);
  EXPECT_TRUE(std::equal(frame.begin() + OPTION_AT, frame.end(), before.begin() + OPTION_AT));
}

TEST_F(XcpIRouterTest, APacketWithoutTheOptionIsOneOfXcp) {
  clarion::Frame frame = data_frame(BYTES, {0.1, 1000.0 / 500'000, MUCH, 0});
  for (int n = 0; n < 50; ++n) router_.arrive(START, frame.data(), BYTES);
  router_.arrive(START + 100 * MS, frame.data(), BYTES);
  router_.depart(START + 100 * MS, frame.data(), BYTES);
  EXPECT_NEAR(granted_bytes_per_s(frame), 96'000, 1);
  EXPECT_EQ(frame[IP_AT + 8], 0);
}

TEST_F(XcpIRouterTest, CloudsBeyond256AreNotRemembered) {
  for (std::uint16_t link = 1; link <= 300; ++link) arrive(START, 62, 63, link);
  EXPECT_EQ(reported(0), 256);
}

TEST_F(XcpIRouterTest, ARestartForgetsTheClouds) {
  half_fill_the_cloud();
  router_.restart(START + 100 * MS);
  EXPECT_EQ(reported(0), 0);
}

}  // namespace
}  // namespace clarion::emu
