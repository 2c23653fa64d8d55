// SPDX-License-Identifier: Apache-2.0
// Reno against numbers that follow from its definition.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/reno.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

TEST(Reno, DoublesInSlowStartAndThenAddsOneForEachWindow) {
  reno r{};
  cc_stack tcp = tcp_of(10, 15);
  reno_grow(&r, &kDefaults, &tcp, 10);  // five up to ssthresh, five towards the next packet
  EXPECT_EQ(tcp.cwnd, 15U);
  EXPECT_EQ(tcp.cwnd_count, 5U);
  reno_grow(&r, &kDefaults, &tcp, 10);
  EXPECT_EQ(tcp.cwnd, 16U);
  EXPECT_EQ(tcp.cwnd_count, 0U);
}

TEST(Reno, HalvesToTwoAtLeastAndCanBeUndone) {
  reno r{};
  cc_stack tcp = tcp_of(11);
  EXPECT_EQ(reno_ssthresh(&r, &kDefaults, &tcp), 5U);
  tcp.cwnd = 5;
  EXPECT_EQ(reno_undo(&r, &kDefaults, &tcp), 11U);
  tcp.cwnd = 3;
  EXPECT_EQ(reno_ssthresh(&r, &kDefaults, &tcp), 2U);
}

TEST(Reno, WhatWasCountedForALargerWindowIsAppliedByAnAckOfNothingNew) {
  reno r{};
  cc_stack tcp = tcp_of(10, 5);
  tcp.cwnd_count = 12;
  reno_grow(&r, &kDefaults, &tcp, 0);
  EXPECT_EQ(tcp.cwnd, 11U);
  EXPECT_EQ(tcp.cwnd_count, 0U);
}

TEST(Reno, TheClampBoundsBothKindsOfGrowth) {
  reno r{};
  cc_stack tcp = tcp_of(10, 40);
  tcp.cwnd_clamp = 12;
  reno_grow(&r, &kDefaults, &tcp, 5);
  EXPECT_EQ(tcp.cwnd, 12U);
  tcp.ssthresh = 5;
  reno_grow(&r, &kDefaults, &tcp, 24);
  EXPECT_EQ(tcp.cwnd, 12U);
}

TEST(Reno, AWindowThatIsNotUsedDoesNotGrow) {
  reno r{};
  cc_stack tcp = tcp_of(10);
  tcp.is_cwnd_limited = 0;
  reno_grow(&r, &kDefaults, &tcp, 10);
  EXPECT_EQ(tcp.cwnd, 10U);
}

}  // namespace
