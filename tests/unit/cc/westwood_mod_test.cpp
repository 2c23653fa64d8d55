// SPDX-License-Identifier: Apache-2.0
// Mod TCP WestwoodNew against its figures, line by line: packets of 1000 bytes.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/westwood_mod.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

struct Flow {
  explicit Flow(__u32 cwnd, __u32 ssthresh = STACK_INFINITE_SSTHRESH, const cc_params& settings = kDefaults)
      : params(settings), tcp(tcp_of(cwnd, ssthresh)) {
    tcp.next = 100;
    westwood_mod_init(&law, &params, &tcp);
  }

  void ack(__u64 after_us, __u32 packets, __u32 una, __u32 next) {
    tcp.now_us += after_us;
    tcp.delivered += packets;
    tcp.una = una;
    tcp.next = next;
    westwood_mod_on_acked(&law, &params, &tcp, packets, 100'000);
  }

  // 1 MB/s and 100 ms: cwnd_abe is 100 packets.
  void has_estimated(__u8 gear) {
    law.bandwidth = 1'000'000;
    law.rtt_min_us = 100'000;
    law.gear.times = gear;
    law.is_due = 1;
  }

  __u32 grown(__u32 acked) {
    westwood_mod_grow(&law, &params, &tcp, acked);
    return tcp.cwnd;
  }

  __u32 ssthresh() { return westwood_mod_ssthresh(&law, &params, &tcp); }
  void event(stack_event which) { westwood_mod_on_event(&law, &params, &tcp, which); }

  cc_params params;
  westwood_mod law{};
  cc_stack tcp;
};

TEST(WestwoodMod, EstimatesTheBandwidthOfEachRoundTripAndComparesItWithTheLast) {
  Flow flow(100);
  flow.ack(0, 1, 1, 100);  // nothing before it to measure from
  flow.ack(50'000, 50, 51, 150);
  EXPECT_EQ(flow.law.bandwidth, 0U);
  flow.ack(50'000, 50, 101, 201);
  EXPECT_EQ(flow.law.bandwidth, 1'000'000U);  // 100 packets in 100 ms
  EXPECT_EQ(flow.law.gear.times, 1U);         // nothing to compare with
  EXPECT_EQ(flow.law.is_due, 1U);
  flow.ack(100'000, 150, 202, 302);
  EXPECT_EQ(flow.law.bandwidth, 1'500'000U);
  EXPECT_EQ(flow.law.gear.times, 2U);
  flow.ack(100'000, 160, 303, 403);
  EXPECT_EQ(flow.law.gear.times, 1U);
  flow.ack(100'000, 159, 404, 504);
  EXPECT_EQ(flow.law.gear.times, 0U);
}

TEST(WestwoodMod, AnAckOfNothingOrOfTheSameMomentIsNoEstimate) {
  Flow flow(100);
  flow.ack(0, 1, 1, 100);
  flow.ack(100'000, 0, 101, 201);
  flow.law.delivered = flow.tcp.delivered - 1;
  flow.law.since_us = flow.tcp.now_us;
  flow.ack(0, 1, 101, 201);
  EXPECT_EQ(flow.law.bandwidth, 0U);
}

TEST(WestwoodMod, SlowStartAddsRenosAndOncePerEstimateAllThatTheBandwidthFills) {
  Flow flow(10);
  flow.has_estimated(0);           // the ratio does not matter here
  EXPECT_EQ(flow.grown(2), 112U);  // lines 7 and 8
  EXPECT_EQ(flow.grown(2), 114U);  // line 7
}

TEST(WestwoodMod, SlowStartMayPassTheThresholdByWhatTheBandwidthFills) {
  Flow flow(10, 12);
  flow.has_estimated(1);
  EXPECT_EQ(flow.grown(5), 112U);
}

TEST(WestwoodMod, PastSlowStartTheRatioDecides) {
  const __u32 grown[] = {200, 251, 302};  // lines 21-22; 200 + 1 + 100 / 2; 200 + 2 + 100
  for (__u8 gear = 0; gear < 3; gear++) {
    Flow flow(200, 50);
    flow.has_estimated(gear);
    EXPECT_EQ(flow.grown(200), grown[gear]) << int{gear};
    EXPECT_EQ(flow.law.is_due, 0U);
  }
}

TEST(WestwoodMod, AnEstimateWaitsWhileTheWindowIsNotUsed) {
  Flow flow(200, 50);
  flow.has_estimated(2);
  flow.tcp.is_cwnd_limited = 0;
  EXPECT_EQ(flow.grown(200), 200U);
  flow.tcp.is_cwnd_limited = 1;
  EXPECT_EQ(flow.grown(0), 300U);
}

TEST(WestwoodMod, PerAckEveryAckAddsTheBandwidthDelayProduct) {
  cc_params params = kDefaults;
  params.westwood_mod_per_ack = 1;
  Flow flow(10, 5, params);
  flow.ack(0, 1, 1, 100);
  for (__u32 i = 2; i < 5; i++) {
    flow.ack(1000, 1, i, 100);  // a packet per millisecond: 100 packets
    flow.grown(1);
  }
  EXPECT_EQ(flow.tcp.cwnd, 160U);  // 10 + 3 * 50; 3 of 10 packets acknowledged towards the next
  EXPECT_EQ(flow.tcp.cwnd_count, 3U);
}

TEST(WestwoodMod, TheCapOfThePaperIsReachedAtOnceAndHolds) {
  cc_params params = kDefaults;
  params.westwood_mod_cap_packets = 55;
  Flow flow(10, STACK_INFINITE_SSTHRESH, params);
  flow.has_estimated(1);
  EXPECT_EQ(flow.grown(1), 55U);
  EXPECT_EQ(flow.grown(10), 55U);
}

TEST(WestwoodMod, WithoutACapTheClampOfTheConnectionHolds) {
  Flow flow(10);
  flow.has_estimated(1);
  flow.tcp.cwnd_clamp = 40;
  EXPECT_EQ(flow.grown(1), 40U);
}

TEST(WestwoodMod, TheRatioThatDoublesGrowthIsAParameter) {
  cc_params params = kDefaults;
  params.westwood_mod_ratio_q16 = 81920;  // 1.25
  Flow flow(100, 50, params);
  flow.ack(0, 1, 1, 100);
  flow.ack(100'000, 100, 101, 201);
  flow.ack(100'000, 125, 202, 302);
  EXPECT_EQ(flow.law.gear.times, 2U);
}

TEST(WestwoodMod, ALossLeavesWhatTheBandwidthFillsOrHalf) {
  Flow flow(150, 50);
  flow.has_estimated(1);
  EXPECT_EQ(flow.ssthresh(), 100U);  // more than 75
  flow.tcp.cwnd = 300;
  EXPECT_EQ(flow.ssthresh(), 150U);
  flow.event(STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 150U);
}

TEST(WestwoodMod, AWindowBelowTheThresholdStaysAsItIs) {
  Flow flow(80, 50);
  flow.has_estimated(1);
  EXPECT_EQ(flow.ssthresh(), 80U);  // Fig. 2, lines 7-8
  flow.tcp.ssthresh = 80;
  flow.event(STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(flow.tcp.cwnd, 80U);
}

TEST(WestwoodMod, ATimeoutSetsTheSameThreshold) {
  Flow flow(80, 50);
  flow.has_estimated(1);
  flow.ssthresh();
  flow.event(STACK_LOSS);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(westwood_mod_undo(&flow.law, &flow.params, &flow.tcp), 80U);
}

TEST(WestwoodMod, NothingMeasuredHalves) {
  Flow flow(80);
  EXPECT_EQ(flow.ssthresh(), 40U);
  flow.tcp.cwnd = 3;
  EXPECT_EQ(flow.ssthresh(), 2U);
}

}  // namespace
