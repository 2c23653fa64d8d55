// SPDX-License-Identifier: Apache-2.0
// TCP-Africa against numbers that follow from its two modes.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/africa.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Africa : public testing::Test {
 protected:
  // Past slow start, on a path of 100 ms.
  void start_at(__u32 cwnd, __u32 srtt_us = 100'000) {
    tcp_ = tcp_of(cwnd, 2);
    africa_init(&l_, &params_, &tcp_);
    africa_on_acked(&l_, &params_, &tcp_, 1, 100'000);
    tcp_.srtt_us = srtt_us;
  }
  __u32 window_after(__u32 acked) {
    africa_grow(&l_, &params_, &tcp_, acked);
    return tcp_.cwnd;
  }
  __u32 lose() { return africa_ssthresh(&l_, &params_, &tcp_); }
  cc_params params_ = kDefaults;
  africa l_{};
  cc_stack tcp_ = tcp_of(10);
};

// The window of 1000 is in row 8 of appendix B of RFC 3649 (852 to 1058): a = 8, b = 0.33 (83 / 256).
TEST_F(Africa, IsHighSpeedTcpWithoutAQueue) {
  start_at(1000);
  EXPECT_EQ(window_after(1000), 1008U);
  start_at(38);
  EXPECT_EQ(window_after(38), 39U);
  start_at(1000);
  EXPECT_EQ(lose(), 676U);  // 1000 x 83 / 256 = 324
  EXPECT_EQ(africa_undo(&l_, &params_, &tcp_), 1000U);
}

// 1000 x 0.164 / 100.164 = 1.637 packets are queued, and 1.647 a microsecond later.
TEST_F(Africa, IsRenoFromAlphaPacketsOfQueueOn) {
  start_at(1000, 100'164);
  EXPECT_EQ(window_after(1000), 1008U);
  start_at(1000, 100'165);
  EXPECT_EQ(window_after(1000), 1001U);
  EXPECT_EQ(lose(), 500U);  // of 1001
  tcp_.cwnd = 3;
  tcp_.srtt_us = 300'000;
  EXPECT_EQ(lose(), 2U);
}

TEST_F(Africa, ItsParametersAreAlphaAndWhatALossTakesWithAQueue) {
  params_.africa_alpha_q16 = 3 << 16;
  start_at(1000, 100'165);
  EXPECT_EQ(window_after(1000), 1008U);
  params_ = kDefaults;
  params_.africa_halve = 0;
  start_at(1000, 200'000);
  EXPECT_EQ(window_after(1000), 1001U);
  EXPECT_EQ(lose(), 677U);  // 1001 - 324
}

TEST_F(Africa, BeforeThereIsARoundTripAndInSlowStartItIsReno) {
  start_at(1000);
  africa_init(&l_, &params_, &tcp_);
  EXPECT_EQ(window_after(1000), 1001U);
  EXPECT_EQ(lose(), 500U);
  start_at(1000);
  tcp_.ssthresh = 1500;
  EXPECT_EQ(window_after(100), 1100U);
  tcp_.is_cwnd_limited = 0;
  EXPECT_EQ(window_after(100), 1100U);
}

// A path of 5000 packets: HighSpeed TCP grows by 17 to 20 packets per round trip up to it, then by one.
TEST_F(Africa, FillsAPathAsHighSpeedTcpAndItsQueueAsReno) {
  start_at(4000);
  int rounds = 0;
  for (; tcp_.cwnd < 5000; rounds++) window_after(tcp_.cwnd);
  EXPECT_NEAR(rounds, 53,
              2);  // rows 18 to 20, left at 4177, 4596 and 5036: 177 / 18 + 419 / 19 + 404 / 20 = 52.1
  const __u32 full = tcp_.cwnd;
  for (int i = 0; i < 100; i++) {
    tcp_.srtt_us = static_cast<__u32>(100'000ULL * tcp_.cwnd / 5000);
    window_after(tcp_.cwnd);
  }
  EXPECT_LE(tcp_.cwnd, full + 100 + 19);  // one more fast step at most
  EXPECT_GE(tcp_.cwnd, full + 98);
}

}  // namespace
