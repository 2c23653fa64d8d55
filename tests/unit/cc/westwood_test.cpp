// SPDX-License-Identifier: Apache-2.0
// TCP Westwood against numbers that follow from its filter: packets of 1000 bytes, tau 500 ms.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/westwood.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

struct Flow {
  explicit Flow(const cc_params& settings = kDefaults) : params(settings), tcp(tcp_of(120, 60)) {
    westwood_init(&law, &params, &tcp);
  }

  // `packets` delivered `after_us` after the ACK before.
  void ack(__u64 after_us, __u32 packets, __s64 rtt_us = 100'000) {
    tcp.now_us += after_us;
    tcp.delivered += packets;
    westwood_on_acked(&law, &params, &tcp, packets, rtt_us);
  }

  // A packet per millisecond for long, 100 ms: 100 packets.
  void knows_a_hundred_packets() {
    ack(0, 1);
    law.rate.bandwidth = law.rate.sample = 1'000'000;
  }

  void event(stack_event which) { westwood_on_event(&law, &params, &tcp, which); }
  __u32 ssthresh() { return westwood_ssthresh(&law, &params, &tcp); }

  cc_params params;
  westwood law{};
  cc_stack tcp;
};

TEST(Westwood, EveryAckIsASampleOfALowPassFilter) {
  Flow flow;
  flow.ack(0, 5);  // nothing before it to measure from
  EXPECT_EQ(flow.law.rate.bandwidth, 0U);
  flow.ack(10'000, 10);                       // 1 MB/s
  EXPECT_EQ(flow.law.rate.bandwidth, 9900U);  // 0.01 (1e6 + 0) / 1.01
  flow.ack(10'000, 10);
  EXPECT_EQ(flow.law.rate.bandwidth, 29505U);  // (0.99 * 9900 + 0.01 (1e6 + 1e6)) / 1.01
}

TEST(Westwood, APauseIsASampleOfNothingForEachHalfOfTau) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ack(600'000, 10);
  // (0.75 * 1e6 + 0.25 * 1e6) / 1.25 = 8e5; 0.75 * 8e5 / 1.25 = 4.8e5; then 1e5 B/s for 100 ms:
  EXPECT_EQ(flow.law.rate.bandwidth, 401818U);  // (0.9 * 4.8e5 + 0.1 * 1e5) / 1.1
}

TEST(Westwood, WhatIsLeftOfAPauseIsNoSampleOfItsOwnBelowTenMilliseconds) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ack(505'000, 10);
  // 8e5 after one null; then 39215 B/s for 255 ms:
  EXPECT_EQ(flow.law.rate.bandwidth, 482868U);  // (0.745 * 8e5 + 0.255 * 39215) / 1.255
  Flow other;
  other.knows_a_hundred_packets();
  other.ack(250'000, 10);                        // no null at all, 40000 B/s
  EXPECT_EQ(other.law.rate.bandwidth, 808000U);  // (0.75 * 1e6 + 0.25 * 1.04e6) / 1.25
}

TEST(Westwood, APauseOfAnHourLeavesNothingOfTheBandwidthBefore) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ack(3600 * SECOND, 10);
  EXPECT_EQ(flow.law.rate.bandwidth, 8000U);  // 0.25 * 40000 / 1.25
}

TEST(Westwood, AcksOfNothingAndOfTheSameMomentAreCountedWithTheNext) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ack(5'000, 0);
  flow.ack(0, 4);
  EXPECT_EQ(flow.law.rate.sample, 800'000U);  // 4 packets in 5 ms
  flow.ack(0, 3);
  EXPECT_EQ(flow.law.rate.sample, 800'000U);
  flow.ack(10'000, 7);
  EXPECT_EQ(flow.law.rate.sample, 1'000'000U);  // 10 in 10 ms
}

TEST(Westwood, ALossLeavesBandwidthTimesRttMinNotHalf) {
  Flow flow;
  flow.knows_a_hundred_packets();
  EXPECT_EQ(flow.ssthresh(), 100U);
  flow.tcp.cwnd = flow.tcp.ssthresh = 100;
  flow.event(STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(flow.tcp.cwnd, 100U);
}

TEST(Westwood, AFlowOfAPacketPerMillisecondKeepsItsWindowAtRandomLosses) {
  Flow flow;
  for (int ms = 0; ms < 10'000; ms++) flow.ack(1000, 1);
  EXPECT_EQ(flow.law.rate.bandwidth, 999'500U);  // rounded down by less than (2 tau + 1 ms) / 2 ms
  flow.tcp.cwnd = 105;
  EXPECT_EQ(flow.ssthresh(), 99U);
}

TEST(Westwood, AWindowBelowTheLimitStaysAndStartsSlowlyUpToIt) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.tcp.cwnd = 80;
  EXPECT_EQ(flow.ssthresh(), 80U);
  flow.tcp.ssthresh = 80;
  flow.event(STACK_TX_START);
  EXPECT_EQ(flow.tcp.ssthresh, 80U);  // not before it is over
  flow.event(STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(flow.tcp.cwnd, 80U);
  westwood_grow(&flow.law, &flow.params, &flow.tcp, 10);
  EXPECT_EQ(flow.tcp.cwnd, 90U);
  flow.tcp.ssthresh = 77;
  flow.event(STACK_COMPLETE_CWR);  // of no reduction of this law
  EXPECT_EQ(flow.tcp.ssthresh, 77U);
}

TEST(Westwood, ATimeoutStartsSlowlyUpToTheLimit) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.tcp.cwnd = 20;
  flow.tcp.ssthresh = flow.ssthresh();
  EXPECT_EQ(flow.tcp.ssthresh, 20U);
  flow.event(STACK_LOSS);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
}

TEST(Westwood, AnUndoneReductionSetsNoThreshold) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ssthresh();
  flow.tcp.cwnd = 100;
  EXPECT_EQ(westwood_undo(&flow.law, &flow.params, &flow.tcp), 120U);
  flow.event(STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 60U);
}

TEST(Westwood, NothingMeasuredLeavesTwoPackets) {
  Flow flow;
  EXPECT_EQ(flow.ssthresh(), 2U);
  flow.tcp.cwnd = 1;
  EXPECT_EQ(flow.ssthresh(), 2U);
}

TEST(Westwood, TheLeastRoundTripCounts) {
  Flow flow;
  flow.knows_a_hundred_packets();
  flow.ack(0, 0, 150'000);
  flow.ack(0, 0, -1);
  EXPECT_EQ(flow.ssthresh(), 100U);
  flow.ack(0, 0, 50'000);
  EXPECT_EQ(flow.ssthresh(), 50U);
}

TEST(Westwood, AShorterTauFollowsFaster) {
  cc_params params = kDefaults;
  params.westwood_tau_ms = 50;
  Flow flow(params);
  flow.ack(0, 5);
  flow.ack(10'000, 10);
  EXPECT_EQ(flow.law.rate.bandwidth, 90'909U);  // 0.01 * 1e6 / 0.11
}

TEST(Westwood, GrowsAsReno) {
  Flow flow;
  westwood_grow(&flow.law, &flow.params, &flow.tcp, 120);
  EXPECT_EQ(flow.tcp.cwnd, 121U);
}

}  // namespace
