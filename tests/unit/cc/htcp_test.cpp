// SPDX-License-Identifier: Apache-2.0
// H-TCP against numbers that follow from its definition, in the integers of Linux: ticks of 4 ms, 1 / 128.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/htcp.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class HTcp : public testing::Test {
 protected:
  HTcp() {
    tcp_.ca_state = CA_STATE_OPEN;
    htcp_init(&h_, &params_, &tcp_);
  }
  void be_at(__u32 cwnd) { tcp_.cwnd = cwnd; }
  void grow(int acks) {
    for (int i = 0; i < acks; i++) htcp_grow(&h_, &params_, &tcp_, 1);
  }
  void ack(__u32 packets, __s64 rtt_us = -1) { htcp_on_acked(&h_, &params_, &tcp_, packets, rtt_us); }
  __u32 lose_at(__u32 cwnd) {
    be_at(cwnd);
    return htcp_ssthresh(&h_, &params_, &tcp_);
  }
  void enter(__u8 state) {
    htcp_on_state(&h_, &params_, &tcp_, state);
    tcp_.ca_state = state;
  }
  // So long after a loss.
  __u32 alpha_after(__u64 us) {
    h_.last_loss = stack_ticks(tcp_.now_us);
    tcp_.now_us += us;
    htcp_update_alpha(&h_, &params_, &tcp_);
    return h_.alpha;
  }
  cc_params params_ = kDefaults;
  cc_stack tcp_ = tcp_of(10, 2);
  htcp h_{};
};

TEST_F(HTcp, TheStepIsAPacketForASecondAndThenQuadraticInTime) {
  EXPECT_EQ(htcp_step(&params_, 0), 1U);
  EXPECT_EQ(htcp_step(&params_, 250), 1U);
  EXPECT_EQ(htcp_step(&params_, 274), 1U);     // 1 + 0.96 + 0.002
  EXPECT_EQ(htcp_step(&params_, 275), 2U);     // 1 + 1 + 0.0025
  EXPECT_EQ(htcp_step(&params_, 500), 11U);    // 1 + 10 + 0.25
  EXPECT_EQ(htcp_step(&params_, 1250), 45U);   // 1 + 40 + 4
  EXPECT_EQ(htcp_step(&params_, 2750), 126U);  // 1 + 100 + 25
}

TEST_F(HTcp, TheTimeOfRenosStepIsAParameter) {
  params_.htcp_low_speed_ms = 0;
  EXPECT_EQ(htcp_step(&params_, 250), 11U);
  params_.htcp_low_speed_ms = 2000;
  EXPECT_EQ(htcp_step(&params_, 500), 1U);
  EXPECT_EQ(htcp_step(&params_, 750), 11U);
}

TEST_F(HTcp, AStepOfHoursDoesNotOverflow) {
  EXPECT_EQ(htcp_step(&params_, 250'250), 260'001U);  // 1000 s: 1 + 10000 + 250000
  h_.last_loss = 1;
  tcp_.now_us = STACK_TICK_US * 0xffffffffULL;
  htcp_update_alpha(&h_, &params_, &tcp_);
  EXPECT_EQ(h_.alpha, 1U << 29);  // 2 * 2^22 * 64
}

TEST_F(HTcp, AWindowOfAcksBringsTheStep) {
  EXPECT_EQ(h_.alpha, 128U);
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 10U);
  EXPECT_EQ(tcp_.cwnd_count, 10U);
  grow(1);  // brings the packet, and is not counted
  EXPECT_EQ(tcp_.cwnd, 11U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  tcp_.now_us += 2 * SECOND;
  be_at(110);
  grow(110 + 1);  // still with the step of the last growth
  EXPECT_EQ(tcp_.cwnd, 111U);
  EXPECT_EQ(h_.alpha, 11U * 128);
  grow(11 + 1);  // 11 * 11 = 121
  EXPECT_EQ(tcp_.cwnd, 112U);
}

TEST_F(HTcp, AnAckCountsForAllOfItsPacketsWhileNothingIsSuspected) {
  for (int i = 0; i < 4; i++) {
    ack(3);
    grow(1);
  }
  EXPECT_EQ(tcp_.cwnd_count, 12U);
  ack(3);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 11U);
  grow(1);  // an ACK that says nothing of packets is one
  EXPECT_EQ(tcp_.cwnd_count, 1U);
  tcp_.ca_state = CA_STATE_LOSS;
  ack(3);
  grow(1);
  EXPECT_EQ(tcp_.cwnd_count, 2U);
}

