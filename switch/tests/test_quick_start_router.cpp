// SPDX-License-Identifier: Apache-2.0
// The router of Quick-Start against sums worked out by hand: 8 Mbit/s, of which 85 %, 6.8 Mbit/s, may be
// given away. Codes 5, 6, 7, 8 stand for 1.28, 2.56, 5.12, 10.24 Mbit/s.
#include <gtest/gtest.h>

#include "checksum.hpp"
#include "frames.hpp"
#include "router/quick_start.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;
constexpr std::uint32_t NONCE = 0x2aaaaaaa;  // 30 bits
constexpr std::uint32_t OPTION_AT = 14 + 20;

// A SYN that asks, behind an option of one byte, so that it has to be looked for.
std::vector<std::uint8_t> asking(std::uint8_t rate, std::uint8_t function = quick_start::REQUEST) {
  auto frame = ipv4_frame(6, std::vector<std::uint8_t>(12 + 20));
  frame[14] = 0x48;
  frame[22] = 64;
  frame[OPTION_AT] = 1;
  std::uint8_t* option = frame.data() + OPTION_AT + 1;
  option[0] = quick_start::IP_OPTION;
  option[1] = 8;
  option[2] = static_cast<std::uint8_t>(function << 4 | rate);
  option[3] = 100;
  store_be32(option + 4, NONCE << 2);
  store_be16(frame.data() + 24, static_cast<std::uint16_t>(~internet_sum(frame.data() + 14, 32)));
  return frame;
}

class QuickStartRouterTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> passed(Nanoseconds after, std::vector<std::uint8_t> frame) {
    router_.depart(START + after, frame.data(), static_cast<std::uint32_t>(frame.size()));
    EXPECT_EQ(internet_sum(frame.data() + 14, (frame[14] & 0xfU) * 4), 0xffff);
    return frame;
  }
  // The rate that comes back for a request.
  int granted(Nanoseconds after, std::uint8_t rate) { return passed(after, asking(rate))[OPTION_AT + 3]; }

  // So many bytes go onto the link, in frames without options.
  void use(Nanoseconds after, std::uint32_t bytes) {
    auto frame = ipv4_frame(6, tcp_segment(0));
    router_.depart(START + after, frame.data(), bytes);
  }

  QuickStartRouter router_{QuickStartSettings{}, START, 8'000'000, RandomStream(1)};
};

