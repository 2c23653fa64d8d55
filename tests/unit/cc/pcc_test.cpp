// SPDX-License-Identifier: Apache-2.0
// PCC against numbers that follow from its definition. Round trip 100 ms, packets of 1000 bytes.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/pcc.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

constexpr double kQ16 = 65536;

TEST(PccUtility, TheExponentialIsOffByLessThanTwoTenThousandthsOfIt) {
  for (__u64 z_q16 = 0; z_q16 <= PCC_MAX_EXPONENT_Q16; z_q16 += 7) {
    const double exact = std::exp(static_cast<double>(z_q16) / kQ16);
    ASSERT_NEAR(static_cast<double>(pcc_exp_q16(z_q16)) / kQ16 / exact, 1, 2e-4) << z_q16;
  }
}

TEST(PccUtility, TheSigmoidIsOffByLessThanFiveHundredThousandthsAndNeverRises) {
  __u32 before = Q16_ONE;
  for (__u32 loss_q16 = 0; loss_q16 <= Q16_ONE; loss_q16++) {
    const __u32 sigmoid_q16 = pcc_sigmoid_q16(loss_q16);
    ASSERT_NEAR(sigmoid_q16 / kQ16, 1 / (1 + std::exp(100 * (loss_q16 / kQ16 - 0.05))), 5e-5) << loss_q16;
    ASSERT_LE(sigmoid_q16, before) << loss_q16;
    before = sigmoid_q16;
  }
}

TEST(PccUtility, IsThroughputTimesSigmoidLessWhatIsLost) {
  const double x = 1e6 * kQ16;
  EXPECT_NEAR(pcc_utility(1000000, 0, 100) / x, 0.99331, 1e-4);   // 1 / (1 + e^-5)
  EXPECT_NEAR(pcc_utility(1000000, 1, 99) / x, 0.96219, 2e-4);    // 0.99 / (1 + e^-4) - 0.01
  EXPECT_NEAR(pcc_utility(1000000, 5, 95) / x, 0.425, 1e-3);      // 0.95 / 2 - 0.05
  EXPECT_NEAR(pcc_utility(1000000, 10, 90) / x, -0.09398, 2e-4);  // 0.9 / (1 + e^5) - 0.1
  EXPECT_EQ(pcc_utility(1000000, 100, 0), -65536 * 1000000LL);
  EXPECT_EQ(pcc_utility(2000000, 1, 99), 2 * pcc_utility(1000000, 1, 99));
  EXPECT_EQ(pcc_utility(1000000, 0, 0), pcc_utility(1000000, 0, 100));
}

class Pcc : public ::testing::Test {
 protected:
  Pcc() : tcp_(tcp_of(10)) {
    tcp_.srtt_us = 100 * MS;
    tcp_.delivered = 0xffffff00;  // counters wrap
    pcc_init(&pcc_, &tcp_, 1);
  }

  void ack() {
    const stack_ack ack{};
    pcc_on_ack(&pcc_, &tcp_, &ack);
  }
  // As many packets as the rate of the interval under way allows.
  __u32 full() const {
    const pcc_interval& i = pcc_.intervals[(pcc_.begun - 1) % PCC_TRIALS];
    return static_cast<__u32>(i.bytes_per_s * (pcc_.interval_end_us - i.began_us) / 1000 / SECOND);
  }
  // The interval under way ends after `packets`.
  void send(__u32 packets) {
    tcp_.now_us = pcc_.interval_end_us;
    tcp_.in_flight += packets;
    ack();
  }
  // ... of which `lost` are lost.
  void resolve(__u32 packets, __u32 lost) {
    tcp_.in_flight -= packets;
    tcp_.lost += lost;
    tcp_.delivered += packets - lost;
    ack();
  }
  void run(double loss = 0) {
    const __u32 packets = full();
    send(packets);
    resolve(packets, static_cast<__u32>(std::lround(packets * loss)));
  }
  // The four trials of a decision, with so much lost in those that go up and down.
  void try_all(double up_loss, double down_loss) {
    for (__u32 trial = 0; trial < 4; trial++) run(pcc_trial_goes_up(&pcc_, trial) ? up_loss : down_loss);
  }
  void decide(__u64 base) {
    pcc_.base_bytes_per_s = base;
    pcc_decide_anew(&pcc_, &tcp_, 1);
  }
  __u64 interval_us() const { return pcc_.interval_end_us - tcp_.now_us; }

