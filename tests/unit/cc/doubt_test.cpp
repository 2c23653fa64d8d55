// SPDX-License-Identifier: Apache-2.0
// The doubt, ACK by ACK: what the tags call corrupted, the answer. Round trips of 1000 packets.
#include "cc/doubt.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

class Doubt : public ::testing::Test {
 protected:
  Doubt() { round_begin(&doubt_.round, &sample_); }

  doubt_answer ack(__u32 corrupted, __u32 acked = 0) {
    sample_.acked_packets = acked;
    sample_.prior_delivered = sample_.delivered_packets - 1;
    return doubt_on_ack(&doubt_, &sample_, corrupted, packets_q16(window_));
  }
  // `acked` packets come through and end the round trip.
  doubt_answer end_round(__u32 acked = 1000) {
    sample_.delivered_packets += acked;
    sample_.acked_packets = acked;
    sample_.prior_delivered = sample_.delivered_packets;
    return doubt_on_ack(&doubt_, &sample_, 0, packets_q16(window_));
  }
  // A round trip with `lost` gaps of one packet each; the answer to the last of them that was one.
  doubt_answer round(int lost) {
    doubt_answer last = DOUBT_OF_NOTHING;
    for (int i = 0; i < lost; i++)
      if (doubt_answer answer = ack(1); answer != DOUBT_OF_NOTHING) last = answer;
    doubt_answer answer = end_round(1000 - lost);
    return answer != DOUBT_OF_NOTHING ? answer : last;
  }
  // The rest of a test in which `lost` of 1000 packets are lost in each round trip; its end.
  doubt_answer measure(int lost) {
    while (doubt_is_testing(&doubt_))
      if (doubt_answer answer = round(lost); answer != DOUBT_OF_NOTHING) return answer;
    return DOUBT_OF_NOTHING;
  }

  __u64 window_ = 1000;
  cc_sample sample_ = ordinary_ack();
  cc_doubt doubt_{};
};

TEST_F(Doubt, AFewLossesRaiseNone) {
  for (int rounds = 0; rounds < 20; rounds++) EXPECT_EQ(round(3), DOUBT_OF_NOTHING);
}

TEST_F(Doubt, MoreThanThatAreTested) {
  for (int i = 0; i < 5; i++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
  EXPECT_EQ(ack(1), DOUBT_TEST);  // six of 1000 packets: more than 0.5 %
  EXPECT_EQ(doubt_.before_q16, packets_q16(1000));
  EXPECT_LT(doubt_.test_q16, packets_q16(875));
}

TEST_F(Doubt, LossesThatStayAreCorruptionAndTheirLevelRaisesNoMoreDoubt) {
  EXPECT_EQ(round(100), DOUBT_TEST);
  EXPECT_EQ(measure(100), DOUBT_BELIEVED);
  for (int rounds = 0; rounds < 100; rounds++) EXPECT_EQ(round(rounds % 2 ? 90 : 110), DOUBT_OF_NOTHING);
}

TEST_F(Doubt, LossesThatGoHaveFollowedTheRate) {
  EXPECT_EQ(round(100), DOUBT_TEST);
  EXPECT_EQ(measure(0), DOUBT_FELL);
}

TEST_F(Doubt, TheTestGoesBelowWhatComesThrough) {
  // 300 of 1000 packets come through: the first guess, from six losses, was far too high.
  for (int i = 0; i < 6; i++) ack(1);
  EXPECT_EQ(end_round(300), DOUBT_TEST);
  EXPECT_EQ(doubt_.test_q16, packets_q16(300) / 8 * 7);
}

TEST_F(Doubt, ATestInWhichLossesOnlyBeginSaysNothing) {
  EXPECT_EQ(round(6), DOUBT_TEST);
  EXPECT_EQ(measure(300), DOUBT_TEST);
  EXPECT_EQ(doubt_.before_q16, packets_q16(1000));
}

TEST_F(Doubt, ABurstCountsForTwo) {
  EXPECT_EQ(ack(200), DOUBT_OF_NOTHING);
  EXPECT_EQ(doubt_.lost, 2u);
}

TEST_F(Doubt, LossesBehindARisenDelayAreCongestion) {
  sample_.rtt_us = 128000;  // 100 ms, a quarter more and over 2 ms
  EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
  EXPECT_EQ(ack(1), DOUBT_CONGESTION);
  EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);  // once per round trip
}

TEST_F(Doubt, ALevelThatCreepsUpIsTestedToo) {
  // A policer that drops a little more each round trip, never enough to stand out.
  bool is_tested = false;
  for (int lost = 1; lost < 60 && !is_tested; lost++) is_tested = round(lost) == DOUBT_TEST;
  EXPECT_TRUE(is_tested);
}

TEST_F(Doubt, WhatWasVerifiedIsForgottenInTime) {
  round(100);
  measure(100);
  int tests = 0;
  for (int rounds = 0; rounds < 3 * DOUBT_FORGET_ROUNDS; rounds++) {
    if (round(100) != DOUBT_TEST) continue;
    tests++;
    measure(100);
  }
  EXPECT_GE(tests, 1);
  EXPECT_LE(tests, 3);
}

TEST_F(Doubt, DistrustIsRefutedByLossesInAWindowThatWasClean) {
  round(100);
  ASSERT_EQ(measure(0), DOUBT_FELL);
  window_ = doubt_.clean_q16 >> 16;
  auto refutes = [&](__u32 lost, int is_holding) {
    int refuted = 0;
    for (__u32 i = 0; i < lost; i++)
      refuted |= doubt_is_refuted(&doubt_, &sample_, 1, packets_q16(window_), is_holding);
    return refuted;
  };
  sample_.acked_packets = 8;
  EXPECT_FALSE(refutes(50, 1));  // packets of the larger window
  window_ += 1;
  EXPECT_FALSE(refutes(50, 0));
  window_ -= 1;
  EXPECT_FALSE(refutes(3, 0));
  EXPECT_TRUE(refutes(1, 0));
  EXPECT_EQ(doubt_.credit, DOUBT_CREDIT_FIRST);
}

}  // namespace
