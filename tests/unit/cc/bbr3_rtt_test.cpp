// SPDX-License-Identifier: Apache-2.0
// The least round trip and ProbeRTT in BBR version 3.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;

class Bbr3Rtt : public Bbr3Test {
 protected:
  // An ACK of 100 packets per round trip, with that round trip, so many ticks (of 4 ms) after the last.
  int acked(__s64 rtt_us, __u32 ticks, bool is_round = true, __u32 in_flight = 100) {
    ack_ = sample(100, in_flight);
    ack_.rtt_us = rtt_us;
    tcp_.in_flight = in_flight;
    return ack(1, ticks * __u64{STACK_TICK_US}, is_round);
  }
  void settle() {
    Bbr3Test::settle();
    tcp_.cwnd = 198;
    b_.min_rtt_tick = b_.probe_rtt_min_tick = stack_ticks(tcp_.now_us);
    b_.probe_wait_us = 1000 * SECOND;
  }
};

TEST_F(Bbr3Rtt, ALesserRoundTripCountsAtOnce) {
  settle();
  acked(60'000, 1);
  EXPECT_EQ(b_.min_rtt_us, 60'000U);
  EXPECT_EQ(b_.min_rtt_tick, stack_ticks(tcp_.now_us));
  acked(61'000, 1);
  EXPECT_EQ(b_.min_rtt_us, 60'000U);
}

TEST_F(Bbr3Rtt, FiveSecondsAfterTheLeastItDrainsTheQueues) {
  settle();
  EXPECT_FALSE(acked(70'000, 1250));  // not longer than 5 s
  EXPECT_NE(b_.state, BBR3_PROBE_RTT);
  EXPECT_TRUE(acked(70'000, 1));
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);
  EXPECT_EQ(b_.probe_rtt_min_us, 70'000U);
  EXPECT_EQ(b_.min_rtt_us, RTT_US);  // which is remembered for ten
  EXPECT_EQ(b_.pacing_gain, 256);
  EXPECT_EQ(b_.prior_cwnd, 199U);
  EXPECT_EQ(tcp_.cwnd, 50U);  // half of the product
}

TEST_F(Bbr3Rtt, TheLeastOfTenSecondsIsReplacedByThatOfTheLastFive) {
  settle();
  const __u32 began = b_.min_rtt_tick;
  acked(70'000, 1251);
  acked(72'000, 1249);
  EXPECT_EQ(b_.min_rtt_us, RTT_US);
  acked(72'000, 1);  // 2501 ticks
  EXPECT_EQ(b_.min_rtt_us, 70'000U);
  EXPECT_EQ(b_.min_rtt_tick, began + 1251);
}

TEST_F(Bbr3Rtt, HalfOfTheVolumeIsInFlightFor200MsAndARound) {
  settle();
  acked(70'000, 1251);
  acked(70'000, 10, true, 51);
  EXPECT_EQ(b_.probe_rtt_done_tick, 0U);
  acked(70'000, 1, true, 50);
  EXPECT_EQ(b_.probe_rtt_done_tick, stack_ticks(tcp_.now_us) + 50);
  EXPECT_TRUE(acked(70'000, 51, false, 50));
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);  // not a round
  b_.bw_lo = 5 * BW;
  acked(70'000, 1, true, 50);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  EXPECT_EQ(b_.probe_rtt_min_tick, stack_ticks(tcp_.now_us));
  EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND);
  EXPECT_EQ(b_.cycle_began_us, tcp_.now_us);
  EXPECT_GE(b_.probe_wait_us, 2'000'000U);
  EXPECT_LT(b_.probe_wait_us, 3'000'000U);
  EXPECT_EQ(tcp_.cwnd, 199U);  // and one acknowledged
}

TEST_F(Bbr3Rtt, ARoundAloneIsNotEnough) {
  settle();
  acked(70'000, 1251);
  acked(70'000, 1, true, 50);
  acked(70'000, 50, true, 50);  // 200 ms, not more
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);
  acked(70'000, 1, false, 50);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
}

TEST_F(Bbr3Rtt, ItIsEnteredOnceThoughNoRoundTripIsKnown) {
  settle();
  acked(-1, 1251);
  ASSERT_EQ(b_.state, BBR3_PROBE_RTT);
  EXPECT_EQ(b_.probe_rtt_min_us, RTT_US);
  acked(-1, 1, true, 50);
  const __u32 done = b_.probe_rtt_done_tick;
  EXPECT_NE(done, 0U);
  acked(-1, 1, true, 50);
  EXPECT_EQ(b_.probe_rtt_done_tick, done);
}

TEST_F(Bbr3Rtt, FourPacketsAreTheLeast) {
  settle();
  b_.bw_lo = 5 * BW;
  EXPECT_EQ(bbr3_probe_rtt_cwnd(&b_), 4U);  // 2.5
  b_.bw_lo = 11 * BW;
  EXPECT_EQ(bbr3_probe_rtt_cwnd(&b_), 6U);  // 5.5
}

TEST_F(Bbr3Rtt, BeforeThePipeIsFullStartupGoesOn) {
  round(50);
  acked(70'000, 1251);
  ASSERT_EQ(b_.state, BBR3_PROBE_RTT);
  acked(70'000, 1, true, 4);
  acked(70'000, 51, true, 4);
  EXPECT_EQ(b_.state, BBR3_STARTUP);
  EXPECT_EQ(b_.pacing_gain, 710);
}

TEST_F(Bbr3Rtt, WhatItSeesOfAProbeBeforeItStillCounts) {
  settle();
  enter(BBR3_UP);
  b_.is_probe_sample = 1;
  b_.ack_phase = BBR3_ACKS_FEEDBACK;
  acked(70'000, 1251);
  ASSERT_EQ(b_.state, BBR3_PROBE_RTT);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_STOPPING);
  lose(130, 5);
  EXPECT_EQ(b_.inflight_hi, 129U);
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);
  const __u32 cycle = b_.max_bw[1];
  acked(70'000, 1);
  EXPECT_EQ(b_.ack_phase, BBR3_ACKS_INIT);
  EXPECT_EQ(b_.max_bw[1], cycle);
}

TEST_F(Bbr3Rtt, AfterAPauseThereIsNothingToDrain) {
  settle();
  tcp_.is_app_limited = 1;
  tcp_.now_us += 20 * SECOND;
  bbr3_on_tx_start(&b_, &tcp_);
  EXPECT_TRUE(b_.idle_restart);
  ack_ = ack_of(-1, -1);  // of nothing
  ack_.rtt_us = -1;
  ack(0);
  EXPECT_TRUE(b_.idle_restart);
  EXPECT_FALSE(acked(70'000, 1));
  EXPECT_EQ(b_.min_rtt_us, 70'000U);
  EXPECT_FALSE(b_.idle_restart);
}

TEST_F(Bbr3Rtt, APauseMayEndIt) {
  settle();
  acked(70'000, 1251);
  tcp_.is_app_limited = 1;
  bbr3_on_tx_start(&b_, &tcp_);  // half of the volume has not been reached
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);
  acked(70'000, 1, true, 50);
  acked(70'000, 1, true, 50);
  tcp_.now_us += 49 * STACK_TICK_US;
  bbr3_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(b_.state, BBR3_PROBE_RTT);
  tcp_.now_us += STACK_TICK_US;
  bbr3_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  EXPECT_EQ(tcp_.cwnd, 198U);
}

}  // namespace
