// SPDX-License-Identifier: Apache-2.0
// The loss rule, ACK by ACK: the transport's losses so far, the two totals, the verdict.
#include "cc/loss_rule.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::ordinary_ack;

class LossRule : public ::testing::Test {
 protected:
  // One ACK; a round trip passes before it unless `same_round`. Packets are suspected lost unless `is_open`.
  loss_verdict ack(__u32 lost, __u16 corrupt, __u16 congest, bool same_round = false, bool is_open = false) {
    sample_.delivered_packets += 1;
    if (!same_round) {
      sample_.prior_delivered = sample_.delivered_packets - 1;
    } else {
      sample_.prior_delivered = sample_.delivered_packets - 100;
    }
    sample_.lost_packets = lost;
    sample_.is_open = is_open;
    flow_.echo.nr_echoes++;
    flow_.echo.rev_corrupt = corrupt;
    flow_.echo.rev_congest = congest;
    loss_verdict verdict = loss_rule_on_ack(&rule_, &sample_, &flow_.echo, &flow_.stats, distrusts_);
    loss_rule_end_ack(&rule_, &sample_);
    return verdict;
  }

  // A base of the given totals, a round trip old.
  void settle(__u32 lost, __u16 corrupt, __u16 congest) {
    ASSERT_EQ(ack(lost, corrupt, congest), LOSS_NOTHING);
    ASSERT_EQ(ack(lost, corrupt, congest), LOSS_NOTHING);
  }

  loss_rule rule_{};
  bool distrusts_ = false;
  cc_sample sample_ = ordinary_ack();
  flow flow_{};
};

TEST_F(LossRule, FirstEchoIsOnlyABase) {
  EXPECT_EQ(ack(5, 1000, 2000), LOSS_NOTHING);
  EXPECT_EQ(rule_.corrupt, 1000);
  EXPECT_EQ(rule_.congest, 2000);
  EXPECT_EQ(flow_.stats.rebased, 0u);
}

TEST_F(LossRule, CorruptionIsOnlyRetransmitted) {
  settle(0, 10, 20);
  EXPECT_EQ(ack(0, 13, 20), LOSS_NOTHING);  // three explained before the transport knows
  EXPECT_EQ(ack(3, 13, 20), LOSS_NOTHING);
  EXPECT_EQ(rule_.unexplained, 0);
}

TEST_F(LossRule, QueueDropsReduceEvenBeforeTheTransportKnows) {
  settle(0, 10, 20);
  EXPECT_EQ(ack(0, 10, 21), LOSS_CONGESTION);
  EXPECT_EQ(ack(1, 10, 21), LOSS_NOTHING);
}

TEST_F(LossRule, OneReductionPerRoundTrip) {
  settle(0, 0, 0);
  EXPECT_EQ(ack(1, 0, 1), LOSS_CONGESTION);
  EXPECT_EQ(ack(5, 0, 5, true), LOSS_NOTHING);
  EXPECT_EQ(ack(9, 0, 9, true), LOSS_NOTHING);
  sample_.delivered_packets += 200;  // everything in flight at the reduction is delivered
  // This packet was sent after the reduction, but its total counts drops from before it.
  EXPECT_EQ(ack(10, 0, 10), LOSS_NOTHING);
  EXPECT_EQ(ack(11, 0, 11), LOSS_CONGESTION);
}

