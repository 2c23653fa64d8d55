// SPDX-License-Identifier: Apache-2.0
#include "cc/fast.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

class Fast : public ::testing::Test {
 protected:
  Fast() {
    fast_init(&fast_, &params_, &sample_, &flow_);
    fast_.is_starting = 0;
  }
  void ack() {
    cc_sample s = sample_;
    window_begin_ack(&fast_.w, &params_, &s);
    fast_on_ack(&fast_, &params_, &s, &flow_);
    window_end_ack(&fast_.w, &s);
  }
  void end_round() { sample_.prior_delivered = sample_.delivered_packets; }

  cc_params params_ = kDefaults;
  cc_sample sample_ = ordinary_ack();
  flow flow_{};
  fast fast_{};
};

TEST_F(Fast, StateFitsTheFlow) { EXPECT_LE(sizeof(fast), static_cast<size_t>(CLARION_LAW_BYTES)); }

TEST_F(Fast, EquationAtBaseRttAddsGammaAlpha) {
  // w = 1000, no queue: 1000 + 0.5 * 50
  EXPECT_EQ(fast_equation_q16(packets_q16(1000), &params_, packets_q16(50), 100000, 100000),
            packets_q16(1025));
}

TEST_F(Fast, EquationWithAQueue) {
  // baseRTT / RTT = 0.8: 0.5 * 1000 + 0.5 * (800 + 50) = 925
  EXPECT_EQ(fast_equation_q16(packets_q16(1000), &params_, packets_q16(50), 100000, 125000),
            packets_q16(925));
}

TEST_F(Fast, EquilibriumHoldsAlphaPackets) {
  // 1000 * (1 - 95/100) = 50 = alpha: nothing changes
  EXPECT_EQ(fast_equation_q16(packets_q16(1000), &params_, packets_q16(50), 95000, 100000),
            packets_q16(1000));
}

TEST_F(Fast, EquationAtMostDoubles) {
  EXPECT_EQ(fast_equation_q16(packets_q16(10), &params_, packets_q16(50), 100000, 100000),
            packets_q16(20));  // not 35
}

TEST_F(Fast, UpdatesOncePerRoundTripWithTheMeanRtt) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_.w.base_rtt.min_us[0] = 100000;
  sample_.prior_delivered = 0;
  sample_.rtt_us = 120000;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1000));
  sample_.rtt_us = 130000;
  end_round();
  ack();  // mean 125000
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(925));
  EXPECT_EQ(fast_.nr_rtts, 0u);
}

TEST_F(Fast, UpdatesEveryOtherRoundTripIfAsked) {
  params_.fast_update_rtts = 2;
  fast_.w.cwnd_q16 = packets_q16(1000);
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1000));
  sample_.delivered_packets += 1000;
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1025));
  sample_.delivered_packets += 1000;
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1025));
}

TEST_F(Fast, UpdatesInRecoveryButNotWhileLimited) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  sample_.in_recovery = 1;
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1025));
  sample_.in_recovery = 0;
  sample_.is_limited = 1;
  sample_.delivered_packets += 1000;
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1025));
}

TEST_F(Fast, StartsAnewOnAPathThatBecameLonger) {
  // 100 ms become 300 ms: the equation takes that for a queue and shrinks the window, the round trip stays.
  fast_.w.cwnd_q16 = packets_q16(1000);
  ack();
  sample_.rtt_us = sample_.srtt_us = 300000;
  for (int rounds = 0; rounds < 5 && !fast_.is_starting; rounds++) {
    sample_.delivered_packets += 1000;
    end_round();
    ack();
  }
  EXPECT_TRUE(fast_.is_starting);
  EXPECT_EQ(base_rtt_us(&fast_.w.base_rtt), 300000u);
}

TEST_F(Fast, IdleFlowStartsAgain) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_.w.last_ack_us = 1000000;
  sample_.now_us = 1400000;  // 400 ms are not more than 2 * 100 ms + 200 ms
  fast_on_tx_start(&fast_, &params_, &sample_, &flow_);
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1000));
  EXPECT_FALSE(fast_.is_starting);
  sample_.now_us = 1400001;
  fast_on_tx_start(&fast_, &params_, &sample_, &flow_);
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(10));
  EXPECT_TRUE(fast_.is_starting);
}

TEST_F(Fast, StartDoublesUntilAlphaPacketsAreQueued) {
  fast_.is_starting = 1;
  fast_.w.cwnd_q16 = packets_q16(1000);
  sample_.srtt_us = 105000;  // 1000 * 5 / 105 = 47.6 queued
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1001));
  sample_.srtt_us = 106000;  // 1001 * 6 / 106 = 56.7
  ack();
  EXPECT_FALSE(fast_.is_starting);
}

