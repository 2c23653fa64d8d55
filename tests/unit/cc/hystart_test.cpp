// SPDX-License-Identifier: Apache-2.0
// HyStart in CUBIC: when slow start ends.
#include <gtest/gtest.h>

#include <utility>

#define _Static_assert static_assert
#include "cc/cubic.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class HyStart : public testing::Test {
 protected:
  HyStart() {
    cubic_init(&c_, &kDefaults, &tcp_);
    acked(40 * MS);  // the base: 40 ms
    next_round();
  }
  void acked(__u64 rtt_us, __u64 after_us = 3 * MS) {  // more than 2 ms: no train
    tcp_.now_us += after_us;
    cubic_on_acked(&c_, &kDefaults, &tcp_, 1, static_cast<__s64>(rtt_us));
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
    cubic_init(&c_, &kDefaults, &tcp_);
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
  cubic_on_state(&c_, &kDefaults, &tcp_, CA_STATE_LOSS);
  acked(40 * MS);
  for (int i = 0; i < 9; ++i) acked(60 * MS);
  EXPECT_EQ(tcp_.ssthresh, 100U);  // the least of its round is 40 ms
  next_round();
  for (int i = 0; i < 9; ++i) acked(60 * MS);
  EXPECT_EQ(tcp_.ssthresh, 20U);
}

}  // namespace