TEST_F(LossRule, MoreLossesThanTheTotalsExplainReduce) {
  settle(0, 0, 0);
  EXPECT_EQ(ack(2, 2, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(4, 3, 0), LOSS_UNEXPLAINED);
  EXPECT_EQ(ack(4, 3, 0), LOSS_NOTHING);  // once
}

TEST_F(LossRule, BothTotalsMayMoveAtOnce) {
  settle(0, 0, 0);
  EXPECT_EQ(ack(5, 4, 1), LOSS_CONGESTION);
  EXPECT_EQ(rule_.unexplained, 0);
}

TEST_F(LossRule, TotalsWrap) {
  settle(0, 0xffff, 0xfffe);
  EXPECT_EQ(ack(2, 1, 0xfffe), LOSS_NOTHING);  // 0xffff -> 1: two explained
  EXPECT_EQ(ack(3, 1, 0xffff), LOSS_CONGESTION);
  EXPECT_EQ(rule_.unexplained, 0);
}

TEST_F(LossRule, TransportCountWraps) {
  settle(0xffffffff, 0, 0);
  EXPECT_EQ(ack(1, 2, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(2, 2, 0), LOSS_UNEXPLAINED);
}

TEST_F(LossRule, AnExplanationReadBeforeItsLossWaitsForIt) {
  // The receiver's application had the socket: an ACK from before the gap carries the totals from behind it.
  // Or another flow of the same bucket lost two packets, and later two of ours vanish at a hop that does not
  // tag.
  for (__u32 step_us : {LOSS_LEFTOVER_US / 2, LOSS_LEFTOVER_US + 1}) {
    rule_ = {};
    settle(0, 0, 0);
    EXPECT_EQ(ack(0, 2, 0, false, true), LOSS_NOTHING);
    for (int i = 0; i < 2; i++) {
      sample_.now_us += step_us;
      EXPECT_EQ(ack(0, 2, 0, false, true), LOSS_NOTHING);
    }
    EXPECT_EQ(ack(2, 2, 0), step_us > LOSS_LEFTOVER_US ? LOSS_UNEXPLAINED : LOSS_NOTHING);
  }
}

TEST_F(LossRule, ExplanationsThatComeAllTheTimeDoNotKeepEachOther) {
  // The other flow of the bucket loses a packet every 5 ms. Later nine of ours vanish at a hop that does not
  // tag.
  settle(0, 0, 0);
  __u16 corrupt = 0;
  for (; corrupt < 100; corrupt++) {
    sample_.now_us += 5000;
    EXPECT_EQ(ack(0, corrupt, 0, false, true), LOSS_NOTHING);
  }
  EXPECT_EQ(ack(9, corrupt, 0), LOSS_UNEXPLAINED);
}

TEST_F(LossRule, ExplanationsAheadCoverNoMoreThanIsOutstanding) {
  // The other flow of the bucket loses 300 packets while ours has 101 outstanding, one of them suspected
  // lost: they explain 101 losses of ours, but not the next one.
  settle(0, 0, 0);
  EXPECT_EQ(ack(0, 100, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(0, 200, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(0, 300, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(101, 300, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(102, 300, 0), LOSS_UNEXPLAINED);
}

TEST_F(LossRule, JumpIsANewBase) {
  // 101 packets outstanding and 64 of slack: 165 is believed, 166 is not.
  settle(0, 1000, 1000);
  EXPECT_EQ(ack(0, 1165, 1000), LOSS_NOTHING);
  EXPECT_EQ(flow_.stats.rebased, 0u);
  EXPECT_EQ(ack(0, 1165, 1166), LOSS_NOTHING);
  EXPECT_EQ(flow_.stats.rebased, 1u);
  EXPECT_EQ(rule_.congest, 1166);
  EXPECT_EQ(ack(1, 1165, 1167), LOSS_CONGESTION);
}

TEST_F(LossRule, FarBackwardsIsANewBase) {
  settle(0, 1000, 1000);
  EXPECT_EQ(ack(0, 743, 1000), LOSS_NOTHING);  // 257 back
  EXPECT_EQ(flow_.stats.rebased, 1u);
  EXPECT_EQ(ack(1, 744, 1000), LOSS_NOTHING);
  EXPECT_EQ(rule_.unexplained, 0);
}

TEST_F(LossRule, OldAckDoesNotCountTwice) {
  // A reordered ACK carries totals from before; the next one must not count the same drops again.
  settle(0, 0, 10);
  EXPECT_EQ(ack(3, 0, 13), LOSS_CONGESTION);
  sample_.delivered_packets += 200;
  EXPECT_EQ(ack(3, 0, 10, true), LOSS_NOTHING);
  EXPECT_EQ(ack(3, 0, 13, true), LOSS_NOTHING);
  EXPECT_EQ(flow_.stats.rebased, 0u);
}

TEST_F(LossRule, RestartFromZeroIsBelievedAfterARoundTrip) {
  settle(0, 57, 3);
  EXPECT_EQ(ack(0, 0, 0, true), LOSS_NOTHING);
  EXPECT_EQ(flow_.stats.rebased, 0u);
  EXPECT_EQ(ack(0, 0, 0), LOSS_NOTHING);
  EXPECT_EQ(flow_.stats.rebased, 1u);
  EXPECT_EQ(ack(1, 0, 1), LOSS_CONGESTION);
}

TEST_F(LossRule, TimeoutByCorruptionGivesTheWindowBack) {
  settle(0, 0, 0);
  sample_.lost_packets = 100;  // the kernel marked the whole window
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  EXPECT_EQ(ack(100, 60, 0), LOSS_TIMEOUT_EXPLAINED);
  EXPECT_EQ(ack(100, 60, 0), LOSS_NOTHING);
}

TEST_F(LossRule, TimeoutExplainedBeforeItCameGivesTheWindowBack) {
  settle(0, 0, 0);
  EXPECT_EQ(ack(0, 60, 0), LOSS_NOTHING);  // sixty explained ahead
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  EXPECT_EQ(ack(100, 60, 0), LOSS_TIMEOUT_EXPLAINED);
}

TEST_F(LossRule, AFewCorruptedPacketsDoNotExcuseATimeoutOfAWholeWindow) {
  // An outage on a hop that does not tag, and one packet in a hundred corrupted on one that does.
  settle(0, 0, 0);
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  EXPECT_EQ(ack(100, 49, 0), LOSS_TIMEOUT_REAL);
}

TEST_F(LossRule, ATimeoutWaitsForTotalsThatAreNewerThanIt) {
  // The segment was sent again without header: its ACK brings no news.
  settle(0, 0, 0);
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  flow_.echo.nr_echoes--;  // undoes what ack() adds
  EXPECT_EQ(ack(100, 0, 0), LOSS_NOTHING);
  EXPECT_EQ(ack(100, 80, 0), LOSS_TIMEOUT_EXPLAINED);
}

TEST_F(LossRule, ATimeoutDoesNotWaitForEver) {
  settle(0, 0, 0);
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  for (int rounds = 0; rounds < LOSS_TIMEOUT_PATIENCE_ROUNDS; rounds++) loss_rule_round(&rule_);
  flow_.echo.nr_echoes--;
  EXPECT_EQ(ack(100, 0, 0), LOSS_TIMEOUT_REAL);
}

TEST_F(LossRule, AJumpForgivesNoLoss) {
  settle(0, 1000, 1000);
  EXPECT_EQ(ack(3, 9000, 9000), LOSS_UNEXPLAINED);
  EXPECT_EQ(flow_.stats.rebased, 1u);
}

TEST_F(LossRule, DropsByThisHostAreNoCorruption) {
  // Three packets dropped behind the shim show as gaps on the first wire; two more are corruption.
  settle(0, 0, 0);
  sample_.local_drops = 3;
  EXPECT_TRUE(loss_rule_notice_local(&rule_, &sample_));
  EXPECT_EQ(ack(0, 5, 0), LOSS_NOTHING);
  EXPECT_EQ(rule_.corrupted, 2);
  EXPECT_EQ(flow_.stats.local_corrupt, 3u);
  EXPECT_EQ(ack(3, 5, 0), LOSS_UNEXPLAINED);  // two explained, not five
}

TEST_F(LossRule, DropsByThisHostThatNeverShowAreForgotten) {
  settle(0, 0, 0);
  sample_.local_drops = 3;
  loss_rule_notice_local(&rule_, &sample_);
  for (int rounds = 0; rounds < LOSS_LOCAL_ROUNDS; rounds++) loss_rule_round(&rule_);
  EXPECT_EQ(ack(0, 3, 0), LOSS_NOTHING);
  EXPECT_EQ(rule_.corrupted, 3);
}

TEST_F(LossRule, DistrustedCorruptionExplainsNothing) {
  settle(0, 0, 0);
  distrusts_ = true;
  EXPECT_EQ(ack(2, 2, 0), LOSS_CONTRADICTED);
}

TEST_F(LossRule, AnAckWithoutDeliveryDecidesNothingAboutATimeout) {
  settle(0, 0, 0);
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  sample_.acked_packets = 0;
  EXPECT_EQ(ack(100, 0, 0), LOSS_NOTHING);
  sample_.acked_packets = 1;
  EXPECT_EQ(ack(100, 0, 0), LOSS_TIMEOUT_REAL);
}

TEST_F(LossRule, TimeoutByQueueDropsIsReal) {
  settle(0, 0, 0);
  sample_.lost_packets = 100;
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  EXPECT_EQ(ack(100, 40, 1), LOSS_TIMEOUT_REAL);
}

TEST_F(LossRule, TimeoutWithoutAnyExplanationIsReal) {
  settle(0, 7, 7);
  loss_rule_on_timeout(&rule_, &sample_, &flow_);
  EXPECT_EQ(ack(0, 7, 7), LOSS_TIMEOUT_REAL);
}

TEST_F(LossRule, LossesOlderThanTheBaseAreForgiven) {
  // The second packet's ACK brings the base; the loss of the first is found right after it.
  EXPECT_EQ(ack(0, 9, 9), LOSS_NOTHING);
  EXPECT_EQ(ack(1, 9, 9, true), LOSS_NOTHING);
  EXPECT_EQ(ack(1, 9, 9), LOSS_NOTHING);
  EXPECT_EQ(ack(2, 9, 9), LOSS_UNEXPLAINED);
}

}  // namespace
