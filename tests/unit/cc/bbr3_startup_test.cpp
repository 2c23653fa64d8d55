// SPDX-License-Identifier: Apache-2.0
// Startup and Drain of BBR version 3.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;

class Bbr3Startup : public Bbr3Test {
 protected:
  // ACKs of a round of recovery, each of which has marked a loss; the last is of the next such round.
  void lose_in_round(int acks, __u32 lost, __u8 ca_state = CA_STATE_RECOVERY) {
    tcp_.ca_state = ca_state;
    for (int i = 0; i < acks; ++i) {
      ack_ = sample(100);
      ack_.losses = 1;
      ack_.lost = lost;
      b_.loss_round_delivered = i + 1 < acks ? tcp_.delivered + 1 : b_.next_round_delivered - 1;
      ack(1, 0, false);
    }
  }
};

TEST_F(Bbr3Startup, ThreeRoundsWithoutAQuarterMoreFillThePipe) {
  round(20);
  round(40);
  round(49);  // 22 %
  round(49);
  EXPECT_EQ(b_.state, BBR3_STARTUP);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
  round(49);
  EXPECT_EQ(b_.state, BBR3_DRAIN);
  EXPECT_TRUE(b_.is_filled);
  EXPECT_EQ(tcp_.ssthresh, 49U);
  EXPECT_EQ(b_.inflight_hi, BBR3_NO_BOUND);
  // 12,544 * 1000 * 88 / 256 = 4,312,000; * 990,000 / 2^24
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 254'445U);
}

TEST_F(Bbr3Startup, GrowthOfAQuarterKeepsItGoingInTheMiddleOfARoundToo) {
  round(20);
  round(24);
  round(24);
  EXPECT_EQ(b_.full_bw_rounds, 2);
  within(25);
  EXPECT_EQ(b_.full_bw_rounds, 0);
  EXPECT_EQ(b_.full_bw, 25 * BW);
  within(30);
  EXPECT_EQ(b_.full_bw_rounds, 0);  // only rounds count
}

TEST_F(Bbr3Startup, RoundsThatTheApplicationLimitsSayNothingOfThePipe) {
  for (int i = 0; i < 10; ++i) {
    ack_ = sample(20);
    ack_.is_app_limited = 1;
    ack(20, RTT_US);
  }
  EXPECT_EQ(b_.state, BBR3_STARTUP);
}

TEST_F(Bbr3Startup, ARoundOfRecoveryWithSixLossesAndMoreThanTwoPercentFillsIt) {
  round(100);
  lose_in_round(6, 2);  // 2 of 100: more than 100 * 5 / 256 = 1
  EXPECT_TRUE(b_.is_filled);
  EXPECT_EQ(b_.state, BBR3_DRAIN);
  EXPECT_EQ(b_.inflight_hi, 100U);
}

TEST_F(Bbr3Startup, FiveLossesOrFewerPacketsOrNoRecoveryDoNot) {
  round(100);
  lose_in_round(5, 2);
  EXPECT_FALSE(b_.is_filled);
  EXPECT_EQ(b_.loss_events, 0);  // counted per round
  lose_in_round(6, 1);
  EXPECT_FALSE(b_.is_filled);
  lose_in_round(6, 2, CA_STATE_LOSS);
  EXPECT_FALSE(b_.is_filled);
}

TEST_F(Bbr3Startup, TheThresholdIsAParameter) {
  p_.bbr3_loss_percent = 4;  // 100 * 10 / 256 = 3
  round(100);
  lose_in_round(6, 3);
  EXPECT_FALSE(b_.is_filled);
  lose_in_round(6, 4);
  EXPECT_TRUE(b_.is_filled);
}

TEST_F(Bbr3Startup, WhatALossyRoundHasDeliveredBoundsTheVolumeIfThatIsMore) {
  round(100);
  b_.inflight_latest = 130;
  lose_in_round(6, 3);
  EXPECT_EQ(b_.inflight_hi, 130U);
}

TEST_F(Bbr3Startup, ManyLossesOfARoundAreCountedUpToFifteen) {
  round(100);
  lose_in_round(40, 1);
  EXPECT_EQ(b_.loss_events, 0);
  tcp_.ca_state = CA_STATE_OPEN;
  for (int i = 0; i < 40; ++i) {
    ack_ = sample(100);
    ack_.losses = 1;
    b_.loss_round_delivered = tcp_.delivered + 1;
    ack(1, 0, false);
  }
  EXPECT_EQ(b_.loss_events, 15);
}

TEST_F(Bbr3Startup, DrainEndsWhenTheProductIsInTheNetwork) {
  for (int i = 0; i < 4; ++i) round(100, 150);
  EXPECT_EQ(b_.state, BBR3_DRAIN);
  round(100, 101);
  EXPECT_EQ(b_.state, BBR3_DRAIN);
  tcp_.paced_ahead_us = 656;  // one packet is not there yet
  ack_ = sample(100, 150);
  ack(100, RTT_US);
  EXPECT_EQ(b_.state, BBR3_DOWN);
}

TEST_F(Bbr3Startup, DrainForgetsWhatProbingHasCaused) {
  round(100);
  lose(100, 1);
  EXPECT_TRUE(b_.has_loss_in_round);
  b_.is_filled = 1;
  within(100, 150);
  EXPECT_EQ(b_.state, BBR3_DRAIN);
  EXPECT_FALSE(b_.has_loss_in_round);
  EXPECT_FALSE(b_.has_loss_in_cycle);
  EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND);
}

}  // namespace
