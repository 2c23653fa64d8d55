// SPDX-License-Identifier: Apache-2.0
// What losses leave of rate and volume while BBR version 3 does not probe.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;

class Bbr3Lower : public Bbr3Test {
 protected:
  // The last ACK of a round in which `packets` were delivered at most, and a loss was marked.
  void lossy_round(__u32 packets) {
    ack_ = sample(packets);
    ack_.losses = 1;
    b_.loss_round_delivered = tcp_.delivered;
    ack(packets, RTT_US);
  }
};

TEST_F(Bbr3Lower, ARoundWithALossLeavesSevenTenths) {
  settle();
  b_.bw_latest = b_.inflight_latest = 0;
  lossy_round(10);
  EXPECT_EQ(b_.bw_lo, 18'000U);     // 25,600 * 180 / 256
  EXPECT_EQ(b_.inflight_lo, 140U);  // 200 * 180 / 256 = 140.6
  lossy_round(10);
  EXPECT_EQ(b_.bw_lo, 12'656U);    // 18,000 * 180 / 256 = 12,656.25
  EXPECT_EQ(b_.inflight_lo, 98U);  // 98.4
  EXPECT_EQ(bbr3_max_bw(&b_), 25'600U);
}

TEST_F(Bbr3Lower, NotLessThanWhatWasDeliveredInTheRound) {
  settle();
  round(80);
  within(95);
  tcp_.cwnd = 200;
  lossy_round(90);
  EXPECT_EQ(b_.bw_lo, 95 * BW);
  EXPECT_EQ(b_.inflight_lo, 140U);  // 95 were delivered at most: less
  tcp_.cwnd = 100;
  bbr3_reset_lower(&b_);
  lossy_round(90);
  EXPECT_EQ(b_.inflight_lo, 90U);  // not 70: the round before is forgotten, and its 95
}

TEST_F(Bbr3Lower, OncePerRound) {
  settle();
  b_.bw_latest = b_.inflight_latest = 0;
  lossy_round(10);
  const __u32 after = b_.bw_lo;
  ack_ = sample(10);
  ack_.losses = 5;
  ack(1, 0, false);
  EXPECT_EQ(b_.bw_lo, after);
  EXPECT_TRUE(b_.has_loss_in_round);
}

TEST_F(Bbr3Lower, ARoundWithoutALossChangesNothing) {
  settle();
  round(10);
  EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND);
  EXPECT_EQ(b_.inflight_lo, BBR3_NO_BOUND);
}

TEST_F(Bbr3Lower, AProbeIsNotSlowedByItsLosses) {
  settle();
  for (const __u8 state : {BBR3_STARTUP, BBR3_REFILL, BBR3_UP}) {
    b_.state = state;
    b_.is_loss_round_start = b_.has_loss_in_round = 1;
    bbr3_adapt_lower(&b_, &tcp_);
    EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND) << int{state};
  }
  for (const __u8 state : {BBR3_DRAIN, BBR3_DOWN, BBR3_CRUISE, BBR3_PROBE_RTT}) {
    bbr3_reset_lower(&b_);
    b_.state = state;
    bbr3_adapt_lower(&b_, &tcp_);
    EXPECT_LT(b_.bw_lo, 100 * BW + 1) << int{state};
  }
}

TEST_F(Bbr3Lower, TheFirstLossOfARoundBeginsIt) {
  settle();
  round(100);
  tcp_.delivered += 7;
  const __u32 at = tcp_.delivered;
  lose(100, 1);
  EXPECT_EQ(b_.loss_round_delivered, at);
  EXPECT_TRUE(b_.has_loss_in_round);
  EXPECT_TRUE(b_.has_loss_in_cycle);
  tcp_.delivered += 7;
  lose(100, 2);
  EXPECT_EQ(b_.loss_round_delivered, at);
}

TEST_F(Bbr3Lower, WhatIsDeliveredIsTheMostOfARound) {
  settle();
  b_.loss_round_delivered = tcp_.delivered;
  round(80);
  EXPECT_EQ(b_.bw_latest, 80 * BW);  // a new round began with it
  within(90);
  within(70);
  EXPECT_EQ(b_.bw_latest, 90 * BW);
  EXPECT_EQ(b_.inflight_latest, 90U);
  round(60);
  EXPECT_EQ(b_.bw_latest, 60 * BW);
}

TEST_F(Bbr3Lower, WhileALossProbeIsInDoubtTheRoundBeforeIsRemembered) {
  settle();
  round(80);
  ack_ = sample(1);
  ack_.is_of_probe = 1;
  ack(1, RTT_US);
  EXPECT_EQ(b_.inflight_latest, 80U);
  round(2);
  EXPECT_EQ(b_.inflight_latest, 2U);
}

TEST_F(Bbr3Lower, AnAckOfNothingIsNoSampleAndNoRound) {
  settle();
  ack_ = sample(150);
  ack_.losses = 1;
  ack(0);
  EXPECT_FALSE(b_.is_loss_round_start);
  EXPECT_FALSE(b_.has_loss_in_round);
  EXPECT_EQ(bbr3_max_bw(&b_), 100 * BW);
}

TEST_F(Bbr3Lower, TheRateIsNeverNone) {
  settle();
  b_.bw_lo = 1;
  b_.bw_latest = 0;
  b_.has_loss_in_round = 1;
  bbr3_adapt_lower(&b_, &tcp_);
  EXPECT_EQ(b_.bw_lo, 1U);
}

}  // namespace
