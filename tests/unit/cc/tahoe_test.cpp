// SPDX-License-Identifier: Apache-2.0
// Tahoe against numbers that follow from its definition. What TCP does when it restarts is in
// sim/tests/stack_law_test.cpp.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/tahoe.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

TEST(Tahoe, SlowStartAddsAPacketPerAckWhateverTheAckCovers) {
  tahoe t{};
  cc_stack tcp = tcp_of(10, 12);
  tahoe_grow(&t, &kDefaults, &tcp, 7);
  EXPECT_EQ(tcp.cwnd, 11U);
  tahoe_grow(&t, &kDefaults, &tcp, 0);
  EXPECT_EQ(tcp.cwnd, 11U);
  tahoe_grow(&t, &kDefaults, &tcp, 2);
  EXPECT_EQ(tcp.cwnd, 12U);
  EXPECT_EQ(tcp.cwnd_count, 0U);
}

TEST(Tahoe, AvoidanceAddsAPacketPerWindow) {
  tahoe t{};
  cc_stack tcp = tcp_of(12, 12);
  for (int i = 0; i < 5; i++) tahoe_grow(&t, &kDefaults, &tcp, 2);
  EXPECT_EQ(tcp.cwnd, 12U);
  tahoe_grow(&t, &kDefaults, &tcp, 2);
  EXPECT_EQ(tcp.cwnd, 13U);
}

TEST(Tahoe, DoesNotGrowWhileTheWindowIsNotUsedUp) {
  tahoe t{};
  cc_stack tcp = tcp_of(10);
  tcp.is_cwnd_limited = 0;
  tahoe_grow(&t, &kDefaults, &tcp, 1);
  EXPECT_EQ(tcp.cwnd, 10U);
}

TEST(Tahoe, ALossAimsAtHalfOfTheFlight) {
  tahoe t{};
  cc_stack tcp = tcp_of(20);
  tcp.una = 0xfffffff8;  // -8
  tcp.next = 6;
  EXPECT_EQ(tahoe_ssthresh(&t, &kDefaults, &tcp), 7U);  // 14 / 2
  EXPECT_EQ(tahoe_undo(&t, &kDefaults, &tcp), 20U);
  tcp.cwnd = 11;  // restarted: the rest of the 14 is no flight
  EXPECT_EQ(tahoe_ssthresh(&t, &kDefaults, &tcp), 5U);
  tcp.cwnd = 3;
  EXPECT_EQ(tahoe_ssthresh(&t, &kDefaults, &tcp), 2U);
}

TEST(Tahoe, TheAckThatShowsTheLossOpensNothing) {
  tahoe t{};
  cc_stack tcp = tcp_of(1, 10);
  tahoe_init(&t, &kDefaults, &tcp);
  tahoe_on_event(&t, &kDefaults, &tcp, STACK_TX_START);
  tahoe_grow(&t, &kDefaults, &tcp, 1);
  EXPECT_EQ(tcp.cwnd, 2U);
  tahoe_on_event(&t, &kDefaults, &tcp, STACK_LOSS);
  tahoe_grow(&t, &kDefaults, &tcp, 1);
  EXPECT_EQ(tcp.cwnd, 2U);
  tcp.now_us++;
  tahoe_grow(&t, &kDefaults, &tcp, 1);
  EXPECT_EQ(tcp.cwnd, 3U);
}

}  // namespace