TEST_F(Fast, LossesInRecoveryHalveOncePerRoundTrip) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  sample_.in_recovery = 1;
  sample_.lost_packets = 5;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(500));
  sample_.lost_packets = 9;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(500));
  sample_.delivered_packets += 1000;
  end_round();
  ack();  // of the round trip before; the equation adds 25
  sample_.prior_delivered--;
  ack();  // nothing new is lost
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(525));
  sample_.lost_packets = 10;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(525) / 2);
}

TEST_F(Fast, LossesBehindARisenDelayAreStrikes) {
  sample_.srtt_us = 127001;
  fast_on_loss(&fast_, &params_, &sample_, &flow_);
  EXPECT_FALSE(window_is_guarded(&fast_.w));
  sample_.srtt_us = 127000;
  fast_on_loss(&fast_, &params_, &sample_, &flow_);
  EXPECT_FALSE(window_is_guarded(&fast_.w));
  sample_.srtt_us = 127001;
  fast_on_loss(&fast_, &params_, &sample_, &flow_);
  EXPECT_TRUE(window_is_guarded(&fast_.w));
}

TEST_F(Fast, SoAreHeavyLosses) {
  fast_.w.cwnd_q16 = packets_q16(54);
  for (__u32 lost : {8u, 9u, 9u}) {
    EXPECT_FALSE(window_is_guarded(&fast_.w));
    sample_.lost_packets += lost;
    fast_weigh_losses(&fast_, &params_, &sample_);
  }
  EXPECT_TRUE(window_is_guarded(&fast_.w));
  fast_weigh_losses(&fast_, &params_, &sample_);
}

TEST_F(Fast, UnderGuardItGrowsNoFasterThanReno) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_.w.guard.rounds_left = 64;
  EXPECT_EQ(fast_next_q16(&fast_, &params_, &sample_, 100000), packets_q16(1000) + 34734);  // 53 %
  EXPECT_EQ(fast_next_q16(&fast_, &params_, &sample_, 125000), packets_q16(925));
  params_.guard_rounds = 0;
  fast_.w.guard = {};
  for (int i = 0; i < 3; i++) guard_strike(&fast_.w.guard, &params_, 0);
  EXPECT_EQ(fast_next_q16(&fast_, &params_, &sample_, 100000), packets_q16(1025));  // as published
}

TEST_F(Fast, LossHalvesWhateverItsCause) {
  sample_.has_tags = 1;
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_on_enter_recovery(&fast_, &params_, &sample_, &flow_);
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 1u);
}

TEST_F(Fast, WithTagsCorruptionOnlyRetransmits) {
  params_.fast_tags = 1;
  sample_.has_tags = 1;
  sample_.prior_delivered = 0;
  sample_.is_limited = 1;  // the equation does not move the window
  fast_.w.cwnd_q16 = packets_q16(1000);
  ack();
  fast_on_enter_recovery(&fast_, &params_, &sample_, &flow_);
  sample_.is_open = 0;
  sample_.in_recovery = 1;
  sample_.lost_packets = 1;
  flow_.echo.rev_corrupt = 1;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1000));
  EXPECT_EQ(flow_.stats.reduced[FLOW_LOSS], 0u);
  end_round();
  ack();
  flow_.echo.rev_congest = 1;
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(500));
  EXPECT_EQ(flow_.stats.reduced[FLOW_CONGESTION], 1u);
}

TEST_F(Fast, TimeoutRestartsAndAimsAtHalf) {
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_on_timeout(&fast_, &params_, &sample_, &flow_);
  fast_on_timeout(&fast_, &params_, &sample_, &flow_);  // still half of the window before both
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(1));
  EXPECT_EQ(fast_.w.ssthresh_q16, packets_q16(500));
  EXPECT_TRUE(fast_.is_starting);
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(2));
}

// --- what alpha is ---

TEST(FastAlpha, RootsAndPowersOfFractions) {
  EXPECT_EQ(fast_root_q16(packets_q16(4)), packets_q16(2));
  EXPECT_EQ(fast_root_q16(Q16_ONE / 4), Q16_ONE / 2);
  EXPECT_EQ(fast_root_q16(packets_q16(2)), 92681u);  // 1.414214 * 65536 = 92681.9
  EXPECT_EQ(fast_root_q16(0), 0u);
  EXPECT_EQ(fast_root_q16((1ULL << 48) - 1), 0xffffffffu);
  EXPECT_EQ(fast_power_q16(packets_q16(16), 0), packets_q16(1));
  EXPECT_EQ(fast_power_q16(packets_q16(16), 1), packets_q16(2));
  EXPECT_EQ(fast_power_q16(packets_q16(16), 2), packets_q16(4));
  EXPECT_EQ(fast_power_q16(packets_q16(16), 3), packets_q16(8));
}

