// SPDX-License-Identifier: Apache-2.0
// VCP's sender against numbers that follow from the paper's constants.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/vcp.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Vcp : public ::testing::Test {
 protected:
  void open(__u32 cwnd, __u32 srtt_us) {
    tcp_ = tcp_of(cwnd);
    tcp_.srtt_us = srtt_us;
    vcp_init(&l_, &kDefaults, &tcp_);
  }
  void ack(__u8 code, __u32 packets = 1) {
    tcp_.load_code = code;
    vcp_on_acked(&l_, &kDefaults, &tcp_, packets, 0);
    vcp_grow(&l_, &kDefaults, &tcp_, packets);
  }
  // A round trip: each packet of the window is acknowledged.
  void round(__u8 code) {
    for (__u32 left = tcp_.cwnd; left > 0; left--) ack(code);
  }
  double window() const { return static_cast<double>(l_.window_q32) / 4294967296.0; }

  vcp l_{};
  cc_stack tcp_{};
};

TEST_F(Vcp, AtALowLoadTheWindowGrowsByASixteenthPerMeasuringInterval) {
  open(1600, 200'000);  // a round trip of one interval
  ack(VCP_LOW, 1600);
  EXPECT_NEAR(window(), 1700, 0.01);
  EXPECT_EQ(tcp_.cwnd, 1699U);  // the series is a millionth short
  open(1600, 100'000);          // two round trips of half of one: sqrt(1.0625) each
  ack(VCP_LOW, 1600);
  EXPECT_NEAR(window(), 1600 * std::sqrt(1.0625), 0.01);
  open(1600, 20'000);
  ack(VCP_LOW, 1600);
  EXPECT_NEAR(window(), 1600 * std::pow(1.0625, 0.1), 0.01);
}

TEST_F(Vcp, GrowthByAPartEndsAtTwoIntervalsAndAHalf) {
  for (const __u32 rtt_us : {500'000U, 570'000U, 4'000'000U}) {
    open(1000, rtt_us);
    ack(VCP_LOW, 1000);
    EXPECT_NEAR(window(), 1000 * std::pow(1.0625, 2.5), 0.01) << rtt_us;  // 1163.65
  }
}

TEST_F(Vcp, AtAHighLoadPacketsPerRoundTripGrowWithItsSquare) {
  // By round trip: (rtt / 200 ms)^2; at 10 ms 0.05 * 0.1; at 1 s 2.5^2 + (5 - 2.5).
  const struct {
    __u32 rtt_us;
    double packets;
  } cases[] = {{200'000, 1},   {100'000, 0.25}, {500'000, 6.25},
               {20'000, 0.01}, {10'000, 0.005}, {1'000'000, 8.75}};
  for (const auto& each : cases) {
    open(1000, each.rtt_us);
    ack(VCP_HIGH, 1000);
    EXPECT_NEAR(window(), 1000 + each.packets, 1e-4 * each.packets + 1e-5) << each.rtt_us;
  }
}

TEST_F(Vcp, FractionsOfAPacketAddUp) {
  open(10, 100'000);  // a quarter of a packet per round trip
  for (int i = 0; i < 4; i++) round(VCP_HIGH);
  // Ten ACKs of a quarter over the window each: dw/dt = 0.25 * 10 / w, w = sqrt(100 + 5 t) after t round
  // trips.
  EXPECT_NEAR(window(), std::sqrt(120), 0.002);
  EXPECT_EQ(tcp_.cwnd, 10U);
  round(VCP_HIGH);
  EXPECT_EQ(tcp_.cwnd, 11U);
}

TEST_F(Vcp, AnOverloadTakesAnEighthOnceAndTheWindowThenRestsForAnInterval) {
  open(1000, 100'000);
  ack(VCP_OVERLOAD);
  EXPECT_EQ(tcp_.cwnd, 875U);
  for (const __u64 after_ms : {1ULL, 100ULL, 199ULL}) {
    tcp_.now_us = 100 * SECOND + after_ms * MS;
    for (const __u8 code : {VCP_LOW, VCP_HIGH, VCP_OVERLOAD}) ack(code, 875);
    EXPECT_EQ(window(), 875) << after_ms;
  }
}

TEST_F(Vcp, ThenItGrowsByPacketsForARoundTripWhateverTheCode) {
  open(1000, 100'000);
  ack(VCP_OVERLOAD);
  tcp_.now_us = 100 * SECOND + 200 * MS;
  ack(VCP_OVERLOAD, 875);
  EXPECT_NEAR(window(), 875.25, 1e-4);
  tcp_.now_us += 99 * MS;
  ack(VCP_LOW, 875);
  EXPECT_NEAR(window(), 875.5, 1e-3);
  tcp_.now_us += 1 * MS;
  ack(VCP_LOW, 875);
  EXPECT_NEAR(window(), 875.5 + 875 * (std::sqrt(1.0625) - 1), 0.02);
  tcp_.cwnd = 800;
  ack(VCP_OVERLOAD);
  EXPECT_EQ(tcp_.cwnd, 700U);  // the next decrease
}

TEST_F(Vcp, ADecreaseLeavesAPacket) {
  open(1, 100'000);
  ack(VCP_OVERLOAD);
  EXPECT_EQ(tcp_.cwnd, 1U);
  EXPECT_EQ(window(), 1);
}

TEST_F(Vcp, WithoutACodeOrWithAWindowThatIsNotUsedNothingGrows) {
  open(100, 200'000);
  ack(VCP_NONE, 100);
  tcp_.is_cwnd_limited = 0;
  ack(VCP_LOW, 100);
  ack(VCP_HIGH, 100);
  EXPECT_EQ(window(), 100);
  ack(VCP_OVERLOAD, 100);  // which holds for what it sends all the same
  EXPECT_EQ(window(), 87.5);
}

TEST_F(Vcp, TheWindowStaysBelowItsClamp) {
  open(100, 200'000);
  tcp_.cwnd_clamp = 103;
  ack(VCP_LOW, 100);
  EXPECT_EQ(tcp_.cwnd, 103U);
}

TEST_F(Vcp, ALossHalvesAndAnOverloadInRecoveryTakesNothingMore) {
  open(1001, 100'000);
  EXPECT_EQ(vcp_ssthresh(&l_, &kDefaults, &tcp_), 500U);
  tcp_.cwnd = 600;  // on the way down
  tcp_.ca_state = CA_STATE_RECOVERY;
  ack(VCP_OVERLOAD, 0);
  EXPECT_EQ(tcp_.cwnd, 600U);
  tcp_.ca_state = CA_STATE_OPEN;
  tcp_.cwnd = 500;
  ack(VCP_LOW, 500);
  EXPECT_NEAR(window(), 500 * std::sqrt(1.0625), 0.01);  // from where TCP left it
  EXPECT_EQ(vcp_undo(&l_, &kDefaults, &tcp_), 1001U);
  tcp_.cwnd = 2;
  EXPECT_EQ(vcp_ssthresh(&l_, &kDefaults, &tcp_), 2U);
}

TEST_F(Vcp, AConnectionWithoutASampleCountsOnATenthOfASecond) {
  open(1600, 0);
  ack(VCP_LOW, 1600);
  EXPECT_NEAR(window(), 1600 * std::sqrt(1.0625), 0.01);
}

// Two flows of one window and round trips of 40 and 160 ms grow by the same rate per second: packets per
// round trip over the square of the round trip are equal.
TEST_F(Vcp, RatesGrowEquallyWhateverTheRoundTrip) {
  double rates[2];
  const __u32 rtts_us[] = {40'000, 160'000};
  for (int i = 0; i < 2; i++) {
    open(500, rtts_us[i]);
    ack(VCP_HIGH, 500);
    rates[i] = (window() - 500) / rtts_us[i] / rtts_us[i];
  }
  EXPECT_NEAR(rates[0] / rates[1], 1, 0.001);
}

}  // namespace
