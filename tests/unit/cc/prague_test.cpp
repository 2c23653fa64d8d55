// SPDX-License-Identifier: Apache-2.0
// Prague against numbers that follow from its definition. Packets of 1000 bytes.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/prague.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

constexpr __u64 ONE = PRAGUE_PACKET;

class PragueLaw : public testing::Test {
 protected:
  PragueLaw() {
    tcp_.srtt_us = 100 * MS;
    tcp_.next = tcp_.cwnd;
    prague_init(&l_, &tcp_);
  }
  void ack(__u32 packets, __u32 marked, __u64 after_us = MS) {
    tcp_.now_us += after_us;
    tcp_.una += packets;
    tcp_.delivered += packets;
    tcp_.delivered_ce += marked;
    stack_ack ack{};
    ack.acked_packets = packets;
    prague_on_ack(&l_, &params_, &tcp_, &ack);
    tcp_.next = tcp_.una + tcp_.cwnd;
  }
  // Past slow start with a window of so many packets, of which a share comes marked.
  void settle(__u32 window, __u64 alpha_q24 = 0, __u32 srtt_us = 100 * MS) {
    l_.window_q20 = window * ONE;
    l_.alpha_sum_q24 = alpha_q24 << PRAGUE_GAIN_SHIFT;
    l_.saw_ce = 1;
    tcp_.cwnd = tcp_.ssthresh = window;
    tcp_.srtt_us = srtt_us;
    tcp_.next = tcp_.una + window;
    l_.round_next = tcp_.next;
  }
  cc_params params_ = kDefaults;
  cc_stack tcp_ = tcp_of(10);
  prague l_{};
};

TEST_F(PragueLaw, PacesAtTheWindowPerRoundTripAndAtTwiceThatEarlyInSlowStart) {
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 210'400U);  // 2 * 1052 * 10 / 0.1
  settle(40);
  ack(0, 0);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 420'800U);  // 1052 * 40 / 0.1
  tcp_.in_flight = 50;                           // what is there above the window
  ack(0, 0);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 526'000U);
  tcp_.max_pacing_bytes_per_s = 300'000;
  ack(0, 0);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 300'000U);
  tcp_.srtt_us = 10 * SECOND;
  tcp_.in_flight = 0;
  ack(0, 0);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, PRAGUE_MIN_RATE);
}

TEST_F(PragueLaw, APieceTakesAQuarterOfAMillisecond) {
  tcp_.pacing_bytes_per_s = 12'500'000;  // 11882 packets/s / 4096
  EXPECT_EQ(prague_piece_packets(&tcp_), 2U);
  tcp_.pacing_bytes_per_s = 1'000'000;
  EXPECT_EQ(prague_piece_packets(&tcp_), 1U);
}

