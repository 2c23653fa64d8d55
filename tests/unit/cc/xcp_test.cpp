// SPDX-License-Identifier: Apache-2.0
#include "cc/xcp.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

class Xcp : public ::testing::Test {
 protected:
  Xcp() {
    sample_.has_feedback = 1;
    xcp_init(&xcp_, &params_, &sample_, &flow_);
    flow_.echo.nr_echoes = 1;
    flow_.echo.regulated = 1;
  }
  void window(__u64 packets) { xcp_.w.cwnd_q16 = packets_q16(packets); }
  // As if the ACK before had shown it, too.
  void echo(__s32 feedback) {
    flow_.echo.reverse_feedback += static_cast<__u32>(feedback);
    xcp_.echo_before = flow_.echo.reverse_feedback;
  }
  void ack() {
    cc_sample s = sample_;
    window_begin_ack(&xcp_.w, &params_, &s);
    xcp_on_ack(&xcp_, &params_, &s, &flow_);
    window_end_ack(&xcp_.w, &s);
  }

  void stand_in_a_queue() {
    sample_.rtt_us = 128000;
    sample_.prior_delivered = sample_.delivered_packets - 1;  // within the round
    for (int i = 0; i < WINDOW_LATE_SAMPLES; i++) ack();
  }
  // A round trip of 100 ms ends; far more is granted than anything allows.
  void round_of_grants(__u32 delivered) {
    sample_.now_us += 100000;
    sample_.delivered_packets += delivered;
    sample_.prior_delivered = sample_.delivered_packets;
    for (int i = 0; i < 5; i++) {
      flow_.echo.nr_echoes++;
      echo(154600);  // ten packets with each ACK
      ack();
      sample_.prior_delivered = sample_.delivered_packets - 1;
    }
  }

  cc_params params_ = kDefaults;
  cc_sample sample_ = ordinary_ack();
  flow flow_{};
  xcp xcp_{};
};

TEST_F(Xcp, StateFitsTheFlow) { EXPECT_LE(sizeof(xcp), static_cast<size_t>(CLARION_LAW_BYTES)); }

TEST_F(Xcp, FeedbackTimesRttIsTheChangeInBytes) {
  // 15460 bytes/s over 0.1 s are 1546 bytes: one frame.
  window(50);
  echo(15460);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(51));
  echo(-30920);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(49));
  EXPECT_EQ(flow_.stats.feedback_bytes_per_s, -15460);
}

TEST_F(Xcp, PacesAboveTheWindowAndByWhatTheLastRoundGranted) {
  window(50);
  ack();
  const __u64 rate = window_rate(xcp_.w.cwnd_q16, sample_.mss_bytes, &sample_);
  EXPECT_EQ(xcp_control(&xcp_, &params_, &sample_).bytes_per_s, rate * 120 / 100);
  params_.xcp_pacing_grants_percent = 50;
  xcp_.granted_before = 15460;
  EXPECT_EQ(xcp_control(&xcp_, &params_, &sample_).bytes_per_s, rate * 120 / 100 + 7730);
  xcp_.granted_before = -15460;
  EXPECT_EQ(xcp_control(&xcp_, &params_, &sample_).bytes_per_s, rate * 120 / 100);
}

TEST_F(Xcp, CountsWhatARoundGranted) {
  window(50);
  sample_.has_delivery = 0;  // within the round
  echo(15460);
  ack();
  echo(-460);
  ack();
  EXPECT_EQ(xcp_.granted, 15000);
  sample_.has_delivery = 1;
  sample_.prior_delivered = sample_.delivered_packets;
  ack();
  EXPECT_EQ(xcp_.granted, 0);
  EXPECT_EQ(xcp_.granted_before, 15000);
}

TEST_F(Xcp, BehindAStandingQueueGrantsFillAQuarterMoreAsLongAsThatPays) {
  window(100);
  ack();
  stand_in_a_queue();
  round_of_grants(100);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125));
  round_of_grants(100);  // what was sent before the window grew
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125));
  round_of_grants(125);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125) * 5 / 4);
  round_of_grants(130);  // 4 % more: the rest of the growth stands in the queue
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125) * 5 / 4);
  echo(-154600);  // what is taken back counts as ever
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125) * 5 / 4 - packets_q16(10));
}

