// SPDX-License-Identifier: Apache-2.0
// How BBR recognises a token bucket.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/bbr_policer.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class BbrPolicer : public testing::Test {
 protected:
  BbrPolicer() { bbr_policer_reset(&p_, &tcp_); }
  // A round trip of 100 ms.
  bbr_policing round(__u32 delivered, __u32 lost, int is_app_limited = 0) {
    tcp_.delivered_us += 100 * MS;
    tcp_.delivered += delivered;
    tcp_.lost += lost;
    return bbr_policer_on_ack(&p_, &tcp_, lost, is_app_limited, 1, 1);
  }
  // Three rounds without loss, the fourth with.
  bbr_policing interval(__u32 delivered, __u32 lost) {
    for (int i = 0; i < 3; ++i) round(delivered, 0);
    return round(delivered, lost);
  }
  static constexpr __u32 per_ms(double packets) {
    return static_cast<__u32>(packets * (1U << BBR_BW_SHIFT) / 1000);
  }
  bbr_policer p_{};
  cc_stack tcp_ = tcp_of(100);
};

TEST_F(BbrPolicer, TwoIntervalsOfTheSameRateWithAFifthLost) {
  round(100, 1);  // sampling begins with a loss, and counts this round
  EXPECT_TRUE(p_.is_sampling);
  EXPECT_EQ(p_.rounds, 1U);
  round(100, 0);
  round(100, 0);
  EXPECT_EQ(round(100, 60), BBR_POLICING_AS_BEFORE);  // 60 of 300, more than 50 / 256
  EXPECT_NEAR(p_.bw, per_ms(1), 2);                   // 300 in 300 ms
  EXPECT_EQ(interval(110, 90), BBR_POLICING_FOUND);   // 440 in 400 ms: within an eighth
  EXPECT_TRUE(p_.is_in_use);
  EXPECT_NEAR(p_.bw, per_ms(1.05), 2);
}

TEST_F(BbrPolicer, RatesMoreThanAnEighthApartAreNotThoseOfOneBucket) {
  round(100, 1);
  round(100, 0);
  round(100, 0);
  round(100, 60);
  EXPECT_EQ(interval(113, 100), BBR_POLICING_AS_BEFORE);
  EXPECT_NEAR(p_.bw, per_ms(1.13), 2);
  EXPECT_EQ(interval(113, 100), BBR_POLICING_FOUND);
}

TEST_F(BbrPolicer, FourKilobitsApartIsTheSameToo) {
  // In steps of 59 bytes/s, at 99 %; an eighth of 40 is 5.
  EXPECT_TRUE(bbr_policer_is_same(48, 40, 1000));  // 472
  EXPECT_TRUE(bbr_policer_is_same(40, 48, 1000));
  EXPECT_FALSE(bbr_policer_is_same(49, 40, 1000));  // 531
}

TEST_F(BbrPolicer, FewerLossesThanAFifthOnlyWait) {
  round(100, 1);
  round(100, 0);
  round(100, 0);
  EXPECT_EQ(round(100, 58), BBR_POLICING_AS_BEFORE);  // 58 * 256 < 50 * 300
  EXPECT_EQ(p_.bw, 0U);
  EXPECT_EQ(p_.rounds, 4U);
  EXPECT_EQ(round(100, 21), BBR_POLICING_AS_BEFORE);  // 79 of 400, more than 78.1
  EXPECT_NE(p_.bw, 0U);
}

TEST_F(BbrPolicer, AnIntervalEndsAfterFourRoundsAtALossAndAfterSixteenInAnyCase) {
  round(100, 100);
  round(100, 100);
  round(100, 100);
  EXPECT_EQ(p_.bw, 0U);
  for (int i = 3; i < 16; ++i) round(100, 0);
  EXPECT_TRUE(p_.is_sampling);
  EXPECT_EQ(p_.bw, 0U);
  round(100, 100);
  EXPECT_FALSE(p_.is_sampling);
}

TEST_F(BbrPolicer, WhatTheApplicationLimitsSaysNothing) {
  round(100, 60);
  round(100, 0, 1);
  EXPECT_FALSE(p_.is_sampling);
}

TEST_F(BbrPolicer, LessThanAMillisecondIsNoInterval) {
  p_.is_sampling = 1;
  p_.rounds = 3;
  tcp_.delivered += 100;
  tcp_.lost += 50;
  bbr_policer_on_ack(&p_, &tcp_, 50, 0, 1, 1);
  EXPECT_EQ(p_.bw, 0U);
}

TEST_F(BbrPolicer, AfterFortyEightRoundsOfProbeBwItProbesAgain) {
  p_.is_in_use = 1;
  p_.bw = 1000;
  EXPECT_EQ(bbr_policer_on_ack(&p_, &tcp_, 0, 0, 1, 0), BBR_POLICING_AS_BEFORE);
  for (int i = 0; i < 47; ++i) ASSERT_EQ(round(100, 0), BBR_POLICING_AS_BEFORE);
  EXPECT_EQ(round(100, 0), BBR_POLICING_OVER);
  EXPECT_FALSE(p_.is_in_use);
  EXPECT_EQ(p_.bw, 0U);
}

}  // namespace
