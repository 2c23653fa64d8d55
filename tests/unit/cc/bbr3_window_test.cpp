// SPDX-License-Identifier: Apache-2.0
// The window of BBR version 3, and what changes it from outside of an ACK.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;
using Bbr3Window = Bbr3Test;

TEST_F(Bbr3Window, ItIsTwoProductsAndWhatIsHeldBack) {
  settle(BBR3_CRUISE);
  tcp_.cwnd = 150;
  within(10);
  EXPECT_EQ(tcp_.cwnd, 160U);
  tcp_.cwnd = 1000;
  b_.aggregation.extra[0] = b_.aggregation.extra[1] = 11;
  bbr3_set_cwnd(&b_, &tcp_, &ack_);
  EXPECT_EQ(tcp_.cwnd, 211U);
  b_.state = BBR3_UP;
  b_.cwnd_gain = BBR3_UP_CWND_GAIN;
  tcp_.cwnd = 1000;
  bbr3_set_cwnd(&b_, &tcp_, &ack_);
  EXPECT_EQ(tcp_.cwnd, 238U);  // 225, 11, and two
}

TEST_F(Bbr3Window, BeforeThePipeIsFullItOnlyGrowsUntilTwoProductsOrTwoFirstWindows) {
  b_.max_bw[0] = 100 * BW;
  bbr3_update_gains(&b_);
  tcp_.cwnd = 199;
  EXPECT_EQ(bbr3_toward_target(&b_, &tcp_, 10), 209U);
  tcp_.cwnd = 200;
  EXPECT_EQ(bbr3_toward_target(&b_, &tcp_, 10), 200U);
  b_.max_bw[0] = BW;
  tcp_.cwnd = 19;  // less than twice the first window of 10
  EXPECT_EQ(bbr3_toward_target(&b_, &tcp_, 10), 29U);
  tcp_.cwnd = 20;
  EXPECT_EQ(bbr3_toward_target(&b_, &tcp_, 10), 20U);
}

TEST_F(Bbr3Window, EveryStateHasItsBounds) {
  settle(BBR3_CRUISE);
  b_.inflight_hi = 100;
  const auto bound = [&](__u8 state) {
    b_.state = state;
    return bbr3_bound(&b_);
  };
  EXPECT_EQ(bound(BBR3_STARTUP), BBR3_NO_BOUND);
  EXPECT_EQ(bound(BBR3_DRAIN), BBR3_NO_BOUND);
  EXPECT_EQ(bound(BBR3_DOWN), 100U);
  EXPECT_EQ(bound(BBR3_CRUISE), 86U);
  EXPECT_EQ(bound(BBR3_REFILL), 100U);
  EXPECT_EQ(bound(BBR3_UP), 100U);
  EXPECT_EQ(bound(BBR3_PROBE_RTT), 86U);
  b_.inflight_lo = 50;
  for (__u8 state = BBR3_STARTUP; state <= BBR3_PROBE_RTT; ++state) EXPECT_EQ(bound(state), 50U);
  b_.inflight_lo = 3;
  EXPECT_EQ(bound(BBR3_DOWN), 4U);
}

TEST_F(Bbr3Window, ABoundHoldsWithAnAckOfNothingToo) {
  settle(BBR3_CRUISE);
  b_.inflight_hi = 100;
  ack_ = sample(100);
  ack(0);
  EXPECT_EQ(tcp_.cwnd, 86U);
}

TEST_F(Bbr3Window, TheClampBoundsTheWindow) {
  settle(BBR3_CRUISE);
  tcp_.cwnd_clamp = 50;
  within(10);
  EXPECT_EQ(tcp_.cwnd, 50U);
}

TEST_F(Bbr3Window, FourPacketsAreTheLeast) {
  settle(BBR3_CRUISE);
  tcp_.cwnd = 1;
  within(1);
  EXPECT_EQ(tcp_.cwnd, 4U);
}

TEST_F(Bbr3Window, HeldBackAcksAreRememberedForOneRoundInStartupForFiveLater) {
  b_.aggregation.extra[0] = 50;
  round(1);
  EXPECT_EQ(b_.aggregation.extra[1], 50U);
  round(1);
  EXPECT_LT(b_.aggregation.extra[1], 50U);
  settle(BBR3_CRUISE);
  b_.aggregation.rounds = 0;
  b_.aggregation.extra[0] = 50;
  for (int i = 0; i < 4; ++i) round(1);
  EXPECT_EQ(b_.aggregation.extra[0], 50U);
  round(1);
  EXPECT_EQ(b_.aggregation.extra[1], 50U);
}

TEST_F(Bbr3Window, RecoveryItselfTakesNothingOfTheWindow) {
  settle(BBR3_CRUISE);
  tcp_.cwnd = 150;
  EXPECT_EQ(bbr3_ssthresh(&b_, &tcp_), tcp_.ssthresh);
  EXPECT_EQ(b_.prior_cwnd, 150U);
  tcp_.ca_state = CA_STATE_RECOVERY;
  b_.loss_round_delivered = tcp_.delivered + 1;
  ack_ = sample(100);
  ack_.losses = 1;
  ack(10, 0, false);
  EXPECT_EQ(tcp_.cwnd, 160U);
}

