// SPDX-License-Identifier: Apache-2.0
// YeAH-TCP against numbers worked out from Linux's form of its definition.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/yeah.h"
#undef _Static_assert

#include "stack_path.hpp"
#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// 1000 * 8814 / 108814 = 81.0 packets in queues at a window of 1000: the shortest round trip that is drained.
constexpr __u64 LONG_QUEUE_US = 108'814;

class Yeah : public testing::Test {
 protected:
  Yeah() {
    yeah_init(&l_, &params_, &tcp_);
    round(100'000);  // the base; a fast round trip
  }
  void acked(__s64 rtt_us, int times = 1) {
    for (int i = 0; i < times; ++i) yeah_on_acked(&l_, &params_, &tcp_, 1, rtt_us);
  }
  void grow(__u32 packets) { yeah_grow(&l_, &params_, &tcp_, packets); }
  // The ACK that ends a round trip; one of what had been SACKed before, so that nothing grows, if it is of 0
  // packets.
  void end_round(__u32 packets = 0) {
    tcp_.una = tcp_.next + 1;
    tcp_.next += 1000;
    grow(packets);
  }
  // A round trip with three samples. The law adds 1 us to each, hence the -1: the numbers below are what it
  // sees.
  void round(__u64 rtt_us, __u32 packets = 0) {
    acked(static_cast<__s64>(rtt_us) - 1, 3);
    end_round(packets);
  }
  void rounds(int count, __u64 rtt_us) {
    for (int i = 0; i < count; ++i) round(rtt_us);
  }
  __u32 window_after(__u64 rtt_us, __u32 cwnd) {
    tcp_.cwnd = cwnd;
    round(rtt_us);
    return tcp_.cwnd;
  }
  // Packets of growth for a window of 1000 that is acknowledged.
  __u32 growth() {
    tcp_.cwnd = 1000;
    tcp_.cwnd_count = 0;
    grow(1000);
    return tcp_.cwnd - 1000;
  }
  // What a loss leaves of a window of 1000.
  __u32 left() {
    tcp_.cwnd = 1000;
    return yeah_ssthresh(&l_, &params_, &tcp_);
  }
  cc_params params_ = kDefaults;
  yeah l_{};
  cc_stack tcp_ = tcp_of(1000, 2);
};

TEST_F(Yeah, GrowsAsScalableWhileTheQueueIsShortAndTheDelayLow) {
  EXPECT_EQ(growth(), 10U);
  EXPECT_EQ(window_after(LONG_QUEUE_US - 1, 1000), 1000U);  // 80 packets
  EXPECT_EQ(growth(), 10U);
  EXPECT_EQ(window_after(112'500, 100), 100U);  // an eighth of the base
  EXPECT_EQ(growth(), 10U);
}

TEST_F(Yeah, GrowsAsRenoBehindALateQueueThatIsShort) {
  EXPECT_EQ(window_after(112'501, 100), 100U);  // 100 * 12501 / 112501 = 11 packets
  EXPECT_EQ(growth(), 1U);
  round(100'000);
  EXPECT_EQ(growth(), 10U);
}

TEST_F(Yeah, DrainsALongQueueOffTheWindowBeforeItOverflows) {
  EXPECT_EQ(window_after(LONG_QUEUE_US, 1000), 919U);  // 1000 - 81
  EXPECT_EQ(tcp_.ssthresh, 919U);
  EXPECT_EQ(growth(), 1U);
}

TEST_F(Yeah, ADrainTakesHalfOfTheWindowAtMost) {
  EXPECT_EQ(window_after(400'000, 1000), 500U);  // 1000 * 300 / 400 = 750 packets
}

TEST_F(Yeah, DoesNotDrainBelowTheWindowThatRenoWouldHave) {
  tcp_.cwnd = 1800;
  rounds(1, 200'000);          // 900 packets: down to 900, Reno would have 450
  rounds(400, LONG_QUEUE_US);  // 900 * 8814 / 108814 = 72 packets: fast
  EXPECT_EQ(tcp_.cwnd, 900U);
  rounds(1, 200'000);  // 50 fast round trips ago that was forgotten: down to 450, Reno has 225
  EXPECT_EQ(tcp_.cwnd, 450U);
  rounds(1, 200'000);  // 225 packets: to 225, where Reno is; then it is at 226
  EXPECT_EQ(tcp_.cwnd, 225U);
  EXPECT_EQ(window_after(200'000, 400), 226U);  // 200 packets, but Reno has 226, and then 227
  tcp_.ssthresh = 2;
  EXPECT_EQ(window_after(200'000, 227), 227U);
  EXPECT_EQ(tcp_.ssthresh, 2U);
}

TEST_F(Yeah, FiftyOneFastRoundTripsForgetTheCompetition) {
  window_after(400'000, 1000);                  // 500, Reno has 250
  rounds(49, 100'000);                          // and the first
  EXPECT_EQ(window_after(400'000, 300), 250U);  // 300 - 150 is less; then Reno has 251
  rounds(1, 100'000);
  EXPECT_EQ(window_after(400'000, 300), 150U);
}

TEST_F(Yeah, ALossHalvesReno) {
  window_after(400'000, 1000);  // 500, Reno has 250
  left();                       // 125
  EXPECT_EQ(window_after(400'000, 200), 125U);
}

TEST_F(Yeah, ALossBeginsTheCountOfFastRoundTripsAgain) {
  window_after(400'000, 1000);  // 500, Reno has 250
  rounds(49, 100'000);
  left();  // 125
  rounds(50, 100'000);
  EXPECT_EQ(window_after(400'000, 200), 125U);
}

TEST_F(Yeah, ALossTakesTheQueueAndAnEighthAtLeast) {
  EXPECT_EQ(left(), 875U);
  window_after(114'417, 1000);  // 1000 * 14417 / 114417 = 126.004
  EXPECT_EQ(left(), 874U);
  window_after(125'000, 1000);  // 200
  EXPECT_EQ(left(), 800U);
  window_after(400'000, 1000);  // 750 packets: half
  EXPECT_EQ(left(), 500U);
  EXPECT_EQ(yeah_undo(&l_, &params_, &tcp_), 1000U);
  tcp_.cwnd = 1;
  EXPECT_EQ(yeah_ssthresh(&l_, &params_, &tcp_), 2U);
}

TEST_F(Yeah, ALossHalvesWhereOthersHaveBeenGreedyForSixteenRoundTrips) {
  tcp_.cwnd = 100;
  rounds(15, 112'501);
  EXPECT_EQ(left(), 875U);
  tcp_.cwnd = 100;
  rounds(1, 112'501);
  EXPECT_EQ(left(), 500U);
  tcp_.cwnd = 1;
  EXPECT_EQ(yeah_ssthresh(&l_, &params_, &tcp_), 2U);  // half is two packets at least
  rounds(1, 100'000);
  EXPECT_EQ(left(), 875U);
}

TEST_F(Yeah, SlowStartEndsWithALongQueue) {
  tcp_.ssthresh = STACK_INFINITE_SSTHRESH;
  round(LONG_QUEUE_US, 10);  // 1010 * 8814 / 108814 = 81.8
  EXPECT_EQ(tcp_.cwnd, 929U);
  EXPECT_EQ(tcp_.ssthresh, 929U);
}

TEST_F(Yeah, WhatSlowStartLeavesCountsForGrowth) {
  tcp_.ssthresh = 1000;
  tcp_.cwnd = 995;
  grow(105);
  EXPECT_EQ(tcp_.cwnd, 1001U);
}

TEST_F(Yeah, TwoSamplesAreTooFewAndTheWindowIsLeftAlone) {
  for (int i = 0; i < 2; ++i) {  // those of the round trip before do not count
    acked(400'000, 2);
    end_round();
    EXPECT_EQ(tcp_.cwnd, 1000U);
  }
}

TEST_F(Yeah, LooksAtNothingWhileTheWindowIsNotUsedUp) {
  tcp_.is_cwnd_limited = 0;
  round(400'000, 1000);
  EXPECT_EQ(tcp_.cwnd, 1000U);
  tcp_.is_cwnd_limited = 1;
  end_round();  // the round trip has not ended before
  EXPECT_EQ(tcp_.cwnd, 500U);
}

TEST_F(Yeah, MeasuresAnewAfterAPauseAndAfterRecovery) {
  yeah_on_event(&l_, &params_, &tcp_, STACK_TX_START);
  EXPECT_EQ(window_after(200'000, 1000), 1000U);
  acked(399'999, 3);
  yeah_on_state(&l_, &params_, &tcp_, CA_STATE_OPEN);
  end_round();
  EXPECT_EQ(tcp_.cwnd, 1000U);
}

TEST_F(Yeah, ItsParametersSetTheModes) {
  params_.yeah_queue_packets = 90;
  EXPECT_EQ(window_after(LONG_QUEUE_US, 1000), 1000U);
  EXPECT_EQ(window_after(110'012, 1000), 909U);  // 1000 * 10012 / 110012 = 91.008
  params_.yeah_drain_q16 = 16384;                // a quarter
  l_.reno_cwnd = 2;
  EXPECT_EQ(window_after(400'000, 1000), 750U);
  params_.yeah_acked_per_packet = 50;
  params_.yeah_delay_q16 = 16384;
  window_after(125'000, 100);
  EXPECT_EQ(growth(), 20U);
  window_after(125'001, 100);
  EXPECT_EQ(growth(), 1U);
}

TEST_F(Yeah, ItsParametersSetWhatALossTakesAndWhenCompetitionIsForgotten) {
  params_.yeah_decrease_q16 = 16384;
  EXPECT_EQ(left(), 750U);
  params_.yeah_rho_rounds = 2;
  tcp_.cwnd = 100;
  rounds(2, 112'501);
  EXPECT_EQ(left(), 500U);
  params_.yeah_zeta_rounds = 3;
  l_.reno_cwnd = 400;
  rounds(3, 100'000);
  EXPECT_EQ(l_.reno_cwnd, 400U);
  rounds(1, 100'000);
  EXPECT_EQ(l_.reno_cwnd, 2U);
}

struct Swing {
  __u32 least = ~0U, most = 0;  // window
  int drains = 0;
};

// A flow alone, from 20 to 80 s. Its slow start ends at half of what the path holds.
Swing swing_of(StackPath path) {
  yeah l{};
  cc_stack tcp = tcp_of(10, path.bdp() / 2);
  yeah_init(&l, &kDefaults, &tcp);
  const __u64 settled_us = tcp.now_us + 20 * SECOND;
  Swing swing;
  while (tcp.now_us < settled_us + 60 * SECOND) {
    path.fill(tcp);
    yeah_on_acked(&l, &kDefaults, &tcp, 1, path.acknowledge(tcp));
    const __u32 before = tcp.cwnd;
    yeah_grow(&l, &kDefaults, &tcp, 1);
    if (tcp.now_us < settled_us) continue;
    swing.drains += tcp.cwnd < before;
    swing.least = std::min(swing.least, tcp.cwnd);
    swing.most = std::max(swing.most, tcp.cwnd);
  }
  return swing;
}

TEST(YeahOnAPath, KeepsALongOneFullAndItsQueueBelowAHundredAndTwentyPackets) {
  const Swing swing = swing_of(StackPath(100, 100'000));
  EXPECT_GE(swing.least, 1000U);
  EXPECT_LE(swing.least, 1033U);     // the queue was measured at most three round trips of 1 % before
  EXPECT_LE(swing.most, 1113U);      // 1080 * 1.01^3
  EXPECT_NEAR(swing.drains, 62, 3);  // every ln(1107 / 1021) / ln(1.01) + 1 = 9 round trips of 106 ms
}

// An eighth of 100 packets is 12: from there on it is slow and Reno's window, as it sees it, grows beside its
// own.
TEST(YeahOnAPath, OnAShortOneItTakesItsOwnQueueForOthersAndStopsToDrain) {
  const Swing swing = swing_of(StackPath(1000, 100'000));
  EXPECT_EQ(swing.drains, 0);
  EXPECT_GT(swing.most, 300U);  // three times what the path holds; only a loss would end it
}

}  // namespace
