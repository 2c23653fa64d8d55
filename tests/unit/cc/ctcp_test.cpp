// SPDX-License-Identifier: Apache-2.0
// Compound TCP against numbers that follow from the equations of its paper and its draft.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/ctcp.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

constexpr __u32 BASE_US = 100'000;

TEST(Queued, IsTheShareOfTheWindowThatTheRoundTripGrewBy) {
  queued q{};
  queued_begin(&q);
  EXPECT_EQ(queued_q16(&q, 1000, BASE_US), 0U);  // no base yet
  queued_on_acked(&q, -1);
  EXPECT_EQ(q.base_us, STACK_NO_RTT);
  queued_on_acked(&q, BASE_US);
  queued_on_acked(&q, 125'000);
  EXPECT_EQ(q.base_us, BASE_US);
  EXPECT_EQ(q.rtt_us, 125'000U);
  EXPECT_EQ(queued_q16(&q, 1000, 125'000), packets_q16(200));  // 1000 x 25 / 125
  EXPECT_EQ(queued_q16(&q, 1000, 90'000), 0U);
  EXPECT_EQ(queued_q16(&q, 1000, 0), 0U);
  queued_on_acked(&q, 0);
  EXPECT_EQ(q.base_us, 1U);
}

class Compound : public testing::Test {
 protected:
  // Past slow start, with a window of which `delay` packets are the delay window.
  void start_at(__u32 cwnd, __u32 delay = 0) {
    tcp_ = tcp_of(cwnd, 2);
    tcp_.next = 1;
    tcp_.srtt_us = BASE_US;
    ctcp_init(&l_, &params_, &tcp_);
    ctcp_on_acked(&l_, &params_, &tcp_, 1, BASE_US);
    l_.dwnd_q16 = packets_q16(delay);
  }
  void end_round(__u32 srtt_us = BASE_US, __u32 acked = 1) {
    tcp_.srtt_us = srtt_us;
    tcp_.una = l_.round_end + 1;
    tcp_.next = tcp_.una + 1000;
    ctcp_grow(&l_, &params_, &tcp_, acked);
  }
  __u32 lose() { return tcp_.cwnd = tcp_.ssthresh = ctcp_ssthresh(&l_, &params_, &tcp_); }
  cc_params params_ = kDefaults;
  ctcp l_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Compound, TheDelayWindowGrowsByAnEighthOfThePowerThreeQuartersLessOne) {
  start_at(256);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 263U);  // 256^(3/4) = 64, 64 / 8 - 1
  start_at(10'000);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 10'124U);  // 1000 / 8 - 1
  start_at(81);
  end_round();
  EXPECT_EQ(l_.dwnd_q16, 155'648U);  // (27 / 8 - 1) 65536
  EXPECT_EQ(tcp_.cwnd, 83U);
  params_.ctcp_alpha_q16 = 16384;
  start_at(256);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 271U);  // 64 / 4 - 1
}

TEST_F(Compound, ThatIsOncePerRoundTripAndRenosPartGrowsByOneOverTheSum) {
  start_at(256);
  tcp_.una = tcp_.next;  // what was sent before the round is acknowledged, and nothing of it
  ctcp_grow(&l_, &params_, &tcp_, 255);
  EXPECT_EQ(tcp_.cwnd, 256U);
  ctcp_grow(&l_, &params_, &tcp_, 1);
  EXPECT_EQ(tcp_.cwnd, 257U);
  EXPECT_EQ(l_.dwnd_q16, 0U);
}

TEST_F(Compound, AnUnusedWindowDoesNotGrow) {
  start_at(256);
  tcp_.is_cwnd_limited = 0;
  end_round();
  EXPECT_EQ(tcp_.cwnd, 256U);
}

TEST_F(Compound, SlowStartIsRenosAndHasNoDelayWindow) {
  start_at(100);
  tcp_.ssthresh = 1000;
  end_round(BASE_US, 100);
  EXPECT_EQ(tcp_.cwnd, 200U);
  EXPECT_EQ(l_.dwnd_q16, 0U);
  // The first round of the delay window begins where slow start ended.
  tcp_.ssthresh = 200;
  ctcp_grow(&l_, &params_, &tcp_, 1);
  EXPECT_EQ(l_.dwnd_q16, 0U);
  end_round();
  EXPECT_NE(l_.dwnd_q16, 0U);
}

// 1000 x (103.093 - 100) / 103.093 = 30.002, and 29.992 a microsecond before.
TEST_F(Compound, FromGammaPacketsOnTheDelayWindowGivesWayByAsManyAsAreQueued) {
  start_at(1000, 500);
  end_round(103'092);
  EXPECT_EQ(tcp_.cwnd, 1021U);  // 1000^(3/4) / 8 - 1 = 21.2
  start_at(1000, 500);
  end_round(103'093);
  EXPECT_EQ(tcp_.cwnd, 969U);                       // 500 + 500 - 30.002, rounded down
  EXPECT_EQ(l_.dwnd_q16, 32'768'000 - 1'966'213U);  // 1000 x 65536 x 3093 / 103093
  start_at(1000, 20);
  end_round(103'093);
  EXPECT_EQ(tcp_.cwnd, 980U);  // never negative: the sum is not less than Reno's part
  EXPECT_EQ(l_.dwnd_q16, 0U);
  params_.ctcp_zeta_q16 = 32768;
  start_at(1000, 500);
  end_round(125'000);
  EXPECT_EQ(tcp_.cwnd, 900U);  // 200 queued, half of them
  params_.ctcp_gamma_packets = 201;
  start_at(1000, 500);
  end_round(125'000);
  EXPECT_EQ(tcp_.cwnd, 1021U);
}

TEST_F(Compound, UpToTheLowWindowItIsReno) {
  start_at(38, 20);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 38U);
  EXPECT_EQ(l_.dwnd_q16, 0U);
  params_.ctcp_low_window_packets = 0;
  start_at(16, 8);
  end_round();
  EXPECT_EQ(l_.dwnd_q16, packets_q16(8));  // 16^(3/4) = 8: 8 / 8 - 1 = 0
  params_.ctcp_low_window_packets = 1000;
  start_at(1000, 500);
  end_round(125'000);
  EXPECT_EQ(tcp_.cwnd, 1000U);
}

TEST_F(Compound, ALossHalvesRenosPartAndTheSum) {
  start_at(400, 380);
  EXPECT_EQ(lose(), 200U);
  EXPECT_EQ(l_.dwnd_q16, packets_q16(190));  // 200 - 20 / 2
  EXPECT_EQ(ctcp_undo(&l_, &params_, &tcp_), 400U);
  EXPECT_EQ(l_.dwnd_q16, packets_q16(380));
  tcp_ = tcp_of(1, 2);
  EXPECT_EQ(ctcp_ssthresh(&l_, &params_, &tcp_), 2U);
}

TEST_F(Compound, BetaIsWhatALossTakesButNotMoreThanReno) {
  params_.ctcp_beta_q16 = 16384;
  start_at(400, 100);
  EXPECT_EQ(lose(), 300U);
  EXPECT_EQ(l_.dwnd_q16, packets_q16(150));  // 300 - 300 / 2
  params_.ctcp_beta_q16 = 49152;
  start_at(400, 100);
  EXPECT_EQ(lose(), 150U);  // Reno's half of 300, not a quarter of 400
  EXPECT_EQ(l_.dwnd_q16, 0U);
}

// 100 of 500 packets are queued, a fifth: of Reno's 20 that is 4. Gamma = 3/4 x 30 + 1/4 x (3/4 x 4) = 23.25.
TEST_F(Compound, ALossTunesGammaByTheQueueThatRenoWouldHaveHad) {
  start_at(500, 480);
  end_round(125'000);
  lose();
  EXPECT_EQ(l_.gamma_q16, 1'523'712U);
  lose();  // nothing has been measured since
  EXPECT_EQ(l_.gamma_q16, 1'523'712U);
}

TEST_F(Compound, GammaStaysBetweenItsBoundsAndLambdaIsItsWeight) {
  params_.ctcp_lambda_q16 = 65536;
  start_at(500, 480);
  end_round(125'000);
  lose();
  EXPECT_EQ(l_.gamma_q16, packets_q16(5));  // not 3
  params_.ctcp_gamma_low_packets = 2;
  start_at(500, 480);
  end_round(125'000);
  lose();
  EXPECT_EQ(l_.gamma_q16, packets_q16(3));
  start_at(500, 0);
  end_round(125'000);
  lose();
  EXPECT_EQ(l_.gamma_q16, packets_q16(30));  // not 75
  params_.ctcp_lambda_q16 = 0;
  start_at(500, 480);
  end_round(125'000);
  lose();
  EXPECT_EQ(l_.gamma_q16, packets_q16(30));
}

TEST_F(Compound, ATimeoutEndsTheDelayWindowAndForgetsThePath) {
  start_at(500, 400);
  ctcp_on_state(&l_, &params_, &tcp_, CA_STATE_RECOVERY);
  EXPECT_EQ(l_.dwnd_q16, packets_q16(400));
  ctcp_on_state(&l_, &params_, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(l_.dwnd_q16, 0U);
  EXPECT_EQ(l_.queue.base_us, STACK_NO_RTT);
  tcp_.ca_state = CA_STATE_LOSS;  // no sample of a recovery
  ctcp_on_acked(&l_, &params_, &tcp_, 1, 120'000);
  EXPECT_EQ(l_.queue.base_us, STACK_NO_RTT);
  tcp_.ca_state = CA_STATE_OPEN;
  ctcp_on_acked(&l_, &params_, &tcp_, 1, 120'000);
  EXPECT_EQ(l_.queue.base_us, 120'000U);
}

TEST_F(Compound, ARecoveryAndAPauseAreNoRounds) {
  for (const bool is_pause : {false, true}) {
    start_at(500, 400);
    tcp_.una = tcp_.next = 100;
    if (is_pause)
      ctcp_on_event(&l_, &params_, &tcp_, STACK_TX_START);
    else
      ctcp_on_state(&l_, &params_, &tcp_, CA_STATE_OPEN);
    ctcp_grow(&l_, &params_, &tcp_, 1);
    EXPECT_EQ(tcp_.cwnd, 500U);
    EXPECT_EQ(l_.dwnd_q16, packets_q16(400));
  }
  ctcp_on_event(&l_, &params_, &tcp_, STACK_CWND_RESTART);
  EXPECT_EQ(l_.dwnd_q16, 0U);
}

TEST_F(Compound, WhatTcpTakesOfTheWindowIsTakenOfBothPartsBeforeTheyAreUsed) {
  start_at(500, 400);
  tcp_.cwnd = 300;  // less than the delay window
  EXPECT_EQ(lose(), 150U);
  EXPECT_EQ(l_.prior_dwnd_q16, packets_q16(299));
}

// A path of 200 packets with a large buffer. The window fills it quickly; then Reno's part grows by one per
// round trip at the expense of the delay window, the queue stays near gamma, and in the end only Reno is
// left.
TEST_F(Compound, WhilePacketsQueueTheDelayWindowGivesWayToRenos) {
  start_at(60);
  __u64 most_of_it[3] = {};
  for (__u32 round = 0; round < 300; round++) {
    ctcp_grow(&l_, &params_, &tcp_, tcp_.cwnd - 1);
    end_round(static_cast<__u32>(max_u64(BASE_US, BASE_US * tcp_.cwnd / 200)));
    __u64& most = most_of_it[round / 100];
    most = max_u64(most, l_.dwnd_q16 >> 16);
    if (round >= 40 && round < 160) {
      EXPECT_GE(tcp_.cwnd, 199U);
      EXPECT_LE(tcp_.cwnd, 237U);  // below 230 it may grow by 200^(3/4) / 8 - 1 + 1 = 6.6
    }
    if (round >= 180) {  // Reno's 60 packets are 230 after 170 round trips
      EXPECT_EQ(l_.dwnd_q16, 0U);
    }
  }
  EXPECT_GT(most_of_it[0], most_of_it[1] + 50);
  EXPECT_GT(most_of_it[1], 0U);
  EXPECT_EQ(most_of_it[2], 0U);
  EXPECT_NEAR(tcp_.cwnd, 60 + 300, 3);  // one per round trip all along
}

}  // namespace