TEST_F(Xcp, GrowthBehindAQueueBeginsAgainWithAReducedWindow) {
  window(100);
  ack();
  stand_in_a_queue();
  round_of_grants(100);
  window_reduce(&xcp_.w, packets_q16(50));
  round_of_grants(50);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50) * 5 / 4);
}

TEST_F(Xcp, AQueueThatStandsForLongerThanTheBaseLivesIsAQueueStill) {
  window(100);
  ack();
  stand_in_a_queue();
  round_of_grants(100);
  for (int i = 0; i < 10; i++) {
    sample_.now_us += params_.min_rtt_window_ms * 500ULL;
    round_of_grants(100);
  }
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125));
}

TEST_F(Xcp, GrantsRightAfterAStrikeAddNoMoreThanUnderGuard) {
  window(100);
  ack();
  guard_strike(&xcp_.w.guard, &params_, 0);
  for (int i = 0; i < 100; i++) {
    echo(154600);
    ack();
  }
  EXPECT_GT(xcp_.w.cwnd_q16, packets_q16(100));
  EXPECT_LT(xcp_.w.cwnd_q16, packets_q16(101));
}

TEST_F(Xcp, AQueueCountsAsDrainedAfterARoundTripWithoutIt) {
  // A pause in sending drains a queue that the window refills within a round trip.
  window(100);
  ack();
  stand_in_a_queue();
  sample_.rtt_us = 100000;
  round_of_grants(100);
  __u64 before_q16 = xcp_.w.cwnd_q16;
  EXPECT_LE(before_q16, packets_q16(125));
  round_of_grants(100);
  EXPECT_EQ(xcp_.w.cwnd_q16, before_q16 + packets_q16(50));
}

TEST_F(Xcp, AfterAGuardGrantsAddAQuarterPerRoundTripWithoutAQueueToo) {
  window(100);
  ack();
  xcp_.w.guard.rounds = 64;
  round_of_grants(100);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125));
  round_of_grants(100);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(125) * 5 / 4);
}

TEST_F(Xcp, UnderGuardBehindAQueueItGrowsAQuarterAsFast) {
  auto grown_q16 = [&](__u32 rtt_us) {
    window(100);
    xcp_.w.ceiling_q16 = packets_q16(100);
    xcp_.w.guard.rounds_left = 64;
    sample_.rtt_us = rtt_us;
    for (int i = 0; i < 108; i++) {  // the first eight tell of the queue
      if (i == 8) window(100), xcp_.w.ceiling_q16 = packets_q16(100);
      echo(154600);
      ack();
    }
    return static_cast<double>(xcp_.w.cwnd_q16 - packets_q16(100));
  };
  double alone_q16 = grown_q16(100000);
  EXPECT_NEAR(alone_q16, 0.53 * 65536, 700);
  EXPECT_NEAR(grown_q16(128000), 0.13 * 65536, 700);
}

TEST_F(Xcp, AnEchoThatOneAckAloneShowsIsNone) {
  // No checksum covers the header: a flipped bit is a rate.
  window(50);
  for (__u32 bit = 10; bit < 32; bit++) {
    flow_.echo.reverse_feedback ^= 1U << bit;
    ack();
    flow_.echo.reverse_feedback ^= 1U << bit;
    ack();
    EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50)) << bit;
  }
  flow_.echo.reverse_feedback += 15460;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50));
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(51));
}

TEST_F(Xcp, AnEchoGrantsAQuarterOfTheWindowOrEightTimesWhatTheOneBeforeDid) {
  window(40);
  echo(0x7fffffff);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50));
  echo(154600);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(60));
  echo(1546000);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(140));
}

TEST_F(Xcp, OneEchoTakesBackAtMostHalf) {
  window(50);
  echo(-0x7fffffff);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(25));
}

