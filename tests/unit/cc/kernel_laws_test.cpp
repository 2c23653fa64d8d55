// SPDX-License-Identifier: Apache-2.0
// Reno, CUBIC with HyStart and BBR against numbers that follow from their definitions.
#include <gtest/gtest.h>

#include <utility>

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
  void begin_epoch() { cubic_begin_epoch(&c_, stack_ticks(tcp_.now_us), tcp_.cwnd, 0); }
  void grow_after(__u64 us, __u32 acked) {
    tcp_.now_us += us;
    cubic_grow(&c_, &tcp_, acked);
  }
  cubic c_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(CubicLaw, ALossLeaves717Of1024) {
  lose_at(1024);
  EXPECT_EQ(tcp_.cwnd, 717U);
  EXPECT_EQ(c_.last_max, 1024U);
  lose_at(2);
  EXPECT_EQ(tcp_.cwnd, 2U);  // 1.4, but two at least
}

TEST_F(CubicLaw, FastConvergenceMakesRoomForOthers) {
  lose_at(1024);
  lose_at(1000);                 // below the last maximum
  EXPECT_EQ(c_.last_max, 850U);  // 1000 * 1741 / 2048 = 850.1
  EXPECT_EQ(tcp_.cwnd, 700U);    // 1000 * 717 / 1024 = 700.2
  lose_at(850);                  // at it, not below
  EXPECT_EQ(c_.last_max, 850U);
}

TEST_F(CubicLaw, TheCurvePassesThroughWhereItStartedThePlateauAndBeyond) {
  lose_at(100);
  ASSERT_EQ(tcp_.cwnd, 70U);
  begin_epoch();
  // K = cbrt(30 * 1024 / 410) = 4.215 s, rounded down to 1 / 1024 s
  EXPECT_EQ(c_.k, 4316U);
  EXPECT_EQ(cubic_curve(&c_, 0), 71U);            // 100 - 29.98, of which 29 whole packets
  EXPECT_EQ(cubic_curve(&c_, 4316 - 2048), 97U);  // 100 - 0.4 * 8 = 96.8, and 3 of it whole
  EXPECT_EQ(cubic_curve(&c_, 4316), 100U);
  EXPECT_EQ(cubic_curve(&c_, 4316 + 5120), 150U);  // 100 + 0.4004 * 125
}

TEST_F(CubicLaw, TheCubeFits256Seconds) {
  c_.plateau = 100;
  EXPECT_EQ(cubic_curve(&c_, 256 * 1024), 100U + 6717440U);  // 410 * 2^54 / 2^40
  EXPECT_EQ(cubic_curve(&c_, 1000 * 1024), 100U + 6717440U);
}