TEST(QuickStartRates, CodesAreTheRfcs) {
  EXPECT_EQ(quick_start::rate_bps(0), 0U);
  EXPECT_EQ(quick_start::rate_bps(1), 80'000U);
  EXPECT_EQ(quick_start::rate_bps(15), 1'310'720'000U);
  EXPECT_EQ(quick_start::code_of(79'999), 0);
  EXPECT_EQ(quick_start::code_of(80'000), 1);
  EXPECT_EQ(quick_start::code_of(159'999), 1);
  EXPECT_EQ(quick_start::code_of(1e12), 15);
}

TEST_F(QuickStartRouterTest, ApprovesWhatIsFreeInRatesThatTheOptionHas) {
  // Each request is a packet, too: 66 bytes of 200 ms are 2640 bit/s.
  EXPECT_EQ(granted(0, 7), 7);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 1'677'360);  // 6.8 - 5.12 Mbit/s
  EXPECT_EQ(granted(0, 7), 5);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 394'720);
  EXPECT_EQ(granted(0, 1), 1);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 312'080);
  EXPECT_EQ(granted(0, 4), 2);  // 640 kbit/s were asked for
  EXPECT_EQ(granted(0, 1), 1);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 66'800);
  EXPECT_EQ(granted(0, 1), 0);
}

TEST_F(QuickStartRouterTest, ApprovalsCountInTheirIntervalAndTheNext) {
  EXPECT_EQ(granted(199 * MS, 7), 7);
  EXPECT_EQ(granted(399 * MS, 7), 5);
  EXPECT_EQ(granted(400 * MS, 7), 7);  // only the second is remembered: 6.8 - 1.28
  EXPECT_EQ(granted(1200 * MS, 8), 7);
}

TEST_F(QuickStartRouterTest, WhatWasUsedInTheBusiestOfFiveIntervalsIsNotFree) {
  use(100 * MS, 100'000);  // 4 Mbit/s of 200 ms
  EXPECT_EQ(granted(150 * MS, 8), 6);
  EXPECT_EQ(granted(1100 * MS, 8), 6);  // in the fifth interval after it
  EXPECT_EQ(granted(1600 * MS, 8), 7);
}

TEST_F(QuickStartRouterTest, AFullLinkRefuses) {
  use(0, 200'000);
  const auto frame = passed(10 * MS, asking(8));
  EXPECT_EQ(frame[22], 63);
  const std::uint8_t* option = frame.data() + OPTION_AT + 1;
  EXPECT_EQ(option[0], quick_start::IP_OPTION);
  EXPECT_EQ(option[1], 8);
  EXPECT_EQ(option[2], 0);
  EXPECT_EQ(option[3], 0);
  EXPECT_EQ(load_be32(option + 4), 0U);
}

TEST_F(QuickStartRouterTest, BothTtlsGoDownAlike) {
  const auto frame = passed(0, asking(5));
  EXPECT_EQ(frame[22], 63);
  EXPECT_EQ(frame[OPTION_AT + 4], 99);
}

TEST_F(QuickStartRouterTest, OnlyTheNonceOfTheStepsTakenIsOverwritten) {
  EXPECT_EQ(load_be32(passed(0, asking(5)).data() + OPTION_AT + 5) >> 2, NONCE);
  bool changed = false;
  for (int i = 1; i < 20; ++i) {
    const auto frame = passed(static_cast<Nanoseconds>(i) * 1000 * MS, asking(9));
    EXPECT_EQ(frame[OPTION_AT + 3], 7);
    const std::uint32_t nonce = load_be32(frame.data() + OPTION_AT + 5);
    EXPECT_EQ(nonce & 3, 0U);                          // reserved
    EXPECT_EQ((nonce >> 2) & 0x3fff, NONCE & 0x3fff);  // two bits for each of seven steps
    EXPECT_EQ(nonce >> 20, NONCE >> 18);               // bits of rates above the request
    changed = changed || ((nonce >> 2) ^ NONCE) != 0;
  }
  EXPECT_TRUE(changed);
}

TEST_F(QuickStartRouterTest, ARouterThatDoesNotKnowTheOptionLowersTheTtlOfIpOnly) {
  QuickStartSettings settings;
  settings.aware = false;
  router_ = QuickStartRouter(settings, START, 8'000'000, RandomStream(1));
  auto expected = asking(9);
  const auto frame = passed(0, expected);
  expected[22] = 63;
  expected[24] = frame[24];
  expected[25] = frame[25];
  EXPECT_EQ(frame, expected);
}

TEST_F(QuickStartRouterTest, AReportIsNoRequest) {
  const auto frame = passed(0, asking(7, quick_start::REPORT));
  EXPECT_EQ(frame[OPTION_AT + 3], 0x87);
  EXPECT_EQ(frame[OPTION_AT + 4], 100);
  EXPECT_EQ(granted(0, 7), 7);
}

TEST_F(QuickStartRouterTest, OtherPacketsAndBrokenOptionsKeepEveryByte) {
  std::vector<std::vector<std::uint8_t>> frames = {
      ipv4_frame(6, tcp_segment(10)), ipv6_frame(6, tcp_segment(10)), asking(7), asking(7), asking(7)};
  frames[2][OPTION_AT + 2] = 0;   // of no length
  frames[3][OPTION_AT + 2] = 40;  // beyond the header
  frames[4][OPTION_AT + 1] = 0;   // the end of the list
  for (const auto& before : frames) {
    auto frame = before;
    router_.depart(START, frame.data(), static_cast<std::uint32_t>(frame.size()));
    EXPECT_EQ(frame, before);
  }
  for (std::uint32_t length = 0; length < 46; ++length) {
    auto frame = asking(7);
    frame.resize(46);
    router_.depart(START, frame.data(), length);
  }
}

TEST_F(QuickStartRouterTest, ARestartForgetsUseAndApprovals) {
  use(0, 100'000);
  granted(0, 6);
  router_.restart(START + 10 * MS);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 6'800'000);
  router_.set_rate(START + 10 * MS, 4'000'000);
  EXPECT_DOUBLE_EQ(router_.available_bps(), 3'400'000);
}

TEST(QuickStartRouterSettings, EachHasItsEffect) {
  QuickStartSettings settings;
  settings.interval_ns = 100 * MS;
  settings.share = 0.5;
  QuickStartRouter router(settings, 0, 8'000'000, RandomStream(1));
  auto frame = ipv4_frame(6, tcp_segment(0));
  router.depart(50 * MS, frame.data(), 25'000);  // 2 Mbit/s of 100 ms
  EXPECT_DOUBLE_EQ(router.available_bps(), 2'000'000);
}

}  // namespace
}  // namespace clarion::emu