TEST_F(Bbr3Window, ALossThatWasNoneGivesBackBoundsAndWindow) {
  settle(BBR3_CRUISE);
  b_.inflight_hi = 150;
  b_.inflight_lo = 140;
  b_.bw_lo = 90 * BW;
  bbr3_ssthresh(&b_, &tcp_);
  b_.inflight_hi = 100;
  b_.inflight_lo = 80;
  b_.bw_lo = 70 * BW;
  b_.has_loss_in_round = 1;
  b_.full_bw_rounds = 2;
  b_.full_bw = 7;
  tcp_.cwnd = 60;
  EXPECT_EQ(bbr3_undo(&b_), 200U);
  EXPECT_EQ(b_.inflight_hi, 150U);
  EXPECT_EQ(b_.inflight_lo, 140U);
  EXPECT_EQ(b_.bw_lo, 90 * BW);
  EXPECT_FALSE(b_.has_loss_in_round);
  EXPECT_EQ(b_.full_bw_rounds, 0);
  EXPECT_EQ(b_.full_bw, 0U);
  b_.inflight_hi = 160;  // what has been raised since stays
  bbr3_undo(&b_);
  EXPECT_EQ(b_.inflight_hi, 160U);
}

TEST_F(Bbr3Window, AfterATimeoutTheWindowComesBack) {
  settle(BBR3_CRUISE);
  bbr3_ssthresh(&b_, &tcp_);
  tcp_.cwnd = 1;  // TCP's
  bbr3_on_state(&b_, &tcp_, CA_STATE_LOSS);
  tcp_.ca_state = CA_STATE_LOSS;
  EXPECT_EQ(tcp_.cwnd, 1U);
  EXPECT_EQ(b_.inflight_lo, 200U);  // lowered from the window before
  EXPECT_EQ(b_.full_bw, 0U);
  within(2);
  EXPECT_EQ(tcp_.cwnd, 4U);
  bbr3_ssthresh(&b_, &tcp_);  // a second timeout
  EXPECT_EQ(b_.prior_cwnd, 200U);
  bbr3_on_state(&b_, &tcp_, CA_STATE_OPEN);
  EXPECT_EQ(tcp_.cwnd, 200U);
}

TEST_F(Bbr3Window, TheEndOfAnotherStateGivesNothing) {
  settle(BBR3_CRUISE);
  b_.prior_cwnd = 500;
  bbr3_on_state(&b_, &tcp_, CA_STATE_RECOVERY);
  b_.ca_state = CA_STATE_RECOVERY;
  bbr3_on_state(&b_, &tcp_, CA_STATE_OPEN);
  EXPECT_EQ(tcp_.cwnd, 200U);
}

TEST_F(Bbr3Window, ATimeoutKeepsABoundThatIsThere) {
  settle(BBR3_CRUISE);
  b_.inflight_lo = 70;
  bbr3_on_state(&b_, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(b_.inflight_lo, 70U);
}

TEST_F(Bbr3Window, ATimeoutWhileProbingSetsNoBound) {
  settle(BBR3_UP);
  bbr3_on_state(&b_, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(b_.inflight_lo, BBR3_NO_BOUND);
}

TEST_F(Bbr3Window, ALossThatAProbeOfTheTailHasRepairedIsOneOfWhatWasDelivered) {
  settle(BBR3_UP);
  b_.is_probe_sample = 1;
  b_.inflight_latest = 51;  // 1 of 52 is bearable: 52 * 5 / 256 = 1
  bbr3_on_probe_recovery(&b_, &p_, &tcp_, 0);
  EXPECT_EQ(b_.state, BBR3_UP);
  EXPECT_TRUE(b_.has_loss_in_round);
  b_.inflight_latest = 50;
  tcp_.cwnd = 60;  // seven tenths are 42
  bbr3_on_probe_recovery(&b_, &p_, &tcp_, 0);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.inflight_hi, 51U);
  enter(BBR3_UP);
  b_.is_probe_sample = 1;
  b_.inflight_latest = 30;
  bbr3_on_probe_recovery(&b_, &p_, &tcp_, 1);  // it was the application that had no more
  EXPECT_EQ(b_.inflight_hi, 51U);
  enter(BBR3_CRUISE);
  bbr3_on_probe_recovery(&b_, &p_, &tcp_, 0);
  EXPECT_EQ(b_.inflight_hi, 51U);
}

TEST_F(Bbr3Window, AfterAPauseItPacesAtTheRate) {
  settle(BBR3_UP);
  bbr3_set_pacing(&b_, &tcp_, b_.pacing_gain);
  const __u64 above = tcp_.pacing_bytes_per_s;
  bbr3_on_tx_start(&b_, &tcp_);  // not the application's pause
  EXPECT_EQ(tcp_.pacing_bytes_per_s, above);
  tcp_.is_app_limited = 1;
  tcp_.now_us += SECOND;
  bbr3_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1'510'620U);
  EXPECT_EQ(b_.aggregation.epoch_us, tcp_.now_us);
}

TEST_F(Bbr3Window, InStartupAPauseChangesNoRate) {
  const __u64 before = tcp_.pacing_bytes_per_s;
  b_.max_bw[0] = 100 * BW;
  tcp_.is_app_limited = 1;
  bbr3_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, before);
  EXPECT_TRUE(b_.idle_restart);
}

TEST_F(Bbr3Window, FlowsOfNeighbouringSeedsProbeAtDifferentTimes) {
  bbr3 other{};
  bbr3_init(&other, &tcp_, 2);
  bbr3_pick_wait(&b_);
  bbr3_pick_wait(&other);
  EXPECT_NE(b_.probe_wait_us, other.probe_wait_us);
}

}  // namespace
