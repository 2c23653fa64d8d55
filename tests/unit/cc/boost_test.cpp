// SPDX-License-Identifier: Apache-2.0
#include "cc/boost.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

class Boost : public ::testing::Test {
 protected:
  Boost() {
    params_.boost_beta_q16 = 32768;  // one half, so that the arithmetic is plain
    params_.boost_gamma_q16 = 6554;  // 10 %
    params_.boost_delta_q16 = 6554;  // 10 %
    params_.boost_lin_packets = 10;
    sample_.has_tags = 1;
    flow_.id.aware = flow_.id.tags = 1;
    boost_init(&boost_, &params_, &sample_, &flow_);
  }
  __u32 step() const { return boost_lin_packets(&boost_, &params_, &sample_); }
  void window(__u64 packets) { boost_.w.cwnd_q16 = packets_q16(packets); }
  __u64 window() const { return boost_.w.cwnd_q16; }
  void ack() {
    cc_sample s = sample_;
    window_begin_ack(&boost_.w, &params_, &s);
    boost_on_ack(&boost_, &params_, &s, &flow_);
    window_end_ack(&boost_.w, &s);
  }
  // A round trip of ACKs with these values of SRTT; the last ACK ends it. The application limits the flow, so
  // that the window moves by drains alone, and B stays.
  void round(std::initializer_list<__u32> srtts_us) {
    sample_.is_limited = 1;
    sample_.rtt_us = 0;
    __u32 sent_last = sample_.delivered_packets;  // delivered when the last one was sent
    for (const __u32& srtt_us : srtts_us) {
      sample_.delivered_packets++;
      sample_.prior_delivered = &srtt_us == srtts_us.end() - 1 ? sent_last : sent_last - 1;
      sample_.srtt_us = srtt_us;
      ack();
    }
  }
  // Compares B = `b` with the values before it, as at the end of a round trip.
  void compare(__u64 b) {
    boost_.b = b;
    boost_choose_mode(&boost_, &params_, &sample_);
  }

  cc_params params_ = kDefaults;
  cc_sample sample_ = ordinary_ack();
  flow flow_{};
  boost boost_{};
};

TEST_F(Boost, StateFitsTheFlow) { EXPECT_LE(sizeof(boost), static_cast<size_t>(CLARION_LAW_BYTES)); }

TEST_F(Boost, Step1StartsExponentiallyFromZero) {
  EXPECT_EQ(boost_.mode, BOOST_EXP);
  EXPECT_EQ(boost_.b, 0u);
  EXPECT_EQ(window(), packets_q16(32));
}

TEST_F(Boost, Step3SmoothsOutstandingBytesPerRoundTrip) {
  // FS = 100 packets * 1448 bytes, RTT 0.1 s: BC = 1448000; alpha = 1/8: B = 181000, then 7/8 of it + 181000.
  params_.boost_loss = BOOST_LOSS_LITERAL;
  boost_measure(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.b, 181000u);
  boost_measure(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.b, 339375u);
}

TEST_F(Boost, TheFirstSampleIsWhole) {
  boost_measure(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.b, 1448000u);
}

TEST_F(Boost, Step3TakesNoSampleFromRetransmissions) {
  sample_.rtt_us = 0;  // Karn
  boost_measure(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.b, 0u);
}

TEST_F(Boost, Step4RiseAboveGammaIsExponential) {
  compare(1000000);
  boost_.mode = BOOST_STOP;
  compare(1100000);  // 10.0 %: not above gamma (6554 / 65536 = 10.0006 %)
  EXPECT_EQ(boost_.mode, BOOST_STOP);
  compare(1300000);
  EXPECT_EQ(boost_.mode, BOOST_EXP);
}

TEST_F(Boost, Step4ThreeFallsOfDeltaStop) {
  compare(1000000);
  compare(990000);
  compare(980000);
  sample_.srtt_us = 125000;  // exactly eta = 1.25
  compare(890000);           // three falls, 11 % in all
  EXPECT_EQ(boost_.mode, BOOST_LIN);
}

TEST_F(Boost, Step4ThreeFallsWithAQueueStopGrowth) {
  sample_.srtt_us = 125001;
  compare(1000000);
  compare(990000);
  compare(980000);
  compare(890000);
  EXPECT_EQ(boost_.mode, BOOST_STOP);
}

