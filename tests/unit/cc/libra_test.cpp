// SPDX-License-Identifier: Apache-2.0
// TCP Libra against numbers that follow from the equations of its paper.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/libra.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Libra : public testing::Test {
 protected:
  // Past slow start, on a path of 100 Mbit/s.
  void start_at(__u32 cwnd, __s64 rtt_us = 100'000) {
    tcp_ = tcp_of(cwnd, 2);
    libra_init(&l_, &params_, &tcp_);
    ack(rtt_us, 0);
    l_.capacity_kbit = 100'000;
  }
  void ack(__s64 rtt_us, __u64 after_us, __u32 packets = 1) {
    tcp_.now_us += after_us;
    libra_on_acked(&l_, &params_, &tcp_, packets, rtt_us);
  }
  void grow(__u32 acked) { libra_grow(&l_, &params_, &tcp_, acked); }
  // Packets acknowledged for each one of growth.
  __u32 per() {
    __u32 acked = 0;
    for (const __u32 before = tcp_.cwnd; tcp_.cwnd == before && acked < 1'000'000; acked++) grow(1);
    return acked;
  }
  cc_params params_ = kDefaults;
  libra l_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Libra, ItsExponentialIsThatOfTheTable) {
  EXPECT_EQ(libra_exp_q16(0), 65536U);
  EXPECT_NEAR(libra_exp_q16(32768), 39749, 2);   // 0.60653
  EXPECT_NEAR(libra_exp_q16(65536), 24109, 2);   // 0.36788
  EXPECT_NEAR(libra_exp_q16(131'072), 8869, 2);  // 0.13534
  EXPECT_NEAR(libra_exp_q16(655'360), 3, 1);     // 0.0000454
}

// alpha = k1 C = 200; 200 x 0.1^2 / (0.1 + 1) = 1.818 packets per round trip: one for 1100 / 1.818 = 605.
TEST_F(Libra, GrowsByTheCapacityAndTheSquareOfTheRoundTrip) {
  start_at(1100);
  EXPECT_EQ(per(), 605U);
  start_at(1100, 1'000'000);  // 200 x 1 / 2 = 100
  EXPECT_EQ(per(), 11U);
  start_at(1000, 1000);  // 200 x 10^-6 / 1.001 = 13.09 / 65536, rounded down: one for 65536000 / 13 = 5041230
  tcp_.cwnd_count = 5'041'000;
  grow(229);
  EXPECT_EQ(tcp_.cwnd, 1000U);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 1001U);
}

TEST_F(Libra, K1AndT0AndTheCapacityAreParameters) {
  params_.libra_scale_q16 = 65536;
  start_at(1100);
  EXPECT_EQ(per(), 1210U);
  params_.libra_capacity_mbit_per_s = 200;
  start_at(1100);
  EXPECT_EQ(per(), 605U);
  params_.libra_t0_ms = 100;  // 200 x 0.01 / 0.2 = 10
  start_at(1100);
  EXPECT_EQ(per(), 110U);
  params_.libra_scale_q16 = 0;
  start_at(1100);
  EXPECT_EQ(per(), 1'000'000U);
}

// Halfway between the least and the largest round trip: 200 x 0.15^2 / 1.15 x e^-1 = 1.4395, and 1000
// / 1.4395 = 694.7.
TEST_F(Libra, AQueueNearItsLargestSlowsTheGrowth) {
  start_at(1000);
  ack(200'000, 1);
  ack(150'000, 1);
  EXPECT_EQ(per(), 694U);
  params_.libra_penalty_q16 = 0;
  start_at(1000);
  ack(200'000, 1);
  ack(150'000, 1);
  EXPECT_EQ(per(), 255U);  // 200 x 0.15^2 / 1.15 = 3.913
  params_.libra_penalty_q16 = 131'072;
  start_at(1000);
  ack(200'000, 1);  // 200 x 0.2^2 / 1.2 x e^-2 = 0.9022
  EXPECT_NEAR(per(), 1108, 1);
}

TEST_F(Libra, ALossTakesHalfOverOnePlusTheRoundTripInSeconds) {
  start_at(1100);
  EXPECT_EQ(libra_ssthresh(&l_, &params_, &tcp_), 600U);  // 1100 / 2.2
  EXPECT_EQ(libra_undo(&l_, &params_, &tcp_), 1100U);
  start_at(1000, 1'000'000);
  EXPECT_EQ(libra_ssthresh(&l_, &params_, &tcp_), 750U);
  params_.libra_t1_ms = 2000;
  EXPECT_EQ(libra_ssthresh(&l_, &params_, &tcp_), 500U);
  params_.libra_t1_ms = 60'000;
  EXPECT_EQ(libra_ssthresh(&l_, &params_, &tcp_), 2U);
  params_ = kDefaults;
  libra_init(&l_, &params_, &tcp_);  // no round trip yet
  EXPECT_EQ(libra_ssthresh(&l_, &params_, &tcp_), 500U);
}

TEST_F(Libra, WithoutACapacityOrARoundTripItIsNewReno) {
  start_at(100);
  l_.capacity_kbit = 0;
  EXPECT_EQ(per(), 100U);
  libra_init(&l_, &params_, &tcp_);
  tcp_.cwnd = 100;
  params_.libra_capacity_mbit_per_s = 100;
  EXPECT_EQ(per(), 100U);
  tcp_ = tcp_of(10);
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 20U);
  tcp_.is_cwnd_limited = 0;
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 20U);
}

// Two packets of 1000 bytes sent at once come 80 us apart from a link of 100 Mbit/s.
TEST_F(Libra, TheCapacityIsThatOfThePairThatTookTheLeastTime) {
  start_at(10);
  l_.capacity_kbit = 0;
  ack(100'000, 5000);
  ack(100'400, 400);  // behind others that came between: 20 Mbit/s
  EXPECT_EQ(l_.capacity_kbit, 20'000U);
  ack(100'000, 5000);
  ack(100'080, 80);
  EXPECT_EQ(l_.capacity_kbit, 100'000U);
  ack(100'100, 5000);  // both queued on their way, and pushed together behind the narrowest link
  ack(100'110, 10);
  EXPECT_EQ(l_.capacity_kbit, 100'000U);
}

TEST_F(Libra, WhatWasSentApartIsNoPair) {
  start_at(10);
  l_.capacity_kbit = 0;
  ack(100'000, 5000);
  ack(99'980, 80);  // sent 100 us after it
  EXPECT_EQ(l_.capacity_kbit, 0U);
  ack(99'990, 80);  // 70 us after it: more than a quarter of 80
  EXPECT_EQ(l_.capacity_kbit, 0U);
  ack(100'071, 80);  // before it: the order was changed
  EXPECT_EQ(l_.capacity_kbit, 0U);
  ack(100'131, 80);  // 20 us after it
  EXPECT_EQ(l_.capacity_kbit, 100'000U);
}

TEST_F(Libra, AnAckForTwoIsATrainAndOneWithoutARoundTripEndsIt) {
  start_at(10);
  l_.capacity_kbit = 0;
  ack(100'000, 5000);
  ack(100'160, 160, 2);
  EXPECT_EQ(l_.capacity_kbit, 100'000U);
  l_.capacity_kbit = 0;
  l_.pair_sum_us = STACK_NO_RTT;
  ack(-1, 10);
  ack(100'000, 80);
  EXPECT_EQ(l_.capacity_kbit, 0U);
  ack(100'000, 0);      // two ACKs at once say nothing
  ack(100'010, 10, 0);  // nor does one that acknowledges nothing
  EXPECT_EQ(l_.capacity_kbit, 0U);
}

// Rates w / T grow by alpha / (T + T0) per second: 200 / 1.02 and 200 / 1.2 packets/s. With Reno the one with
// a tenth of the round trip grows a hundred times as fast.
TEST_F(Libra, TheRateGrowsAlmostAlikeWhateverTheRoundTrip) {
  double rate_growth[2];
  int i = 0;
  for (const __s64 rtt_us : {20'000, 200'000}) {
    start_at(static_cast<__u32>(rtt_us / 1000), rtt_us);  // 1000 packets/s
    const double before = tcp_.cwnd;
    for (__s64 t = 0; t < 10'000'000; t += rtt_us) grow(tcp_.cwnd);
    rate_growth[i++] = (tcp_.cwnd - before) / (static_cast<double>(rtt_us) / 1e6) / 10;
  }
  EXPECT_NEAR(rate_growth[0], 196, 10);
  EXPECT_NEAR(rate_growth[1], 167, 10);
}

}  // namespace
