// SPDX-License-Identifier: Apache-2.0
// What BBR version 3 computes of a rate and a round trip.
#include "bbr3_testing.hpp"

namespace {

using namespace clarion::testing;
using Bbr3Model = Bbr3Test;

TEST_F(Bbr3Model, TheFirstRateIsTheWindowOverTheRoundTrip) {
  // 10 packets: 2560 * 1000 bytes * 710 / 256 = 7,100,000; * 990,000 / 2^24
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 418'961U);
  tcp_.srtt_us = 0;
  bbr3_init(&b_, &tcp_, 1);  // as if the round trip were a millisecond: 465,305,156 * 990,000 / 2^24
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 27'457'005U);
  tcp_.srtt_us = RTT_US;
  round(1);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 418'961U);
}

TEST_F(Bbr3Model, InStartupTheRateOnlyRisesLaterItFollows) {
  bbr3_set_pacing(&b_, &tcp_, BBR_UNIT);  // no rate yet
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 418'961U);
  b_.max_bw[0] = 100 * BW;
  bbr3_set_pacing(&b_, &tcp_, BBR_UNIT);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1'510'620U);  // 25,600 * 1000 * 990,000 / 2^24
  b_.bw_lo = 10 * BW;
  bbr3_set_pacing(&b_, &tcp_, BBR_UNIT);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1'510'620U);
  b_.is_filled = 1;
  bbr3_set_pacing(&b_, &tcp_, BBR_UNIT);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 151'062U);
  b_.max_bw[0] = 0;
  bbr3_set_pacing(&b_, &tcp_, BBR_UNIT);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 1U);  // never 0, which would be none
}

TEST_F(Bbr3Model, NoRateExceedsTheSockets) {
  tcp_.max_pacing_bytes_per_s = 50'000;
  bbr3_init(&b_, &tcp_, 1);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 50'000U);
}

TEST_F(Bbr3Model, ASampleOfTheRateIsRoundedUp) {
  ack_.delivered = 3;
  ack_.interval_us = 7;
  EXPECT_EQ(bbr3_rate_of(&ack_), 7'190'236U);  // 3 * 2^24 / 7 = 7,190,235.4
  ack_.interval_us = 0;
  EXPECT_EQ(bbr3_rate_of(&ack_), 0U);
  ack_.interval_us = 7;
  ack_.delivered = -1;
  EXPECT_EQ(bbr3_rate_of(&ack_), 0U);
}

TEST_F(Bbr3Model, TheRateIsTheLargestOfThisCycleAndTheOneBefore) {
  round(40);
  bbr3_next_bw_cycle(&b_);
  round(30);
  EXPECT_EQ(bbr3_max_bw(&b_), 40 * BW);
  bbr3_next_bw_cycle(&b_);
  EXPECT_EQ(bbr3_max_bw(&b_), 30 * BW);
  bbr3_next_bw_cycle(&b_);  // a cycle without a sample is none
  bbr3_next_bw_cycle(&b_);
  EXPECT_EQ(bbr3_max_bw(&b_), 30 * BW);
  b_.bw_lo = 20 * BW;
  EXPECT_EQ(bbr3_bw(&b_), 20 * BW);
}

TEST_F(Bbr3Model, SamplesThatTheApplicationLimitsCountOnlyUpwards) {
  round(50);
  ack_ = sample(60);
  ack_.is_app_limited = 1;
  ack(60, RTT_US);
  EXPECT_EQ(bbr3_max_bw(&b_), 60 * BW);
  bbr3_next_bw_cycle(&b_);
  ack_ = sample(59);
  ack_.is_app_limited = 1;
  ack(59, RTT_US);
  EXPECT_EQ(b_.max_bw[1], 0U);
}

TEST_F(Bbr3Model, AnAckWithoutARateNeitherCountsAsARoundNorAsASample) {
  round(20);
  ack_ = sample(40);
  ack_.interval_us = -1;
  ack(40, RTT_US);
  EXPECT_FALSE(b_.is_round_start);
  EXPECT_EQ(bbr3_max_bw(&b_), 20 * BW);
}

