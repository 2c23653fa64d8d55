// SPDX-License-Identifier: Apache-2.0
#include "cc/judge.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;

// A path at rest: RTT 100 ms steady, ACKs irregular.
judge at_rest() { return {100000, 1000, 200000, 150000}; }

TEST(Judge, RandomLossOnAnEmptyPathHasNoPoints) {
  judge j = at_rest();
  cc_sample s = ordinary_ack();
  EXPECT_EQ(judge_points(&j, &kDefaults, &s), 0u);
  EXPECT_FALSE(judge_is_congestion(&j, &kDefaults, &s));
}

TEST(Judge, EachObservationGivesItsPoints) {
  judge j = at_rest();
  cc_sample s = ordinary_ack();
  s.srtt_us = 101001;  // above 100000 + 1000
  EXPECT_EQ(judge_points(&j, &kDefaults, &s), 1u);
  s.srtt_us = 125001;  // and queueing above 25 % of 100 ms
  EXPECT_EQ(judge_points(&j, &kDefaults, &s), 3u);
  j.spacing_dev_ns = 99999;  // and regular: below half of 200000
  EXPECT_EQ(judge_points(&j, &kDefaults, &s), 4u);
  s.saw_reordering = 1;
  EXPECT_EQ(judge_points(&j, &kDefaults, &s), 3u);
}

TEST(Judge, ThresholdZeroTakesEveryLossForCongestion) {
  judge j = at_rest();
  cc_sample s = ordinary_ack();
  cc_params p = kDefaults;
  p.boost_judge_points = 0;
  EXPECT_TRUE(judge_is_congestion(&j, &p, &s));
}

TEST(Judge, MeansStartAtTheFirstSampleAndMoveSlowly) {
  judge j{};
  cc_sample s = ordinary_ack();
  s.acked_packets = 2;
  judge_observe(&j, &s, 100);  // 100 us for two packets: 50000 ns each
  EXPECT_EQ(j.slow_rtt_us, 100000u);
  EXPECT_EQ(j.spacing_ns, 50000u);
  EXPECT_EQ(j.spacing_dev_ns, 0u);
  s.rtt_us = 106400;
  judge_observe(&j, &s, 132);           // 66000 ns each
  EXPECT_EQ(j.slow_rtt_us, 100100u);    // 100000 + 6400 / 64
  EXPECT_EQ(j.spacing_ns, 51000u);      // 50000 + 16000 / 16
  EXPECT_EQ(j.spacing_dev_ns, 15000u);  // first deviation: 66000 - 51000
}

TEST(Judge, AnAckWithoutNewsChangesNothing) {
  judge j = at_rest();
  cc_sample s = ordinary_ack();
  s.acked_packets = 0;
  s.rtt_us = 0;
  judge_observe(&j, &s, 0xffffffff);
  EXPECT_EQ(j.slow_rtt_us, 100000u);
  EXPECT_EQ(j.spacing_ns, 200000u);
}

}  // namespace
