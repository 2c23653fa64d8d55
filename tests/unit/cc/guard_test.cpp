// SPDX-License-Identifier: Apache-2.0
#include "cc/guard.h"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;

void rounds(cc_guard& guard, int count) {
  for (int i = 0; i < count; i++) guard_round(&guard);
}

TEST(Guard, OneStrikeMayBeChance) {
  cc_guard guard{};
  guard_strike(&guard, &kDefaults, 0);
  EXPECT_FALSE(guard_is_on(&guard));
  rounds(guard, GUARD_STRIKE_ROUNDS);
  guard_strike(&guard, &kDefaults, 0);
  EXPECT_FALSE(guard_is_on(&guard));
}

TEST(Guard, OneStrikeMakesWaryForAWhile) {
  cc_guard guard{};
  EXPECT_FALSE(guard_is_wary(&guard));
  guard_strike(&guard, &kDefaults, 0);
  rounds(guard, GUARD_WARY_ROUNDS - 1);
  EXPECT_TRUE(guard_is_wary(&guard));
  rounds(guard, 1);
  EXPECT_FALSE(guard_is_wary(&guard));
}

TEST(Guard, TwoStrikesSoonAfterEachOtherPutTheFlowUnderGuard) {
  cc_guard guard{};
  guard_strike(&guard, &kDefaults, 0);
  rounds(guard, GUARD_STRIKE_ROUNDS - 1);
  guard_strike(&guard, &kDefaults, 0);
  EXPECT_TRUE(guard_is_on(&guard));
  EXPECT_FALSE(guard.distrust);
  rounds(guard, 64);
  EXPECT_FALSE(guard_is_on(&guard));
}

TEST(Guard, EachGuardIsLongerAndAStrikeUnderGuardRenewsIt) {
  cc_guard guard{};
  guard_strike(&guard, &kDefaults, 0);
  guard_strike(&guard, &kDefaults, 0);
  rounds(guard, 60);
  guard_strike(&guard, &kDefaults, 0);
  EXPECT_EQ(guard.rounds_left, 64);
  rounds(guard, 64);
  guard_strike(&guard, &kDefaults, 0);
  guard_strike(&guard, &kDefaults, 0);
  EXPECT_EQ(guard.rounds_left, 256);
}

TEST(Guard, AContradictionIsDistrustedWhileTheGuardLasts) {
  cc_guard guard{};
  guard_strike(&guard, &kDefaults, 1);
  guard_strike(&guard, &kDefaults, 1);
  EXPECT_TRUE(guard.distrust);
  rounds(guard, 64);
  EXPECT_FALSE(guard.distrust);
  guard_strike(&guard, &kDefaults, 1);  // known by now: one is enough
  EXPECT_TRUE(guard_is_on(&guard));
  guard_lift(&guard);
  EXPECT_FALSE(guard_is_on(&guard) || guard.distrust);
}

TEST(Guard, WhatIsNoChanceIsGuardedAtOnceAndForLong) {
  cc_guard guard{};
  guard_confirm(&guard, &kDefaults);
  EXPECT_EQ(guard.rounds_left, 16 * 64);
  EXPECT_TRUE(guard.distrust);
}

TEST(Guard, CanBeSwitchedOff) {
  cc_params params = kDefaults;
  params.guard_rounds = 0;
  cc_guard guard{};
  guard_strike(&guard, &params, 1);
  guard_strike(&guard, &params, 1);
  EXPECT_FALSE(guard_is_on(&guard));
  EXPECT_FALSE(guard_is_wary(&guard)) << "what routers grant must not be held back either";
}

}  // namespace