TEST_F(Bbr3Model, PiecesAreAMillisecondOfTheRateAndMoreOnShortPaths) {
  const auto piece = [&](__u64 rate, __u32 rtt_us) {
    tcp_.pacing_bytes_per_s = rate;
    b_.min_rtt_us = rtt_us;
    return bbr3_piece(&b_, &tcp_);
  };
  EXPECT_EQ(piece(0, RTT_US), 2U);
  EXPECT_EQ(piece(10'240'000, RTT_US), 10U);
  EXPECT_EQ(piece(10'239'000, 17 * 512), 9U);   // 9999 bytes and 65536 / 2^17
  EXPECT_EQ(piece(10'239'000, 16 * 512), 10U);  // and 65536 / 2^16 = 1
  EXPECT_EQ(piece(10'239'000, 2048), 14U);      // 9999 and 65536 / 2^4 = 4096
  EXPECT_EQ(piece(1'024'000, 512), 33U);        // 1000 and 32768
  EXPECT_EQ(piece(1'024'000, 511), 65U);        // 65215 at most
  EXPECT_EQ(piece(0, STACK_NO_RTT), 2U);
}

TEST_F(Bbr3Model, TheProductIsRoundedUpAndHasRoomForThreePieces) {
  b_.max_bw[0] = 50 * BW;
  EXPECT_EQ(bbr3_product(&b_, 50 * BW, 256), 50U);
  EXPECT_EQ(bbr3_product(&b_, 50 * BW + 1, 256), 51U);
  EXPECT_EQ(bbr3_product(&b_, 50 * BW, 128), 25U);
  EXPECT_EQ(bbr3_inflight(&b_, &tcp_, 50 * BW), 50U);
  EXPECT_EQ(bbr3_inflight(&b_, &tcp_, 5 * BW), 6U);  // pieces of two
  tcp_.pacing_bytes_per_s = 20 * 1'024'000;
  EXPECT_EQ(bbr3_inflight(&b_, &tcp_, 50 * BW), 60U);
  b_.state = BBR3_UP;
  EXPECT_EQ(bbr3_inflight(&b_, &tcp_, 50 * BW), 62U);
  tcp_.pacing_bytes_per_s = 0;
  tcp_.mss_bytes = 100'000;  // one packet is more than a piece; still two
  b_.state = BBR3_CRUISE;
  EXPECT_EQ(bbr3_inflight(&b_, &tcp_, 1), 6U);
}

TEST_F(Bbr3Model, WithoutARoundTripTheProductIsTheFirstWindow) {
  tcp_.cwnd = 20;
  tcp_.min_rtt_us = STACK_NO_RTT;
  bbr3_init(&b_, &tcp_, 1);
  EXPECT_EQ(bbr3_product(&b_, 50 * BW, 512), 20U);
  tcp_.cwnd = 500;
  bbr3_init(&b_, &tcp_, 1);
  EXPECT_EQ(bbr3_product(&b_, 50 * BW, 512), 127U);
}

TEST_F(Bbr3Model, WhatPacingHoldsBackIsNotInTheNetwork) {
  settle();
  tcp_.paced_ahead_us = 5 * 656;  // five packets, at 100 in 65,536 us
  EXPECT_EQ(bbr3_in_network(&b_, &tcp_, 100), 95U);
  EXPECT_EQ(bbr3_in_network(&b_, &tcp_, 3), 0U);
  enter(BBR3_UP);
  EXPECT_EQ(bbr3_in_network(&b_, &tcp_, 100), 97U);  // the piece of two that goes next counts
}

TEST_F(Bbr3Model, EveryStateHasItsGains) {
  const struct {
    __u8 state;
    __u16 pacing, cwnd;
  } expected[] = {
      {BBR3_STARTUP, 710, 512},                                                  // 4 ln 2 = 2.77
      {BBR3_DRAIN, 88, 512},                                                     // 0.35
      {BBR3_DOWN, 232, 512},                                                     // 0.91
      {BBR3_CRUISE, 256, 512},    {BBR3_REFILL, 256, 512}, {BBR3_UP, 320, 576},  // 1.25, 2.25
      {BBR3_PROBE_RTT, 256, 256},
  };
  for (const auto& each : expected) {
    b_.state = each.state;
    bbr3_update_gains(&b_);
    EXPECT_EQ(b_.pacing_gain, each.pacing) << int{each.state};
    EXPECT_EQ(b_.cwnd_gain, each.cwnd) << int{each.state};
  }
}

}  // namespace