TEST_F(Boost, Step4SmallOrInterruptedFallsKeepTheMode) {
  compare(1000000);
  compare(990000);
  compare(980000);
  compare(970000);  // three falls, but 3 %
  EXPECT_EQ(boost_.mode, BOOST_EXP);
  compare(975000);  // a rise in between
  compare(700000);
  compare(600000);
  EXPECT_EQ(boost_.mode, BOOST_EXP);
  compare(500000);
  EXPECT_EQ(boost_.mode, BOOST_LIN);
}

TEST_F(Boost, GrowthPerMode) {
  sample_.acked_packets = 100;
  window(100);
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(200));
  boost_.mode = BOOST_LIN;
  sample_.acked_packets = 200;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(210));
  boost_.mode = BOOST_STOP;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(210));
}

TEST_F(Boost, Step5And6LiteralBackOffByBetaOnEveryLossAndGrowAgainAfterIt) {
  params_.boost_loss = BOOST_LOSS_LITERAL;
  sample_.has_tags = 1;
  window(1000);
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  EXPECT_EQ(window(), packets_q16(500));
  EXPECT_EQ(boost_.mode, BOOST_STOP);
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 1u);
  boost_.b = 12345;
  boost_on_exit_recovery(&boost_);
  EXPECT_EQ(boost_.mode, BOOST_EXP);
  EXPECT_EQ(boost_.b, 12345u);
}

TEST_F(Boost, LiteralHasNoneOfOurAdditions) {
  params_.boost_loss = BOOST_LOSS_LITERAL;
  sample_.srtt_us = 300000;   // a queue of two base RTTs
  boost_.bc_max[0] = 144800;  // ten packets per RTT
  boost_.b = 144800;
  window(1000);
  sample_.acked_packets = 1000;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(2000));
  for (int rounds = 0; rounds < 3; rounds++) round({300000, 300000});
  EXPECT_EQ(window(), packets_q16(2000));
  EXPECT_EQ(flow_.stats.reduced[FLOW_DELAY], 0u);
}

TEST_F(Boost, ExponentialGrowthStopsAtTwiceWhatThePathCarried) {
  boost_.bc_max[1] = 1448000;  // 100 packets per base RTT
  window(190);
  sample_.acked_packets = 50;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(200));
  boost_.is_past_start = 1;  // later 125 %: neither growth nor reduction
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(200));
}

TEST_F(Boost, DelayGateEndsExponentialGrowth) {
  sample_.srtt_us = 125001;
  window(100);
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.mode, BOOST_STOP);
  EXPECT_EQ(window(), packets_q16(100));
}

TEST_F(Boost, QueueOfAWholeRoundIsDrained) {
  boost_.b = 1448000;  // 100 packets per base RTT
  window(150);
  round({150000, 150000, 150000});
  EXPECT_EQ(window(), packets_q16(95));
  EXPECT_EQ(boost_.mode, BOOST_LIN);
  EXPECT_EQ(flow_.stats.reduced[FLOW_DELAY], 1u);
}

TEST_F(Boost, OneAckWithoutAQueueSparesItsRoundOnly) {
  boost_.b = 1448000;
  window(150);
  round({150000, 125000, 150000});  // exactly eta = 1.25: no queue
  EXPECT_EQ(window(), packets_q16(150));
  EXPECT_EQ(flow_.stats.reduced[FLOW_DELAY], 0u);
  round({150000, 150000, 150000});
  EXPECT_EQ(window(), packets_q16(95));
  EXPECT_EQ(flow_.stats.reduced[FLOW_DELAY], 1u);
}

// For a round trip the samples are of packets that waited: the path of 100 ms is paced by its own round trip.
TEST_F(Boost, ADrainDoesNotLeaveThePathIdle) {
  boost_.b = 1448000;
  window(150);
  round({150000, 150000});
  EXPECT_EQ(window(), packets_q16(95));
  auto rate = [&] { return boost_control(&boost_, &params_, &sample_).bytes_per_s; };
  __u64 by_srtt = 95ULL * 1448 * 1000 / 150;
  EXPECT_NEAR(static_cast<double>(rate()), 95.0 * 1448 * 10 * 105 / 100, 95 * 1448 * 10 / 100);
  sample_.has_tags = 0;
  EXPECT_EQ(rate(), by_srtt * 105 / 100);
  sample_.has_tags = 1;
  round({150000, 100000});  // the drain is over
  EXPECT_EQ(rate(), 95ULL * 1448 * 10 * 105 / 100);
}

