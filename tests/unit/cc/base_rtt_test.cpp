// SPDX-License-Identifier: Apache-2.0
#include "cc/base_rtt.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;

class BaseRtt : public ::testing::Test {
 protected:
  void sample(__u32 rtt_us) {
    sample_.rtt_us = rtt_us;
    base_rtt_sample(&base_, &kDefaults, &sample_);
  }
  // A round trip with this least RTT and this window.
  int round(__u32 rtt_us, __u32 cwnd_packets) {
    sample(rtt_us);
    return base_rtt_round(&base_, cwnd_packets);
  }

  cc_sample sample_ = ordinary_ack();
  base_rtt base_{};
};

TEST_F(BaseRtt, IsTheLeastSampleOfTheWindow) {
  EXPECT_EQ(base_rtt_us(&base_), 0u);
  sample(50000);
  sample(40000);
  sample(60000);
  EXPECT_EQ(base_rtt_us(&base_), 40000u);
  sample_.now_us += 31000000;  // the second half of 60 s
  sample(60000);
  EXPECT_EQ(base_rtt_us(&base_), 40000u);
  sample_.now_us += 31000000;
  sample(60000);
  EXPECT_EQ(base_rtt_us(&base_), 60000u);
}

TEST_F(BaseRtt, FollowsALongerPathOnceTheWindowFellAndTheRoundTripDidNot) {
  round(40000, 1000);
  EXPECT_FALSE(round(120000, 1000));
  EXPECT_FALSE(round(120000, 900));
  EXPECT_FALSE(round(121000, 751));  // three rounds, but the window has not fallen by a quarter
  EXPECT_TRUE(round(120000, 750));
  EXPECT_EQ(base_rtt_us(&base_), 120000u);
}

TEST_F(BaseRtt, AQueueThatFallsWithTheWindowIsNoLongerPath) {
  round(40000, 1000);
  for (__u32 cwnd = 1000; cwnd > 400; cwnd -= 50) EXPECT_FALSE(round(cwnd * 120, cwnd)) << cwnd;
  EXPECT_EQ(base_rtt_us(&base_), 40000u);
}

TEST_F(BaseRtt, JitterIsNoLongerPath) {
  round(40000, 1000);
  for (int rounds = 0; rounds < 10; rounds++) EXPECT_FALSE(round(52000, 1000 - 80 * rounds));  // +25 %, +2 ms
}

}  // namespace
