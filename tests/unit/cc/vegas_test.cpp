// SPDX-License-Identifier: Apache-2.0
// TCP Vegas against numbers worked out from Linux's form of its definition.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/vegas.h"
#undef _Static_assert

#include "stack_path.hpp"
#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Vegas : public testing::Test {
 protected:
  Vegas() { vegas_init(&l_, &params_, &tcp_); }
  void acked(__s64 rtt_us, int times = 1) {
    for (int i = 0; i < times; ++i) vegas_on_acked(&l_, &params_, &tcp_, 1, rtt_us);
  }
  // The ACK that ends a round trip.
  void end_round(__u32 packets = 1) {
    tcp_.una = tcp_.next + 1;
    tcp_.next += 1000;
    vegas_grow(&l_, &params_, &tcp_, packets);
  }
  // A round trip with three samples. Vegas adds 1 us to each, hence the -1: the numbers below are what it
  // sees.
  void round(__u64 rtt_us, __u32 packets = 1) {
    acked(static_cast<__s64>(rtt_us) - 1, 3);
    end_round(packets);
  }
  // The window after a round trip that began with `cwnd`.
  __u32 window_after(__u64 rtt_us, __u32 cwnd) {
    tcp_.cwnd = cwnd;
    round(rtt_us);
    return tcp_.cwnd;
  }
  cc_params params_ = kDefaults;
  vegas l_{};
  cc_stack tcp_ = tcp_of(100, 50);
};

