// SPDX-License-Identifier: Apache-2.0
// The volume in flight that probes of BBR version 3 have found to be bearable.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;
using Bbr3Upper = Bbr3Test;

TEST_F(Bbr3Upper, MoreThanTwoPercentIsTooMuch) {
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 1, 100));  // 100 * 5 / 256 = 1
  EXPECT_TRUE(bbr3_has_too_many_losses(&p_, 2, 100));
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 19, 1000));  // 19.5
  EXPECT_TRUE(bbr3_has_too_many_losses(&p_, 20, 1000));
  EXPECT_TRUE(bbr3_has_too_many_losses(&p_, 1, 51));  // 0.996: of few packets one is too much
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 1, 52));
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 0, 10));
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 5, 0));  // not known what was in flight
  p_.bbr3_loss_percent = 10;
  EXPECT_FALSE(bbr3_has_too_many_losses(&p_, 9, 100));  // 25 / 256: 9.8
  EXPECT_TRUE(bbr3_has_too_many_losses(&p_, 10, 100));
}

TEST_F(Bbr3Upper, TheVolumeIsTheOneAtWhichTheRateOfLossWasCrossed) {
  const auto at = [&](__u32 in_flight, __u32 lost) {
    const stack_lost packet{in_flight, lost, 0};
    return bbr3_inflight_at_loss(&p_, &packet);
  };
  EXPECT_EQ(at(101, 2),
            101U);  // of 100 before 1.95 may be lost, rounded up 2; one was: 1 * 256 / 251 = 1 more
  EXPECT_EQ(at(101, 3), 100U);  // two were: crossed before this packet
  EXPECT_EQ(at(201, 2), 203U);  // of 200 4 may be; one was: 3 * 256 / 251 = 3 more
  EXPECT_EQ(at(1, 1), 0U);
}

TEST_F(Bbr3Upper, HeadroomIsAFifteenthOfAHundredAndAtLeastAPacket) {
  EXPECT_EQ(bbr3_with_headroom(&b_), BBR3_NO_BOUND);
  b_.inflight_hi = 100;
  EXPECT_EQ(bbr3_with_headroom(&b_), 86U);  // 100 * 38 / 256 = 14
  b_.inflight_hi = 1000;
  EXPECT_EQ(bbr3_with_headroom(&b_), 852U);
  b_.inflight_hi = 6;
  EXPECT_EQ(bbr3_with_headroom(&b_), 5U);
  b_.inflight_hi = 4;
  EXPECT_EQ(bbr3_with_headroom(&b_), 4U);
}

TEST_F(Bbr3Upper, TheTargetIsTheProductUnlessTheWindowIsLess) {
  settle();
  EXPECT_EQ(bbr3_target(&b_, &tcp_), 100U);
  b_.bw_lo = 90 * BW;
  EXPECT_EQ(bbr3_target(&b_, &tcp_), 90U);
  tcp_.cwnd = 70;
  EXPECT_EQ(bbr3_target(&b_, &tcp_), 70U);
}

TEST_F(Bbr3Upper, WhatHasComeThroughFits) {
  settle();
  b_.inflight_hi = 90;
  ack_ = sample(100);
  ack_.sent_in_flight = 95;
  ack_.lost = 1;  // 95 * 5 / 256 = 1: bearable
  ack(100, 0, false);
  EXPECT_EQ(b_.inflight_hi, 95U);
  ack_.sent_in_flight = 120;
  ack_.lost = 3;  // 120 * 5 / 256 = 2
  ack(1, 0, false);
  EXPECT_EQ(b_.inflight_hi, 95U);
}

TEST_F(Bbr3Upper, WithoutABoundNoneIsRaised) {
  settle(BBR3_UP);
  within(100);
  EXPECT_EQ(b_.inflight_hi, BBR3_NO_BOUND);
}

TEST_F(Bbr3Upper, UpAddsOnePacketInTheFirstRoundTwoInTheNextThenFour) {
  settle();
  tcp_.cwnd = b_.inflight_hi = 100;
  bbr3_start_refill(&b_, &tcp_, 0);
  bbr3_start_up(&b_, &tcp_);
  EXPECT_EQ(b_.up_acked_per_packet, 100U);
  const auto acked = [&](__u32 packets, bool is_round_start) {
    ack_ = sample(1);
    ack_.acked_packets = packets;
    b_.is_round_start = is_round_start;
    bbr3_raise_upper(&b_, &tcp_, &ack_);
  };
  acked(99, false);
  EXPECT_EQ(b_.inflight_hi, 100U);
  tcp_.cwnd = 101;
  acked(3, true);  // 102: one, and 2 are left
  EXPECT_EQ(b_.inflight_hi, 101U);
  EXPECT_EQ(b_.up_acked, 2U);
  EXPECT_EQ(b_.up_acked_per_packet, 50U);  // 101 / 2
  acked(98, true);
  EXPECT_EQ(b_.inflight_hi, 103U);
  EXPECT_EQ(b_.up_acked_per_packet, 25U);  // 101 / 4: but the window is below the bound now
  acked(100, true);
  EXPECT_EQ(b_.inflight_hi, 103U);
  tcp_.cwnd = 103;
  acked(100, false);
  EXPECT_EQ(b_.inflight_hi, 107U);
  tcp_.cwnd = 107;
  tcp_.is_cwnd_limited = 0;
  acked(100, true);
  EXPECT_EQ(b_.inflight_hi, 107U);
}

TEST_F(Bbr3Upper, TheSlopeEndsAtOnePacketForOne) {
  settle(BBR3_UP);
  b_.up_rounds = 29;
  bbr3_raise_slope(&b_, &tcp_);
  EXPECT_EQ(b_.up_acked_per_packet, 1U);
  bbr3_raise_slope(&b_, &tcp_);
  EXPECT_EQ(b_.up_rounds, 30);
}

TEST_F(Bbr3Upper, OnlyUpRaisesItBeyondWhatHasComeThrough) {
  settle(BBR3_REFILL);
  tcp_.cwnd = b_.inflight_hi = 100;
  b_.up_acked_per_packet = 1;
  ack_ = sample(50);
  bbr3_raise_upper(&b_, &tcp_, &ack_);
  EXPECT_EQ(b_.inflight_hi, 100U);
}

}  // namespace
