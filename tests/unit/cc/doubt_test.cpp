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
  // A path without losses, known from two round trips.
  Doubt() {
    round_begin(&doubt_.round, &sample_);
    end_round();
    end_round();
  }

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

TEST_F(Doubt, TheFirstLossesOfAFlowAreNoSample) {
  doubt_.periods = 0;
  for (int i = 0; i < 24; i++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
  EXPECT_EQ(ack(1), DOUBT_TEST);
}

TEST_F(Doubt, AWindowThatIsBeingOpenedIsTestedOnceItStays) {
  window_ = 1400;
  end_round();
  doubt_.periods = 0;
  for (int i = 0; i < 50; i++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
  end_round();
  for (int i = 0; i < 50 && !doubt_is_testing(&doubt_); i++) ack(1);
  EXPECT_TRUE(doubt_is_testing(&doubt_));
}

TEST_F(Doubt, TheFirstLossesBehindARisenDelayHaveToBeMany) {
  doubt_.periods = 0;
  sample_.rtt_us = 128000;
  for (int i = 0; i < 8; i++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING) << i;
  EXPECT_EQ(ack(1), DOUBT_CONGESTION);
}

TEST_F(Doubt, WhatCameBeforeAQueueIsNoneOfItsLosses) {
  doubt_ = {};
  round_begin(&doubt_.round, &sample_);
  window_ = 200;
  for (int i = 0; i < 20; i++) ack(1);
  end_round(180);
  EXPECT_EQ(doubt_.periods, 0);
  sample_.rtt_us = 128000;
  for (int i = 0; i < 40; i++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING) << i;
  for (int i = 0; i < 100 && doubt_.state == DOUBT_NONE; i++) ack(1);
  EXPECT_EQ(doubt_.state, DOUBT_ANSWERED);
}

TEST_F(Doubt, WhatCameBeforeAPolicerMayHaveBeenItsDoing) {
  doubt_ = {};
  round_begin(&doubt_.round, &sample_);
  window_ = 200;
  for (int i = 0; i < 20; i++) ack(1);
  end_round(180);
  end_round(100);                      // the window stays
  for (int i = 0; i < 5; i++) ack(1);  // 25 in all
  EXPECT_EQ(doubt_.state, DOUBT_SETTLING);
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
  EXPECT_EQ(round(700), DOUBT_TEST);
  EXPECT_EQ(doubt_.test_q16, packets_q16(300) / 8 * 7);
}

TEST_F(Doubt, LossesThatGoBeforeTheRateDoesHaveNotFollowedIt) {
  for (int i = 0; i < 6; i++) ack(1);
  EXPECT_EQ(round(0), DOUBT_BELIEVED);
  EXPECT_EQ(doubt_.level_q16, 0u);  // and they say nothing about the path
}

TEST_F(Doubt, ATestInWhichLossesOnlyBeginSaysNothing) {
  for (int i = 0; i < 6; i++) ack(1);
  EXPECT_EQ(round(6), DOUBT_TEST);
  EXPECT_EQ(measure(300), DOUBT_TEST);
  EXPECT_EQ(doubt_.before_q16, packets_q16(1000));
}

TEST_F(Doubt, TooFewPacketsToTellDoNoHarm) {
  for (int i = 0; i < 6; i++) ack(1);
  EXPECT_EQ(round(6), DOUBT_TEST);
  doubt_answer last = DOUBT_OF_NOTHING;
  while (doubt_is_testing(&doubt_))
    last = end_round(10);  // no loss of 150 packets, where one was to be expected
  EXPECT_EQ(last, DOUBT_BELIEVED);
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

TEST_F(Doubt, ManyBehindARisenDelayAreNoChance) {
  sample_.rtt_us = 128000;
  EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
  EXPECT_EQ(ack(1), DOUBT_CONGESTION);
  for (int lost = 3; lost <= 8; lost++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING) << lost;
  EXPECT_EQ(ack(1), DOUBT_CONFIRMED);
  EXPECT_EQ(ack(1), DOUBT_OF_NOTHING);
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

class Distrust : public Doubt {
 protected:
  void SetUp() override {
    round(100);  // 10 % of 1000 packets
    ASSERT_EQ(measure(0), DOUBT_FELL);
    window_ = doubt_.clean_q16 >> 16;
  }
  int loses(bool ends_round = false) {
    sample_.acked_packets = 9;
    sample_.prior_delivered = ends_round ? sample_.delivered_packets : doubt_.round.start_delivered - 1;
    return doubt_is_refuted(&doubt_, &sample_, 1, packets_q16(window_));
  }
  // One packet in ten is lost, `lost` times, in four round trips.
  int refutes(__u32 lost) {
    int refuted = 0;
    for (__u32 i = 0; i < lost; i++) refuted |= loses(i == lost / 4 || i == lost / 2 || i == 3 * lost / 4);
    return refuted;
  }
  // Two round trips, after which no packet of the larger window is acknowledged any more.
  void settle(__u32 through = 1000) {
    for (int rounds = 0; rounds < DOUBT_REFUTE_ROUNDS; rounds++) {
      sample_.acked_packets = through;
      sample_.prior_delivered = sample_.delivered_packets += through;
      doubt_is_refuted(&doubt_, &sample_, 0, packets_q16(window_));
    }
  }
  // The window falls as far as it has to after its first losses.
  void settle_below_first_losses() {
    settle();
    loses(true);
    window_ = doubt_.clean_q16 >> 16;
    settle();
  }
};

TEST_F(Distrust, IsRefutedByLossesInAWindowThatWasCleanAndInASmallerOne) {
  settle_below_first_losses();
  EXPECT_FALSE(refutes(3));
  EXPECT_TRUE(refutes(1));
  EXPECT_EQ(doubt_.credit, DOUBT_CREDIT_FIRST);
}

TEST_F(Distrust, IsNotRefutedByOneBurstThatShowsLate) {
  settle();
  for (int i = 0; i < 50; i++) EXPECT_FALSE(loses());
}

TEST_F(Distrust, IsNotRefutedByALimitThatTheWindowMeetsAgainAndAgain) {
  __u64 limit = window_;
  for (int times = 0; times < 20; times++) {
    settle();
    EXPECT_FALSE(refutes(8));
    window_ = limit / 10 * 7;
    settle();
    window_ = limit;
  }
}

TEST_F(Distrust, IsNotRefutedInALargerWindow) {
  settle();
  window_ += 1;
  EXPECT_FALSE(refutes(50));
}

TEST_F(Distrust, IsNotRefutedInAWindowLargerThanWhatCameThrough) {
  for (int i = 0; i < 10; i++) loses();  // of 100 packets in this round trip, 90 came through
  settle(0);
  EXPECT_EQ(doubt_.clean_q16, packets_q16(90) / 4 * 3);
  EXPECT_FALSE(refutes(50));
}

TEST_F(Distrust, TakesMoreProofEachTime) {
  settle_below_first_losses();
  ASSERT_TRUE(refutes(4));
  settle_below_first_losses();
  EXPECT_FALSE(refutes(DOUBT_SLACK + DOUBT_CREDIT_FIRST));
  EXPECT_TRUE(refutes(1));
}

TEST_F(Distrust, TheNextOneStartsWithoutTheProofOfThisOne) {
  settle_below_first_losses();
  ASSERT_TRUE(refutes(4));
  doubt_.credit = 0;
  for (int i = 0; i < 200 && !doubt_is_testing(&doubt_); i++) ack(1);
  round(100);
  ASSERT_EQ(measure(0), DOUBT_FELL);
  for (int i = 0; i < 50; i++) EXPECT_FALSE(loses());
}

TEST_F(Distrust, IsNotRefutedBehindAQueue) {
  settle();
  sample_.rtt_us = 128000;
  EXPECT_FALSE(refutes(50));
}

TEST_F(Distrust, IsNotRefutedByTheLossesThatASmallWindowMakesItself) {
  window_ = 8;
  settle_below_first_losses();
  window_ = 5;
  EXPECT_FALSE(refutes(50));  // one in ten is less than 3 / 5^2
  window_ = 6;
  EXPECT_TRUE(refutes(50));
}

TEST_F(Doubt, ChanceWeighsMoreInASmallSample) {
  round(10);
  for (int rounds = 0; rounds < 50; rounds++) round(rounds % 2 ? 8 : 12);  // one in a hundred
  sample_.rtt_us = 128000;
  window_ = 40;
  for (int lost = 0; lost < 5; lost++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING) << lost;
  EXPECT_EQ(ack(1), DOUBT_CONGESTION);
}

TEST_F(Doubt, WhereAPathCorruptsAFewBehindAQueueAreChance) {
  // One in five hundred. Without that two are congestion (LossesBehindARisenDelayAreCongestion).
  for (int rounds = 0; rounds < 50; rounds++) round(rounds % 2 ? 1 : 3);
  sample_.rtt_us = 128000;
  window_ = 40;
  for (int lost = 0; lost < 3; lost++) EXPECT_EQ(ack(1), DOUBT_OF_NOTHING) << lost;
}

TEST_F(Doubt, AFewPacketsOfTheOldRateAreNoSample) {
  // One in a hundred is in doubt, and the last 33 packets of the old rate happen to have one loss: 3 %.
  window_ = 33;
  doubt_set_level(&doubt_, Q16_ONE / 100);
  doubt_begin_test(&doubt_, &sample_, doubt_.level_q16, packets_q16(window_));
  ack(1);
  EXPECT_EQ(end_round(32), DOUBT_TEST);
  EXPECT_EQ(doubt_.spike_q16, Q16_ONE / 100);
}

TEST_F(Doubt, ManyPacketsOfTheOldRateSayWhatIsSurelyLost) {
  doubt_begin_test(&doubt_, &sample_, Q16_ONE / 100, packets_q16(window_));
  EXPECT_EQ(round(100), DOUBT_TEST);
  EXPECT_EQ(doubt_.spike_q16, 90 * Q16_ONE / 1000);  // a hundred, less the root of that
}

TEST_F(Doubt, LossesHaveGoneWhenThatIsNoChance) {
  doubt_.spike_q16 = Q16_ONE / 100;
  struct Sample {
    __u32 lost, packets;
  };
  for (auto [lost, packets] : {Sample{0, 800}, Sample{1, 1050}, Sample{2, 1300}, Sample{3, 1550}}) {
    doubt_.lost = lost;
    doubt_.acked = packets - 60 - lost;
    EXPECT_FALSE(doubt_have_gone(&doubt_)) << lost;
    doubt_.acked = packets + 60 - lost;
    EXPECT_TRUE(doubt_have_gone(&doubt_)) << lost;
  }
}

}  // namespace
