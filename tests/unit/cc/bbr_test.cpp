// SPDX-License-Identifier: Apache-2.0
// BBR version 1 against numbers that follow from its definition, in the integers of Linux.
#include <gtest/gtest.h>

#include <set>

#define _Static_assert static_assert
#include "cc/bbr.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

constexpr __u32 PER_MS = (1U << BBR_BW_SHIFT) / 1000;  // one packet per millisecond

// One round trip of 100 ms at a time, in which `packets` are delivered.
class BbrLaw : public testing::Test {
 protected:
  BbrLaw() {
    tcp_.srtt_us = tcp_.min_rtt_us = 100 * MS;
    bbr_init(&b_, &tcp_, 1);
  }
  // An ACK that begins a round unless `is_round` is false.
  int ack(__u32 packets, __u64 after_us, bool is_round = true) {
    tcp_.now_us += after_us;
    tcp_.delivered_us = tcp_.now_us;
    ack_.prior_delivered = is_round ? tcp_.delivered : b_.next_round_delivered - 1;
    tcp_.delivered += packets;
    ack_.acked_packets = packets;
    return bbr_on_ack(&b_, &tcp_, &ack_);
  }
  int round(__u32 packets, __u32 in_flight = 100, __u32 rtt_us = 100 * MS) {
    ack_ = ack_of(static_cast<__s32>(packets), 100 * MS);
    ack_.rtt_us = rtt_us;
    ack_.is_app_limited = is_app_limited_;
    ack_.prior_in_flight = tcp_.in_flight = in_flight;
    return ack(packets, 100 * MS);
  }
  // 1000 packets/s, ProbeBW.
  void settle() {
    for (int i = 0; i < 30; ++i) round(100, 100);
    ASSERT_EQ(b_.state, BBR_PROBE_BW);
  }
  // A phase of ProbeBW whose time is not over.
  void enter_phase(__u8 cycle) {
    b_.cycle = cycle;
    bbr_update_gains(&b_);
    b_.cycle_began_us = tcp_.delivered_us = tcp_.now_us;
  }
  bbr b_{};
  cc_stack tcp_ = tcp_of(10);
  stack_ack ack_{};
  __u8 is_app_limited_ = 0;
};

TEST_F(BbrLaw, RatesAreRoundedDownOnce) {
  // One packet of 1448 bytes per ms, 256/256: 16777 * 1448 * 990000 / 2^24
  EXPECT_EQ(bbr_bytes_per_s(16777, 1448, 256), 1'433'501U);
  EXPECT_EQ(bbr_bytes_per_s(16777, 1448, 739), 4'138'115U);
  EXPECT_EQ(bbr_bytes_per_s(9, 1448, 256), 769U);  // not 99 times whole percents, 693
  EXPECT_EQ(bbr_rate_of(3, 7), 7190235U);
  EXPECT_EQ(bbr_packets_in(16777, 2000), 1U);
}