TEST(FastAlpha, OfTheGeneralizedRuleGoesWithAPowerOfTheRate) {
  cc_params params = kDefaults;
  params.fast_alpha_rule = FAST_ALPHA_GENERALIZED;
  // 1000 packets in 100 ms are 10,000/s, the rate of fast_alpha_packets; a quarter of that, and four times.
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 100000), packets_q16(50));
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(250), 100000), packets_q16(25));
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 25000), packets_q16(100));
  params.fast_power_quarters = 1;  // (1/16)^(3/4) = 1/8
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 1600000), packets_q16(50) / 8);
  params.fast_power_quarters = 3;  // (1/16)^(1/4) = 1/2
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 1600000), packets_q16(25));
  params.fast_power_quarters = 4;  // FAST
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 1600000), packets_q16(50));
  params.fast_power_quarters = 2;
  params.fast_alpha_rate_packets_per_s = 2500;
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1000), 100000), packets_q16(100));
  params.fast_alpha_rate_packets_per_s = 10000000;  // 1/s: a root of 1e-7 that Q16 does not hold
  EXPECT_EQ(fast_generalized_q16(&params, packets_q16(1), 1000000), FAST_MIN_ALPHA_Q16);
}

TEST(FastAlpha, OfTheAdaptiveRuleMovesByWhatTheDelayLacks) {
  cc_params params = kDefaults;
  const __u64 w = packets_q16(1000);
  // Target 5 ms, gain 1/8. No delay: an eighth of 16 packets. Half of the target: half of that.
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 0), packets_q16(18));
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 2500), packets_q16(17));
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 5000), packets_q16(16));
  // Above fast_alpha_packets, 50, it grows by an eighth of these.
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(80), w, 0), packets_q16(80) + packets_q16(50) / 8);
  // 7.5 ms are half of the target too much: a sixteenth of 16 less. 10 ms and more: an eighth.
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 7500), packets_q16(15));
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 10000), packets_q16(14));
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 100000), packets_q16(14));
  params.fast_alpha_gain_q16 = 16384;
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 10000), packets_q16(12));
  params.fast_target_delay_us = 10000;
  EXPECT_EQ(fast_adapted_q16(&params, packets_q16(16), w, 10000), packets_q16(16));
}

TEST(FastAlpha, OfTheAdaptiveRuleHasBounds) {
  EXPECT_EQ(fast_adapted_q16(&kDefaults, packets_q16(80), packets_q16(84), 0), packets_q16(84));  // not 86.25
  EXPECT_EQ(fast_adapted_q16(&kDefaults, 4200, packets_q16(84), 25000), FAST_MIN_ALPHA_Q16);      // not 3675
}

TEST_F(Fast, UpdatesWithTheAlphaOfItsRule) {
  sample_.rtt_us = 100000;
  params_.fast_alpha_rule = FAST_ALPHA_GENERALIZED;
  fast_.w.cwnd_q16 = packets_q16(4000);  // 40,000/s: alpha is 100
  end_round();
  ack();
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(4050));
  params_.fast_alpha_rule = FAST_ALPHA_ADAPTIVE;
  fast_.alpha_q16 = packets_q16(16);
  sample_.delivered_packets += 1000;
  end_round();
  ack();  // alpha is 18
  EXPECT_EQ(fast_.w.cwnd_q16, packets_q16(4059));
}

TEST_F(Fast, AnAlphaThatAdaptsDoesNotRunAwayUnderGuard) {
  params_.fast_alpha_rule = FAST_ALPHA_ADAPTIVE;
  fast_.w.cwnd_q16 = packets_q16(1000);
  fast_.w.guard.rounds_left = 64;
  end_round();
  ack();
  EXPECT_EQ(fast_.alpha_q16, packets_q16(50));
}

TEST_F(Fast, StartEndsAtTheTargetOfAnAlphaThatAdapts) {
  fast_.is_starting = 1;
  fast_.w.cwnd_q16 = packets_q16(100);
  sample_.srtt_us = 105000;  // 5 of 105 packets, far from 50
  ack();
  EXPECT_TRUE(fast_.is_starting);
  params_.fast_alpha_rule = FAST_ALPHA_ADAPTIVE;
  params_.fast_target_delay_us = 5001;
  ack();
  EXPECT_TRUE(fast_.is_starting);
  params_.fast_target_delay_us = 5000;
  ack();
  EXPECT_FALSE(fast_.is_starting);
}

TEST_F(Fast, StartEndsAtTheAlphaOfTheGeneralizedRule) {
  params_.fast_alpha_rule = FAST_ALPHA_GENERALIZED;
  fast_.is_starting = 1;
  fast_.w.cwnd_q16 = packets_q16(100);  // 952/s: alpha is 50 * 0.309 = 15.4
  sample_.srtt_us = 105000;             // 4.8
  ack();
  EXPECT_TRUE(fast_.is_starting);
  sample_.srtt_us = 118000;  // 855/s: 14.6; 101 * 18 / 118 = 15.4
  ack();
  EXPECT_FALSE(fast_.is_starting);
}

}  // namespace