TEST_F(Xcp, FractionsOfAPacketAddUp) {
  // 1546 bytes/s over 0.1 s: a tenth of a packet, 6553.6 / 65536, ten times.
  window(50);
  for (int i = 0; i < 10; i++) {
    echo(1546);
    ack();
  }
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50) + 65530);
}

TEST_F(Xcp, LostAcksLoseNoFeedback) {
  window(50);
  for (int i = 0; i < 10; i++) echo(15460);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(60));
}

TEST_F(Xcp, TheRunningTotalWraps) {
  xcp_.feedback_seen = 0xfffffff0;
  flow_.echo.reverse_feedback = xcp_.echo_before = 15460 - 16;
  window(50);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(51));
}

TEST_F(Xcp, ALawChosenInMidFlowAppliesNoOldFeedback) {
  echo(15460 * 100);
  xcp_ = {};
  xcp_init(&xcp_, &params_, &sample_, &flow_);
  window(50);
  ack();
  ack();  // What two in a row say would count.
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50));
}

TEST_F(Xcp, NeverBelowOnePacketNorAboveTheLargestWindow) {
  for (int i = 0; i < 5; i++) {
    echo(-0x7fffffff);
    ack();
  }
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  params_.max_window_packets = 200;
  for (int i = 0; i < 2; i++) {
    echo(0x7fffffff);
    ack();
  }
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(200));
}

TEST_F(Xcp, FeedbackWaitsForARoundTripTime) {
  window(50);
  sample_.srtt_us = 0;
  echo(15460);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50));
  sample_.srtt_us = 100000;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(51));
}

TEST_F(Xcp, RequestsTheRestOfTheLineRate) {
  // 10 Gbit/s = 1.25e9 bytes/s; have 100 * 1546 / 0.1 s = 1546000; (1.25e9 - 1546000) / 100 packets =
  // 12484540.
  window(100);
  xcp_request(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(flow_.request.wanted, 1);
  EXPECT_EQ(flow_.request.full_len, 1546u);
  EXPECT_EQ(flow_.request.rtt, 26843545u);  // 0.1 * 2^28
  EXPECT_EQ(flow_.request.x, 268435u);      // a hundredth of it: 1 ms
  EXPECT_EQ(flow_.request.delta_throughput, 12484540);
}

TEST_F(Xcp, RequestOfOnePacketAtTheHighestRateFits) {
  params_.xcp_max_rate_mbit_per_s = 17000;
  window(1);
  sample_.srtt_us = 100000;
  xcp_request(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(flow_.request.delta_throughput, 2124984540);  // 2.125e9 - 15460
}

TEST_F(Xcp, RequestsNothingWithoutRttOrWhenLimited) {
  sample_.srtt_us = 0;
  xcp_request(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(flow_.request.rtt, 0u);
  EXPECT_EQ(flow_.request.delta_throughput, 0);
  sample_ = ordinary_ack();
  sample_.is_limited = 1;
  xcp_request(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(flow_.request.delta_throughput, 0);
}

TEST_F(Xcp, LimitedFlowDoesNotGrowAndGivesBackHalfPerRoundTrip) {
  window(1000);
  sample_.is_limited = 1;
  sample_.in_flight_packets = 99;  // and one acknowledged: 100 used
  echo(15460);
  sample_.prior_delivered = sample_.delivered_packets;  // the round ends with this ACK
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(550));  // 1000 - (1000 - 100) / 2
}

TEST_F(Xcp, GrantsThatNoHopRegulatesAreNotUsed) {
  // The echo brings back all of the request. Believing it would mean 10 Gbit/s.
  flow_.echo.regulated = 0;
  window(10);
  xcp_.w.ssthresh_q16 = packets_q16(10);
  xcp_request(&xcp_, &params_, &sample_, &flow_);
  echo(flow_.request.delta_throughput);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(10) + 6553);  // one packet per RTT instead: 1/10
  flow_.echo.regulated = 1;                            // a router has appeared: its grants, not the old ones
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(10) + 6553);
  echo(15460);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(11) + 6553);
}