TEST_F(HTcp, SlowStartDropsTheRestOfItsAckAndAnUnusedWindowDoesNotGrow) {
  tcp_ = tcp_of(10, 12);
  htcp_grow(&h_, &params_, &tcp_, 5);
  EXPECT_EQ(tcp_.cwnd, 12U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  tcp_.is_cwnd_limited = 0;
  grow(20);
  EXPECT_EQ(tcp_.cwnd, 12U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
}

TEST_F(HTcp, TheClampBoundsTheWindow) {
  tcp_.cwnd_clamp = 10;
  grow(11);
  EXPECT_EQ(tcp_.cwnd, 10U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
}

TEST_F(HTcp, StepsAreScaledByTheRoundTrip) {
  h_.min_rtt = 25;  // 100 ms
  EXPECT_EQ(alpha_after(2 * SECOND), 11U * 128);
  h_.min_rtt = 50;
  EXPECT_EQ(alpha_after(2 * SECOND), 22U * 128);
  EXPECT_EQ(alpha_after(SECOND), 2U * 128);
  h_.min_rtt = 100;  // no more than twice
  EXPECT_EQ(alpha_after(2 * SECOND), 22U * 128);
  h_.min_rtt = 5;
  EXPECT_EQ(alpha_after(2 * SECOND), 2U * 128);  // a fifth: 2.2
  EXPECT_EQ(alpha_after(SECOND), 128U);          // a fifth, but 1 at least
  h_.min_rtt = 1;                                // no less than a tenth
  EXPECT_EQ(alpha_after(11 * SECOND), 12U * 128);
  params_.htcp_rtt_scaling = 0;
  EXPECT_EQ(alpha_after(11 * SECOND), 126U * 128);
}

TEST_F(HTcp, AFlowThatStepsBackLessGrowsLess) {
  h_.beta = 102;
  EXPECT_EQ(alpha_after(0), 52U);  // 2 * (128 - 102)
  EXPECT_EQ(alpha_after(2 * SECOND), 572U);
}

TEST_F(HTcp, RemembersTheLeastAndTheLargestRoundTrip) {
  ack(1, 99'999);
  EXPECT_EQ(h_.min_rtt, 25U);  // rounded up
  EXPECT_EQ(h_.max_rtt, 25U);
  ack(1, 120 * MS);
  EXPECT_EQ(h_.max_rtt, 30U);
  ack(1, 144 * MS);  // by more than 20 ms: not believed
  EXPECT_EQ(h_.max_rtt, 30U);
  ack(1, 140 * MS);
  EXPECT_EQ(h_.max_rtt, 35U);
  ack(1, 0);
  ack(1, -1);
  EXPECT_EQ(h_.min_rtt, 25U);
  tcp_.ca_state = CA_STATE_RECOVERY;
  ack(1, 80 * MS);
  EXPECT_EQ(h_.min_rtt, 20U);
  ack(1, 160 * MS);
  EXPECT_EQ(h_.max_rtt, 35U);
}

TEST_F(HTcp, ARateIsThatOfAWindowAndOfARoundTripAtLeast) {
  h_.min_rtt = 25;
  tcp_.now_us += 100 * MS;
  ack(8);
  EXPECT_EQ(h_.max_rate, 0U);
  ack(1);  // the window less a step
  EXPECT_EQ(h_.max_rate, 90U);
  EXPECT_EQ(h_.sample_packets, 0U);
  tcp_.now_us += 50 * MS;
  ack(9);
  EXPECT_EQ(h_.max_rate, 90U);
  tcp_.now_us += 50 * MS;
  ack(9);
  EXPECT_EQ(h_.max_rate, 180U);  // 18 in 100 ms; not smoothed for three round trips
  tcp_.now_us += 100 * MS;
  ack(9);
  EXPECT_EQ(h_.max_rate, 90U);  // the third
  tcp_.now_us += 100 * MS;
  ack(36);
  EXPECT_EQ(h_.max_rate, 157U);  // (3 * 90 + 360) / 4
  tcp_.now_us += 100 * MS;
  ack(9);
  EXPECT_EQ(h_.rate, 140U);  // (3 * 157 + 90) / 4
  EXPECT_EQ(h_.max_rate, 157U);
}

TEST_F(HTcp, WhileTheWindowIsReducedNoRateIsMeasured) {
  h_.min_rtt = 25;
  for (const __u8 state : {CA_STATE_CWR, CA_STATE_RECOVERY, CA_STATE_LOSS}) {
    ack(5);
    tcp_.now_us += 100 * MS;
    tcp_.ca_state = state;
    ack(20);
    EXPECT_EQ(h_.max_rate, 0U);
    EXPECT_EQ(h_.sample_packets, 0U);
    EXPECT_EQ(h_.sample_began, stack_ticks(tcp_.now_us));
    tcp_.ca_state = CA_STATE_OPEN;
  }
  tcp_.now_us += 100 * MS;
  tcp_.ca_state = CA_STATE_CWR - 1;  // disorder: nothing is reduced
  ack(9);
  EXPECT_EQ(h_.max_rate, 22U);  // 9 in 100 ms, a quarter of it: more than three round trips since the start
}

TEST_F(HTcp, AStepAsLargeAsTheWindowTakesARateFromAnyAck) {
  h_.min_rtt = 25;
  h_.alpha = 10 * 128;
  tcp_.now_us += 100 * MS;
  ack(1);
  EXPECT_EQ(h_.max_rate, 10U);
}

TEST_F(HTcp, NoRateIsMeasuredWithoutARoundTripNorBelowAStepNorWithTheSwitchOff) {
  tcp_.now_us += 100 * MS;
  ack(9);
  EXPECT_EQ(h_.max_rate, 0U);
  h_.min_rtt = 25;
  h_.alpha = 11 * 128;
  ack(9);
  EXPECT_EQ(h_.max_rate, 0U);
  h_.alpha = 128;
  params_.htcp_bandwidth_switch = 0;
  ack(9);
  EXPECT_EQ(h_.max_rate, 0U);
  params_.htcp_bandwidth_switch = 1;
  ack(9);
  EXPECT_EQ(h_.max_rate, 270U);  // 27 in 100 ms: the 9 with the switch off are not among them
}

TEST_F(HTcp, FromTheSecondLossOnItLeavesWhatEmptiesTheQueue) {
  h_.min_rtt = 25;
  h_.max_rtt = 35;
  EXPECT_EQ(lose_at(1000), 500U);
  EXPECT_EQ(h_.max_rtt, 34U);  // 25 + 10 * 95 / 100
  h_.max_rtt = 35;
  EXPECT_EQ(lose_at(1000), 710U);  // beta = 25 * 128 / 35 = 91; 1000 * 91 / 128 = 710.9
  EXPECT_EQ(h_.alpha, 74U);        // 2 * (128 - 91)
  h_.max_rtt = 26;
  EXPECT_EQ(lose_at(1000), 796U);  // 123, but 102 at most
  h_.max_rtt = 100;
  EXPECT_EQ(lose_at(1000), 500U);  // 32, but 64 at least
  EXPECT_EQ(h_.max_rtt, 96U);      // 25 + 75 * 95 / 100
  EXPECT_EQ(lose_at(3), 2U);
}

TEST_F(HTcp, ShortOrUnknownRoundTripsHalve) {
  h_.is_steady = 1;
  h_.min_rtt = 3;
  h_.max_rtt = 4;
  EXPECT_EQ(lose_at(1000), 500U);
  h_.min_rtt = 4;
  h_.max_rtt = 5;
  EXPECT_EQ(lose_at(1000), 796U);  // 4 * 128 / 5 = 102
  h_.max_rtt = 0;
  EXPECT_EQ(lose_at(1000), 500U);
}

TEST_F(HTcp, AnotherRateThanTheUsualHalves) {
  h_.min_rtt = h_.max_rtt = 25;
  const auto lose_at_rate = [&](__u32 before, __u32 rate) {
    h_.is_steady = 1;
    h_.last_max_rate = before;
    h_.max_rate = rate;
    return lose_at(1000);
  };
  EXPECT_EQ(lose_at_rate(100, 79), 500U);
  EXPECT_EQ(h_.last_max_rate, 79U);
  EXPECT_EQ(lose_at_rate(100, 80), 796U);
  EXPECT_EQ(lose_at_rate(100, 120), 796U);
  EXPECT_EQ(lose_at_rate(100, 121), 500U);
  EXPECT_EQ(lose_at(1000), 500U);  // at the usual rate again, for the first time
  EXPECT_EQ(lose_at(1000), 796U);
  params_.htcp_bandwidth_switch = 0;
  EXPECT_EQ(lose_at_rate(100, 121), 796U);
  EXPECT_EQ(h_.last_max_rate, 100U);
}

TEST_F(HTcp, TheTimeSinceALossBeginsWhenItIsRepaired) {
  const __u32 before = h_.last_loss;
  for (const __u8 state : {CA_STATE_CWR, CA_STATE_RECOVERY, CA_STATE_LOSS}) {
    tcp_.now_us += SECOND;
    enter(state);
    EXPECT_EQ(h_.last_loss, stack_ticks(tcp_.now_us));
    tcp_.now_us += SECOND;
    enter(CA_STATE_OPEN);
    EXPECT_EQ(h_.last_loss, stack_ticks(tcp_.now_us));
  }
  EXPECT_EQ(h_.last_loss, before + 6 * STACK_HZ);
  tcp_.now_us += SECOND;
  enter(CA_STATE_CWR - 1);  // disorder
  enter(CA_STATE_OPEN);
  EXPECT_EQ(h_.last_loss, before + 6 * STACK_HZ);
}

TEST_F(HTcp, ALossThatWasNoneIsUndone) {
  tcp_.cwnd = 1;
  EXPECT_EQ(htcp_undo(&h_, &params_, &tcp_), 10U);  // before the first loss
  h_.min_rtt = 25;
  h_.max_rtt = 45;
  h_.last_max_rate = 70;
  const __u32 before = h_.last_loss;
  tcp_.now_us += SECOND;
  enter(CA_STATE_RECOVERY);
  h_.max_rtt = 40;
  h_.last_max_rate = 80;
  h_.prior_cwnd = 1000;
  EXPECT_EQ(htcp_undo(&h_, &params_, &tcp_), 1000U);
  enter(CA_STATE_OPEN);
  EXPECT_EQ(h_.last_loss, before);
  EXPECT_EQ(h_.max_rtt, 45U);
  EXPECT_EQ(h_.last_max_rate, 70U);
  h_.max_rtt = 30;
  tcp_.cwnd = 2000;
  EXPECT_EQ(htcp_undo(&h_, &params_, &tcp_), 2000U);  // once
  EXPECT_EQ(h_.max_rtt, 30U);
  lose_at(3000);
  EXPECT_EQ(h_.prior_cwnd, 3000U);
}

// The signature: how fast it grows depends on the time since the last loss, not on the window.
TEST_F(HTcp, GrowsPerRoundTripByTheTimeSinceTheLastLoss) {
  h_.min_rtt = 25;
  for (const __u32 window : {20'000U, 100'000U}) {
    for (const auto& [seconds, step] : {std::pair{0, 1}, {1, 1}, {2, 11}, {5, 45}, {11, 126}}) {
      be_at(window);
      tcp_.cwnd_count = 0;
      alpha_after(seconds * SECOND);
      grow(static_cast<int>(10 * window));
      EXPECT_NEAR(tcp_.cwnd - window, 10 * step, 1 + 0.5 * step) << window << ' ' << seconds;
    }
  }
}

}  // namespace
