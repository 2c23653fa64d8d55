// SPDX-License-Identifier: Apache-2.0
// Hybla against numbers that follow from its definition, in the integers of Linux: rho in 1 / 8, steps in 1 /
// 128.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/hybla.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class Hybla : public testing::Test {
 protected:
  void start(__u32 srtt_us, __u32 cwnd = 10, __u32 ssthresh = STACK_INFINITE_SSTHRESH) {
    tcp_ = tcp_of(cwnd, ssthresh);
    tcp_.srtt_us = srtt_us;
    hybla_init(&h_, &params_, &tcp_);
  }
  void begin() { hybla_on_event(&h_, &params_, &tcp_, STACK_TX_START); }
  void grow(int acks, __u32 each = 1) {
    for (int i = 0; i < acks; i++) hybla_grow(&h_, &params_, &tcp_, each);
  }
  void enter(__u8 state) { hybla_on_state(&h_, &params_, &tcp_, state); }
  cc_params params_ = kDefaults;
  cc_stack tcp_ = tcp_of(10);
  hybla h_{};
};

TEST_F(Hybla, RhoIsTheRoundTripInReferencesAndOneAtLeast) {
  start(100'000);
  EXPECT_EQ(h_.rho, 32U);            // 4
  EXPECT_EQ(h_.rho_squared, 2048U);  // 16
  start(60'000);
  EXPECT_EQ(h_.rho, 19U);           // 2.4, of which 19 / 8
  EXPECT_EQ(h_.rho_squared, 722U);  // 19 * 19 * 2
  start(10'000);
  EXPECT_EQ(h_.rho, 8U);
  EXPECT_EQ(h_.rho_squared, 128U);
}

TEST_F(Hybla, TheReferenceIsAParameter) {
  params_.hybla_rtt0_ms = 50;
  start(100'000);
  EXPECT_EQ(h_.rho, 16U);
  params_.hybla_rtt0_ms = 1;
  start(~0U);
  EXPECT_EQ(h_.rho, 34'359'738U);  // 8 * 4294967.295
  EXPECT_EQ(h_.rho_squared, ~0U);
}

TEST_F(Hybla, TheLeastRoundTripCounts) {
  start(100'000);
  tcp_.is_cwnd_limited = 0;  // even then
  tcp_.srtt_us = 150'000;
  grow(1);
  EXPECT_EQ(h_.rho, 32U);
  tcp_.srtt_us = 50'000;
  grow(1);
  EXPECT_EQ(h_.rho, 16U);
  EXPECT_EQ(h_.rho_squared, 512U);
}

TEST_F(Hybla, AHandshakeWithoutARoundTripLeavesRhoToTheFirstOne) {
  start(0);
  EXPECT_EQ(h_.rho, 8U);
  EXPECT_EQ(h_.rho_squared, 128U);
  grow(1);
  EXPECT_EQ(h_.rho, 8U);
  tcp_.srtt_us = 100'000;
  grow(1);
  EXPECT_EQ(h_.rho, 32U);
}

TEST_F(Hybla, TheInitialWindowIsRhoOnce) {
  start(60'000);
  begin();
  EXPECT_EQ(tcp_.cwnd, 2U);
  tcp_.cwnd = 7;
  begin();
  hybla_on_acked(&h_, &params_, &tcp_, 1, 60'000);
  EXPECT_EQ(tcp_.cwnd, 7U);
  start(100'000);  // chosen while packets are under way
  hybla_on_acked(&h_, &params_, &tcp_, 1, 100'000);
  EXPECT_EQ(tcp_.cwnd, 4U);
}

TEST_F(Hybla, SlowStartAddsTwoToTheRhoLessOnePerAck) {
  start(25'000);
  grow(1, 3);  // an ACK is one
  EXPECT_EQ(tcp_.cwnd, 11U);
  start(100'000);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 25U);  // 2^4 - 1
  start(60'000);              // 4 * 165 / 128 - 1 = 532 / 128 = 4 + 20 / 128
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 14U);
  EXPECT_EQ(h_.fraction, 20U);
  grow(6);
  EXPECT_EQ(tcp_.cwnd, 39U);  // 10 + 7 * 4 + 1
  EXPECT_EQ(h_.fraction, 12U);
}

TEST_F(Hybla, ItsPowersOfTwoAreThoseOfEighths) {
  for (__u32 n = 0; n < 8; n++) {
    const double exact = 128 * std::exp2(n / 8.0);
    EXPECT_LE(hybla_power(n), exact) << n;
    EXPECT_GT(hybla_power(n), exact - 1) << n;
  }
}

TEST_F(Hybla, SlowStartEndsAtSsthreshAndAtTheClamp) {
  start(100'000, 10, 12);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 12U);
  start(100'000);
  tcp_.cwnd_clamp = 20;
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 20U);
  start(500'000);  // rho is 20, of which 16 count
  EXPECT_EQ(hybla_slow_start_step(&h_), 65'535U * 128);
  tcp_.cwnd_clamp = 1U << 30;
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 65'535U);
}

TEST_F(Hybla, AfterSlowStartItAddsRhoSquaredPerWindow) {
  start(100'000, 16, 2);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 17U);  // 16 / 16
  tcp_.cwnd = 20;             // 2048 / 20 = 102 / 128
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 20U);
  EXPECT_EQ(h_.fraction, 102U);
  EXPECT_EQ(tcp_.cwnd_count, 1U);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 21U);
  EXPECT_EQ(h_.fraction, 76U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  tcp_.cwnd = 39;  // 52 / 128, and 76 are there
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 40U);
  EXPECT_EQ(h_.fraction, 0U);
  tcp_.cwnd = 7;  // 292 / 128
  h_.fraction = 0;
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 9U);
  EXPECT_EQ(h_.fraction, 36U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
}

TEST_F(Hybla, WhereThatIsLessThanAHundredTwentyEighthItAddsAPacketPerWindow) {
  start(100'000, 3000, 2);
  grow(2999);
  EXPECT_EQ(tcp_.cwnd, 3000U);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 3001U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
}

TEST_F(Hybla, OutsideTheOpenStateItGrowsAsReno) {
  start(100'000, 10, 12);
  enter(CA_STATE_LOSS);
  grow(1, 5);
  EXPECT_EQ(tcp_.cwnd, 12U);
  EXPECT_EQ(tcp_.cwnd_count, 3U);
  grow(9);
  EXPECT_EQ(tcp_.cwnd, 13U);
  enter(CA_STATE_OPEN);
  grow(1);
  EXPECT_EQ(tcp_.cwnd, 14U);  // 2048 / 13 = 157 / 128
  EXPECT_EQ(h_.fraction, 29U);
}

TEST_F(Hybla, TheLargestWindowIs65535InEachKindOfGrowth) {
  start(100'000, 65'534, 2);
  grow(65'534 + 70'000);
  EXPECT_EQ(tcp_.cwnd, 65'535U);
  enter(CA_STATE_LOSS);
  grow(2, 65'535);
  EXPECT_EQ(tcp_.cwnd, 65'535U);
}

TEST_F(Hybla, AWindowThatIsNotUsedDoesNotGrow) {
  start(100'000);
  tcp_.is_cwnd_limited = 0;
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 10U);
  enter(CA_STATE_LOSS);
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 10U);
}

TEST_F(Hybla, HalvesToTwoAtLeastAndCanBeUndone) {
  start(100'000, 8, 2);
  tcp_.cwnd = 1;
  EXPECT_EQ(hybla_undo(&h_, &params_, &tcp_), 8U);  // before the first loss
  tcp_.cwnd = 11;
  EXPECT_EQ(hybla_ssthresh(&h_, &params_, &tcp_), 5U);
  tcp_.cwnd = 5;
  EXPECT_EQ(hybla_undo(&h_, &params_, &tcp_), 11U);
  tcp_.cwnd = 3;
  EXPECT_EQ(hybla_ssthresh(&h_, &params_, &tcp_), 2U);
}

// The signature. In slow start the rate is 2^(t / RTT0) / RTT0: after 8 RTT0 the window is 256 rho.
TEST_F(Hybla, SlowStartDoublesTheRateInAReferenceWhateverTheRoundTrip) {
  for (const __u32 rho : {1U, 2U, 4U, 8U}) {
    start(rho * 25'000);
    begin();
    for (__u32 references = 0; references < 8; references += rho) grow(static_cast<int>(tcp_.cwnd));
    EXPECT_EQ(tcp_.cwnd, 256 * rho);
  }
}

// And after it the rate grows by 1 / RTT0^2: 1600 packets/s each second. Below RTT0 by 1 / RTT^2, as Reno's.
// In a round trip here the window grows by a tenth; steps in 1 / 128 and the ACKs of the smaller window cost
// some of it.
TEST_F(Hybla, TheRateGrowsByAsMuchPerSecondWhateverTheRoundTrip) {
  const auto growth = [&](__u32 rtt_ms) {  // in half a second from 16 packets/s for each ms on
    start(rtt_ms * 1000, 16 * rtt_ms * rtt_ms / 1000, 2);
    for (__u32 ms = 0; ms < 500; ms += rtt_ms) grow(static_cast<int>(tcp_.cwnd));
    return 1000.0 * tcp_.cwnd / rtt_ms - 16 * rtt_ms;
  };
  const double reference = growth(25);
  EXPECT_NEAR(reference, 800, 100);
  for (const __u32 rtt_ms : {50U, 100U, 250U, 500U}) EXPECT_NEAR(growth(rtt_ms), reference, 20) << rtt_ms;
  EXPECT_GT(growth(10), 4000);
}

}  // namespace