  cc_stack tcp_;
  pcc pcc_{};
};

TEST_F(Pcc, StartsWithTwoPacketsPerRoundTrip) {
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 20000u);
  EXPECT_EQ(tcp_.cwnd, 8u);            // twice 2 packets, 3 * 19 bytes of pieces: 4, and 4
  EXPECT_EQ(interval_us(), 500 * MS);  // ten packets
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
}

TEST_F(Pcc, DoublesAtEachIntervalWithoutWaitingForItsResult) {
  send(10);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 40000u);
  EXPECT_EQ(interval_us(), 250 * MS);
  tcp_.in_flight += 5;
  resolve(10, 0);
  EXPECT_EQ(pcc_.base_bytes_per_s, 20000u);
  EXPECT_EQ(pcc_.judged, 1u);
  send(5);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 80000u);
  EXPECT_GE(interval_us(), 170 * MS);
  EXPECT_LE(interval_us(), 220 * MS);
}

TEST_F(Pcc, DoublesNoFurtherThanFourIntervalsWithoutAResult) {
  const __u32 sent[] = {10, 10, 20, 40};
  for (const __u32 packets : sent) send(packets);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 160000u);
  tcp_.now_us += 1000 * MS;
  ack();
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 160000u);
  resolve(10, 0);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 320000u);
  EXPECT_EQ(pcc_.base_bytes_per_s, 20000u);
}

TEST_F(Pcc, WhereTheUtilityFallsItReturnsToTheRateBefore) {
  run();
  run(0.1);  // 40,000/s: -0.09 of it is less than 0.99 of 20,000/s
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 20000u);
  EXPECT_EQ(pcc_.epsilon, 1u);
}

TEST_F(Pcc, ALossThatLeavesMoreThanBeforeDoesNotEndTheStart) {
  for (int i = 0; i < 6; i++) run();  // up to 640,000/s: a utility of 0.993 * 640,000
  run(0.04);                          // (0.96 * 0.731 - 0.04) * 1,280,000 = 0.662 * 1,280,000
  EXPECT_EQ(pcc_.state, PCC_STARTING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 1280000u);
  run(0.05);  // 0.425 * 2,560,000
  EXPECT_EQ(pcc_.state, PCC_STARTING);
  run(0.07);  // (0.93 * 0.119 - 0.07) * 5,120,000 = 0.041 * 5,120,000
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 2560000u);
}

TEST_F(Pcc, AnIntervalThatIsNotUsedDoublesNothingAndProvesNothing) {
  run();
  send(7);  // of ten
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 40000u);
  resolve(7, 7);
  EXPECT_EQ(pcc_.state, PCC_STARTING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 20000u);
  send(8);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 80000u);
}

TEST_F(Pcc, TriesHigherAndLowerRatesInTwoPairsAndWaitsAtItsOwn) {
  decide(1000000);
  const bool goes_up[] = {(pcc_.order & 1) != 0, (pcc_.order & 1) == 0, (pcc_.order & 2) != 0,
                          (pcc_.order & 2) == 0};
  for (const bool up : goes_up) {
    EXPECT_EQ(pcc_.bytes_per_s, up ? 1010000u : 990000u);
    send(full());
  }
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1000000u);
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
}

TEST_F(Pcc, TheOrderOfThePairsIsRandom) {
  unsigned seen = 0;
  for (int i = 0; i < 50; i++) {
    decide(1000000);
    seen |= 1U << pcc_.order;
  }
  EXPECT_EQ(seen, 15u);
}

