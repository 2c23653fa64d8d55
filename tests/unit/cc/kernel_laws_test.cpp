// SPDX-License-Identifier: Apache-2.0
// Reno, CUBIC with HyStart and BBR against numbers that follow from their definitions.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/bbr.h"
#include "cc/cubic.h"
#include "cc/reno.h"
#undef _Static_assert

namespace {

constexpr __u64 MS = 1000;
constexpr __u64 SECOND = 1'000'000;

cc_stack tcp_of(__u32 cwnd, __u32 ssthresh = STACK_INFINITE_SSTHRESH) {
  cc_stack tcp{};
  tcp.cwnd = cwnd;
  tcp.ssthresh = ssthresh;
  tcp.cwnd_clamp = 1U << 30;
  tcp.now_us = 100 * SECOND;
  tcp.is_cwnd_limited = 1;
  return tcp;
}

TEST(Reno, DoublesInSlowStartAndThenAddsOneForEachWindow) {
  reno r{};
  cc_stack tcp = tcp_of(10, 15);
  reno_grow(&r, &tcp, 10);  // five up to ssthresh, five towards the next packet
  EXPECT_EQ(tcp.cwnd, 15U);
  EXPECT_EQ(tcp.cwnd_count, 5U);
  reno_grow(&r, &tcp, 10);
  EXPECT_EQ(tcp.cwnd, 16U);
  EXPECT_EQ(tcp.cwnd_count, 0U);
}

TEST(Reno, HalvesToTwoAtLeastAndCanBeUndone) {
  reno r{};
  cc_stack tcp = tcp_of(11);
  EXPECT_EQ(reno_ssthresh(&r, &tcp), 5U);
  tcp.cwnd = 5;
  EXPECT_EQ(reno_undo(&r, &tcp), 11U);
  tcp.cwnd = 3;
  EXPECT_EQ(reno_ssthresh(&r, &tcp), 2U);
}

TEST(Reno, WhatWasCountedForALargerWindowIsAppliedByAnAckOfNothingNew) {
  reno r{};
  cc_stack tcp = tcp_of(10, 5);
  tcp.cwnd_count = 12;
  reno_grow(&r, &tcp, 0);
  EXPECT_EQ(tcp.cwnd, 11U);
  EXPECT_EQ(tcp.cwnd_count, 0U);
}

TEST(Reno, TheClampBoundsBothKindsOfGrowth) {
  reno r{};
  cc_stack tcp = tcp_of(10, 40);
  tcp.cwnd_clamp = 12;
  reno_grow(&r, &tcp, 5);
  EXPECT_EQ(tcp.cwnd, 12U);
  tcp.ssthresh = 5;
  reno_grow(&r, &tcp, 24);
  EXPECT_EQ(tcp.cwnd, 12U);
}

TEST(Reno, AWindowThatIsNotUsedDoesNotGrow) {
  reno r{};
  cc_stack tcp = tcp_of(10);
  tcp.is_cwnd_limited = 0;
  reno_grow(&r, &tcp, 10);
  EXPECT_EQ(tcp.cwnd, 10U);
}

class CubicLaw : public testing::Test {
 protected:
  void lose_at(__u32 cwnd) {
    tcp_ = tcp_of(cwnd);
    tcp_.ssthresh = tcp_.cwnd = cubic_ssthresh(&c_, &tcp_);
  }
  cubic c_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(CubicLaw, TheCurvePassesThroughWhereItStartedThePlateauAndBeyond) {
  lose_at(100);
  EXPECT_EQ(tcp_.cwnd, 70U);
  cubic_begin_epoch(&c_, &tcp_);
  // K = cbrt(30 / 0.4) = 4.217 s; W(t) = 0.4 (t - K)^3 + 100.
  EXPECT_EQ(c_.k_ms, 4217U);
  EXPECT_NEAR(cubic_curve(&c_, 0), 70, 1);
  EXPECT_EQ(cubic_curve(&c_, 2217), 97U);  // 100 - 0.4 * 8, up to the packet
  EXPECT_EQ(cubic_curve(&c_, 4217), 100U);
  EXPECT_EQ(cubic_curve(&c_, 9217), 150U);  // 100 + 0.4 * 125
}

TEST_F(CubicLaw, FastConvergenceMakesRoomForOthers) {
  lose_at(100);
  EXPECT_EQ(c_.last_max, 100U);
  lose_at(80);  // below the last maximum: 80 * (1 + 0.7) / 2
  EXPECT_EQ(c_.last_max, 68U);
  EXPECT_EQ(tcp_.cwnd, 56U);
}

TEST_F(CubicLaw, OnShortPathsItGrowsAsReno) {
  lose_at(20);
  const __u32 from = tcp_.cwnd;  // 14; K = cbrt(6 / 0.4) = 2.5 s, the curve is flat beside Reno at 5 ms
  for (int round = 0; round < 100; ++round) {
    tcp_.now_us += 5 * MS;
    cubic_grow(&c_, &tcp_, tcp_.cwnd);
  }
  // alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 packets per round trip.
  EXPECT_NEAR(tcp_.cwnd - from, 53, 4);
}

TEST_F(CubicLaw, OnLongPathsItFollowsItsCurve) {
  lose_at(1000);
  c_.delay_min_us = 100 * MS;
  for (int round = 0; round < 130; ++round) {  // 13 s; K = cbrt(300 / 0.4) = 9.086 s
    tcp_.now_us += 100 * MS;
    cubic_grow(&c_, &tcp_, tcp_.cwnd);
  }
  EXPECT_NEAR(tcp_.cwnd, 1000 + 0.4 * 3.91 * 3.91 * 3.91, 5);
}

TEST_F(CubicLaw, ATimeoutForgetsThePath) {
  lose_at(100);
  cubic_on_timeout(&c_, &tcp_);
  EXPECT_EQ(c_.last_max, 0U);
  EXPECT_EQ(cubic_undo(&c_, &tcp_), 100U);
}

TEST_F(CubicLaw, APauseMovesTheEpoch) {
  lose_at(100);
  cubic_begin_epoch(&c_, &tcp_);
  const __u64 epoch_us = c_.epoch_us;
  cubic_on_restart(&c_, 3 * SECOND);
  EXPECT_EQ(c_.epoch_us, epoch_us + 3 * SECOND);
}

class HyStart : public testing::Test {
 protected:
  HyStart() {
    tcp_.now_us = 100 * SECOND;
    cubic_init(&c_, &tcp_);
    acked(40 * MS);  // the base: 40 ms
    next_round();
  }
  void acked(__u64 rtt_us) {
    tcp_.now_us += 3 * MS;  // no train
    cubic_on_acked(&c_, &tcp_, static_cast<__u32>(rtt_us));
  }
  void next_round() {
    tcp_.una = tcp_.next + 1;
    tcp_.next += 100;
  }
  cubic c_{};
  cc_stack tcp_ = tcp_of(20);
};

TEST_F(HyStart, LeavesSlowStartWhenEightSamplesOfARoundAreLate) {
  for (int i = 0; i < 9; ++i) acked(44 * MS);  // late is min + min/8 = 45 ms
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
  next_round();
  for (int i = 0; i < 8; ++i) acked(46 * MS);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
  acked(46 * MS);
  EXPECT_EQ(tcp_.ssthresh, 20U);
}

TEST_F(HyStart, OneEarlySampleIsEnoughToStay) {
  for (int i = 0; i < 20; ++i) acked(i == 3 ? 41 * MS : 60 * MS);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
}

TEST_F(HyStart, LeavesWhenATrainOfAcksLastsHalfARoundTrip) {
  acked(40 * MS);
  int acks = 0;
  while (tcp_.ssthresh == STACK_INFINITE_SSTHRESH && ++acks < 100) {
    tcp_.now_us += MS;
    cubic_on_acked(&c_, &tcp_, 40 * MS);
  }
  EXPECT_NEAR(acks, 21, 3);
}

TEST_F(HyStart, BelowSixteenPacketsItDoesNotLook) {
  tcp_.cwnd = 15;
  for (int i = 0; i < 20; ++i) acked(80 * MS);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
}

// One round trip of 100 ms at a time, in which `packets` are delivered.
class BbrLaw : public testing::Test {
 protected:
  BbrLaw() {
    s_.now_us = 100 * SECOND;
    s_.mss_bytes = 1000;
    s_.srtt_us = s_.min_rtt_us = 100 * MS;
    bbr_init(&b_, &s_, 10, 1);
  }
  void round(__u32 packets, __u32 in_flight = 100, __u32 rtt_us = 100 * MS) {
    s_.now_us += 100 * MS;
    s_.prior_delivered = s_.delivered_packets;
    s_.delivered_packets += packets;
    s_.acked_packets = packets;
    s_.has_delivery = 1;
    s_.rtt_us = rtt_us;
    s_.in_flight_packets = in_flight;
    bbr_on_ack(&b_, &s_, ((__u64)packets << BBR_BW_SHIFT) / (100 * MS), 0, in_flight);
  }
  bbr b_{};
  cc_sample s_{};
};

TEST_F(BbrLaw, TheFirstRateIsTheWindowOverTheRoundTrip) {
  // 10 packets of 1000 bytes per 100 ms, times 2/ln 2 = 2.887, less one percent.
  EXPECT_NEAR(static_cast<double>(b_.pacing_bytes_per_s), 100'000 * 2.8867 * 0.99, 300);
}

TEST_F(BbrLaw, ThreeRoundsWithoutAQuarterMoreFillThePipe) {
  round(20);
  round(40);
  round(49);  // 22 %
  round(49);
  EXPECT_EQ(b_.state, BBR_STARTUP);
  round(49);
  EXPECT_EQ(b_.state, BBR_DRAIN);
  // 490 packets/s, at 88/256 of it.
  EXPECT_NEAR(static_cast<double>(b_.pacing_bytes_per_s), 490'000 * 88 / 256.0 * 0.99, 2000);
  round(49, 40);  // in flight no more than the product: 49 packets and what is allowed for bursts
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
}

TEST_F(BbrLaw, GrowthOfAQuarterKeepsItGoing) {
  for (const __u32 packets : {20, 25, 32, 40, 50, 63}) round(packets);
  EXPECT_EQ(b_.state, BBR_STARTUP);
  EXPECT_EQ(b_.full_bw_rounds, 0U);
}

TEST_F(BbrLaw, EightPhasesOneAboveOneBelowSixEven) {
  for (int i = 0; i < 5; ++i) round(100);
  round(100, 50);
  ASSERT_EQ(b_.state, BBR_PROBE_BW);
  int above = 0, below = 0, even = 0;
  for (int i = 0; i < 32; ++i) {
    round(100, 130);  // enough in flight for the phase above
    above += b_.pacing_gain == 320 ? 1 : 0;
    below += b_.pacing_gain == 192 ? 1 : 0;
    even += b_.pacing_gain == 256 ? 1 : 0;
  }
  EXPECT_EQ(above + below + even, 32);
  EXPECT_GE(above, 1);
  EXPECT_GE(below, 1);
  EXPECT_GT(even, 4 * below);
  EXPECT_EQ(b_.cwnd_gain, 512);
}

TEST_F(BbrLaw, TheWindowIsTwoProductsAndRoomForBursts) {
  for (int i = 0; i < 30; ++i) round(100, 100);
  ASSERT_EQ(b_.state, BBR_PROBE_BW);
  EXPECT_GE(b_.cwnd, 200U);               // 1000 packets/s * 100 ms * 2
  EXPECT_LE(b_.cwnd, 200U + 10U + 100U);  // and at most what was acknowledged at once
}

TEST_F(BbrLaw, AfterTenSecondsItLooksForTheEmptyPath) {
  for (int i = 0; i < 30; ++i) round(100, 100);
  s_.now_us += 8 * SECOND;  // 11 s since the least round trip
  round(100, 110, 130 * MS);
  EXPECT_EQ(b_.state, BBR_PROBE_RTT);
  EXPECT_EQ(b_.min_rtt_us, 130 * MS);  // the old minimum has expired
  round(10, 4, 101 * MS);
  EXPECT_EQ(b_.cwnd, 4U);
  EXPECT_EQ(b_.pacing_gain, 256);
  round(4, 4, 101 * MS);
  round(4, 4, 101 * MS);
  round(4, 4, 101 * MS);  // 200 ms and a round later
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
  EXPECT_EQ(b_.min_rtt_us, 101 * MS);
  EXPECT_GE(b_.cwnd, 200U);
}

TEST_F(BbrLaw, TheFirstRoundOfRecoveryConservesPacketsThenTheWindowComesBack) {
  for (int i = 0; i < 30; ++i) round(100, 100);
  const __u32 before = b_.cwnd;
  s_.in_flight_packets = 60;
  s_.acked_packets = 1;
  bbr_on_enter_recovery(&b_, &s_);
  EXPECT_EQ(b_.cwnd, 61U);
  bbr_on_exit_recovery(&b_);
  EXPECT_EQ(b_.cwnd, before);
}

TEST_F(BbrLaw, ATimeoutLeavesOnePacketAndRemembersTheRest) {
  for (int i = 0; i < 30; ++i) round(100, 100);
  const __u32 before = b_.cwnd;
  bbr_on_timeout(&b_);
  EXPECT_EQ(b_.cwnd, 1U);
  bbr_on_exit_recovery(&b_);
  EXPECT_EQ(b_.cwnd, before);
}

}  // namespace
