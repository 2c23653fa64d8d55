// SPDX-License-Identifier: Apache-2.0
#include "cc/loss_heuristic.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;

// A path at rest: RTT 100 ms steady, ACKs irregular.
loss_heuristic at_rest() { return {100000, 1000, 200000, 150000}; }

TEST(LossHeuristic, RandomLossOnAnEmptyPathHasNoPoints) {
  loss_heuristic heuristic = at_rest();
  cc_sample s = ordinary_ack();
  EXPECT_EQ(loss_heuristic_points(&heuristic, &kDefaults, &s), 0u);
  EXPECT_FALSE(loss_heuristic_is_congestion(&heuristic, &kDefaults, &s));
}

TEST(LossHeuristic, EachObservationGivesItsPoints) {
  loss_heuristic heuristic = at_rest();
  cc_sample s = ordinary_ack();
  s.srtt_us = 101001;  // above 100000 + 1000
  EXPECT_EQ(loss_heuristic_points(&heuristic, &kDefaults, &s), 1u);
  s.srtt_us = 125001;  // and queueing above 25 % of 100 ms
  EXPECT_EQ(loss_heuristic_points(&heuristic, &kDefaults, &s), 3u);
  heuristic.spacing_dev_ns = 99999;  // and regular: below half of 200000
  EXPECT_EQ(loss_heuristic_points(&heuristic, &kDefaults, &s), 4u);
  s.saw_reordering = 1;
  EXPECT_EQ(loss_heuristic_points(&heuristic, &kDefaults, &s), 3u);
}

TEST(LossHeuristic, ThresholdZeroTakesEveryLossForCongestion) {
  loss_heuristic heuristic = at_rest();
  cc_sample s = ordinary_ack();
  cc_params p = kDefaults;
  p.boost_judge_points = 0;
  EXPECT_TRUE(loss_heuristic_is_congestion(&heuristic, &p, &s));
}

TEST(LossHeuristic, MeansStartAtTheFirstSampleAndMoveSlowly) {
  loss_heuristic heuristic{};
  cc_sample s = ordinary_ack();
  s.acked_packets = 2;
  loss_heuristic_observe(&heuristic, &s, 100);  // 100 us for two packets: 50000 ns each
  EXPECT_EQ(heuristic.slow_rtt_us, 100000u);
  EXPECT_EQ(heuristic.spacing_ns, 50000u);
  EXPECT_EQ(heuristic.spacing_dev_ns, 0u);
  s.rtt_us = 106400;
  loss_heuristic_observe(&heuristic, &s, 132);  // 66000 ns each
  EXPECT_EQ(heuristic.slow_rtt_us, 100100u);    // 100000 + 6400 / 64
  EXPECT_EQ(heuristic.spacing_ns, 51000u);      // 50000 + 16000 / 16
  EXPECT_EQ(heuristic.spacing_dev_ns, 15000u);  // first deviation: 66000 - 51000
}

TEST(LossHeuristic, AnAckWithoutNewsChangesNothing) {
  loss_heuristic heuristic = at_rest();
  cc_sample s = ordinary_ack();
  s.acked_packets = 0;
  s.rtt_us = 0;
  loss_heuristic_observe(&heuristic, &s, 0xffffffff);
  EXPECT_EQ(heuristic.slow_rtt_us, 100000u);
  EXPECT_EQ(heuristic.spacing_ns, 200000u);
}

}  // namespace