TEST_F(Boost, ADrainHasARoundToShowItself) {
  boost_.b = 1448000;
  window(150);
  round({150000, 150000});
  boost_.b = 724000;        // 50 packets per base RTT
  round({150000, 150000});  // ACKs of packets sent before the drain
  EXPECT_EQ(window(), packets_q16(95));
  round({150000, 150000});
  EXPECT_EQ(window(), packets_q16(95) / 2);  // 95 % of 50
  EXPECT_EQ(flow_.stats.reduced[FLOW_DELAY], 2u);
}

TEST_F(Boost, AfterTheQueueIsGoneGrowthIsLinear) {
  boost_.b = 1448000;
  window(50);  // less than the drained window: nothing to drain
  round({150000, 150000});
  boost_.mode = BOOST_STOP;
  round({150000, 150000});
  EXPECT_EQ(boost_.mode, BOOST_STOP);
  round({100000, 100000});
  EXPECT_EQ(boost_.mode, BOOST_LIN);
}

TEST_F(Boost, KneeTurnsExponentialIntoLinear) {
  boost_.knee_q16 = packets_q16(100);
  window(100);
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.mode, BOOST_LIN);
  params_.boost_knee = 0;
  boost_.mode = BOOST_EXP;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(101));
}

TEST_F(Boost, AfterCongestionExponentialGrowthEndsAtTheReducedWindow) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  params_.boost_judge_points = 0;  // every loss
  params_.boost_drain_percent = 0;
  window(200);
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  EXPECT_EQ(window(), packets_q16(100));
  window(90);  // as after a timeout
  boost_on_exit_recovery(&boost_);
  sample_.acked_packets = 10;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(100));
  sample_.acked_packets = 100;
  boost_grow(&boost_, &params_, &sample_);
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(110));  // ten per round trip
}

TEST_F(Boost, TaggedIgnoresCorruptionAndBacksOffOnDrops) {
  sample_.has_tags = 1;
  params_.boost_drain_percent = 0;
  window(1000);
  boost_.mode = BOOST_STOP;
  ack();
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  sample_.is_open = 0;
  sample_.lost_packets = 1;
  sample_.prior_delivered = sample_.delivered_packets;
  flow_.echo.rev_corrupt = 1;
  ack();
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 0u);
  boost_.mode = BOOST_STOP;
  window(1000);
  flow_.echo.rev_congest = 1;
  ack();
  EXPECT_EQ(window(), packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_CONGESTION], 1u);
}

TEST_F(Boost, JudgedIgnoresALossOnAnEmptyPath) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  boost_.heuristic = {100000, 1000, 200000, 150000};
  window(1000);
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  EXPECT_EQ(window(), packets_q16(1000));
  sample_.srtt_us = 150000;
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  EXPECT_EQ(window(), packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 1u);
}

TEST_F(Boost, JudgedAnswersALossInARecoveryThatBeganWithAnExcusedOne) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  params_.boost_drain_percent = 0;
  boost_.heuristic = {100000, 1000, 200000, 150000};
  window(1000);
  boost_.mode = BOOST_STOP;
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  sample_.in_recovery = 1;
  sample_.is_open = 0;
  sample_.lost_packets = 1;
  ack();
  EXPECT_EQ(window(), packets_q16(1000));
  sample_.srtt_us = 150000;
  sample_.lost_packets = 2;
  ack();
  EXPECT_EQ(window(), packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 1u);
}

TEST_F(Boost, JudgedIsUnderGuardAfterARoundTripOfHeavyLosses) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  boost_.heuristic = {100000, 1000, 200000, 150000};
  for (__u32 lost : {33u, 34u}) {
    window(102);
    sample_.lost_packets += lost;
    round({100000});
    EXPECT_EQ(window_is_guarded(&boost_.w), lost == 34u) << lost;
  }
}

TEST_F(Boost, WhatATimeoutCallsLostPutsNobodyUnderGuard) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  boost_.heuristic = {100000, 1000, 200000, 150000};
  window(102);
  sample_.lost_packets = 102;
  boost_on_timeout(&boost_, &params_, &sample_, &flow_);
  round({100000});
  round({100000});
  EXPECT_FALSE(window_is_guarded(&boost_.w));
}

TEST_F(Boost, TimeoutKeepsOnePacketUntilAnAckAndThenBacksOffByBeta) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  params_.boost_drain_percent = 0;
  window(1000);
  boost_on_timeout(&boost_, &params_, &sample_, &flow_);
  boost_on_timeout(&boost_, &params_, &sample_, &flow_);  // still the window before both
  EXPECT_EQ(window(), packets_q16(1));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 2u);
  sample_.is_open = 0;
  ack();
  EXPECT_EQ(window(), packets_q16(500));
}

