// SPDX-License-Identifier: Apache-2.0
// BIC against numbers that follow from its definition, in the integers of Linux.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/bic.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class BicLaw : public testing::Test {
 protected:
  BicLaw() {
    tcp_.ca_state = CA_STATE_OPEN;
    bic_init(&b_, &params_, &tcp_);
    b_.ratio = 16;  // an ACK for each packet
  }
  // Past slow start, and so long after the last growth that the search is looked at.
  void be_at(__u32 cwnd) {
    const __u64 now_us = tcp_.now_us + SECOND;
    tcp_ = tcp_of(cwnd, 2);
    tcp_.now_us = now_us;
  }
  void grow(__u32 acked) { bic_grow(&b_, &params_, &tcp_, acked); }
  __u32 per_at(__u32 cwnd) {
    be_at(cwnd);
    grow(0);
    return b_.per;
  }
  __u32 lose_at(__u32 cwnd) {
    be_at(cwnd);
    return bic_ssthresh(&b_, &params_, &tcp_);
  }
  void ack_packets(__u32 packets) { bic_on_acked(&b_, &params_, &tcp_, packets, -1); }
  cc_params params_ = kDefaults;
  cc_stack tcp_ = tcp_of(10);
  bic b_{};
};

TEST_F(BicLaw, UpTo14PacketsItIsReno) {
  be_at(14);
  grow(13);
  EXPECT_EQ(tcp_.cwnd, 14U);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 15U);
  EXPECT_EQ(lose_at(14), 7U);
  EXPECT_EQ(lose_at(3), 2U);
  EXPECT_EQ(lose_at(15), 11U);  // 15 * 819 / 1024 = 11.997
}

TEST_F(BicLaw, ALossLeavesFourFifthsAndCanBeUndone) {
  tcp_.cwnd = 1;
  EXPECT_EQ(bic_undo(&b_, &params_, &tcp_), 10U);  // before the first loss
  EXPECT_EQ(lose_at(1000), 799U);                  // 1000 * 819 / 1024 = 799.8
  EXPECT_EQ(b_.last_max, 1000U);
  tcp_.cwnd = 799;
  EXPECT_EQ(bic_undo(&b_, &params_, &tcp_), 1000U);
}

TEST_F(BicLaw, FastConvergenceMakesRoomForOthers) {
  lose_at(1000);
  lose_at(900);                  // below the last maximum
  EXPECT_EQ(b_.last_max, 809U);  // 900 * (1024 + 819) / 2048 = 809.9
  lose_at(809);                  // at it, not below
  EXPECT_EQ(b_.last_max, 809U);
  params_.bic_fast_convergence = 0;
  lose_at(700);
  EXPECT_EQ(b_.last_max, 700U);
}

TEST_F(BicLaw, SearchesAQuarterOfTheWayToTheMaximum) {
  lose_at(1000);
  EXPECT_EQ(per_at(799), 49U);    // 201 / 4 = 50, but 16 at most: 799 / 16
  EXPECT_EQ(per_at(936), 58U);    // 64 / 4 = 16
  EXPECT_EQ(per_at(960), 96U);    // 40 / 4 = 10
  EXPECT_EQ(per_at(992), 496U);   // 8 / 4 = 2
  EXPECT_EQ(per_at(993), 4965U);  // 7 / 4 = 1: slowly, four packets in 20 round trips
  EXPECT_EQ(per_at(999), 4995U);
  be_at(799);
  grow(799);
  EXPECT_EQ(tcp_.cwnd, 815U);
  EXPECT_EQ(tcp_.cwnd_count, 15U);  // 799 - 16 * 49
}

TEST_F(BicLaw, BeyondTheMaximumItGrowsFasterWithTheDistance) {
  lose_at(1000);
  EXPECT_EQ(per_at(1000), 5000U);
  EXPECT_EQ(per_at(1003), 5015U);
  EXPECT_EQ(per_at(1004), 753U);  // 1004 * 3 / 4
  EXPECT_EQ(per_at(1047), 66U);   // 1047 * 3 / 47 = 66.8
  EXPECT_EQ(per_at(1048), 65U);   // 1048 / 16 = 65.5
}

TEST_F(BicLaw, WithoutAMaximumItGrowsByFivePercentAtLeast) {
  EXPECT_EQ(per_at(15), 3U);     // 15 * 3 / 15
  EXPECT_EQ(per_at(100), 6U);    // 100 / 16
  EXPECT_EQ(per_at(1000), 20U);  // 1000 / 16 = 62, but 20 at most
}

TEST_F(BicLaw, NeverGrowsByMoreThanWhatIsAcknowledged) {
  lose_at(1000);
  be_at(15);
  grow(15);  // 15 / 16 = 0, but 1 at least
  EXPECT_EQ(tcp_.cwnd, 30U);
}