TEST_F(PragueLaw, TheFirstMarkEndsSlowStartAndHalves) {
  ack(4, 0);
  EXPECT_EQ(tcp_.cwnd, 14U);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
  ack(2, 1);
  // 7, and the packet without a mark: 2^20 / 7
  EXPECT_EQ(l_.window_q20, 7 * ONE + 149'797);
  EXPECT_EQ(tcp_.cwnd, 13U);  // it goes there by a packet per ACK
  for (int n = 0; n < 10; ++n) ack(1, 1);
  EXPECT_EQ(tcp_.cwnd, 8U);
  EXPECT_EQ(tcp_.ssthresh, 8U);
}

TEST_F(PragueLaw, GrowsByAPacketPerRoundTripOfWhatWasNotMarked) {
  settle(100);
  ack(100, 0);
  EXPECT_EQ(l_.window_q20, 101 * ONE);
  EXPECT_EQ(tcp_.cwnd, 101U);
  settle(100);
  l_.reduced_next = tcp_.next + 1000;  // marks have reduced it just now
  ack(50, 10);
  EXPECT_EQ(l_.window_q20, 100 * ONE + 419'430);  // 40 of 100
  settle(100);
  ack(10, 10);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
  tcp_.is_cwnd_limited = 0;
  ack(100, 0);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
}

TEST_F(PragueLaw, AlphaIsTheShareOfMarksAveragedOncePerRoundTrip) {
  settle(16);
  l_.reduced_next = tcp_.next + 1000;
  ack(8, 4);
  EXPECT_EQ(l_.alpha_sum_q24, 0U);
  ack(8, 0);
  EXPECT_EQ(l_.alpha_sum_q24, 4'194'304U);  // 4 of 16: 2^22
  ack(tcp_.cwnd, 0);
  EXPECT_EQ(l_.alpha_sum_q24, 3'932'160U);  // less a sixteenth
  for (int n = 0; n < 1000; ++n) ack(tcp_.cwnd, tcp_.cwnd, 100 * MS);
  EXPECT_LE(l_.alpha_sum_q24, PRAGUE_ALL_MARKED << 4);
  EXPECT_GT(l_.alpha_sum_q24, (PRAGUE_ALL_MARKED - 2) << 4);
}

TEST_F(PragueLaw, NothingIsAveragedBeforeTheFirstMark) {
  ack(10, 0);
  ack(20, 0);
  EXPECT_EQ(l_.alpha_sum_q24, 0U);
  EXPECT_EQ(l_.rounds, 0U);  // it counts from slow start on
  tcp_.ssthresh = 2;
  ack(tcp_.cwnd, 0);
  EXPECT_EQ(l_.rounds, 1U);
}

TEST_F(PragueLaw, MarksTakeHalfOfAlphaOncePerRoundTrip) {
  settle(100, PRAGUE_ALL_MARKED / 4);
  ack(2, 2);
  EXPECT_EQ(l_.window_q20, 87 * ONE + ONE / 2);  // an eighth less
  EXPECT_EQ(tcp_.cwnd, 99U);
  EXPECT_EQ(l_.reduced_next, 100U);
  ack(97, 97);
  EXPECT_EQ(l_.window_q20, 87 * ONE + ONE / 2);
  EXPECT_EQ(tcp_.cwnd, 98U);
  ack(1, 1);  // up to 100: what it says was sent before the reduction, the next may be of after it
  EXPECT_LT(l_.window_q20, 87 * ONE);
}

TEST_F(PragueLaw, WhereTheRoundTripIsShortItActsOncePerVirtualOne) {
  settle(100, PRAGUE_ALL_MARKED / 4, 5 * MS);
  l_.rounds = 4;
  l_.reduced_us = l_.averaged_us = tcp_.now_us;
  ack(100, 100, 24 * MS);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
  EXPECT_EQ(l_.alpha_sum_q24, PRAGUE_ALL_MARKED * 4);
  ack(1, 1, 1 * MS);
  EXPECT_EQ(l_.window_q20, 87 * ONE + ONE / 2);
  EXPECT_EQ(l_.alpha_sum_q24, PRAGUE_ALL_MARKED * 4 - PRAGUE_ALL_MARKED / 4 + PRAGUE_ALL_MARKED);
}

TEST_F(PragueLaw, AVirtualRoundTripBringsAPacketToTheVirtualWindow) {
  settle(100, 0, 5 * MS);
  ack(100, 0);
  EXPECT_EQ(l_.window_q20, 101 * ONE);  // not yet
  settle(100, 0, 5 * MS);
  l_.rounds = 4;
  ack(100, 0);
  EXPECT_EQ(l_.window_q20, 100 * ONE + 41'943);  // 2^20 (5 / 25)^2
  settle(100, 0, 5 * MS);
  params_.prague_transition_rounds = 5;
  ack(100, 0);
  EXPECT_EQ(l_.window_q20, 101 * ONE);
}

TEST_F(PragueLaw, ALossHalvesAndNothingElseMovesItUntilRecoveryIsOver) {
  settle(101, PRAGUE_ALL_MARKED / 4);
  EXPECT_EQ(prague_ssthresh(&l_, &params_, &tcp_), 51U);
  prague_on_state(&l_, &tcp_, CA_STATE_RECOVERY);
  EXPECT_EQ(l_.window_q20, 50 * ONE + ONE / 2);
  EXPECT_EQ(tcp_.ssthresh, 51U);
  tcp_.ca_state = CA_STATE_RECOVERY;
  prague_on_state(&l_, &tcp_, CA_STATE_RECOVERY);
  ack(60, 30);
  EXPECT_EQ(l_.window_q20, 50 * ONE + ONE / 2);
  EXPECT_EQ(tcp_.cwnd, 100U);
  prague_on_state(&l_, &tcp_, CA_STATE_OPEN);
  ack(50, 0);
  EXPECT_GT(l_.window_q20, 51 * ONE);
}

TEST_F(PragueLaw, ALossThatWasNoneGivesTheWindowBack) {
  settle(100);
  prague_on_state(&l_, &tcp_, CA_STATE_RECOVERY);
  tcp_.cwnd = 60;
  EXPECT_EQ(prague_undo(&l_, &tcp_), 100U);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
  ack(100, 0);
  EXPECT_GT(l_.window_q20, 100 * ONE);
}

TEST_F(PragueLaw, AfterATimeoutItComesBackToTheHalfAndGrowsFromThere) {
  settle(20);
  prague_on_event(&l_, &tcp_, STACK_TX_START);
  EXPECT_EQ(tcp_.ssthresh, 20U);
  prague_on_event(&l_, &tcp_, STACK_LOSS);
  EXPECT_EQ(tcp_.ssthresh, 10U);
  tcp_.cwnd = 1;
  tcp_.ca_state = CA_STATE_LOSS;
  ack(1, 0);
  EXPECT_EQ(tcp_.cwnd, 2U);
  prague_on_state(&l_, &tcp_, CA_STATE_OPEN);
  ack(2, 0);
  EXPECT_EQ(tcp_.cwnd, 4U);  // slow start
  ack(4, 0);
  ack(8, 0);
  EXPECT_EQ(tcp_.cwnd, 11U);  // 10, then 6 of 10, rounded up
  EXPECT_EQ(l_.window_q20, 10 * ONE + 629'146);
}

TEST_F(PragueLaw, AReductionWithoutMarksIsForALoss) {
  settle(100, PRAGUE_ALL_MARKED / 4);
  tcp_.delivered_ce++;  // news, which the ACK at hand has brought
  EXPECT_EQ(prague_ssthresh(&l_, &params_, &tcp_), 88U);
  prague_on_state(&l_, &tcp_, CA_STATE_CWR);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
  ack(1, 0);
  EXPECT_EQ(l_.window_q20, 87 * ONE + ONE / 2);
  settle(100, PRAGUE_ALL_MARKED / 4);
  prague_on_state(&l_, &tcp_, CA_STATE_CWR);
  EXPECT_EQ(l_.window_q20, 50 * ONE);
}

TEST_F(PragueLaw, TheWindowIsNeverBelowTwoAndNeverAboveWhatTcpAllows) {
  settle(2, PRAGUE_ALL_MARKED);
  ack(1, 1);
  EXPECT_EQ(tcp_.cwnd, 2U);
  prague_on_state(&l_, &tcp_, CA_STATE_RECOVERY);
  EXPECT_EQ(l_.window_q20, 2 * ONE);
  prague_on_state(&l_, &tcp_, CA_STATE_OPEN);
  settle(100);
  tcp_.cwnd_clamp = 100;
  ack(100, 0);
  EXPECT_EQ(tcp_.cwnd, 100U);
  EXPECT_EQ(l_.window_q20, 100 * ONE);
}

TEST_F(PragueLaw, MarksOfBeforeItsTimeAreNoNews) {
  cc_stack tcp = tcp_of(10);
  tcp.delivered_ce = 7;
  prague l{};
  prague_init(&l, &tcp);
  const stack_ack ack{};
  prague_on_ack(&l, &params_, &tcp, &ack);
  EXPECT_EQ(l.saw_ce, 0);
  EXPECT_EQ(tcp.pacing_bytes_per_s, 0U);  // no round trip has been seen
}

// Of 50 packets one is marked, by chance. Packets per second over 100 s, after as many.
double rate_of(__u32 rtt_us, __u32 virtual_ms) {
  cc_params params = kDefaults;
  params.prague_rtt_ms = virtual_ms;
  cc_stack tcp = tcp_of(10);
  tcp.srtt_us = rtt_us;
  prague l{};
  prague_init(&l, &tcp);
  const __u64 began_us = tcp.now_us;
  __u64 counted = 0;
  __u32 chance = 1;
  while (tcp.now_us < began_us + 200 * SECOND) {
    const __u32 window = tcp.cwnd;
    const __u64 round_us = tcp.now_us;
    for (__u32 n = 0; n < window; ++n) {
      tcp.now_us = round_us + static_cast<__u64>(rtt_us) * (n + 1) / window;
      tcp.next = tcp.una + window;
      tcp.una++;
      tcp.delivered++;
      chance = chance * 1664525 + 1013904223;
      if ((chance >> 16) % 50 == 0) tcp.delivered_ce++;
      stack_ack ack{};
      ack.acked_packets = 1;
      prague_on_ack(&l, &params, &tcp, &ack);
      counted += tcp.now_us > began_us + 100 * SECOND ? 1 : 0;
    }
  }
  return static_cast<double>(counted) / 100;
}

// In equilibrium what grows in a virtual round trip, 1 - p, is what a reduction takes, p W / 2: W would be 98
// packets if that came each virtual round trip. The mark that may reduce comes 1 / (p W) of one late, so that
// with x = p W x^2 = 2 x + 2, and W is 37 % more.
TEST(Prague, TheRateDependsOnTheMarksAndBelowTheVirtualRoundTripNotOnTheRealOne) {
  const double near = rate_of(5 * MS, 25);
  EXPECT_NEAR(near, 1.37 * 98 / 0.025, 0.1 * near);
  EXPECT_NEAR(rate_of(20 * MS, 25), near, 0.15 * near);
  EXPECT_NEAR(rate_of(5 * MS, 0) / rate_of(20 * MS, 0), 4, 0.4);
}

}  // namespace
