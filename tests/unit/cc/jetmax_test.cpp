// SPDX-License-Identifier: Apache-2.0
// JetMax's sender against numbers that follow from x <- x - tau (x - g).
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/jetmax.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// Frames of 1082 bytes, of which 1000 are payload, and a round trip of 100 ms: ten are 108,200 bytes/s.
class Jetmax : public testing::Test {
 protected:
  Jetmax() {
    tcp_.srtt_us = 100'000;
    jetmax_init(&l_, &tcp_);
  }
  void ack(__u64 after_us, __u16 link, __u64 fair_bytes_per_s) {
    tcp_.now_us += after_us;
    tcp_.told_link = link;
    tcp_.told_word = static_cast<__u32>(fair_bytes_per_s * 2 / 25);
    jetmax_on_ack(&l_, &params_, &tcp_);
  }
  __u64 x() const { return l_.bytes_per_s; }
  cc_params params_ = kDefaults;
  jetmax l_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Jetmax, BeginsWithTheInitialWindowInARoundTrip) {
  EXPECT_EQ(x(), 108'200U);
  EXPECT_EQ(tcp_.pacing_bytes_per_s, 100'000U);
  EXPECT_EQ(tcp_.cwnd, 2 * 10 + 4U);
  EXPECT_EQ(tcp_.controlling_link, 0);
}

TEST_F(Jetmax, AnAckFromAPathWithoutRoutersChangesNothing) {
  ack(1000, 0, 1'000'000);
  EXPECT_EQ(x(), 108'200U);
  EXPECT_EQ(tcp_.controlling_link, 0);
}

TEST_F(Jetmax, ANewLinkTakesOverAtOnceAndRaisesTheRateWhenItHasCountedTheFlow) {
  ack(0, 7, 1'108'200);
  EXPECT_EQ(tcp_.controlling_link, 7);
  EXPECT_EQ(x(), 108'200U);
  ack(299'999, 7, 1'108'200);  // a round trip and two control intervals of 100 ms
  EXPECT_EQ(x(), 108'200U);
  ack(1, 7, 1'108'200);
  EXPECT_EQ(x(), 108'200U + 600'006);  // 39322 / 65536
}

TEST_F(Jetmax, ALowerRateOfANewLinkIsFollowedAtOnceAndThenOnlyWhatFollowsIsHeard) {
  ack(0, 7, 8'200);
  EXPECT_EQ(x(), 108'200U - 60'000);
  ack(299'999, 9, 1'300);
  EXPECT_EQ(tcp_.controlling_link, 7);
  EXPECT_EQ(x(), 48'200U);
  ack(1, 9, 8'200);
  EXPECT_EQ(tcp_.controlling_link, 9);
  EXPECT_EQ(x(), 48'200U - 24'000);
}

TEST_F(Jetmax, StepsOncePerRoundTripAndIsWithinAPercentAfterSix) {
  ack(0, 7, 1'000'000);
  ack(200'000, 7, 1'000'000);
  EXPECT_EQ(x(), 108'200U);
  // 1,000,000 - 891,800 * 0.4^n
  const __u64 expected[] = {643'280, 857'312, 942'925, 977'170, 990'868, 996'347};
  ack(0, 7, 1'000'000);
  for (const __u64 rate : expected) {
    ack(99'999, 7, 1'000'000);
    const __u64 before = x();
    ack(1, 7, 1'000'000);
    EXPECT_GT(x(), before);
    EXPECT_NEAR(static_cast<double>(x()), static_cast<double>(rate), 8);
  }
  EXPECT_GT(x(), 990'000U);
}

TEST_F(Jetmax, ATimeoutHalvesAndTheRateStaysAtAPacketPerSecond) {
  jetmax_on_timeout(&l_, &tcp_);
  EXPECT_EQ(x(), 54'100U);
  for (int i = 0; i < 20; i++) jetmax_on_timeout(&l_, &tcp_);
  EXPECT_EQ(x(), 1082U);
  ack(0, 7, 0);
  EXPECT_EQ(x(), 1082U);
}

TEST_F(Jetmax, TheWindowStaysBelowItsClamp) {
  tcp_.cwnd_clamp = 6;
  ack(0, 0, 0);
  EXPECT_EQ(tcp_.cwnd, 6U);
}

}  // namespace