TEST_F(BicLaw, IsSpedUpByThePacketsPerAck) {
  bic_init(&b_, &params_, &tcp_);
  EXPECT_EQ(b_.ratio, 32U);  // two until ACKs have come
  ack_packets(1);
  EXPECT_EQ(b_.ratio, 31U);  // 32 + 1 - 32 / 16
  ack_packets(9);
  EXPECT_EQ(b_.ratio, 39U);  // 31 + 9 - 31 / 16
  tcp_.ca_state = CA_STATE_RECOVERY;
  ack_packets(100);
  EXPECT_EQ(b_.ratio, 39U);
  lose_at(1000);
  EXPECT_EQ(per_at(799), 20U);  // 49 * 16 / 39 = 20.1
  EXPECT_EQ(per_at(14), 14U);   // Reno is not
}

TEST_F(BicLaw, WhileTheWindowStaysTheSearchIsLookedAtEveryEighthTick) {
  lose_at(1000);
  EXPECT_EQ(per_at(960), 96U);
  b_.ratio = 32;
  tcp_.now_us += 7 * STACK_TICK_US;
  grow(0);
  EXPECT_EQ(b_.per, 96U);
  tcp_.now_us += STACK_TICK_US;
  grow(0);
  EXPECT_EQ(b_.per, 48U);
  b_.ratio = 16;
  grow(48);  // worked out before the growth: 961 is seen with the next ACK
  EXPECT_EQ(b_.per, 48U);
  grow(0);
  EXPECT_EQ(b_.per, 106U);  // 39 / 4 = 9: 961 / 9
}

TEST_F(BicLaw, ATimeoutForgetsTheMaximumAndTheRatioARecoveryDoesNot) {
  lose_at(1000);
  bic_on_state(&b_, &params_, &tcp_, CA_STATE_RECOVERY);
  EXPECT_EQ(b_.last_max, 1000U);
  bic_on_state(&b_, &params_, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(b_.last_max, 0U);
  EXPECT_EQ(b_.ratio, 32U);
  tcp_.cwnd = 1;
  EXPECT_EQ(bic_undo(&b_, &params_, &tcp_), 1000U);
}

TEST_F(BicLaw, SlowStartLeavesWhatIsLeftToTheSearch) {
  lose_at(1000);
  be_at(790);
  tcp_.ssthresh = 800;
  grow(5);
  EXPECT_EQ(tcp_.cwnd, 795U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  grow(15);
  EXPECT_EQ(tcp_.cwnd, 800U);
  EXPECT_EQ(tcp_.cwnd_count, 10U);
  tcp_.is_cwnd_limited = 0;
  grow(100);
  EXPECT_EQ(tcp_.cwnd, 800U);
}

TEST_F(BicLaw, ItsParametersAreThoseOfThePaper) {
  params_.bic_max_increment_packets = 32;
  params_.bic_low_window_packets = 100;
  params_.bic_beta_q16 = 32768;
  params_.bic_smooth_rtts = 40;
  EXPECT_EQ(lose_at(1000), 500U);
  EXPECT_EQ(per_at(799), 24U);    // 799 / 32
  EXPECT_EQ(per_at(1095), 34U);   // 1095 * 3 / 95 = 34.6: 95 is below 3 * 32
  EXPECT_EQ(per_at(1096), 34U);   // 1096 / 32
  EXPECT_EQ(per_at(999), 9990U);  // four packets in 40 round trips
  EXPECT_EQ(per_at(100), 100U);   // Reno
  params_.bic_beta_q16 = 52416;
  EXPECT_EQ(lose_at(100), 50U);
  EXPECT_EQ(lose_at(101), 80U);  // 80.8
}

TEST_F(BicLaw, TheLargestWindowsDoNotOverflow) {
  EXPECT_EQ(lose_at(1U << 30), 858'783'744U);  // 2^30 * 52416 / 2^16
  EXPECT_EQ(per_at(1U << 30), ~0U);            // 5 * 2^30 would not fit
  lose_at((1U << 30) - 1);
  EXPECT_EQ(b_.last_max, 966'262'783U);  // (2^30 - 1) * 117952 / 2^17 = 966262784 - 0.9
}

// The curve of BIC: towards the maximum ever slower, away from it ever faster.
TEST_F(BicLaw, StaysLongestAtTheWindowOfTheLastLoss) {
  tcp_.cwnd = lose_at(1000);
  __u32 last_step = 16, round_trips = 0, near_round_trips = 0;
  for (; tcp_.cwnd < 1100 && round_trips < 1000; round_trips++) {
    const __u32 before = tcp_.cwnd;
    for (__u32 i = 0; i < before; i++) grow(1);
    tcp_.now_us += 100 * MS;
    const __u32 step = tcp_.cwnd - before;
    ASSERT_LE(step, 17U);  // 16, and what 799 / 16 loses
    if (before > 990 && tcp_.cwnd < 1005) near_round_trips++;
    if (before < 990) {
      EXPECT_LE(step, last_step + 1) << before;
    } else if (before > 1005) {
      EXPECT_GE(step + 1, last_step) << before;
    }
    last_step = step;
  }
  EXPECT_GE(last_step, 16U);
  // From 993 to 1004 one packet in five round trips: 11 * 5. All of the other 290 packets take less than as
  // many.
  EXPECT_NEAR(near_round_trips, 55, 5);
  EXPECT_LT(round_trips, 2 * near_round_trips);
}

}  // namespace
