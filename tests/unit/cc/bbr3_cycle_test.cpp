// SPDX-License-Identifier: Apache-2.0
// The phases of ProbeBW in BBR version 3: DOWN, CRUISE, REFILL, UP.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;

class Bbr3Cycle : public Bbr3Test {
 protected:
  // In UP, with a bound of 100 packets that the window has not reached.
  void probe() {
    settle(BBR3_CRUISE);
    bbr3_start_refill(&b_, &tcp_, 0);
    round(100);
    ASSERT_EQ(b_.state, BBR3_UP);
    b_.inflight_hi = 100;
    tcp_.cwnd = 90;
    tcp_.is_cwnd_limited = 0;
  }
};

TEST_F(Bbr3Cycle, DownEndsWithTheQueueAndWithHeadroom) {
  settle(BBR3_DOWN);
  within(1, 101);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  within(1, 100);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  enter(BBR3_DOWN);
  b_.inflight_hi = 110;
  within(1, 95);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  within(1, 94);  // 110 less 16
  EXPECT_EQ(b_.state, BBR3_CRUISE);
}

TEST_F(Bbr3Cycle, CruiseKeepsALowerBoundBelowTheUpper) {
  settle(BBR3_DOWN);
  b_.inflight_hi = 110;
  bbr3_start_cruise(&b_);
  EXPECT_EQ(b_.inflight_lo, BBR3_NO_BOUND);
  b_.inflight_lo = 120;
  bbr3_start_cruise(&b_);
  EXPECT_EQ(b_.inflight_lo, 110U);
}

TEST_F(Bbr3Cycle, TheNextProbeIsTwoToThreeSecondsAway) {
  settle(BBR3_CRUISE);
  __u64 sum = 0;
  __u32 late = 0;
  for (int i = 0; i < 1000; ++i) {
    bbr3_pick_wait(&b_);
    EXPECT_GE(b_.probe_wait_us, 2'000'000U);
    EXPECT_LT(b_.probe_wait_us, 3'000'000U);
    EXPECT_LE(b_.rounds_since_probe, 1);
    sum += b_.probe_wait_us;
    late += b_.rounds_since_probe;
  }
  EXPECT_NEAR(static_cast<double>(sum) / 1000, 2'500'000, 50'000);  // five deviations of the mean are 46,000
  EXPECT_NEAR(late, 500, 80);                                       // and 79
}

TEST_F(Bbr3Cycle, ThenItBeginsFromCruiseAndFromDown) {
  for (const __u8 state : {BBR3_CRUISE, BBR3_DOWN}) {
    settle(BBR3_CRUISE);
    enter(state);
    tcp_.now_us += 2 * SECOND;
    within(1, 200);
    EXPECT_EQ(b_.state, state);
    tcp_.now_us += 1;
    within(1, 200);
    EXPECT_EQ(b_.state, BBR3_REFILL);
    bbr3_init(&b_, &tcp_, 1);
  }
}

TEST_F(Bbr3Cycle, OrWhenARenoFlowOfThisVolumeWouldProbe) {
  settle(BBR3_CRUISE);
  b_.rounds_since_probe = 61;
  within(1, 90);
  round(1, 90);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  round(1, 90);  // the 63rd, although 100 packets are in flight
  EXPECT_EQ(b_.state, BBR3_REFILL);
  enter(BBR3_CRUISE);
  b_.bw_lo = 20 * BW;
  b_.rounds_since_probe = 18;
  round(1, 20);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  round(1, 20);  // 20 rounds for 20 packets
  EXPECT_EQ(b_.state, BBR3_REFILL);
}

TEST_F(Bbr3Cycle, RoundsAreCountedUpTo255) {
  settle(BBR3_REFILL);
  b_.rounds_since_probe = 255;
  round(100);
  EXPECT_EQ(b_.rounds_since_probe, 255);
}

TEST_F(Bbr3Cycle, RefillForgetsTheLowerBoundsAndLastsARound) {
  settle(BBR3_CRUISE);
  b_.bw_lo = 10 * BW;
  b_.inflight_lo = 10;
  b_.up_rounds = 7;
  b_.up_acked = 7;
  bbr3_start_refill(&b_, &tcp_, 0);
  EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND);
  EXPECT_EQ(b_.inflight_lo, BBR3_NO_BOUND);
  EXPECT_EQ(b_.up_acked, 0U);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_REFILLING);
  within(50);
  EXPECT_EQ(b_.state, BBR3_REFILL);
  EXPECT_FALSE(b_.is_probe_sample);
  round(100);
  EXPECT_EQ(b_.state, BBR3_UP);
  EXPECT_TRUE(b_.is_probe_sample);
  EXPECT_EQ(b_.full_bw, 100 * BW);
  EXPECT_EQ(b_.up_rounds, 1);
  EXPECT_EQ(b_.cycle_began_us, tcp_.now_us);
  EXPECT_EQ(b_.pacing_gain, 320);
}

TEST_F(Bbr3Cycle, UpEndsWhenTheRateGrowsNoMoreForThreeRounds) {
  probe();
  round(110);
  round(124);
  EXPECT_EQ(b_.state, BBR3_UP);
  round(124);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.pacing_gain, 232);
  EXPECT_FALSE(b_.probe_was_cautious);
  EXPECT_EQ(b_.up_acked_per_packet, BBR3_NO_BOUND);
}

