// SPDX-License-Identifier: Apache-2.0
// Westwood+ against numbers that follow from Linux' counting: ticks of 4 ms, packets of 1000 bytes.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/westwood_plus.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// A connection that began at 100 s, at the begin of a tick.
struct Flow {
  explicit Flow(const cc_params& settings = kDefaults) : params(settings), tcp(tcp_of(120, 60)) {
    westwood_plus_init(&law, &params, &tcp);
  }

  void ack(__u64 at_ms, __u32 delivered, __s64 rtt_us) {
    tcp.now_us = 100 * SECOND + at_ms * MS;
    tcp.delivered = delivered;
    westwood_plus_on_acked(&law, &params, &tcp, 1, rtt_us);
  }

  // 4000 bytes per tick in 25 ticks: 100 packets.
  void knows_a_hundred_packets() {
    law.count.bandwidth = 4000;
    law.count.rtt_min_ticks = 25;
  }

  cc_params params;
  westwood_plus law{};
  cc_stack tcp;
};

TEST(WestwoodPlus, CountsARoundTripAtATimeAndSmoothsItTwice) {
  Flow flow;
  flow.ack(100, 10, 100'000);  // 25 ticks
  flow.ack(104, 12, 100'000);  // closes a sample of nothing, which leaves the filter empty
  EXPECT_EQ(flow.law.count.bandwidth, 0U);
  flow.ack(204, 110, 100'000);  // 25 ticks are not more than a round trip
  EXPECT_EQ(flow.law.count.bandwidth, 0U);
  flow.ack(208, 114, 100'000);
  EXPECT_EQ(flow.law.count.bandwidth, 3846U);      // 100 packets, this ACK's not among them, in 26 ticks
  flow.ack(312, 114, 100'000);                     // 4 packets: 153
  EXPECT_EQ(flow.law.count.once_filtered, 3384U);  // (7 * 3846 + 153) / 8
  EXPECT_EQ(flow.law.count.bandwidth, 3788U);      // (7 * 3846 + 3384) / 8
}

TEST(WestwoodPlus, AFlowOfAPacketPerMillisecondIsMeasuredAsThat) {
  Flow flow;
  for (__u32 ms = 1; ms <= 10'000; ms++) flow.ack(ms, ms, 100'000);
  // 4000 bytes per tick, less what rounding down in eighths leaves: 7 in each filter.
  EXPECT_EQ(flow.law.count.bandwidth, 3986U);
  EXPECT_EQ(westwood_count_window(&flow.law.count, 1000), 99U);  // 25 ticks of it
}

TEST(WestwoodPlus, AfterRecoveryTheWindowIsBandwidthTimesRttMinNotHalf) {
  Flow flow;
  flow.knows_a_hundred_packets();
  EXPECT_EQ(westwood_plus_ssthresh(&flow.law, &flow.params, &flow.tcp), 60U);  // where TCP goes meanwhile
  flow.tcp.cwnd = flow.tcp.ssthresh = 60;
  westwood_plus_on_event(&flow.law, &flow.params, &flow.tcp, STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(flow.tcp.cwnd, 100U);
}

TEST(WestwoodPlus, ATimeoutSetsTheThresholdAndMeasuresTheLeastRoundTripAnew) {
  Flow flow;
  flow.ack(100, 10, 100'000);
  flow.ack(104, 12, 200'000);
  flow.knows_a_hundred_packets();
  flow.tcp.cwnd = 30;
  flow.tcp.ssthresh = 15;
  westwood_plus_on_event(&flow.law, &flow.params, &flow.tcp, STACK_LOSS);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  EXPECT_EQ(flow.tcp.cwnd, 30U);  // TCP sets it
  flow.ack(304, 13, 240'000);
  EXPECT_EQ(flow.law.count.rtt_min_ticks, 50U);  // that of the ACK before
  flow.ack(308, 14, 100'000);
  EXPECT_EQ(flow.law.count.rtt_min_ticks, 50U);  // not 60
  flow.ack(312, 15, 100'000);
  EXPECT_EQ(flow.law.count.rtt_min_ticks, 25U);
}

TEST(WestwoodPlus, OtherEventsChangeNothing) {
  Flow flow;
  flow.knows_a_hundred_packets();
  westwood_plus_on_event(&flow.law, &flow.params, &flow.tcp, STACK_TX_START);
  westwood_plus_on_event(&flow.law, &flow.params, &flow.tcp, STACK_CWND_RESTART);
  EXPECT_EQ(flow.tcp.ssthresh, 60U);
  EXPECT_EQ(flow.tcp.cwnd, 120U);
  EXPECT_EQ(flow.law.count.rtt_min_ticks, 25U);
}

TEST(WestwoodPlus, NothingMeasuredLeavesTwoPackets) {
  Flow flow;
  westwood_plus_on_event(&flow.law, &flow.params, &flow.tcp, STACK_COMPLETE_CWR);
  EXPECT_EQ(flow.tcp.cwnd, 2U);
}

TEST(WestwoodPlus, GrowsAndIsUndoneAsReno) {
  Flow flow;
  westwood_plus_grow(&flow.law, &flow.params, &flow.tcp, 120);
  EXPECT_EQ(flow.tcp.cwnd, 121U);
  westwood_plus_ssthresh(&flow.law, &flow.params, &flow.tcp);
  flow.tcp.cwnd = 60;
  EXPECT_EQ(westwood_plus_undo(&flow.law, &flow.params, &flow.tcp), 121U);
  flow.tcp.cwnd = 3;
  EXPECT_EQ(westwood_plus_ssthresh(&flow.law, &flow.params, &flow.tcp), 2U);
}

TEST(WestwoodPlus, SamplesOfShortRoundTripsLastAtLeastTheInterval) {
  cc_params params = kDefaults;
  params.westwood_plus_interval_ms = 20;
  Flow usual, shorter(params);
  for (Flow* flow : {&usual, &shorter}) {
    flow->law.count.rtt_ticks = 3;
    flow->ack(0, 0, 10'000);
    flow->ack(8, 30, 10'000);
    flow->ack(20, 30, 10'000);  // 5 ticks are not more than 20 ms
    EXPECT_EQ(flow->law.count.bandwidth, 0U);
    flow->ack(24, 30, 10'000);
  }
  EXPECT_EQ(shorter.law.count.bandwidth, 5000U);  // 30 packets in 6 ticks
  EXPECT_EQ(usual.law.count.bandwidth, 0U);
  usual.ack(48, 30, 10'000);  // 50 ms are 12 whole ticks
  EXPECT_EQ(usual.law.count.bandwidth, 0U);
  usual.ack(52, 30, 10'000);
  EXPECT_EQ(usual.law.count.bandwidth, 2307U);  // in 13
}

TEST(WestwoodPlus, WithoutTheOldOnlyTheNewestSampleCounts) {
  cc_params params = kDefaults;
  params.westwood_plus_old_eighths = 0;
  Flow flow(params);
  flow.law.count.rtt_ticks = 25;
  flow.law.count.bandwidth = flow.law.count.once_filtered = 8000;
  flow.ack(4, 0, 100'000);
  flow.ack(8, 26, 100'000);
  flow.ack(104, 26, 100'000);
  EXPECT_EQ(flow.law.count.bandwidth, 1000U);  // 26 packets in 26 ticks
}

}  // namespace
