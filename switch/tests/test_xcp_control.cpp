// SPDX-License-Identifier: Apache-2.0
// XCP's controllers in real numbers against intervals worked out by hand. A link of 1,000,000 bytes/s, whose
// flows have a round trip of 100 ms.
#include <gtest/gtest.h>

#include "router/xcp_control.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;

// Of 1000 bytes, by a flow of `bytes_per_s`.
XcpPacket packet_of(double bytes_per_s, double rtt_s = 0.1) { return {1000, rtt_s, 1000 / bytes_per_s}; }

class XcpControlTest : public testing::Test {
 protected:
  // So many packets in the interval that begins at `from`, then the one that begins the next.
  void interval(Nanoseconds from, int packets, double bytes_per_s) {
    for (int n = 0; n < packets; ++n) control_.arrive(from, packet_of(bytes_per_s));
    control_.arrive(from + 100 * MS, packet_of(bytes_per_s));
  }

  XcpControl control_{XcpGains{}, 1'000'000};
};

TEST_F(XcpControlTest, WhatIsSpareIsHandedOutPerRoundTrip) {
  // 50,000 bytes in 100 ms are half of the link: 0.4 * 500,000 are to be added, more than what would be
  // shuffled. x of each packet is 2 ms, 100 ms of all fifty.
  interval(START, 50, 500'000);
  EXPECT_DOUBLE_EQ(control_.change(), 200'000);
  EXPECT_DOUBLE_EQ(control_.flows(), 1);
  EXPECT_DOUBLE_EQ(control_.pools().positive(), 200'000);
  EXPECT_DOUBLE_EQ(control_.pools().negative(), 0);
  EXPECT_NEAR(control_.offer(packet_of(500'000)), 4000, 1e-6);
  EXPECT_NEAR(control_.grant(packet_of(500'000), 1e9), 4000, 1e-6);
  EXPECT_NEAR(control_.pools().positive(), 196'000, 1e-6);
}

TEST_F(XcpControlTest, OnAFullLinkATenthChangesHands) {
  // One flow of 750,000 bytes/s and one of 250,000: 75 and 25 packets. 100,000 is given by x, of which each
  // has half, and taken by bytes.
  for (int n = 0; n < 75; ++n) control_.arrive(START, packet_of(750'000));
  for (int n = 0; n < 25; ++n) control_.arrive(START, packet_of(250'000));
  control_.arrive(START + 100 * MS, packet_of(750'000));
  EXPECT_NEAR(control_.change(), 0, 1e-6);
  EXPECT_NEAR(control_.flows(), 2, 1e-12);
  EXPECT_NEAR(75 * control_.offer(packet_of(750'000)), 50'000 - 75'000, 1e-6);
  EXPECT_NEAR(25 * control_.offer(packet_of(250'000)), 50'000 - 25'000, 1e-6);
}

TEST_F(XcpControlTest, WhatStandsInTheQueueIsTakenBack) {
  // The least in a window of 50 ms and less is 10,000 bytes: 0.226 * 10,000 / 0.1 s. The link is full.
  control_.queue_is(START, 10'000);
  control_.queue_is(START + 10 * MS, 30'000);
  control_.queue_is(START + 50 * MS, 10'000);
  interval(START, 100, 1'000'000);
  EXPECT_DOUBLE_EQ(control_.standing_bytes(), 10'000);
  EXPECT_NEAR(control_.change(), -22'600, 1e-6);
  EXPECT_NEAR(control_.pools().negative(), 100'000, 1e-6);  // 22,600 and the 77,400 that are left to shuffle
  EXPECT_NEAR(control_.pools().positive(), 77'400, 1e-6);
}

TEST_F(XcpControlTest, ABurstThatDrainsWithinTheWindowIsNoQueue) {
  control_.queue_is(START, 0);
  control_.queue_is(START + 10 * MS, 30'000);
  control_.queue_is(START + 60 * MS, 5'000);  // the window of (100 ms - 30 ms) / 2 is over
  interval(START, 100, 1'000'000);
  EXPECT_DOUBLE_EQ(control_.standing_bytes(), 5'000);  // of the next
  EXPECT_NEAR(control_.change(), -0.226 * 5'000 / 0.1, 1e-6);
}

TEST_F(XcpControlTest, AnIntervalIsAsLongAsTheMeanRoundTripOfFlowsNotOfPackets) {
  // Two flows, of 400 ms and 100 ms and of unlike rates: 250 ms.
  for (int n = 0; n < 90; ++n) control_.arrive(START, packet_of(900'000, 0.4));
  for (int n = 0; n < 10; ++n) control_.arrive(START, packet_of(100'000, 0.1));
  EXPECT_EQ(control_.interval_ns(), 100 * MS);  // nothing is known yet
  control_.arrive(START + 100 * MS, packet_of(900'000, 0.4));
  EXPECT_DOUBLE_EQ(control_.avg_rtt_s(), 0.25);
  EXPECT_EQ(control_.interval_ns(), 250 * MS);
}

TEST_F(XcpControlTest, RatesAreOverTheTimeThatPassed) {
  for (int n = 0; n < 50; ++n) control_.arrive(START, packet_of(500'000));
  control_.arrive(START + 200 * MS, packet_of(500'000));  // 50,000 bytes in 200 ms
  EXPECT_DOUBLE_EQ(control_.change(), 0.4 * 750'000);
}

TEST_F(XcpControlTest, OrdinaryTrafficIsLoadAndNoFlow) {
  for (int n = 0; n < 50; ++n) control_.arrive(START, XcpPacket{1000, 0, 0});
  control_.arrive(START + 100 * MS, XcpPacket{1000, 0, 0});
  EXPECT_DOUBLE_EQ(control_.change(), 200'000);
  EXPECT_DOUBLE_EQ(control_.flows(), 0);
  EXPECT_DOUBLE_EQ(control_.offer(packet_of(500'000)), 0);
  EXPECT_DOUBLE_EQ(control_.avg_rtt_s(), 0.1);
}

TEST_F(XcpControlTest, WhoAsksForLessLeavesTheRestInThePools) {
  for (int n = 0; n < 100; ++n) control_.arrive(START, packet_of(500'000));
  control_.arrive(START + 100 * MS, packet_of(500'000));  // full: two flows, 100,000 shuffled
  // A packet is given 1000 and charged 1000. One that gives up 500 by itself is charged 1000 and the 500 that
  // its feedback is below the link's: p = -500 + 1500.
  EXPECT_NEAR(control_.grant(packet_of(500'000), 1e9), 0, 1e-6);
  EXPECT_NEAR(control_.pools().positive(), 99'000, 1e-6);
  EXPECT_NEAR(control_.pools().negative(), 99'000, 1e-6);
  EXPECT_NEAR(control_.grant(packet_of(500'000), -500), -500, 1e-6);
  EXPECT_NEAR(control_.pools().positive(), 98'000, 1e-6);
  EXPECT_NEAR(control_.pools().negative(), 97'500, 1e-6);
}

TEST_F(XcpControlTest, ASpentPoolGivesNothingMore) {
  interval(START, 50, 500'000);
  for (int n = 0; n < 50; ++n) EXPECT_NEAR(control_.grant(packet_of(500'000), 1e9), 4000, 1e-6);
  EXPECT_NEAR(control_.grant(packet_of(500'000), 1e9), 0, 1e-6);
  EXPECT_DOUBLE_EQ(control_.grant(packet_of(500'000), -700), -700);  // gives up 700 of its own
  EXPECT_DOUBLE_EQ(control_.grant(packet_of(500'000), 1e9), 0);      // which are for the next interval
  EXPECT_NEAR(control_.offer(packet_of(500'000)), 4000, 1e-6);
}

TEST_F(XcpControlTest, FeedbackIsForOwnFlowsWithTheChangeOfAll) {
  // Of a link with 80 % load a flow of 200,000 is its own: 0.4 * 200,000 are added, all for that flow; what
  // it would shuffle is a tenth of its own, not of all.
  for (int n = 0; n < 60; ++n) control_.arrive(START, packet_of(600'000), false);
  for (int n = 0; n < 20; ++n) control_.arrive(START, packet_of(200'000), true);
  control_.arrive(START + 100 * MS, packet_of(200'000));
  EXPECT_NEAR(control_.change(), 80'000, 1e-6);
  EXPECT_NEAR(control_.flows(), 2, 1e-12);
  EXPECT_NEAR(control_.own_flows(), 1, 1e-12);
  EXPECT_NEAR(20 * control_.offer(packet_of(200'000)), 80'000, 1e-6);
  for (int n = 0; n < 80; ++n) control_.arrive(START + 100 * MS, packet_of(800'000), false);
  for (int n = 0; n < 19; ++n) control_.arrive(START + 100 * MS, packet_of(200'000), true);
  control_.arrive(START + 200 * MS, packet_of(200'000));
  EXPECT_NEAR(control_.change(), 0, 1e-6);
  EXPECT_NEAR(control_.pools().positive(), 20'000, 1e-6);
  EXPECT_NEAR(control_.pools().negative(), 20'000, 1e-6);
}

TEST_F(XcpControlTest, WhereHardlyAnyFlowIsOwnFeedbackIsForAll) {
  for (int n = 0; n < 40; ++n) control_.arrive(START, packet_of(500'000), false);
  for (int n = 0; n < 10; ++n) control_.arrive(START, packet_of(500'000), true);  // a fifth of a flow
  control_.arrive(START + 100 * MS, packet_of(500'000));
  EXPECT_DOUBLE_EQ(control_.own_flows(), 0.2);
  EXPECT_NEAR(control_.offer(packet_of(500'000)), 4000, 1e-6);
}

}  // namespace
}  // namespace clarion::emu