TEST_F(Bbr3Cycle, AQuarterMoreKeepsItUp) {
  probe();
  for (const __u32 packets : {110U, 124U, 125U, 125U, 125U}) round(packets);
  EXPECT_EQ(b_.state, BBR3_UP);
}

TEST_F(Bbr3Cycle, WhatTheBoundLimitsIsNoPlateau) {
  probe();
  round(100);
  round(100);
  tcp_.is_cwnd_limited = 1;
  tcp_.cwnd = b_.inflight_hi;
  round(100);
  round(100);
  EXPECT_EQ(b_.state, BBR3_UP);
  EXPECT_LE(b_.full_bw_rounds, 1);
}

TEST_F(Bbr3Cycle, AfterAProbeThatWentTooHighTheNextEndsAtItsBoundAndAThirdFollowsAtOnce) {
  probe();
  b_.probe_was_too_high = 1;
  within(1, 97);  // 99 with the piece that goes next
  EXPECT_EQ(b_.state, BBR3_UP);
  within(1, 98);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_TRUE(b_.probe_was_cautious);
  EXPECT_FALSE(b_.probe_was_too_high);
  round(100);  // all of it has come through
  EXPECT_EQ(b_.state, BBR3_REFILL);
  EXPECT_FALSE(b_.probe_was_cautious);
  round(100);
  within(1, 150);
  EXPECT_EQ(b_.state, BBR3_UP);
}

TEST_F(Bbr3Cycle, ButNotIfItLostTooMuchAfterAll) {
  probe();
  b_.probe_was_too_high = 1;
  within(1, 98);
  lose(100, 2);
  EXPECT_TRUE(b_.probe_was_too_high);
  round(100, 101);
  EXPECT_EQ(b_.state, BBR3_DOWN);
}

TEST_F(Bbr3Cycle, AnAckOfTooManyLossesEndsAProbeAtWhatWasInFlight) {
  probe();
  ack_ = sample(100);
  ack_.sent_in_flight = 95;
  ack_.lost = 2;  // 95 * 5 / 256 = 1
  ack(1, 0, false);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.inflight_hi, 95U);
  EXPECT_TRUE(b_.probe_was_too_high);
  EXPECT_FALSE(b_.is_probe_sample);
  ack_.sent_in_flight = 80;
  ack(1, 0, false);  // once per probe
  EXPECT_EQ(b_.inflight_hi, 95U);
}

TEST_F(Bbr3Cycle, AndLeavesSevenTenthsOfTheTargetAtLeast) {
  probe();
  ack_ = sample(100);
  ack_.sent_in_flight = 50;
  ack_.lost = 2;
  ack(1, 0, false);
  EXPECT_EQ(b_.inflight_hi, 63U);  // 90, the window, * 180 / 256 = 63.3
}

TEST_F(Bbr3Cycle, ALostPacketTellsTheVolumeOfItself) {
  probe();
  lose(101, 1);
  EXPECT_EQ(b_.state, BBR3_UP);
  lose(101, 3);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.inflight_hi, 100U);
  lose(70, 50);
  EXPECT_EQ(b_.inflight_hi, 100U);
}

TEST_F(Bbr3Cycle, WhatTheApplicationLimitsSetsNoBound) {
  probe();
  lose(70, 10, true);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.inflight_hi, 100U);
  EXPECT_TRUE(b_.probe_was_too_high);
}

TEST_F(Bbr3Cycle, LossesThatNoProbeHasCausedSetNoBound) {
  settle(BBR3_CRUISE);
  lose(70, 50);
  ack_ = sample(100);
  ack_.lost = 50;
  ack(1, 0, false);
  EXPECT_EQ(b_.inflight_hi, BBR3_NO_BOUND);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
}

TEST_F(Bbr3Cycle, ARoundAfterUpTheCycleOfTheRateEnds) {
  probe();
  for (int i = 0; i < 3; ++i) round(110);
  ASSERT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.max_bw[1], 110 * BW);
  EXPECT_TRUE(b_.is_probe_sample);
  round(90, 120);  // this one counts for the cycle that ends
  EXPECT_EQ(b_.max_bw[0], 110 * BW);
  EXPECT_EQ(b_.max_bw[1], 0U);
  EXPECT_FALSE(b_.is_probe_sample);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_INIT);
  round(90, 120);
  EXPECT_EQ(b_.max_bw[0], 110 * BW);  // once
}

TEST_F(Bbr3Cycle, UnlessTheApplicationLimitedIt) {
  probe();
  bbr3_start_down(&b_, &tcp_);
  ack_ = sample(90);
  ack_.is_app_limited = 1;
  ack(1, RTT_US);
  EXPECT_NE(b_.max_bw[1], 0U);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_INIT);
}

TEST_F(Bbr3Cycle, TheAcksOfAProbeFollowItByARound) {
  probe();
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_STARTING);
  within(1);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_STARTING);
  round(120);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_FEEDBACK);
}

}  // namespace