TEST_F(CubicLaw, RootsAreRoundedDown) {
  EXPECT_EQ(cubic_root(0), 0U);
  EXPECT_EQ(cubic_root(26), 2U);
  EXPECT_EQ(cubic_root(27), 3U);
  EXPECT_EQ(cubic_root(1'000'000'000'000), 10'000U);
  EXPECT_EQ(cubic_root(999'999'999'999), 9'999U);
}

TEST_F(CubicLaw, TheTargetIsARoundTripAheadInWholeTicks) {
  lose_at(1000);  // 700; K = cbrt(300 * 1024 / 410) s
  begin_epoch();
  EXPECT_EQ(c_.k, 9300U);
  c_.delay_min_us = 99'001;  // 25 ticks, rounded up: 102 / 1024 s
  // 1000 - 410 * (9300 - 102)^3 / 2^40 = 1000 - 290: ten ahead of 700
  EXPECT_EQ(cubic_per(&c_, c_.epoch, 700), 70U);
  c_.delay_min_us = 96'000;  // 24 ticks, 98 / 1024 s: the same packet
  EXPECT_EQ(cubic_per(&c_, c_.epoch, 700), 70U);
  // 12 ticks later: 147 / 1024 s; 1000 - 285
  EXPECT_EQ(cubic_per(&c_, c_.epoch + 12, 700), 46U);
  EXPECT_EQ(cubic_per(&c_, c_.epoch, 1001), 100'100U);  // beyond the curve: a hundred windows
}

TEST_F(CubicLaw, WithoutAPlateauItGrowsByATwentiethOfAWindow) {
  tcp_ = tcp_of(100, 50);
  grow_after(0, 40);
  EXPECT_EQ(c_.per, 20U);
  EXPECT_EQ(tcp_.cwnd, 102U);
}

TEST_F(CubicLaw, AWindowThatStaysIsLookedAtEveryEighthTick) {
  lose_at(1000);
  grow_after(4 * MS, 1);
  const __u32 first = c_.last_update;
  grow_after(28 * MS, 1);  // 7 ticks
  EXPECT_EQ(c_.last_update, first);
  EXPECT_EQ(c_.reno_acked, 2U);  // which counts meanwhile
  grow_after(4 * MS, 1);
  EXPECT_EQ(c_.last_update, first + 8);
}

TEST_F(CubicLaw, AWindowThatHasGrownIsLookedAtOnceATick) {
  lose_at(1000);
  grow_after(0, 1);
  c_.per = 1234;
  tcp_.cwnd = 701;
  grow_after(1 * MS, 1);  // the same tick
  EXPECT_EQ(c_.per, 1234U);
  EXPECT_EQ(c_.last_cwnd, 700U);
  grow_after(3 * MS, 1);
  EXPECT_NE(c_.per, 1234U);
  EXPECT_EQ(c_.last_cwnd, 701U);
}

TEST_F(CubicLaw, RenoGrowsByOneForFifteenEighthsOfAWindow) {
  c_.reno_cwnd = 100;
  c_.per = 1000;
  c_.reno_acked = 187;  // 100 * 15 / 8: not yet
  cubic_befriend_reno(&c_, 100);
  EXPECT_EQ(c_.reno_cwnd, 100U);
  EXPECT_EQ(c_.per, 1000U);
  c_.reno_acked = 375;  // two of them and one packet
  cubic_befriend_reno(&c_, 100);
  EXPECT_EQ(c_.reno_cwnd, 102U);
  EXPECT_EQ(c_.reno_acked, 1U);
  EXPECT_EQ(c_.per, 50U);  // 100 / 2
}

TEST_F(CubicLaw, OneForTwoIsTheFastest) {
  lose_at(20);
  c_.last_max = 1'000'000;
  c_.delay_min_us = 100 * SECOND;
  grow_after(0, 1);
  EXPECT_EQ(c_.per, 2U);
}

TEST_F(CubicLaw, OnShortPathsItGrowsAsReno) {
  lose_at(20);
  const __u32 from = tcp_.cwnd;  // 14; K = cbrt(6 / 0.4) = 2.5 s, the curve is flat beside Reno at 5 ms
  for (int round = 0; round < 100; ++round) grow_after(5 * MS, tcp_.cwnd);
  // 8 / 15 = 0.533 packets per round trip.
  EXPECT_NEAR(tcp_.cwnd - from, 53, 4);
}

TEST_F(CubicLaw, OnLongPathsItFollowsItsCurve) {
  lose_at(1000);
  c_.delay_min_us = 100 * MS;
  for (int round = 0; round < 130; ++round) grow_after(100 * MS, tcp_.cwnd);
  // 13 s; K = 9.082 s
  EXPECT_NEAR(tcp_.cwnd, 1000 + 0.4004 * 3.918 * 3.918 * 3.918, 5);
}

TEST_F(CubicLaw, ATimeoutForgetsThePath) {
  lose_at(100);
  c_.delay_min_us = 5;
  c_.start.has_found = 1;
  tcp_.next = 77;
  cubic_on_timeout(&c_, &tcp_);
  EXPECT_EQ(c_.last_max, 0U);
  EXPECT_EQ(c_.delay_min_us, 0U);
  EXPECT_EQ(c_.start.has_found, 0U);
  EXPECT_EQ(c_.start.round_end, 77U);
  EXPECT_EQ(cubic_undo(&c_, &tcp_), 100U);
}

TEST_F(CubicLaw, APauseMovesTheEpochButNotBeyondNow) {
  lose_at(100);
  begin_epoch();
  const __u32 epoch = c_.epoch;
  tcp_.now_us += 4 * SECOND;
  tcp_.last_sent_us = tcp_.now_us - 3 * SECOND;
  cubic_on_tx_start(&c_, &tcp_);
  EXPECT_EQ(c_.epoch, epoch + 750);
  tcp_.last_sent_us = 0;
  cubic_on_tx_start(&c_, &tcp_);
  EXPECT_EQ(c_.epoch, epoch + 1000);
  c_.epoch = 0;
  cubic_on_tx_start(&c_, &tcp_);
  EXPECT_EQ(c_.epoch, 0U);
}

TEST_F(CubicLaw, ForASecondAfterAReductionRoundTripsSayNothing) {
  lose_at(100);
  begin_epoch();
  tcp_.now_us += 996 * MS;
  cubic_on_acked(&c_, &tcp_, 30 * MS);
  EXPECT_EQ(c_.delay_min_us, 0U);
  tcp_.now_us += 4 * MS;
  cubic_on_acked(&c_, &tcp_, 30 * MS);
  EXPECT_EQ(c_.delay_min_us, 30 * MS);
  cubic_on_acked(&c_, &tcp_, 0);
  EXPECT_EQ(c_.delay_min_us, 1U);
}

class HyStart : public testing::Test {
 protected:
  HyStart() {
    cubic_init(&c_, &tcp_);
    acked(40 * MS);  // the base: 40 ms
    next_round();
  }
  void acked(__u64 rtt_us, __u64 after_us = 3 * MS) {  // more than 2 ms: no train
    tcp_.now_us += after_us;
    cubic_on_acked(&c_, &tcp_, static_cast<__u32>(rtt_us));
  }
  void next_round() {
    tcp_.una = tcp_.next + 1;
    tcp_.next += 100;
  }
  // Microseconds that a train lasts until slow start is left.
  __u64 train_us(__u64 gap_us) {
    acked(40 * MS);  // the first of the round
    const __u64 began_us = tcp_.now_us;
    while (is_in() && tcp_.now_us - began_us < SECOND) acked(40 * MS, gap_us);
    return tcp_.now_us - began_us;
  }
  bool is_in() const { return tcp_.ssthresh == STACK_INFINITE_SSTHRESH; }
  cubic c_{};
  cc_stack tcp_ = tcp_of(20);
};

TEST_F(HyStart, LeavesSlowStartWhenEvenTheLeastOfNineSamplesIsLate) {
  for (int i = 0; i < 20; ++i) acked(45 * MS);  // late is beyond min + min / 8 = 45 ms
  EXPECT_TRUE(is_in());
  next_round();
  for (int i = 0; i < 8; ++i) acked(45 * MS + 1);
  EXPECT_TRUE(is_in());
  acked(45 * MS + 1);
  EXPECT_EQ(tcp_.ssthresh, 20U);
}

TEST_F(HyStart, OneEarlySampleOfTheRoundIsEnoughToStay) {
  for (int i = 0; i < 20; ++i) acked(i == 8 ? 41 * MS : 60 * MS);  // the ninth counts, too
  EXPECT_TRUE(is_in());
}

TEST_F(HyStart, LateIsFourToSixteenMilliseconds) {
  for (const auto& [base_ms, late_ms] : {std::pair{8, 4}, {40, 5}, {400, 16}}) {
    cubic_init(&c_, &tcp_);
    acked(base_ms * MS);
    next_round();
    for (int i = 0; i < 9; ++i) acked((base_ms + late_ms) * MS);
    EXPECT_TRUE(is_in());
    next_round();
    for (int i = 0; i < 9; ++i) acked((base_ms + late_ms) * MS + 1);
    EXPECT_FALSE(is_in());
    tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  }
}

TEST_F(HyStart, LeavesWhenATrainOfAcksLastsHalfARoundTrip) {
  tcp_.pacing_bytes_per_s = ~0ULL;
  EXPECT_EQ(train_us(1000), 21 * MS);
}

TEST_F(HyStart, ATrainMayLastLongerByWhatOffloadsHoldBack) {
  tcp_.pacing_bytes_per_s = 1'000'000'000;  // 4 * 65215 bytes take 260 us: (40000 + 260) / 2
  EXPECT_EQ(hystart_cushion_us(&tcp_), 260U);
  EXPECT_EQ(train_us(10), 20'140U);
  tcp_.pacing_bytes_per_s = 1'000'000;
  EXPECT_EQ(hystart_cushion_us(&tcp_), 1000U);
  tcp_.pacing_bytes_per_s = 0;
  EXPECT_EQ(hystart_cushion_us(&tcp_), 0U);
}

TEST_F(HyStart, OfAPacedFlowAWholeRoundTrip) {
  tcp_.is_paced = 1;
  tcp_.pacing_bytes_per_s = ~0ULL;
  EXPECT_EQ(train_us(1000), 41 * MS);
}

TEST_F(HyStart, AcksMoreThanTwoMillisecondsApartAreNoTrain) {
  EXPECT_GE(train_us(2001), SECOND);
  next_round();
  EXPECT_EQ(train_us(2000), 22 * MS);  // beyond half of 40 ms and of the cushion's 0
}

TEST_F(HyStart, BelowSixteenPacketsItDoesNotLookButItsRoundsGoOn) {
  tcp_.cwnd = 15;
  for (int i = 0; i < 20; ++i) acked(80 * MS);
  EXPECT_TRUE(is_in());
  EXPECT_EQ(c_.start.samples, 0U);
  next_round();
  const __u32 end = tcp_.next;
  acked(80 * MS);
  EXPECT_EQ(c_.start.round_end, end);
}

TEST_F(HyStart, OnceItHasFoundTheExitItLooksNoMore) {
  for (int i = 0; i < 9; ++i) acked(60 * MS);
  ASSERT_EQ(tcp_.ssthresh, 20U);
  tcp_.ssthresh = 100;  // an undo
  for (int i = 0; i < 20; ++i) acked(60 * MS);
  EXPECT_EQ(tcp_.ssthresh, 100U);
  cubic_on_timeout(&c_, &tcp_);
  acked(40 * MS);
  for (int i = 0; i < 9; ++i) acked(60 * MS);
  EXPECT_EQ(tcp_.ssthresh, 100U);  // the least of its round is 40 ms
  next_round();
  for (int i = 0; i < 9; ++i) acked(60 * MS);
  EXPECT_EQ(tcp_.ssthresh, 20U);
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
