// SPDX-License-Identifier: Apache-2.0
// TCP WestwoodNew, read as westwood_new.h says, against numbers that follow from it.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/westwood_new.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// A packet per millisecond for long: 1 MB/s. `prior` is what the last comparison has seen.
struct Flow {
  explicit Flow(__u64 prior, const cc_params& settings = kDefaults) : params(settings), tcp(tcp_of(100, 50)) {
    tcp.next = 100;
    westwood_new_init(&law, &params, &tcp);
    westwood_new_on_acked(&law, &params, &tcp, 0, 100'000);
    law.rate.bandwidth = law.rate.sample = 1'000'000;
    law.prior_bandwidth = prior;
  }

  // Ten packets in 10 ms leave the estimate at (0.99 * 1e6 + 0.01 (1e6 + 1e6)) / 1.01 = 1e6.
  void ack(__u32 una, __u32 next) {
    tcp.now_us += 10 * MS;
    tcp.delivered += 10;
    tcp.una = una;
    tcp.next = next;
    westwood_new_on_acked(&law, &params, &tcp, 10, 100'000);
  }

  __u32 grown(__u32 acked) {
    westwood_new_grow(&law, &params, &tcp, acked);
    return tcp.cwnd;
  }

  cc_params params;
  westwood_new law{};
  cc_stack tcp;
};

__u32 after_a_round_trip(__u64 prior, const cc_params& params = kDefaults) {
  Flow flow(prior, params);
  flow.ack(101, 201);
  return flow.grown(100);
}

TEST(WestwoodNew, GrowsByTheRatioOfTwoEstimatesOfTheBandwidth) {
  EXPECT_EQ(after_a_round_trip(1'000'001), 100U);  // less than 1
  EXPECT_EQ(after_a_round_trip(1'000'000), 101U);  // 1
  EXPECT_EQ(after_a_round_trip(666'667), 101U);    // 1.49999925
  EXPECT_EQ(after_a_round_trip(666'666), 102U);    // 1.5000015
}

TEST(WestwoodNew, AFirstEstimateGrowsAsReno) { EXPECT_EQ(after_a_round_trip(0), 101U); }

TEST(WestwoodNew, ComparesOncePerRoundTrip) {
  Flow flow(500'000);
  flow.ack(100, 150);  // all of what had been sent at its begin, nothing sent later
  EXPECT_EQ(flow.law.gear.times, 1U);
  flow.ack(101, 201);
  EXPECT_EQ(flow.law.gear.times, 2U);
  EXPECT_EQ(flow.law.prior_bandwidth, 1'000'000U);
  flow.ack(201, 301);
  EXPECT_EQ(flow.law.gear.times, 2U);
  flow.ack(202, 302);
  EXPECT_EQ(flow.law.gear.times, 1U);
}

TEST(WestwoodNew, OrAtEveryAck) {
  cc_params params = kDefaults;
  params.westwood_new_per_ack = 1;
  Flow flow(500'000, params);
  flow.ack(50, 150);
  EXPECT_EQ(flow.law.gear.times, 2U);
  flow.ack(51, 151);
  EXPECT_EQ(flow.law.gear.times, 1U);
}

TEST(WestwoodNew, AnAckWithoutANewEstimateComparesNothing) {
  Flow flow(500'000);
  flow.tcp.una = 101;
  westwood_new_on_acked(&flow.law, &flow.params, &flow.tcp, 1, 100'000);
  EXPECT_EQ(flow.law.gear.times, 1U);
}

TEST(WestwoodNew, TheRatioThatDoublesGrowthIsAParameter) {
  cc_params params = kDefaults;
  params.westwood_new_ratio_q16 = 81920;  // 1.25
  EXPECT_EQ(after_a_round_trip(800'000), 101U);
  EXPECT_EQ(after_a_round_trip(800'000, params), 102U);
}

TEST(WestwoodNew, AShorterTauFollowsFaster) {
  cc_params params = kDefaults;
  params.westwood_new_tau_ms = 50;
  Flow flow(0, params);
  flow.tcp.delivered += 10;  // twenty in 10 ms: 2 MB/s
  flow.ack(1, 100);
  EXPECT_EQ(flow.law.rate.bandwidth, 1'090'909U);  // (0.09 * 1e6 + 0.01 * 3e6) / 0.11
}

TEST(WestwoodNew, SlowStartIsRenosWhateverTheRatio) {
  Flow flow(0);
  flow.law.gear.times = 0;
  flow.tcp.cwnd = 10;
  EXPECT_EQ(flow.grown(10), 20U);
  EXPECT_EQ(flow.grown(60), 50U);  // the threshold
}

TEST(WestwoodNew, ALossLeavesBandwidthTimesRttMinNotHalf) {
  Flow flow(0);
  flow.tcp.cwnd = 120;
  EXPECT_EQ(westwood_new_ssthresh(&flow.law, &flow.params, &flow.tcp), 100U);
  westwood_new_on_event(&flow.law, &flow.params, &flow.tcp, STACK_LOSS);
  EXPECT_EQ(flow.tcp.ssthresh, 100U);
  flow.tcp.cwnd = 1;
  EXPECT_EQ(westwood_new_undo(&flow.law, &flow.params, &flow.tcp), 120U);
}

}  // namespace