TEST_F(Boost, TaggedTimeoutByCorruptionRestores) {
  sample_.has_tags = 1;
  window(1000);
  boost_.mode = BOOST_STOP;
  sample_.srtt_us = 130000;  // keeps STOP
  ack();
  boost_on_timeout(&boost_, &params_, &sample_, &flow_);
  flow_.echo.rev_corrupt = 50;
  flow_.echo.nr_echoes++;
  sample_.is_open = 0;
  ack();
  EXPECT_EQ(window(), packets_q16(1000));
  EXPECT_EQ(flow_.stats.reduced[FLOW_TIMEOUT], 0u);
}

TEST_F(Boost, TagsThatComeBackStartFromANewBase) {
  params_.boost_drain_percent = 0;
  sample_.has_tags = 1;
  sample_.is_limited = 1;
  window(1000);
  ack();
  sample_.has_tags = 0;  // plain for a while
  sample_.lost_packets = 30;
  ack();
  sample_.has_tags = 1;
  sample_.is_open = 0;
  sample_.prior_delivered = sample_.delivered_packets;
  ack();
  EXPECT_EQ(window(), packets_q16(1000));
  EXPECT_EQ(flow_.stats.reduced[FLOW_UNEXPLAINED], 0u);
}

TEST_F(Boost, IdleFlowLearnsThePathAnew) {
  params_.boost_loss = BOOST_LOSS_JUDGED;
  params_.boost_judge_points = 0;  // every loss
  window(1000);
  boost_on_enter_recovery(&boost_, &params_, &sample_, &flow_);
  boost_.w.last_ack_us = 1000000;
  sample_.now_us = 1400001;  // more than 2 * 100 ms + 200 ms
  boost_on_tx_start(&boost_, &params_, &sample_, &flow_);
  EXPECT_EQ(window(), packets_q16(32));
  boost_on_exit_recovery(&boost_);
  sample_.acked_packets = 32;
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(64));
  cc_control fast = boost_control(&boost_, &params_, &sample_);
  EXPECT_EQ(fast.bytes_per_s, 2u * 64 * 1448 * 10);  // as at the start: twice the window per RTT
}

// A flow that has carried 1000 packets per round trip of 100 ms, was idle, and has asked again since.
class BoostAfterIdleTime : public Boost {
 protected:
  BoostAfterIdleTime() {
    boost_.b = boost_.bc_max[0] = 14480000;
    end_round();
    boost_.w.last_ack_us = 1000000;
    sample_.now_us = 1400001;  // more than 2 * 100 ms + 200 ms
    window(1000);
    begin_sending();
  }
  // The first ACK of what was sent in a round trip.
  void end_round(bool is_limited = false) {
    sample_.is_limited = is_limited;
    sample_.delivered_packets += 10;
    sample_.prior_delivered = boost_.w.round.start_delivered;
    ack();
  }
  void begin_sending() {
    sample_.now_us += 1000;
    boost_on_tx_start(&boost_, &params_, &sample_, &flow_);
  }
};

TEST_F(BoostAfterIdleTime, GoesBackToHalfOnceARoundTripWasTheSame) {
  EXPECT_EQ(window(), packets_q16(32));
  end_round(true);
  EXPECT_EQ(window(), packets_q16(32));  // it has nothing to send
  begin_sending();
  EXPECT_EQ(window(), packets_q16(500));
  EXPECT_EQ(boost_control(&boost_, &params_, &sample_).bytes_per_s, 500u * 1448 * 10 * 105 / 100);
}

TEST_F(BoostAfterIdleTime, GoesBackWithTheAckThatFindsItWaiting) {
  end_round();
  EXPECT_EQ(window(), packets_q16(500));
}

TEST_F(BoostAfterIdleTime, GrowsThenUpToWhatThePathCarried) {
  end_round();
  sample_.acked_packets = 400;
  end_round();
  EXPECT_EQ(window(), packets_q16(900));
  sample_.acked_packets = 400;
  sample_.prior_delivered--;
  ack();
  EXPECT_EQ(window(), packets_q16(1000));
}

// 125 %, as after congestion; a new flow doubles.
TEST_F(BoostAfterIdleTime, EndsItsStartWhereThePathIsTheSame) {
  for (int round = 0; round < 3; round++) end_round();
  EXPECT_EQ(boost_.resume.phase, RESUME_NORMAL);
  boost_.bc_max[0] = 14480000;
  sample_.acked_packets = 5000;
  sample_.prior_delivered--;
  ack();
  EXPECT_EQ(window(), packets_q16(1250));
}