TEST_F(Pcc, IntervalsLastSeventeenToTwentyTwoTenthsOfARoundTrip) {
  __u64 least = ~0ULL, most = 0;
  for (int i = 0; i < 1000; i++) {
    decide(1000000);
    least = std::min(least, interval_us());
    most = std::max(most, interval_us());
  }
  EXPECT_EQ(least, 170 * MS);
  EXPECT_EQ(most, 220 * MS);
}

TEST_F(Pcc, TwoPairsThatAgreeMoveTheRate) {
  decide(1000000);
  try_all(0, 0);
  EXPECT_EQ(pcc_.state, PCC_ADJUSTING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 1010000u);
  EXPECT_EQ(pcc_.utility, pcc_utility(1010000, 0, 1));
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1020100u);  // the first step
  decide(1000000);
  try_all(0.1, 0);
  EXPECT_EQ(pcc_.base_bytes_per_s, 990000u);
  EXPECT_EQ(pcc_.utility, pcc_utility(990000, 0, 1));
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 980100u);
}

TEST_F(Pcc, PairsThatDisagreeAreRepeatedFurtherApart) {
  decide(1000000);
  for (const __u32 epsilon : {1U, 2U, 3U, 4U, 5U, 5U}) {
    EXPECT_EQ(pcc_.epsilon, epsilon);
    EXPECT_EQ(pcc_.bytes_per_s,
              pcc_trial_goes_up(&pcc_, 0) ? 1000000 + 10000 * epsilon : 1000000 - 10000 * epsilon);
    for (__u32 trial = 0; trial < 4; trial++) {
      const bool loses = trial < 2 && pcc_trial_goes_up(&pcc_, trial);  // down in the first pair
      run(loses ? 0.1 : 0);
    }
    EXPECT_EQ(pcc_.state, PCC_DECIDING);
    EXPECT_EQ(pcc_.base_bytes_per_s, 1000000u);
  }
}

TEST_F(Pcc, TrialsThatWereNotUsedAreRepeatedAsTheyWere) {
  decide(1000000);
  run();
  run();
  run();
  const __u32 packets = full() * 74 / 100;
  send(packets);
  resolve(packets, 0);
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  EXPECT_EQ(pcc_.epsilon, 1u);
  EXPECT_EQ(pcc_.begun, 1u);
}

TEST_F(Pcc, StepsBecomeLargerUntilTheUtilityFalls) {
  decide(1000000);
  try_all(0, 0);
  run();  // 1,010,000 * 1.01
  EXPECT_EQ(pcc_.base_bytes_per_s, 1020100u);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1040502u);  // * 1.02
  run();
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1071717u);  // * 1.03
  const __u32 packets = full();
  send(packets);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1071717u);  // until the result is there
  resolve(packets, packets / 10);
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 1040502u);
  EXPECT_EQ(pcc_.epsilon, 1u);
}

TEST_F(Pcc, AStepThatIsNotUsedIsRepeated) {
  decide(1000000);
  try_all(0, 0);
  send(100);
  resolve(100, 100);
  EXPECT_EQ(pcc_.state, PCC_ADJUSTING);
  EXPECT_EQ(pcc_.base_bytes_per_s, 1010000u);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1020100u);
}

TEST_F(Pcc, WhatWasSentBeforeTheIntervalDoesNotCount) {
  tcp_.in_flight = 100;
  decide(1000000);
  resolve(60, 60);
  const __u32 packets = full();
  send(packets);
  resolve(40, 40);
  resolve(packets, 0);
  EXPECT_EQ(pcc_.intervals[0].utility, pcc_utility(pcc_.intervals[0].bytes_per_s, 0, 1));
}

