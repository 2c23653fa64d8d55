// SPDX-License-Identifier: Apache-2.0
// CUBIC against numbers that follow from its definition, in the integers of Linux.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/cubic.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class CubicLaw : public testing::Test {
 protected:
  void lose_at(__u32 cwnd) {
    tcp_ = tcp_of(cwnd);
    tcp_.ssthresh = tcp_.cwnd = cubic_ssthresh(&c_, &kDefaults, &tcp_);
  }
  void begin_epoch() { cubic_begin_epoch(&c_, stack_ticks(tcp_.now_us), tcp_.cwnd, 0); }
  void grow_after(__u64 us, __u32 acked) {
    tcp_.now_us += us;
    cubic_grow(&c_, &kDefaults, &tcp_, acked);
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
  cubic_on_state(&c_, &kDefaults, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(c_.last_max, 0U);
  EXPECT_EQ(c_.delay_min_us, 0U);
  EXPECT_EQ(c_.start.has_found, 0U);
  EXPECT_EQ(c_.start.round_end, 77U);
  EXPECT_EQ(cubic_undo(&c_, &kDefaults, &tcp_), 100U);
}

TEST_F(CubicLaw, APauseMovesTheEpochButNotBeyondNow) {
  lose_at(100);
  begin_epoch();
  const __u32 epoch = c_.epoch;
  tcp_.now_us += 4 * SECOND;
  tcp_.last_sent_us = tcp_.now_us - 3 * SECOND;
  cubic_on_event(&c_, &kDefaults, &tcp_, STACK_TX_START);
  EXPECT_EQ(c_.epoch, epoch + 750);
  tcp_.last_sent_us = 0;
  cubic_on_event(&c_, &kDefaults, &tcp_, STACK_TX_START);
  EXPECT_EQ(c_.epoch, epoch + 1000);
  c_.epoch = 0;
  cubic_on_event(&c_, &kDefaults, &tcp_, STACK_TX_START);
  EXPECT_EQ(c_.epoch, 0U);
}

TEST_F(CubicLaw, ForASecondAfterAReductionRoundTripsSayNothing) {
  lose_at(100);
  begin_epoch();
  tcp_.now_us += 996 * MS;
  cubic_on_acked(&c_, &kDefaults, &tcp_, 1, 30 * MS);
  EXPECT_EQ(c_.delay_min_us, 0U);
  tcp_.now_us += 4 * MS;
  cubic_on_acked(&c_, &kDefaults, &tcp_, 1, 30 * MS);
  EXPECT_EQ(c_.delay_min_us, 30 * MS);
  cubic_on_acked(&c_, &kDefaults, &tcp_, 1, 0);
  EXPECT_EQ(c_.delay_min_us, 1U);
}

}  // namespace