TEST_F(BoostAfterIdleTime, GivesBackWhatItDidNotUse) {
  end_round();
  end_round(true);
  EXPECT_EQ(window(), packets_q16(32));
  begin_sending();
  EXPECT_EQ(window(), packets_q16(500));
}

TEST_F(BoostAfterIdleTime, RetreatsToHalfOfWhatCameThrough) {
  end_round();
  sample_.delivered_packets += 290;
  end_round();  // 300 since
  sample_.ce_packets++;
  sample_.prior_delivered--;
  ack();
  EXPECT_EQ(window(), packets_q16(150));
  EXPECT_EQ(boost_.resume.phase, RESUME_NORMAL);
  EXPECT_EQ(boost_.resume.saved_q16, 0u);  // forgotten
}

TEST_F(BoostAfterIdleTime, KeepsTheInitialWindowOnAnotherPath) {
  sample_.srtt_us = 49999;
  end_round();
  begin_sending();
  EXPECT_EQ(window(), packets_q16(32));
}

TEST_F(BoostAfterIdleTime, ForgetsWithTime) {
  sample_.now_us += 3600ULL * 1000000;
  begin_sending();
  end_round();
  EXPECT_LE(window(), packets_q16(33));
}

TEST_F(BoostAfterIdleTime, OnlyWhereTagsTellCauses) {
  sample_.has_tags = 0;
  end_round();
  EXPECT_LE(window(), packets_q16(33));
}

TEST_F(BoostAfterIdleTime, LiteralKnowsNothingOfIt) {
  params_.boost_loss = BOOST_LOSS_LITERAL;
  sample_.now_us += 1000000;
  begin_sending();
  end_round();
  EXPECT_LT(window(), packets_q16(500));
}

TEST_F(Boost, LinearStepFollowsTheRootOfTheWindowOrTheRttUpToFiftyPackets) {
  params_.boost_lin_packets = 50;
  window(400);
  EXPECT_EQ(step(), 20u);
  sample_.min_rtt_us = 240000;
  EXPECT_EQ(step(), 30u);
  sample_.min_rtt_us = 570000;
  EXPECT_EQ(step(), 50u);
  sample_.min_rtt_us = 40000;
  window(10000);
  EXPECT_EQ(step(), 50u);
  window(400);
  params_.boost_lin_root_percent = 0;
  EXPECT_EQ(step(), 50u);
  params_.boost_lin_root_percent = 100;
  params_.boost_loss = BOOST_LOSS_LITERAL;
  EXPECT_EQ(step(), 50u);
}

TEST_F(Boost, EachOverflowHalvesTheLinearStepUntilTheBufferHasBeenCalm) {
  params_.boost_lin_packets = 50;
  window(32);
  boost_.mode = BOOST_LIN;
  boost_note_reduction(&boost_, &params_, &sample_);  // the end of the start
  EXPECT_EQ(step(), 12u);
  for (__u32 halved : {6u, 3u, 1u, 1u}) {
    boost_.mode = BOOST_LIN;
    boost_note_reduction(&boost_, &params_, &sample_);
    EXPECT_EQ(step(), halved);
  }
  for (int round = 0; round < BOOST_CALM_ROUNDS; round++) {
    EXPECT_EQ(step(), 1u);
    boost_calm_round(&boost_);
  }
  EXPECT_EQ(step(), 3u);
}

TEST_F(Boost, AStepThatIsLittleForTheWindowStays) {
  params_.boost_lin_packets = 50;
  boost_.is_past_start = 1;
  for (__u64 packets : {1600u, 1100u}) {
    window(packets);
    boost_.mode = BOOST_LIN;
    boost_note_reduction(&boost_, &params_, &sample_);
  }
  EXPECT_EQ(boost_.step_shift, 0);  // 40 of 1600 packets, 33 of 1100
  window(900);
  boost_.mode = BOOST_LIN;
  boost_note_reduction(&boost_, &params_, &sample_);
  EXPECT_EQ(boost_.step_shift, 1);  // 30 of 900
}

TEST_F(Boost, LimitedFlowDoesNotGrow) {
  sample_.is_limited = 1;
  window(100);
  boost_grow(&boost_, &params_, &sample_);
  EXPECT_EQ(window(), packets_q16(100));
}

}  // namespace
