// SPDX-License-Identifier: Apache-2.0
// Congestion marks in BBR version 3, where they are asked for.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;

// On a path of 4.096 ms: N packets per round trip are a rate of N * 4096.
class Bbr3Ecn : public Bbr3Test {
 protected:
  Bbr3Ecn() {
    p_.bbr3_ecn = 1;
    tcp_.srtt_us = tcp_.min_rtt_us = SHORT_US;
    bbr3_init(&b_, &tcp_, 1);
  }
  // A round of 100 packets, of which so many are marked. None is lost.
  void marked_round(__u32 marked) {
    ack_ = ack_of(100, SHORT_US);
    ack_.sent_in_flight = ack_.prior_in_flight = tcp_.in_flight = 100;
    ack_.delivered_ce = marked;
    ack_.has_echo = marked != 0;
    tcp_.delivered_ce += marked;
    tcp_.now_us += SHORT_US;
    tcp_.delivered_us = tcp_.now_us;
    tcp_.delivered += 100;
    ack_.prior_delivered = b_.next_round_delivered;
    ack_.acked_packets = 100;
    bbr3_on_ack(&b_, &p_, &tcp_, &ack_);
  }
  // In CRUISE, with alpha 256.
  void settle() {
    for (int i = 0; i < 5; ++i) marked_round(0);
    ASSERT_TRUE(bbr3_is_in_probe_bw(&b_));
    enter(BBR3_CRUISE);
    tcp_.cwnd = 200;
    b_.ecn_alpha = 256;
    b_.bw_latest = b_.inflight_latest = 0;
  }
  static constexpr __u32 SHORT_US = 4096;
};

TEST_F(Bbr3Ecn, AlphaIsAMeanOverSixteenRounds) {
  settle();
  marked_round(0);
  EXPECT_EQ(b_.ecn_alpha, 240);
  marked_round(50);  // half: 240 * 240 / 256 + 16 * 128 / 256
  EXPECT_EQ(b_.ecn_alpha, 233);
  marked_round(100);  // 233 * 240 / 256 = 218, and 16
  EXPECT_EQ(b_.ecn_alpha, 234);
}

TEST_F(Bbr3Ecn, ARoundWithMarksTakesAThirdOfAlphaOfTheVolumeNothingOfTheRate) {
  settle();
  b_.loss_round_delivered = tcp_.delivered;  // the ACK ends a round
  marked_round(1);
  // Alpha 240 of 256: 240 * 85 / 256 = 79; 200 * (256 - 79) / 256 = 138.3
  EXPECT_EQ(b_.inflight_lo, 138U);
  EXPECT_EQ(b_.bw_lo, BBR3_NO_BOUND);
  EXPECT_EQ(tcp_.cwnd, 138U);
  EXPECT_FALSE(b_.has_mark_in_round);
}

TEST_F(Bbr3Ecn, OfLossesAndMarksTheLowerBoundCounts) {
  settle();
  b_.has_mark_in_round = b_.has_loss_in_round = 1;
  b_.ecn_alpha = 10;  // 10 * 85 / 256 = 3; 200 * 253 / 256 = 197
  bbr3_adapt_lower(&b_, &tcp_);
  EXPECT_EQ(b_.inflight_lo, 140U);  // 200 * 180 / 256
}

TEST_F(Bbr3Ecn, MarksSayNothingWhereTheyAreNotAskedForOrThePathIsLong) {
  p_.bbr3_ecn = 0;
  settle();
  marked_round(100);
  EXPECT_EQ(b_.inflight_lo, BBR3_NO_BOUND);
  EXPECT_FALSE(b_.uses_ecn);
  p_.bbr3_ecn = 1;
  b_.min_rtt_us = 5001;
  EXPECT_EQ(bbr3_ecn_on_round(&b_, &p_, &tcp_), -1);
  b_.min_rtt_us = 5000;
  tcp_.delivered += 1;
  EXPECT_NE(bbr3_ecn_on_round(&b_, &p_, &tcp_), -1);
  EXPECT_EQ(bbr3_ecn_on_round(&b_, &p_, &tcp_), -1);  // nothing delivered
}

TEST_F(Bbr3Ecn, TwoRoundsInARowWithHalfMarkedFillThePipe) {
  marked_round(50);
  marked_round(49);
  marked_round(50);
  EXPECT_FALSE(b_.is_filled);
  b_.full_bw_rounds = 0;
  marked_round(50);
  EXPECT_TRUE(b_.is_filled);
  EXPECT_EQ(b_.inflight_hi,
            195U);  // three pieces of 65: at 67 MB/s, which is Startup's rate, they are the largest
}

TEST_F(Bbr3Ecn, MoreThanHalfMarkedEndsAProbe) {
  settle();
  enter(BBR3_UP);
  b_.is_probe_sample = 1;
  marked_round(50);
  EXPECT_EQ(b_.state, BBR3_UP);
  marked_round(51);
  EXPECT_EQ(b_.state, BBR3_DOWN);
  EXPECT_EQ(b_.inflight_hi, 100U);  // what was in flight; seven tenths of the target are 71
}

TEST_F(Bbr3Ecn, WhenMarksHaveCeasedWithoutALossItProbesAtOnceAndInLargerSteps) {
  settle();
  b_.inflight_hi = 100;
  b_.has_mark_in_cycle = 1;
  marked_round(0);
  EXPECT_EQ(b_.state, BBR3_REFILL);
  EXPECT_EQ(b_.up_rounds, 5);  // 2^5 is in half of 100
  enter(BBR3_CRUISE);
  b_.has_mark_in_cycle = b_.has_loss_in_cycle = 1;
  marked_round(0);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
  b_.has_loss_in_cycle = 0;
  tcp_.ca_state = CA_STATE_CWR;
  marked_round(0);
  EXPECT_EQ(b_.state, BBR3_CRUISE);
}

TEST_F(Bbr3Ecn, MarksAreRememberedForTheCycle) {
  settle();
  marked_round(1);
  EXPECT_TRUE(b_.has_mark_in_cycle);
  bbr3_start_down(&b_, &tcp_);
  EXPECT_FALSE(b_.has_mark_in_cycle);
}

TEST_F(Bbr3Ecn, TheLogarithmIsRoundedDown) {
  EXPECT_EQ(bbr3_log2(0), 0);
  EXPECT_EQ(bbr3_log2(1), 0);
  EXPECT_EQ(bbr3_log2(63), 5);
  EXPECT_EQ(bbr3_log2(64), 6);
  EXPECT_EQ(bbr3_log2(0x7fffffff), 30);
  EXPECT_EQ(bbr3_log2(~0U), 31);
}

}  // namespace