TEST_F(Pcc, ATimeoutHalvesAndAMistakeGivesItBack) {
  decide(1000000);
  tcp_.ca_state = CA_STATE_LOSS;
  pcc_on_timeout(&pcc_, &tcp_);
  EXPECT_EQ(pcc_.base_bytes_per_s, 500000u);
  pcc_on_timeout(&pcc_, &tcp_);
  ack();
  EXPECT_EQ(pcc_.base_bytes_per_s, 250000u);
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  tcp_.cwnd = 7;
  EXPECT_EQ(pcc_undo(&pcc_, &tcp_), 7u);  // the next ACK sets the window
  EXPECT_EQ(pcc_.base_bytes_per_s, 1000000u);
  tcp_.ca_state = CA_STATE_OPEN;
  ack();
  pcc_.base_bytes_per_s = 400000;
  pcc_undo(&pcc_, &tcp_);  // of a recovery, long after
  EXPECT_EQ(pcc_.base_bytes_per_s, 400000u);
  for (int i = 0; i < 10; i++) pcc_on_timeout(&pcc_, &tcp_);
  EXPECT_EQ(pcc_.base_bytes_per_s, 20000u);  // two packets per round trip
}

TEST_F(Pcc, APauseOfTheApplicationEndsTheTrials) {
  decide(1000000);
  run();
  pcc_on_tx_start(&pcc_, &tcp_);
  EXPECT_EQ(pcc_.begun, 2u);
  tcp_.is_app_limited = 1;
  pcc_on_tx_start(&pcc_, &tcp_);
  EXPECT_EQ(pcc_.begun, 1u);
  EXPECT_EQ(pcc_.state, PCC_DECIDING);
  pcc_init(&pcc_, &tcp_, 1);
  run();
  run();
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 80000u);
  pcc_on_tx_start(&pcc_, &tcp_);
  EXPECT_EQ(pcc_.state, PCC_STARTING);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 40000u);  // the best rate known
}

TEST_F(Pcc, RatesAndWindowsHaveBounds) {
  tcp_.max_pacing_bytes_per_s = 1005000;
  tcp_.cwnd_clamp = 100;
  decide(1000000);
  for (__u32 trial = 0; trial < 4; trial++) {
    EXPECT_LE(pcc_.bytes_per_s, 1005000u);
    run();
  }
  EXPECT_EQ(tcp_.cwnd, 100u);
  tcp_.cwnd_clamp = 1000;
  ack();  // 1,005,000/s: 201,000 + 3 * 981 bytes
  EXPECT_EQ(tcp_.cwnd, 203u + 4);
}

// A path that carries 1,000,000 bytes/s and loses so much of everything: what is left of a rate is known.
double rate_on(double wire_loss) {
  cc_stack tcp = tcp_of(10);
  tcp.srtt_us = 100 * MS;
  pcc p{};
  pcc_init(&p, &tcp, 7);
  for (int i = 0; i < 2000; i++) {
    const double rate = static_cast<double>(p.bytes_per_s);
    const __u64 us = p.is_measuring ? p.interval_end_us - tcp.now_us : 100 * MS;
    const auto packets = static_cast<__u32>(std::ceil(rate * us / 1e9));
    const double loss = 1 - (1 - wire_loss) * std::min(1.0, 1e6 / rate);
    const stack_ack ack{};
    tcp.now_us += us;
    tcp.in_flight = packets;
    pcc_on_ack(&p, &tcp, &ack);
    tcp.in_flight = 0;
    tcp.lost += static_cast<__u32>(std::lround(packets * loss));
    tcp.delivered += packets - static_cast<__u32>(std::lround(packets * loss));
    pcc_on_ack(&p, &tcp, &ack);
  }
  return static_cast<double>(p.base_bytes_per_s);
}

TEST(PccSignature, FillsAPathThatLosesLessThanFivePercentAndLeavesOneThatLosesMore) {
  for (const double loss : {0.0, 0.01, 0.03}) EXPECT_NEAR(rate_on(loss), 1e6, 5e4) << loss;
  EXPECT_LT(rate_on(0.08), 1e5);
}

}  // namespace
