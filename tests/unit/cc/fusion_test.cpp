// SPDX-License-Identifier: Apache-2.0
// TCP-Fusion against numbers that follow from the equations of its paper.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/fusion.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Fusion : public testing::Test {
 protected:
  // Past slow start, on a path of 100 ms that delivers 10000 packets/s: Winc is 10 packets.
  void start_at(__u32 cwnd, __u32 reno_cwnd = 2) {
    tcp_ = tcp_of(cwnd, 2);
    fusion_init(&l_, &params_, &tcp_);
    deliver(1000, 100);
    l_.reno_cwnd = reno_cwnd;
  }
  // A round trip of so many ms in which so many packets arrive.
  void deliver(__u32 packets, __u64 ms) {
    tcp_.now_us += ms * MS;
    tcp_.delivered += packets;
    fusion_on_acked(&l_, &params_, &tcp_, 1, static_cast<__s64>(ms * MS));
  }
  void set_rtt(__s64 rtt_us) { fusion_on_acked(&l_, &params_, &tcp_, 1, rtt_us); }
  void grow(__u32 acked) { fusion_grow(&l_, &params_, &tcp_, acked); }
  __u32 lose() { return fusion_ssthresh(&l_, &params_, &tcp_); }
  cc_params params_ = kDefaults;
  fusion l_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Fusion, TheBandwidthIsWhatArrivesInARoundTripSmoothedByAnEighth) {
  start_at(1000);
  EXPECT_EQ(l_.rate_q16, packets_q16(10'000));
  deliver(200, 50);
  EXPECT_EQ(l_.rate_q16, packets_q16(9250));  // 7/8 x 10000 + 1/8 x 4000
  tcp_.now_us += 49 * MS;
  set_rtt(50'000);  // not yet a round trip
  EXPECT_EQ(l_.rate_q16, packets_q16(9250));
}

TEST_F(Fusion, APauseIsNoSample) {
  start_at(1000);
  tcp_.now_us += 10 * SECOND;
  fusion_on_event(&l_, &params_, &tcp_, STACK_CWND_RESTART);
  fusion_on_event(&l_, &params_, &tcp_, STACK_TX_START);
  deliver(1000, 100);
  EXPECT_EQ(l_.rate_q16, packets_q16(10'000));
}

TEST_F(Fusion, GrowsByWhatThePathDeliversInAMillisecondWhileTheQueueIsBelowFour) {
  start_at(1000);
  grow(1000);
  EXPECT_EQ(tcp_.cwnd, 1010U);
  start_at(1000);
  for (int i = 0; i < 100; i++) grow(1);  // 10 / 1000 each; over 1001 at last
  EXPECT_EQ(tcp_.cwnd, 1000U);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 1001U);
  start_at(1000);
  set_rtt(103'999);
  grow(1000);
  EXPECT_EQ(tcp_.cwnd, 1010U);
  params_.fusion_increment_us = 2000;
  start_at(1000);
  grow(1000);
  EXPECT_EQ(tcp_.cwnd, 1020U);
}

TEST_F(Fusion, StaysAsItIsWithFourToTwelveMillisecondsOfQueue) {
  for (const __s64 rtt_us : {104'000, 108'000, 112'000}) {
    start_at(1000);
    set_rtt(rtt_us);
    grow(1000);
    EXPECT_EQ(tcp_.cwnd, 1000U) << rtt_us;
  }
  params_.fusion_queue_us = 10'000;
  start_at(1000);
  set_rtt(108'000);
  grow(1000);
  EXPECT_EQ(tcp_.cwnd, 1010U);
}

// 120 ms: of 1200 packets 200 are queued, and alpha is 1200 x 4 / 120 = 40.
TEST_F(Fusion, ShrinksToAlphaPacketsOfQueueAboveThat) {
  start_at(1200);
  set_rtt(120'000);
  grow(1200);
  EXPECT_EQ(tcp_.cwnd, 1040U);
  start_at(1200);
  set_rtt(120'000);
  grow(1);  // 160 / 1200 of a packet
  EXPECT_EQ(tcp_.cwnd, 1199U);
  EXPECT_NEAR(l_.fraction_q32 / 4294967296.0, 1 - 160.0 / 1200, 1e-4);
  params_.fusion_queue_us = 6000;  // alpha = 60
  start_at(1200);
  set_rtt(120'000);
  grow(1200);
  EXPECT_EQ(tcp_.cwnd, 1060U);
}

TEST_F(Fusion, IsNeverLessThanReno) {
  start_at(1200, 1199);
  set_rtt(120'000);
  grow(1199);
  EXPECT_EQ(tcp_.cwnd, 1199U);
  grow(1200);  // what is left makes a window of 1199 twice: 1199 of 2399, one packet more each
  EXPECT_EQ(l_.reno_cwnd, 1201U);
  EXPECT_EQ(tcp_.cwnd, 1201U);
  start_at(3);
  set_rtt(1'000'000);
  grow(300);
  EXPECT_EQ(tcp_.cwnd, 102U);  // Reno's 2, and one for each three acknowledged
  start_at(2);
  set_rtt(1'000'000);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 2U);
}

TEST_F(Fusion, SlowStartIsRenosAndAnUnusedWindowDoesNotGrow) {
  start_at(1000);
  tcp_.ssthresh = 1500;
  l_.fraction_q32 = 1;
  grow(400);
  EXPECT_EQ(tcp_.cwnd, 1400U);
  EXPECT_EQ(l_.reno_cwnd, 1400U);
  EXPECT_EQ(l_.fraction_q32, 0U);
  tcp_.is_cwnd_limited = 0;
  grow(400);
  EXPECT_EQ(tcp_.cwnd, 1400U);
}

TEST_F(Fusion, TheClampIsTheMost) {
  start_at(1000);
  tcp_.cwnd_clamp = 1005;
  grow(1000);
  EXPECT_EQ(tcp_.cwnd, 1005U);
}

TEST_F(Fusion, ALossTakesWhatIsQueuedAndAtMostHalf) {
  start_at(1000);
  EXPECT_EQ(lose(), 1000U);  // nothing is queued: not congestion
  set_rtt(125'000);
  EXPECT_EQ(lose(), 800U);
  set_rtt(300'000);
  EXPECT_EQ(lose(), 500U);
  EXPECT_EQ(fusion_undo(&l_, &params_, &tcp_), 1000U);
  params_.fusion_least_q16 = 16384;
  EXPECT_EQ(lose(), 333U);
  tcp_.cwnd = 1;
  EXPECT_EQ(lose(), 2U);
}

TEST_F(Fusion, WithoutARoundTripALossHalves) {
  fusion_init(&l_, &params_, &tcp_);
  EXPECT_EQ(lose(), 5U);
}

TEST_F(Fusion, ALossHalvesRenosWindowOfWhichTheLargerOneIsNotLess) {
  start_at(1000, 900);
  set_rtt(125'000);
  EXPECT_EQ(lose(), 800U);
  EXPECT_EQ(l_.reno_cwnd, 450U);
  EXPECT_EQ(fusion_undo(&l_, &params_, &tcp_), 1000U);
  EXPECT_EQ(l_.reno_cwnd, 900U);
  params_.fusion_least_q16 = 1;
  set_rtt(1'000'000);
  EXPECT_EQ(lose(), 450U);
}

TEST_F(Fusion, FillsAPathGeometricallyAndThenStaysWithASmallQueue) {
  start_at(500);
  int rounds_to_fill = 0;
  __u32 filled = 0;
  for (int round = 0; round < 200; round++) {
    const __u64 ms = max_u64(100, tcp_.cwnd / 10);  // 1000 packets fill it
    deliver(static_cast<__u32>(min_u64(tcp_.cwnd, ms * 10)), ms);
    grow(tcp_.cwnd);
    rounds_to_fill += tcp_.cwnd < 1000;
    if (round == 150) filled = tcp_.cwnd;
  }
  // Winc is 1 % of a window that does not fill the path: ln 2 / ln 1.01 = 70, and fewer as the rate lags at
  // first.
  EXPECT_NEAR(rounds_to_fill, 68, 5);
  EXPECT_GE(filled, 1040U);  // 4 ms
  EXPECT_LE(filled, 1050U);  // and a last step of 10
  EXPECT_EQ(tcp_.cwnd, filled);
}

}  // namespace