TEST_F(Vegas, AddsAPacketBelowTwoInQueuesAndTakesOneAboveFour) {
  EXPECT_EQ(window_after(100'000, 100), 101U);  // the base: nothing queued
  EXPECT_EQ(window_after(101'999, 100), 101U);  // 100 * 1999 / 100000 = 1
  EXPECT_EQ(window_after(102'000, 100), 100U);  // 2
  EXPECT_EQ(window_after(104'999, 100), 100U);  // 4
  EXPECT_EQ(window_after(105'000, 100), 99U);   // 5
}

TEST_F(Vegas, RelatesTheQueueToTheEmptyPath) {
  round(100'000);
  tcp_.ssthresh = 2;
  EXPECT_EQ(window_after(149'000, 10), 10U);  // 10 * 49 / 100 = 4
  EXPECT_EQ(window_after(150'000, 10), 9U);   // 5; of the last round trip it would be 10 * 50 / 150 = 3
}

TEST_F(Vegas, TheEarliestAckOfARoundTripCounts) {
  round(100'000);
  tcp_.cwnd = 100;
  acked(300'000, 20);
  acked(99'999);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 101U);
  EXPECT_EQ(window_after(300'000, 100), 99U);  // of this round trip, not of an earlier one
}

TEST_F(Vegas, ChangesTheWindowOncePerRoundTrip) {
  acked(99'999, 3);
  tcp_.una = tcp_.next;  // all that had been sent before, and nothing since
  vegas_grow(&l_, &params_, &tcp_, 1);
  EXPECT_EQ(tcp_.cwnd, 100U);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 101U);
}

TEST_F(Vegas, CountsLargeWindowsInFull) {
  round(100'000);
  // 42950 * 100000 is 32704 above 2^32: in 32 bits nothing would be queued.
  EXPECT_EQ(window_after(200'000, 42'950), 42'949U);
}

TEST_F(Vegas, TheThresholdFollowsTheWindow) {
  tcp_.ssthresh = 2;
  EXPECT_EQ(window_after(100'000, 101), 102U);
  EXPECT_EQ(tcp_.ssthresh, 76U);  // 51 + 25
  tcp_.ssthresh = 100;
  EXPECT_EQ(window_after(200'000, 100), 99U);
  EXPECT_EQ(tcp_.ssthresh, 99U);  // else it would be slow start
}

TEST_F(Vegas, SlowStartDoublesUntilMoreThanAPacketIsQueued) {
  tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  round(100'000, 5);
  EXPECT_EQ(tcp_.cwnd, 105U);
  acked(199'999);
  vegas_grow(&l_, &params_, &tcp_, 7);  // within the round trip
  EXPECT_EQ(tcp_.cwnd, 112U);
  tcp_.cwnd = 100;
  acked(101'998, 2);
  end_round(5);  // 100 * 1999 / 100000 = 1
  EXPECT_EQ(tcp_.cwnd, 105U);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
}

TEST_F(Vegas, SlowStartEndsAtTheRateThatCameThrough) {
  tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  round(100'000, 0);
  EXPECT_EQ(window_after(160'000, 100), 63U);  // 100 * 100 / 160 = 62.5, and 1
  EXPECT_EQ(tcp_.ssthresh, 63U);
}

TEST_F(Vegas, TwoSamplesAreTooFewAndItGrowsAsReno) {
  round(100'000);
  for (int i = 0; i < 2; ++i) {  // those of the round trip before do not count
    tcp_.cwnd = 100;
    tcp_.cwnd_count = 0;
    acked(300'000, 2);
    acked(-1, 5);  // no samples
    end_round(100);
    EXPECT_EQ(tcp_.cwnd, 101U);
  }
  tcp_.is_cwnd_limited = 0;
  tcp_.cwnd = 100;
  acked(300'000, 2);
  end_round(100);
  EXPECT_EQ(tcp_.cwnd, 100U);
}

TEST_F(Vegas, IsRenoWhileLossesAreRepaired) {
  round(100'000);
  tcp_.cwnd = 100;
  vegas_on_state(&l_, &params_, &tcp_, CA_STATE_RECOVERY);
  round(300'000, 100);
  EXPECT_EQ(tcp_.cwnd, 101U);
  acked(299'999, 3);
  vegas_on_state(&l_, &params_, &tcp_, CA_STATE_OPEN);
  tcp_.una = tcp_.next;
  vegas_grow(&l_, &params_, &tcp_, 1);  // sent before
  EXPECT_EQ(tcp_.cwnd, 101U);
  acked(299'999, 2);
  end_round(1);  // the three samples from before are forgotten, so that Reno counts this packet
  EXPECT_EQ(tcp_.cwnd, 101U);
  EXPECT_EQ(tcp_.cwnd_count, 1U);
  round(300'000);
  EXPECT_EQ(tcp_.cwnd, 100U);
}

TEST_F(Vegas, MeasuresThePathAnewAfterAPause) {
  for (const stack_event event : {STACK_TX_START, STACK_CWND_RESTART}) {
    round(100'000);
    vegas_on_event(&l_, &params_, &tcp_, event);
    EXPECT_EQ(window_after(200'000, 100), 101U);
  }
  round(100'000);
  vegas_on_event(&l_, &params_, &tcp_, STACK_COMPLETE_CWR);
  EXPECT_EQ(window_after(200'000, 100), 99U);
}

TEST_F(Vegas, KeepsBetweenTwoPacketsAndTheClamp) {
  tcp_.ssthresh = 2;
  tcp_.cwnd_clamp = 100;
  EXPECT_EQ(window_after(100'000, 100), 100U);
  EXPECT_EQ(window_after(400'000, 2), 2U);  // 2 * 300 / 100 = 6
}

TEST_F(Vegas, ALossHalves) {
  tcp_.cwnd = 101;
  EXPECT_EQ(vegas_ssthresh(&l_, &params_, &tcp_), 50U);
  tcp_.cwnd = 50;
  EXPECT_EQ(vegas_undo(&l_, &params_, &tcp_), 101U);
}

TEST_F(Vegas, ItsParametersAreAlphaBetaAndGamma) {
  params_.vegas_alpha_packets = 10;
  params_.vegas_beta_packets = 12;
  params_.vegas_gamma_packets = 5;
  round(100'000);
  EXPECT_EQ(window_after(109'000, 100), 101U);
  EXPECT_EQ(window_after(110'000, 100), 100U);
  EXPECT_EQ(window_after(112'000, 100), 100U);
  EXPECT_EQ(window_after(113'000, 100), 99U);
  tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  EXPECT_EQ(window_after(105'000, 100), 101U);
  EXPECT_EQ(window_after(106'000, 100), 95U);  // 100 * 100 / 106 = 94.3, and 1
}

// Packets that stand in the queue: what the window holds beyond the path itself.
struct Standing {
  __u32 least, most;
};

Standing standing_at_rest(const cc_params& params, StackPath path) {
  vegas l{};
  cc_stack tcp = tcp_of(10);
  vegas_init(&l, &params, &tcp);
  const __u64 settled_us =
      tcp.now_us + 120 * SECOND;  // from a slow start far beyond the path, by a packet per round trip
  Standing standing{~0U, 0};
  while (tcp.now_us < settled_us + 10 * SECOND) {
    path.fill(tcp);
    vegas_on_acked(&l, &params, &tcp, 1, path.acknowledge(tcp));
    vegas_grow(&l, &params, &tcp, 1);
    if (tcp.now_us < settled_us) continue;
    const __u32 now = tcp.cwnd > path.bdp() ? tcp.cwnd - path.bdp() : 0;
    standing = {std::min(standing.least, now), std::max(standing.most, now)};
  }
  return standing;
}

TEST(VegasOnAPath, SettlesWithAlphaToBetaPacketsInTheQueue) {
  for (const __u64 service_us : {100U, 500U, 1000U}) {  // of a base of 50 ms: 500, 100 and 50 packets
    const Standing standing = standing_at_rest(kDefaults, StackPath(service_us, 50'000));
    EXPECT_GE(standing.least, 2U) << service_us;
    EXPECT_LE(standing.most, 4U) << service_us;
    EXPECT_EQ(standing.least, standing.most) << service_us;  // at rest
  }
  cc_params params = kDefaults;
  params.vegas_alpha_packets = 20;
  params.vegas_beta_packets = 25;
  const Standing standing = standing_at_rest(params, StackPath(100, 50'000));
  EXPECT_GE(standing.least, 20U);
  EXPECT_LE(standing.most, 25U);
}

}  // namespace
