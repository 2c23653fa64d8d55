// SPDX-License-Identifier: Apache-2.0
// TCP-Illinois against numbers worked out from Linux's form of its definition.
#include <gtest/gtest.h>

#include <vector>

#define _Static_assert static_assert
#include "cc/illinois.h"
#undef _Static_assert

#include "stack_path.hpp"
#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

constexpr __s64 BASE_US = 50'000;
constexpr __s64 MOST_US = 10'000;  // of delay: thresholds at 100, 1000 and 8000 us

class Illinois : public testing::Test {
 protected:
  Illinois() { illinois_init(&l_, &params_, &tcp_); }
  void acked(__u32 packets, __s64 rtt_us = -1) { illinois_on_acked(&l_, &params_, &tcp_, packets, rtt_us); }
  void grow(__u32 packets = 0) { illinois_grow(&l_, &params_, &tcp_, packets); }
  // A round trip with a sample for each delay; its ACKs acknowledge nothing, so that nothing grows.
  void round(const std::vector<__s64>& delays_us) {
    for (const __s64 delay_us : delays_us) acked(0, BASE_US + delay_us);
    tcp_.una = tcp_.next + 1;
    tcp_.next += 1000;
    grow();
    tcp_.cwnd_count = 0;
  }
  // As after some time on a path whose queue holds 10 ms.
  void learn() { round({0, MOST_US}); }
  // The window after it has been acknowledged once.
  __u32 grown(__u32 cwnd) {
    tcp_.cwnd = cwnd;
    tcp_.cwnd_count = 0;
    acked(cwnd);
    grow();
    return tcp_.cwnd;
  }
  __u32 left(__u32 cwnd) {
    tcp_.cwnd = cwnd;
    return illinois_ssthresh(&l_, &params_, &tcp_);
  }
  cc_params params_ = kDefaults;
  illinois l_{};
  cc_stack tcp_ = tcp_of(100, 2);
};

TEST_F(Illinois, AlphaFallsAndBetaRisesWithTheDelay) {
  learn();
  struct Row {
    __s64 delay_us;
    __u32 alpha_q7, beta_q6;
  };
  // alpha = 9900 * 1280 / (9900 + (delay - 100) * 1242 / 38), beta = (8 (8000 - delay) + 32 (delay - 1000)) /
  // 7000
  const Row rows[] = {
      {101, 1275, 8},     // 12672000 / (9900 + 32)
      {1000, 322, 8},     // 12672000 / (9900 + 29415)
      {1100, 297, 8},     // 12672000 / (9900 + 32684); 58400 / 7000 = 8.3
      {4500, 82, 20},     // 12672000 / (9900 + 143810); 140000 / 7000
      {7999, 47, 31},     // 12672000 / (9900 + 258172); 223976 / 7000 = 31.997
      {8000, 47, 32},     // 12672000 / (9900 + 258205)
      {MOST_US, 38, 32},  // 12672000 / (9900 + 323573)
  };
  for (const Row& row : rows) {
    round({row.delay_us});
    EXPECT_EQ(l_.alpha_q7, row.alpha_q7) << row.delay_us;
    EXPECT_EQ(l_.beta_q6, row.beta_q6) << row.delay_us;
  }
}

TEST_F(Illinois, TheMeanDelayOfARoundTripCounts) {
  learn();  // 5000: 12672000 / (9900 + 160152) = 74.5; (24000 + 128000) / 7000 = 21.7
  EXPECT_EQ(l_.alpha_q7, 74U);
  EXPECT_EQ(l_.beta_q6, 21U);
  round({1000, 3000, 9500});  // 4500
  EXPECT_EQ(l_.alpha_q7, 82U);
  EXPECT_EQ(l_.beta_q6, 20U);
}

TEST_F(Illinois, GrowsByTenPacketsPerRoundTripWithoutAQueue) {
  EXPECT_EQ(grown(100), 110U);  // from the beginning
  round({0});
  EXPECT_EQ(grown(100), 110U);
  EXPECT_EQ(left(100), 88U);  // 100 * 8 / 64 = 12
}

