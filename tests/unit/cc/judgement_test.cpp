// SPDX-License-Identifier: Apache-2.0
// Signals of congestion that no tag overrules, and what they leave of the window.
#include "cc/judgement.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

class Judgement : public ::testing::Test {
 protected:
  Judgement() {
    window_init(&window_, &kDefaults, 1000, &sample_);
    window_.ssthresh_q16 = packets_q16(500);  // slow start is over
  }
  int signals() { return window_answer_signals(&window_, &kDefaults, &sample_, &flow_); }

  cc_sample sample_ = ordinary_ack();
  flow flow_{};
  cc_window window_{};
};

TEST_F(Judgement, AMarkTakesAFifthOnceSlowStartIsOver) {
  sample_.ce_packets = 3;
  EXPECT_TRUE(signals());
  EXPECT_EQ(window_.cwnd_q16, packets_q16(800));
  EXPECT_EQ(flow_.stats.reduced[FLOW_ECN], 1u);
}

TEST_F(Judgement, AMarkInSlowStartHalves) {
  window_.ssthresh_q16 = ~0ULL;
  sample_.ce_packets = 1;
  EXPECT_TRUE(signals());
  EXPECT_EQ(window_.cwnd_q16, packets_q16(500));
}

TEST_F(Judgement, MarksReduceOncePerRoundTrip) {
  sample_.ce_packets = 1;
  EXPECT_TRUE(signals());
  sample_.ce_packets = 9;  // the receiver repeats the echo until it hears of the reduction
  EXPECT_FALSE(signals());
  EXPECT_EQ(window_.cwnd_q16, packets_q16(800));
}

TEST_F(Judgement, ADropByTheOwnQueueHalves) {
  sample_.local_drops = 1;
  EXPECT_TRUE(signals());
  EXPECT_EQ(window_.cwnd_q16, packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOCAL], 1u);
}

TEST_F(Judgement, EightLateSamplesInARowAreAQueue) {
  auto sample = [&](__u32 rtt_us) {
    cc_sample s = sample_;
    s.rtt_us = rtt_us;
    window_begin_ack(&window_, &kDefaults, &s);
    return window_is_queued(&window_);
  };
  sample(100000);
  for (int i = 0; i < 7; i++) EXPECT_FALSE(sample(112501)) << i;
  EXPECT_FALSE(sample(112500));  // jitter
  for (int i = 0; i < 7; i++) EXPECT_FALSE(sample(112501)) << i;
  EXPECT_FALSE(sample(0));  // a retransmission: no sample
  EXPECT_TRUE(sample(112501));
}

TEST_F(Judgement, ATestThatIsOverGivesTheWindowBack) {
  window_.doubt.before_q16 = packets_q16(1000);
  window_.doubt.test_q16 = packets_q16(800);
  window_test(&window_, &kDefaults, DOUBT_TEST, &flow_);
  EXPECT_EQ(window_.cwnd_q16, packets_q16(800));
  window_test(&window_, &kDefaults, DOUBT_BELIEVED, &flow_);
  EXPECT_EQ(window_.cwnd_q16, packets_q16(1000));
}

TEST_F(Judgement, WhatWasReducedDuringATestForAnotherReasonStaysSo) {
  window_.doubt.before_q16 = packets_q16(1000);
  window_.doubt.test_q16 = packets_q16(800);
  window_test(&window_, &kDefaults, DOUBT_TEST, &flow_);
  window_reduce(&window_, packets_q16(500));
  for (doubt_answer answer : {DOUBT_BELIEVED, DOUBT_FELL}) {
    window_test(&window_, &kDefaults, answer, &flow_);
    EXPECT_EQ(window_.cwnd_q16, packets_q16(500));
  }
}

TEST_F(Judgement, NegativeFeedbackSinceIsNotUndone) {
  window_reduce(&window_, packets_q16(500));
  window_take_back(&window_, &kDefaults, packets_q16(100));
  window_restore(&window_);
  EXPECT_EQ(window_.cwnd_q16, packets_q16(900));
}

TEST_F(Judgement, ASecondUnexplainedLossSoonAfterTheFirstPutsTheFlowUnderGuard) {
  sample_.has_tags = 1;
  sample_.is_open = 0;
  auto lose = [&] {
    sample_.delivered_packets += 1000;
    sample_.prior_delivered = sample_.delivered_packets - 1;
    sample_.lost_packets += 1;
    enum loss_verdict verdict = window_judge(&window_, &kDefaults, &sample_, &flow_);
    window_end_ack(&window_, &sample_);
    return verdict;
  };
  EXPECT_EQ(lose(), LOSS_NOTHING);  // the base
  EXPECT_EQ(lose(), LOSS_NOTHING);  // the ACK that ends its round trip
  EXPECT_EQ(lose(), LOSS_UNEXPLAINED);
  EXPECT_FALSE(window_is_guarded(&window_));
  EXPECT_EQ(lose(), LOSS_NOTHING);  // the ACK that ends the reduction's round trip
  EXPECT_EQ(lose(), LOSS_UNEXPLAINED);
  EXPECT_TRUE(window_is_guarded(&window_));
}

}  // namespace
