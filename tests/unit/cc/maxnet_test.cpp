// SPDX-License-Identifier: Apache-2.0
// MaxNet's sender against numbers that follow from x = 50 * 10^9 bytes/s * e^-p.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/maxnet.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// Frames of 1082 bytes, of which 1000 are payload, and a round trip of 100 ms: ten are 108,200 bytes/s.
class Maxnet : public testing::Test {
 protected:
  Maxnet() {
    tcp_.srtt_us = 100'000;
    maxnet_init(&l_, &tcp_);
  }
  void ack(__u64 after_us, __u32 price_q24, __u16 link = 7) {
    tcp_.now_us += after_us;
    tcp_.told_link = link;
    tcp_.told_word = price_q24;
    maxnet_on_ack(&l_, &params_, &tcp_);
  }
  __u64 x() const { return l_.bytes_per_s; }
  static constexpr __u32 PRICE = 181'522'000;  // 10.819554 nepers
  static constexpr __u64 DEMAND = 1'000'223;   // of that, bytes/s
  cc_params params_ = kDefaults;
  maxnet l_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Maxnet, TheRateFallsExponentiallyWithThePrice) {
  EXPECT_EQ(maxnet_demand(0), 50'000'000'000U);
  for (const double price : {0.001, 0.3, 0.5, 1.0, 5.0, 10.871072, 15.0}) {
    const double rate = 50e9 * std::exp(-price);
    EXPECT_NEAR(static_cast<double>(maxnet_demand(static_cast<__u32>(price * 16'777'216))), rate,
                1 + 5e-7 * rate);
  }
  EXPECT_EQ(maxnet_demand(412'719'514), 1U);  // 24.6 nepers: 1.04
  EXPECT_EQ(maxnet_demand(0xffffffff), 0U);
}

TEST_F(Maxnet, RisesByAPartOfTheDemandPerRoundTrip) {
  const __u64 first = x();
  EXPECT_EQ(first, 108'200U);
  ack(100'000, PRICE);
  EXPECT_NEAR(static_cast<double>(x() - first), DEMAND / 32.0, 2);
  ack(50'000, PRICE);
  EXPECT_NEAR(static_cast<double>(x() - first), DEMAND * 1.5 / 32, 3);
  ack(10'000'000, PRICE);  // after a pause one round trip counts
  EXPECT_NEAR(static_cast<double>(x() - first), DEMAND * 2.5 / 32, 4);
  for (int i = 0; i < 32; i++) ack(100'000, PRICE);
  EXPECT_NEAR(static_cast<double>(x()), DEMAND, 1);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, x() * 1000 / 1082);
  EXPECT_EQ(tcp_.cwnd, 2 * 92 + 4U);
}

TEST_F(Maxnet, FallsAtOnce) {
  ack(0, PRICE + 4 * 16'777'216);  // e^-4: 18,319
  EXPECT_NEAR(static_cast<double>(x()), 18'319, 1);
  ack(0, 0xffffffff);
  EXPECT_EQ(x(), 1082U);  // a packet per second
}

TEST_F(Maxnet, AnAckFromAPathWithoutRoutersChangesNothing) {
  ack(100'000, 0, 0);
  EXPECT_EQ(x(), 108'200U);
}

TEST_F(Maxnet, ATimeoutHalves) {
  maxnet_on_timeout(&l_, &tcp_);
  EXPECT_EQ(x(), 54'100U);
}

}  // namespace
