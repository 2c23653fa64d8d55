// SPDX-License-Identifier: Apache-2.0
// The router of JetMax against loads worked out by hand, and the option that it reads and writes. 8 Mbit/s,
// 100 ms, a target of 0.95: 7.6 Mbit/s are to be used.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "link_frames.hpp"
#include "router/jetmax.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;

class JetmaxRouterTest : public testing::Test {
 protected:
  void arrive(Nanoseconds at, const LinkOption& option, std::uint32_t length) {
    const auto frame = link_frame(option);
    router_.arrive(at, frame.data(), length);
  }
  // What a packet of 1000 bytes shows that came as `option` and leaves at `now`.
  LinkOption sent(Nanoseconds now, const LinkOption& option) {
    auto frame = link_frame(option);
    router_.depart(now, frame.data(), 1000);
    return link_option_of(frame);
  }
  static LinkOption member(std::uint32_t interval_ns) { return {LINK, 0, ~0U, interval_ns}; }

  static constexpr Nanoseconds START = 5000 * MS;
  static constexpr std::uint16_t LINK = 7;
  JetmaxRouter router_{JetmaxSettings{}, START, 8'000'000, LINK};
};

TEST_F(JetmaxRouterTest, TheFairRateIsWhatOthersLeaveOverTheNumberOfFlows) {
  // Two flows, of an interval of 4 ms and of 10 ms; 10,000 bytes of others are 0.8 Mbit/s.
  for (int i = 0; i < 25; ++i) arrive(START + i * 4 * MS, member(4'000'000), 1000);
  for (int i = 0; i < 10; ++i) arrive(START + 99 * MS, member(10'000'000), 1000);
  arrive(START + 99 * MS, {8, 0, ~0U, 5}, 6000);  // another link controls it
  const auto plain = ipv4_frame(6, tcp_segment(100));
  router_.arrive(START + 99 * MS, plain.data(), 4000);
  EXPECT_EQ(router_.flows(), 0);  // the interval is not over
  EXPECT_DOUBLE_EQ(router_.fair_bps(), 7'600'000);
  arrive(START + 100 * MS, member(1), 1000);
  EXPECT_DOUBLE_EQ(router_.flows(), 2);
  EXPECT_DOUBLE_EQ(router_.others_bps(), 800'000);
  EXPECT_DOUBLE_EQ(router_.fair_bps(), 3'400'000);
}

TEST_F(JetmaxRouterTest, AMemberIsToldTheFairRateInHundredsOfBitsPerSecond) {
  for (int i = 0; i < 20; ++i) arrive(START, member(20'000'000), 1000);
  const LinkOption told = sent(START + 100 * MS, member(20'000'000));
  EXPECT_EQ(told.word, 19'000U);  // 7.6 Mbit/s over four
  EXPECT_EQ(told.proposed, LINK);
  EXPECT_EQ(told.controlling, LINK);
  EXPECT_EQ(told.interval_ns, 20'000'000U);
}

TEST_F(JetmaxRouterTest, OthersAreToldWhatTheyWouldGetAndAThirtySecondMore) {
  // One member; 25,000 bytes of a flow of another link, 2 Mbit/s: (7.6 - 2 + 2) / 2 is its part.
  for (int i = 0; i < 10; ++i) arrive(START, member(10'000'000), 1000);
  arrive(START, {8, 0, ~0U, 4'000'000}, 25'000);
  const LinkOption told = sent(START + 100 * MS, {8, 0, ~0U, 4'000'000});
  EXPECT_EQ(told.word, 39'187U);  // 3.8 Mbit/s * 33 / 32
  EXPECT_EQ(told.proposed, LINK);
  EXPECT_EQ(sent(START + 100 * MS, {8, 8, 39'187, 4'000'000}).proposed, 8);
  EXPECT_EQ(sent(START + 100 * MS, {8, 8, 39'188, 4'000'000}).proposed, LINK);
}

TEST_F(JetmaxRouterTest, WhatHasNotBeenCountedYetAddsNothing) {
  EXPECT_EQ(sent(START, {0, 0, ~0U, 1}).word, 78'375U);  // 7.6 Mbit/s * 33 / 32, whatever its rate
}

TEST_F(JetmaxRouterTest, ALowerRateIsLeft) {
  const LinkOption told = sent(START, {LINK, 3, 75'999, 1000});
  EXPECT_EQ(told.word, 75'999U);
  EXPECT_EQ(told.proposed, 3);
}

TEST_F(JetmaxRouterTest, AHundredthOfTheLinkIsLeftWhateverOthersTake) {
  arrive(START, {8, 0, ~0U, 1}, 1'000'000);
  EXPECT_EQ(sent(START + 100 * MS, member(1)).word, 800U);
}

TEST_F(JetmaxRouterTest, AnIntervalWithoutPacketsEndsAllCounts) {
  arrive(START, member(100'000'000), 1000);
  arrive(START, {8, 0, ~0U, 1}, 20'000);
  router_.set_rate(START + 199 * MS, 8'000'000);
  EXPECT_DOUBLE_EQ(router_.flows(), 1);
  EXPECT_DOUBLE_EQ(router_.others_bps(), 1'600'000);
  router_.set_rate(START + 86'400'000 * MS, 8'000'000);
  EXPECT_EQ(router_.flows(), 0);
  EXPECT_EQ(router_.others_bps(), 0);
}

TEST_F(JetmaxRouterTest, ARateThatChangesCountsAtOnceAndARestartForgetsTheRest) {
  for (int i = 0; i < 2; ++i) arrive(START, member(100'000'000), 1000);
  router_.set_rate(START + 100 * MS, 4'000'000);
  EXPECT_DOUBLE_EQ(router_.fair_bps(), 1'900'000);
  router_.restart(START + 100 * MS);
  EXPECT_DOUBLE_EQ(router_.fair_bps(), 3'800'000);
}

TEST(LinkOptionTest, AChangeKeepsTheSumOverTheSegment) {
  for (const std::size_t nops : {2U, 3U}) {  // on an even byte and on an odd one
    auto frame = link_frame({7, 0, 0xfffe1234, 77}, nops);
    const std::uint16_t before = internet_sum(frame.data() + 34, frame.size() - 34);
    link_option::Place place(frame.data(), static_cast<std::uint32_t>(frame.size()));
    ASSERT_TRUE(place.found());
    place.propose(0x0102, 0x03040506);
    EXPECT_EQ(internet_sum(frame.data() + 34, frame.size() - 34), before);
    const LinkOption option = link_option_of(frame, nops);
    EXPECT_EQ(option.controlling, 7);
    EXPECT_EQ(option.proposed, 0x0102);
    EXPECT_EQ(option.word, 0x03040506U);
    EXPECT_EQ(option.interval_ns, 77U);
  }
}

TEST(LinkOptionTest, WhatIsMalformedOrOfOthersIsNotFound) {
  const struct {
    std::size_t at;  // in the frame; the option is at 56
    std::uint8_t byte;
  } cases[] = {
      {12, 0x88},            // no IP
      {20, 0x20},            // a fragment
      {23, 17},              // UDP
      {46, 0x40},            // shorter than a header
      {54, 0},               // the end of all options
      {56, 254},  {57, 15},  // another kind, another length
      {57, 0},    {57, 1},   // which none has
      {57, 200},             // beyond the header
      {58, 0},               // another ExID
  };
  for (const auto& each : cases) {
    auto frame = link_frame({7, 0, ~0U, 1});
    frame[each.at] = each.byte;
    const auto length = static_cast<std::uint32_t>(frame.size());
    EXPECT_FALSE(link_option::Place(frame.data(), length).found()) << each.at << ' ' << int{each.byte};
  }
  auto frame = link_frame({7, 0, ~0U, 1});
  EXPECT_TRUE(link_option::Place(frame.data(), static_cast<std::uint32_t>(frame.size())).found());
  for (std::uint32_t length = 0; length < 72; ++length)
    EXPECT_FALSE(link_option::Place(frame.data(), length).found()) << length;
}

}  // namespace
}  // namespace clarion::emu