TEST_F(Xcp, WaitsForTheFirstEchoButNotForEver) {
  flow_.echo.nr_echoes = 0;
  window(10);
  sample_.prior_delivered = 0;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(10));
  for (int round = 0; round < 3; round++) {
    sample_.delivered_packets += 10;
    sample_.prior_delivered = sample_.delivered_packets;
    ack();
  }
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(10));
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(11));  // slow start
}

TEST_F(Xcp, PlainFlowSlowStartsAndHalves) {
  sample_.has_feedback = 0;
  window(10);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(11));
  xcp_on_enter_recovery(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(11) / 2);
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 1u);
}

TEST_F(Xcp, LossPoliciesWithoutTags) {
  window(100);
  params_.xcp_loss = XCP_LOSS_NONE;
  xcp_on_enter_recovery(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  params_.xcp_loss = XCP_LOSS_ONE;
  xcp_on_enter_recovery(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  EXPECT_EQ(xcp_.w.ssthresh_q16, packets_q16(50));
}

TEST_F(Xcp, TagsDecideInsteadOfTheRecovery) {
  sample_.has_tags = 1;
  window(100);
  ack();  // base
  xcp_on_enter_recovery(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  sample_.is_open = 0;
  sample_.prior_delivered = sample_.delivered_packets;
  sample_.lost_packets = 1;
  flow_.echo.rev_corrupt = 1;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  sample_.lost_packets = 2;
  flow_.echo.rev_congest = 1;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(50));
  EXPECT_EQ(flow_.stats.reduced[FLOW_CONGESTION], 1u);
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 0u);
}

TEST_F(Xcp, TimeoutByCorruptionRestoresTheWindowAtTheFirstAck) {
  sample_.has_tags = 1;
  window(100);
  ack();
  sample_.lost_packets = 100;
  xcp_on_timeout(&xcp_, &params_, &sample_, &flow_);
  xcp_on_timeout(&xcp_, &params_, &sample_, &flow_);  // backed off twice: still the window before both
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  flow_.echo.rev_corrupt = 100;
  flow_.echo.nr_echoes++;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 0u);
}

TEST_F(Xcp, TimeoutByCongestionRestartsFromOne) {
  sample_.has_tags = 1;
  window(100);
  ack();
  xcp_on_timeout(&xcp_, &params_, &sample_, &flow_);
  flow_.echo.rev_congest = 3;
  flow_.echo.nr_echoes++;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 1u);
}

TEST_F(Xcp, TimeoutWhereNoLossCountsRestoresTheWindowAtTheFirstAck) {
  params_.xcp_loss = XCP_LOSS_NONE;
  window(100);
  xcp_on_timeout(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 0u);
}

TEST_F(Xcp, TagsThatComeBackStartFromANewBase) {
  sample_.has_tags = 1;
  window(100);
  ack();
  sample_.has_tags = 0;  // plain for a while
  sample_.lost_packets = 30;
  ack();
  sample_.has_tags = 1;
  sample_.is_open = 0;
  sample_.prior_delivered = sample_.delivered_packets;
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  EXPECT_EQ(flow_.stats.reduced[FLOW_UNEXPLAINED], 0u);
}

TEST_F(Xcp, TimeoutWithoutTagsRestartsFromOneAndSlowStartsToHalf) {
  window(100);
  xcp_on_timeout(&xcp_, &params_, &sample_, &flow_);
  ack();
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(1));
  EXPECT_EQ(xcp_.w.ssthresh_q16, packets_q16(50));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 1u);
}

TEST_F(Xcp, IdleFlowFallsBackToTheInitialWindow) {
  window(100);
  xcp_.w.last_ack_us = 1000000;
  sample_.now_us = 1300000;  // 300 ms < 2 * 100 ms + 200 ms
  xcp_on_tx_start(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(100));
  sample_.now_us = 1500000;
  xcp_on_tx_start(&xcp_, &params_, &sample_, &flow_);
  EXPECT_EQ(xcp_.w.cwnd_q16, packets_q16(10));
}

}  // namespace