TEST_F(BbrLaw, TheFirstRateIsTheWindowOverTheRoundTrip) {
  EXPECT_EQ(tcp_.pacing_bytes_per_s, bbr_bytes_per_s((10U << 24) / 100'000, 1000, 739));
  EXPECT_NEAR(static_cast<double>(tcp_.pacing_bytes_per_s), 100'000 * 2.8867 * 0.99, 300);
  tcp_.srtt_us = 0;
  bbr_init(&b_, &tcp_, 1);  // as if the round trip were a millisecond
  EXPECT_NEAR(static_cast<double>(tcp_.pacing_bytes_per_s), 10'000'000 * 2.8867 * 0.99, 30000);
  tcp_.srtt_us = 100 * MS;
  round(1);
  EXPECT_NEAR(static_cast<double>(tcp_.pacing_bytes_per_s), 100'000 * 2.8867 * 0.99, 300);
}

TEST_F(BbrLaw, NoRateExceedsTheSockets) {
  tcp_.max_pacing_bytes_per_s = 50'000;
  bbr_init(&b_, &tcp_, 1);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 50'000U);
  settle();
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 50'000U);
}

TEST_F(BbrLaw, APieceIsAMillisecondOfTheRateOnePacketOnlyBelow150000BytesPerSecond) {
  const auto piece = [&](__u64 rate) {
    tcp_.pacing_bytes_per_s = rate;
    return bbr_piece(&tcp_);
  };
  EXPECT_EQ(piece(149'999), 1U);
  EXPECT_EQ(piece(150'000), 2U);
  EXPECT_EQ(piece(2 * 1024 * 1000), 2U);
  EXPECT_EQ(piece(12 * 1024 * 1000 - 1), 11U);
  EXPECT_EQ(piece(1'000'000'000), 65U);  // 65215 bytes at most
  tcp_.mss_bytes = 100;
  EXPECT_EQ(piece(1'000'000'000), 127U);
}

TEST_F(BbrLaw, TheProductIsRoundedUpAndHasRoomForThreePiecesInPairs) {
  b_.min_rtt_us = 100 * MS;
  EXPECT_EQ(bbr_product(&b_, PER_MS, 256), 100U);  // 99.998
  EXPECT_EQ(bbr_product(&b_, PER_MS + 1, 256), 101U);
  EXPECT_EQ(bbr_product(&b_, PER_MS, 320), 125U);
  tcp_.pacing_bytes_per_s = 200'000;                  // pieces of two
  EXPECT_EQ(bbr_with_pieces(&b_, &tcp_, 101), 108U);  // 107, in pairs
  b_.state = BBR_PROBE_BW;
  EXPECT_EQ(bbr_with_pieces(&b_, &tcp_, 100), 108U);  // two more in the phase above
  b_.cycle = 1;
  EXPECT_EQ(bbr_with_pieces(&b_, &tcp_, 100), 106U);
  b_.min_rtt_us = STACK_NO_RTT;
  EXPECT_EQ(bbr_product(&b_, PER_MS, 256), 10U);
}

TEST_F(BbrLaw, WhatPacingHoldsBackIsNotInTheNetwork) {
  settle();
  enter_phase(2);
  tcp_.paced_ahead_us = 5100;  // five packets
  EXPECT_EQ(bbr_in_network(&b_, &tcp_, 100), 95U);
  EXPECT_EQ(bbr_in_network(&b_, &tcp_, 3), 0U);
  enter_phase(0);
  EXPECT_EQ(bbr_in_network(&b_, &tcp_, 100), 97U);  // the piece of two that goes next counts
}

TEST_F(BbrLaw, ARoundWithoutARateIsNone) {
  round(20);
  const __u32 rounds = b_.rounds;
  ack_.interval_us = -1;
  ack(20, 100 * MS);
  EXPECT_EQ(b_.rounds, rounds);
  EXPECT_FALSE(b_.is_round_start);
  ack_.interval_us = 100 * MS;
  ack(20, 100 * MS);
  EXPECT_EQ(b_.rounds, rounds + 1);
}

TEST_F(BbrLaw, SamplesThatTheApplicationLimitsCountOnlyUpwards) {
  round(50);
  is_app_limited_ = 1;
  for (int i = 0; i < 20; ++i) round(10);
  EXPECT_EQ(bbr_max_bw(&b_), bbr_rate_of(50, 100 * MS));
  EXPECT_FALSE(b_.is_filled);
  round(60);
  EXPECT_EQ(bbr_max_bw(&b_), bbr_rate_of(60, 100 * MS));
}

TEST_F(BbrLaw, ThreeRoundsWithoutAQuarterMoreFillThePipe) {
  round(20);
  round(40);
  round(49);  // 22 %
  round(49);
  EXPECT_EQ(b_.state, BBR_STARTUP);
  EXPECT_EQ(tcp_.ssthresh, STACK_INFINITE_SSTHRESH);
  round(49);
  EXPECT_EQ(b_.state, BBR_DRAIN);
  EXPECT_EQ(tcp_.ssthresh, 56U);  // 49, three pieces of two, in pairs
  // 490 packets/s, at 88/256 of it.
  EXPECT_NEAR(static_cast<double>(tcp_.pacing_bytes_per_s), 490'000 * 88 / 256.0 * 0.99, 20);
  round(49, 57);
  EXPECT_EQ(b_.state, BBR_DRAIN);
  tcp_.paced_ahead_us = 4100;  // two packets are not in the network yet
  round(49, 58);
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
}

TEST_F(BbrLaw, GrowthOfAQuarterKeepsItGoing) {
  for (const __u32 packets : {20, 25, 32, 40, 50, 63}) round(packets);
  EXPECT_EQ(b_.state, BBR_STARTUP);
  EXPECT_EQ(b_.full_bw_rounds, 0U);
}

TEST_F(BbrLaw, ThePhaseAboveLastsUntilItsQuarterIsInFlightOrLost) {
  settle();
  enter_phase(0);
  const __u32 target = bbr_target(&b_, &tcp_, 320);
  EXPECT_EQ(target, 134U);  // 125, three pieces of two, in pairs, and two
  ack_.prior_in_flight = 200;
  tcp_.delivered_us += 100 * MS;  // not longer than the round trip
  EXPECT_FALSE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  tcp_.delivered_us += 1;
  EXPECT_TRUE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  ack_.prior_in_flight = target - 3;  // with the piece of two that goes next: one is missing
  EXPECT_FALSE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  ack_.losses = 1;
  EXPECT_TRUE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  tcp_.lost = 17;  // what timers have marked since is not of this ACK
  ack_.losses = 0;
  EXPECT_FALSE(bbr_is_phase_over(&b_, &tcp_, &ack_));
}

TEST_F(BbrLaw, ThePhaseBelowEndsWithItsQueueTheOthersWithTime) {
  settle();
  enter_phase(1);
  const __u32 target = bbr_target(&b_, &tcp_, 256);
  EXPECT_EQ(target, 106U);
  ack_.prior_in_flight = target + 1;
  EXPECT_FALSE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  ack_.prior_in_flight = target;
  EXPECT_TRUE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  enter_phase(2);
  EXPECT_FALSE(bbr_is_phase_over(&b_, &tcp_, &ack_));
  tcp_.delivered_us += 100 * MS + 1;
  EXPECT_TRUE(bbr_is_phase_over(&b_, &tcp_, &ack_));
}

TEST_F(BbrLaw, EightPhasesOneAboveOneBelowSixEven) {
  const __u32 gains[] = {320, 192, 256, 256, 256, 256, 256, 256};
  settle();
  for (int i = 0; i < 8; ++i) {
    enter_phase(static_cast<__u8>(i));
    EXPECT_EQ(b_.pacing_gain, gains[i]);
    EXPECT_EQ(b_.cwnd_gain, 512);
    bbr_next_phase(&b_, &tcp_);
    EXPECT_EQ(b_.cycle, (i + 1) % 8);
  }
}

TEST_F(BbrLaw, ItBeginsAtAnyPhaseButTheOneBelow) {
  std::set<int> begun;
  for (int i = 0; i < 500; ++i) {
    bbr_enter_probe_bw(&b_, &tcp_);
    begun.insert(b_.cycle);
  }
  EXPECT_EQ(begun, (std::set<int>{0, 2, 3, 4, 5, 6, 7}));
}

TEST_F(BbrLaw, FlowsOfNeighbouringSeedsDrawDifferentLots) {
  std::set<__u32> drawn;
  for (__u32 seed = 0; seed < 100; ++seed) {
    __u32 state = random_seeded(seed);
    drawn.insert(random_below(&state, 1'000'000'000));
  }
  EXPECT_EQ(drawn.size(), 100U);
}

TEST_F(BbrLaw, TheWindowIsTwoProductsRoomForPiecesAndForHeldBackAcks) {
  settle();
  b_.aggregation.extra[0] = b_.aggregation.extra[1] = 11;
  enter_phase(2);
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 150, 10), 160U);
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 1000, 10), 218U);  // 200 + 11 + 6, in pairs
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 1, 1), 4U);
  b_.is_filled = 0;  // then the window only grows, and nothing is known to be held back
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 205, 10), 215U);
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 206, 10), 206U);
  tcp_.delivered = 9;
  EXPECT_EQ(bbr_toward_target(&b_, &tcp_, 206, 10), 216U);
}

TEST_F(BbrLaw, AfterTenSecondsItLooksForTheEmptyPath) {
  settle();
  const __u32 before = tcp_.cwnd;
  tcp_.now_us = 100 * SECOND + 9'900 * MS;
  EXPECT_FALSE(round(100, 110, 130 * MS));  // 2500 ticks since the least round trip: not beyond
  EXPECT_EQ(b_.min_rtt_us, 100 * MS);
  tcp_.now_us -= 96 * MS;  // one more
  EXPECT_TRUE(round(100, 110, 130 * MS));
  EXPECT_EQ(b_.state, BBR_PROBE_RTT);
  EXPECT_EQ(b_.min_rtt_us, 130 * MS);  // the old minimum has expired
  EXPECT_EQ(tcp_.cwnd, 4U);
  EXPECT_EQ(b_.pacing_gain, 256);
  EXPECT_EQ(b_.cwnd_gain, 256);
  EXPECT_EQ(b_.prior_cwnd, before);
  round(10, 5, 101 * MS);
  EXPECT_EQ(b_.probe_rtt_done_tick, 0U);
  round(10, 4, 101 * MS);
  EXPECT_EQ(b_.probe_rtt_done_tick, stack_ticks(tcp_.now_us) + 50);
  round(4, 4, 101 * MS);
  round(4, 4, 101 * MS);  // 200 ms: 50 ticks, not beyond
  EXPECT_EQ(b_.state, BBR_PROBE_RTT);
  EXPECT_TRUE(ack(4, 4 * MS, false));  // it still counts as limited by its application
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
  EXPECT_EQ(b_.min_rtt_us, 101 * MS);
  EXPECT_EQ(b_.min_rtt_tick, stack_ticks(tcp_.now_us));
  EXPECT_GE(tcp_.cwnd, before);
}

TEST_F(BbrLaw, ProbeRttTakesARoundToo) {
  settle();
  bbr_enter_probe_rtt(&b_, &tcp_);
  tcp_.in_flight = 4;
  ack(1, 0);
  ack(1, SECOND, false);
  EXPECT_EQ(b_.state, BBR_PROBE_RTT);
  ack(1, 0);
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
}

TEST_F(BbrLaw, InProbeRttAnAckOfNothingKeepsFourPacketsToo) {
  settle();
  bbr_enter_probe_rtt(&b_, &tcp_);
  ack(0, 0);
  EXPECT_EQ(tcp_.cwnd, 4U);
}

TEST_F(BbrLaw, AfterAPauseTheMinimumExpiresWithoutALook) {
  settle();
  tcp_.is_app_limited = 1;
  tcp_.now_us += 20 * SECOND;
  bbr_on_tx_start(&b_, &tcp_);
  round(100, 100, 120 * MS);
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
  EXPECT_EQ(b_.min_rtt_us, 120 * MS);
  EXPECT_FALSE(b_.idle_restart);
}

TEST_F(BbrLaw, AfterAPauseItPacesAtTheRate) {
  settle();
  enter_phase(0);
  bbr_set_pacing(&b_, &tcp_, b_.pacing_gain);
  const __u64 above = tcp_.pacing_bytes_per_s;
  bbr_on_tx_start(&b_, &tcp_);  // not the application's pause
  EXPECT_EQ(tcp_.pacing_bytes_per_s, above);
  tcp_.is_app_limited = 1;
  tcp_.now_us += SECOND;
  bbr_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, bbr_bytes_per_s(bbr_max_bw(&b_), 1000, 256));
  EXPECT_EQ(b_.aggregation.epoch_us, tcp_.now_us);
  EXPECT_EQ(b_.aggregation.acked, 0U);
}

TEST_F(BbrLaw, APauseMayEndProbeRtt) {
  settle();
  const __u32 before = tcp_.cwnd;
  bbr_enter_probe_rtt(&b_, &tcp_);
  tcp_.in_flight = 4;
  ack(1, 0);
  tcp_.is_app_limited = 1;
  tcp_.now_us += 200 * MS;
  bbr_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(b_.state, BBR_PROBE_RTT);
  tcp_.now_us += 4 * MS;
  bbr_on_tx_start(&b_, &tcp_);
  EXPECT_EQ(b_.state, BBR_PROBE_BW);
  EXPECT_EQ(tcp_.cwnd, before);
}

TEST_F(BbrLaw, TheFirstRoundOfRecoveryConservesPacketsThenTheWindowComesBack) {
  settle();
  tcp_.cwnd = 250;
  EXPECT_EQ(bbr_ssthresh(&b_, &tcp_), tcp_.ssthresh);
  EXPECT_EQ(tcp_.cwnd, 250U);  // nothing before the ACK is worked through
  tcp_.ca_state = CA_STATE_RECOVERY;
  tcp_.in_flight = 60;
  ack_.losses = 3;
  ack(2, 0, false);
  EXPECT_EQ(tcp_.cwnd, 62U);
  ack_.losses = 0;
  tcp_.in_flight = 61;
  ack(2, 0, false);
  EXPECT_EQ(tcp_.cwnd, 63U);
  EXPECT_EQ(b_.next_round_delivered, tcp_.delivered - 2);  // the round began with recovery
  tcp_.in_flight = 40;
  ack(2, 0);  // the next round grows towards the target
  EXPECT_FALSE(b_.conserves);
  EXPECT_EQ(tcp_.cwnd, 65U);
  ack_.losses = 5;
  ack(2, 0, false);
  EXPECT_EQ(tcp_.cwnd, 62U);
  tcp_.ca_state = CA_STATE_OPEN;
  ack_.losses = 0;
  enter_phase(2);
  ack(2, 0, false);
  EXPECT_EQ(tcp_.cwnd, 252U);
}

TEST_F(BbrLaw, LossesLeaveOnePacketAtLeastOnTheWayToFour) {
  settle();
  ack_.losses = 10'000;
  EXPECT_EQ(bbr_recover_or_restore(&b_, &tcp_, &ack_), 1U);
}

TEST_F(BbrLaw, ATimeoutEndsARoundAndRemembersTheWindow) {
  settle();
  const __u32 before = tcp_.cwnd;
  bbr_ssthresh(&b_, &tcp_);
  tcp_.cwnd = 3;  // TCP's
  bbr_on_timeout(&b_, &tcp_);
  EXPECT_EQ(tcp_.cwnd, 3U);
  EXPECT_TRUE(b_.is_round_start);
  EXPECT_EQ(b_.full_bw, 0U);
  EXPECT_TRUE(b_.policer.is_sampling);
  bbr_ssthresh(&b_, &tcp_);  // a second one
  EXPECT_EQ(b_.prior_cwnd, before);
  tcp_.ca_state = CA_STATE_LOSS;
  ack(2, 0, false);
  EXPECT_EQ(tcp_.cwnd, 5U);
  tcp_.ca_state = CA_STATE_OPEN;
  ack(2, 0, false);
  EXPECT_GE(tcp_.cwnd, before - 2);
}

TEST_F(BbrLaw, TheRateOfAPolicerIsUsedWithoutProbing) {
  settle();
  b_.policer.is_in_use = 1;
  b_.policer.bw = PER_MS / 2;
  enter_phase(0);
  round(100, 100);
  EXPECT_EQ(b_.pacing_gain, 256);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, bbr_bytes_per_s(PER_MS / 2, 1000, 256));
  EXPECT_EQ(bbr_undo(&b_, &tcp_), tcp_.cwnd);
  EXPECT_FALSE(b_.policer.is_in_use);
  EXPECT_EQ(b_.full_bw, 0U);
}

TEST_F(BbrLaw, TheClampBoundsTheWindow) {
  settle();
  tcp_.cwnd_clamp = 50;
  round(100, 100);
  EXPECT_EQ(tcp_.cwnd, 50U);
}

}  // namespace