TEST_F(Illinois, GrowsByThreeTenthsOfAPacketBehindTheLongestQueueAndHalvesThere) {
  learn();
  round({MOST_US});
  tcp_.cwnd = 100;
  tcp_.cwnd_count = 0;
  for (int i = 0; i < 336; ++i) {  // 336 * 38 / 128 = 99.75
    acked(1);
    grow();
  }
  EXPECT_EQ(tcp_.cwnd, 100U);
  acked(1);
  grow();  // 337 * 38 / 128 = 100.05
  EXPECT_EQ(tcp_.cwnd, 101U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  EXPECT_EQ(left(101), 51U);  // 101 * 32 / 64 = 50
  tcp_.cwnd = 51;
  EXPECT_EQ(illinois_undo(&l_, &params_, &tcp_), 101U);
  EXPECT_EQ(left(2), 2U);
}

TEST_F(Illinois, AnAckThatShowsNoPacketsCountsAsOne) {
  params_.illinois_alpha_max_q7 = 128;
  illinois_init(&l_, &params_, &tcp_);
  acked(98);
  grow();
  grow();
  EXPECT_EQ(tcp_.cwnd, 100U);
  EXPECT_EQ(tcp_.cwnd_count, 99U);
  grow();
  EXPECT_EQ(tcp_.cwnd, 101U);
}

TEST_F(Illinois, AfterAQueueFiveRoundTripsWithoutOneBringFullGrowthBack) {
  learn();
  for (int i = 0; i < 4; ++i) round({100});  // up to the threshold
  EXPECT_EQ(l_.alpha_q7, 74U);
  EXPECT_EQ(l_.beta_q6, 8U);  // a loss takes less at once
  round({4500});              // does not begin the count again
  EXPECT_EQ(l_.alpha_q7, 82U);
  round({100});
  EXPECT_EQ(l_.alpha_q7, 1280U);
  round({4500});
  for (int i = 0; i < 4; ++i) round({0});
  EXPECT_EQ(l_.alpha_q7, 82U);
  round({0});
  EXPECT_EQ(l_.alpha_q7, 1280U);
}

TEST_F(Illinois, IsRenoBelowFifteenPackets) {
  tcp_.cwnd = 14;
  learn();
  EXPECT_EQ(grown(14), 15U);
  EXPECT_EQ(left(14), 7U);
  tcp_.cwnd = 15;
  round({0});
  EXPECT_EQ(grown(15), 25U);
  EXPECT_EQ(left(100), 88U);
}

TEST_F(Illinois, ARoundTripWithoutSamplesChangesNothing) {
  learn();
  round({-BASE_US - 1});
  EXPECT_EQ(l_.alpha_q7, 74U);
  EXPECT_EQ(l_.beta_q6, 21U);
  EXPECT_EQ(l_.base_us, 50'000U);
}

TEST_F(Illinois, ChangesOncePerRoundTrip) {
  learn();
  acked(0, BASE_US + MOST_US);
  tcp_.una = tcp_.next;  // all that had been sent before, and nothing since
  grow();
  EXPECT_EQ(l_.alpha_q7, 74U);
  tcp_.una++;
  grow();
  EXPECT_EQ(l_.alpha_q7, 38U);
}

TEST_F(Illinois, BeginsAsRenoAfterATimeout) {
  learn();
  acked(0, BASE_US + MOST_US);
  illinois_on_state(&l_, &params_, &tcp_, CA_STATE_RECOVERY);
  EXPECT_EQ(l_.alpha_q7, 74U);
  illinois_on_state(&l_, &params_, &tcp_, CA_STATE_LOSS);
  EXPECT_EQ(grown(100), 101U);
  EXPECT_EQ(left(100), 50U);
  round({0});  // neither the sample nor the queue of before counts any more
  EXPECT_EQ(l_.alpha_q7, 1280U);
  EXPECT_EQ(l_.beta_q6, 8U);
}

TEST_F(Illinois, SlowStartIsThatOfRenoAndOnlyAUsedWindowGrows) {
  tcp_.ssthresh = 110;
  acked(7);
  grow(7);
  EXPECT_EQ(tcp_.cwnd, 107U);
  grow(7);
  EXPECT_EQ(tcp_.cwnd, 110U);  // what it leaves is not counted
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  tcp_.is_cwnd_limited = 0;
  EXPECT_EQ(grown(200), 200U);
  learn();  // the delay is looked at all the same
  EXPECT_EQ(l_.alpha_q7, 74U);
  tcp_.is_cwnd_limited = 1;
  tcp_.ssthresh = 2;
  tcp_.cwnd_clamp = 125;
  for (int i = 0; i < 5; ++i) round({0});
  EXPECT_EQ(grown(120), 125U);
}

TEST_F(Illinois, ItsParametersAreTheBoundsOfAlphaAndBetaAndWhenTheyCount) {
  params_.illinois_alpha_max_q7 = 640;
  params_.illinois_alpha_min_q7 = 64;
  params_.illinois_beta_min_q6 = 16;
  params_.illinois_beta_max_q6 = 48;
  params_.illinois_reno_packets = 50;
  params_.illinois_theta_rounds = 2;
  illinois_init(&l_, &params_, &tcp_);
  EXPECT_EQ(l_.alpha_q7, 640U);
  learn();
  round({MOST_US});
  EXPECT_EQ(l_.alpha_q7, 64U);
  EXPECT_EQ(l_.beta_q6, 48U);
  round({4500});  // 9900 * 640 / (9900 + 4400 * 576 / 64) = 6336000 / 49500
  EXPECT_EQ(l_.alpha_q7, 128U);
  EXPECT_EQ(l_.beta_q6, 32U);  // (16 * 3500 + 48 * 3500) / 7000
  round({0});
  EXPECT_EQ(l_.alpha_q7, 128U);
  EXPECT_EQ(l_.beta_q6, 16U);
  round({0});
  EXPECT_EQ(l_.alpha_q7, 640U);
  tcp_.cwnd = 49;
  round({0});
  EXPECT_EQ(l_.alpha_q7, 128U);
  EXPECT_EQ(l_.beta_q6, 32U);
}

TEST_F(Illinois, KeepsToItsBoundsWhenTheyAreTheWrongWayRound) {
  params_.illinois_alpha_max_q7 = 64;
  params_.illinois_alpha_min_q7 = 128;
  learn();
  round({4500});
  EXPECT_EQ(l_.alpha_q7, 64U);
}

// A flow alone on a path of 1000 packets, with a queue that was seen to hold as many: from 100 to 200 ms.
class IllinoisOnAPath : public testing::Test {
 protected:
  IllinoisOnAPath() {
    illinois_init(&l_, &kDefaults, &tcp_);
    illinois_on_acked(&l_, &kDefaults, &tcp_, 1, 200'000);
  }
  int round_trips_until(__u32 cwnd) {
    int round_trips = 0;
    while (tcp_.cwnd < cwnd) {
      path_.fill(tcp_);
      illinois_on_acked(&l_, &kDefaults, &tcp_, 1, path_.acknowledge(tcp_));
      round_trips += wrap_diff_u32(tcp_.una, l_.end) > 0;
      illinois_grow(&l_, &kDefaults, &tcp_, 1);
    }
    return round_trips;
  }
  illinois l_{};
  cc_stack tcp_ = tcp_of(700, 2);
  StackPath path_{100, 100'000};
};

TEST_F(IllinoisOnAPath, GrowsFastUntilThereIsAQueueAndEverSlowerWhileItFills) {
  round_trips_until(900);
  EXPECT_NEAR(round_trips_until(1000), 10, 1);
  round_trips_until(1500);
  EXPECT_NEAR(round_trips_until(1550), 90, 5);  // at 52.5 ms: 99 * 10 / (99 + 51.5 * 32.7) = 0.555 each
  round_trips_until(1900);
  EXPECT_NEAR(round_trips_until(1950), 156, 8);  // at 92.5 ms: 99 * 10 / (99 + 91.5 * 32.7) = 0.320 each
}

}  // namespace
