// SPDX-License-Identifier: Apache-2.0
// The router of P-XCP: who counts as limited, and what that makes of increases. A link of 8 Mbit/s, 1,000,000
// bytes/s; flows of 250,000 bytes/s in packets of 1000 bytes; the first intervals last 100 and 125 ms.
#include <gtest/gtest.h>

#include "core/tests/data_frame.hpp"
#include "router/p_xcp.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;
constexpr std::uint32_t BYTES = 1000;
constexpr std::int32_t MUCH = 1'000'000'000;

clarion::Frame frame_of(std::int32_t wanted) { return data_frame(BYTES, {0.125, 1000.0 / 250'000, wanted}); }

// Two flows fill half of the link: 50 packets in 100 ms. Then 0.4 * 500,000 are handed out, 4000 with each of
// 50 packets.
class PXcpRouterTest : public testing::Test {
 protected:
  void SetUp() override {
    arrive(START, 50);
    arrive(START + 100 * MS, 1);
  }
  void arrive(Nanoseconds now, int packets) {
    const clarion::Frame frame = frame_of(MUCH);
    for (int n = 0; n < packets; ++n) router_.arrive(now, frame.data(), BYTES);
  }
  std::int32_t leave(std::int32_t wanted) {
    clarion::Frame frame = frame_of(wanted);
    router_.depart(START + 100 * MS, frame.data(), BYTES);
    EXPECT_EQ(frame[HEADER_AT + OFFSET_FLAGS], FLAGS_HOP_ONE);
    return granted_bytes_per_s(frame);
  }
  // 62.5 packets are what two flows send until it ends; a packet less is 0.4 * 4000 more to hand out.
  void end_interval() {
    arrive(START + 100 * MS, 61);
    arrive(START + 225 * MS, 1);
  }
  double limited_share() { return router_.report()[1].second; }

  static constexpr double HANDED_OUT = 0.4 * (1'000'000 - 62 * 1000 / 0.125);

  PXcpRouter router_{253, 8'000'000};
};

TEST_F(PXcpRouterTest, WhereAllTakeWhatTheyAreGivenItIsXcp) {
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  end_interval();
  EXPECT_EQ(limited_share(), 0);
  EXPECT_NEAR(leave(MUCH), HANDED_OUT / 62, 1);
}

TEST_F(PXcpRouterTest, WhatTheLimitedDoNotTakeIsHandedOutTwice) {
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  EXPECT_EQ(leave(1500), 1500);
  end_interval();
  EXPECT_DOUBLE_EQ(limited_share(), 0.25);
  EXPECT_NEAR(leave(MUCH), HANDED_OUT / 62 * 4 / 3, 1);
}

TEST_F(PXcpRouterTest, ButAtMostTwice) {
  EXPECT_NEAR(leave(MUCH), 4000, 1);
  for (int n = 0; n < 9; ++n) EXPECT_EQ(leave(0), 0);
  end_interval();
  EXPECT_DOUBLE_EQ(limited_share(), 0.9);
  EXPECT_NEAR(leave(MUCH), HANDED_OUT / 62 * 2, 1);
}

TEST_F(PXcpRouterTest, DecreasesAreAsTheyWere) {
  EXPECT_EQ(leave(0), 0);
  arrive(START + 100 * MS, 149);  // 1,200,000 bytes/s
  arrive(START + 225 * MS, 1);
  EXPECT_DOUBLE_EQ(limited_share(), 1);
  // 80,000 are taken back by bytes, and what is left of a tenth of all is shuffled.
  EXPECT_NEAR(leave(MUCH), -80'000.0 / 150, 1);
}

TEST_F(PXcpRouterTest, EachIntervalJudgesAnew) {
  EXPECT_EQ(leave(0), 0);
  end_interval();
  EXPECT_DOUBLE_EQ(limited_share(), 1);
  arrive(START + 350 * MS, 1);
  EXPECT_EQ(limited_share(), 0);
}

TEST_F(PXcpRouterTest, ARestartForgets) {
  EXPECT_EQ(leave(0), 0);
  end_interval();
  router_.restart(START + 225 * MS);
  EXPECT_EQ(limited_share(), 0);
  EXPECT_EQ(leave(MUCH), 0);
}

}  // namespace
}  // namespace clarion::emu
