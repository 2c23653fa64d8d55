// SPDX-License-Identifier: Apache-2.0
// What BBR allows for ACKs that are held back.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/bbr_aggregation.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// At a rate of one packet per millisecond.
class BbrAggregation : public testing::Test {
 protected:
  BbrAggregation() { bbr_aggregation_begin(&a_, tcp_.now_us); }
  void acked(__u32 packets, __u64 after_us, int is_round_start = 0) {
    tcp_.delivered_us += after_us;
    ack_.acked_packets = packets;
    bbr_aggregation_on_ack(&a_, &tcp_, &ack_, RATE, is_round_start, window_);
  }
  static constexpr __u32 RATE = (1U << BBR_BW_SHIFT) / 1000 + 1;
  bbr_aggregation a_{};
  __u8 window_ = BBR_EXTRA_ROUNDS;
  cc_stack tcp_ = tcp_of(100);
  stack_ack ack_ = ack_of(1, 1);
};

TEST_F(BbrAggregation, CountsWhatIsAckedBeyondTheRateOfAnEpoch) {
  acked(20, 5 * MS);  // none was expected of an epoch that begins
  EXPECT_EQ(a_.extra[0], 20U);
  acked(8, 5 * MS);  // 28, of which 5 were expected
  EXPECT_EQ(a_.extra[0], 23U);
  acked(1, 30 * MS);  // 35 expected: a new epoch
  EXPECT_EQ(a_.acked, 1U);
  EXPECT_EQ(a_.epoch_us, tcp_.delivered_us);
  EXPECT_EQ(a_.extra[0], 23U);
}

TEST_F(BbrAggregation, TheWindowBoundsIt) {
  tcp_.cwnd = 7;
  acked(20, 0);
  EXPECT_EQ(a_.extra[0], 7U);
}

TEST_F(BbrAggregation, WithoutASampleNothingCounts) {
  ack_ = ack_of(-1, 1);
  acked(20, 0);
  ack_ = ack_of(1, 0);
  acked(20, 0, 1);
  EXPECT_EQ(a_.extra[0], 0U);
  EXPECT_EQ(a_.rounds, 0U);
}

TEST_F(BbrAggregation, FiveToTenRoundsRememberTheMost) {
  acked(20, 0);
  for (int round = 0; round < 5; ++round) acked(1, SECOND, 1);
  EXPECT_EQ(a_.extra[1], 20U);
  EXPECT_EQ(a_.extra[0], 1U);
  EXPECT_EQ(bbr_aggregation_packets(&a_, RATE), 20U);
  for (int round = 0; round < 4; ++round) acked(1, SECOND, 1);
  EXPECT_EQ(a_.extra[1], 20U);
  acked(1, SECOND, 1);
  EXPECT_EQ(bbr_aggregation_packets(&a_, RATE), 1U);
}

TEST_F(BbrAggregation, AShorterWindowForgetsEarlier) {
  window_ = 1;
  acked(20, 0);
  acked(1, SECOND, 1);
  EXPECT_EQ(a_.extra[1], 20U);
  acked(1, SECOND, 1);
  EXPECT_EQ(bbr_aggregation_packets(&a_, RATE), 1U);
}

TEST_F(BbrAggregation, AnEpochOfAMillionPacketsEnds) {
  tcp_.cwnd = 30'000;
  acked((1U << 20) - 20, 0);
  acked(19, 1);
  EXPECT_EQ(a_.acked, (1U << 20) - 1);
  acked(1, 1);
  EXPECT_EQ(a_.acked, 1U);
}

TEST_F(BbrAggregation, ATenthOfASecondIsTheMost) {
  a_.extra[0] = 150;
  EXPECT_EQ(bbr_aggregation_packets(&a_, RATE), 100U);
}

}  // namespace
