// SPDX-License-Identifier: Apache-2.0
#include "core/sequence_check.hpp"

#include <gtest/gtest.h>

namespace clarion {
namespace {

TEST(SequenceStamp, CountsPerBucketAndWraps) {
  SequenceStamp<4> stamp;
  for (unsigned i = 0; i < 65536; ++i) EXPECT_EQ(stamp.step(1), i);
  EXPECT_EQ(stamp.step(1), 0u);
  EXPECT_EQ(stamp.step(2), 0u);
  EXPECT_EQ(stamp.step(5), 1u);  // 5 mod 4 = 1
}

TEST(SequenceCheck, EveryDistanceFromTheExpectedNumber) {
  for (std::int32_t ahead = -32768; ahead <= 32767; ++ahead) {
    SequenceCheck<1> check;
    check.step(0, 0x7fff);  // expected is now 0x8000
    const std::uint16_t total = check.step(0, static_cast<std::uint16_t>(0x8000 + ahead));
    const bool gap = ahead >= 0 && ahead <= 16383;
    const bool late = ahead < 0 && ahead >= -256;
    ASSERT_EQ(total, gap ? ahead : late ? 65535 : 0) << ahead;
    ASSERT_EQ(check.expected(0), late ? 0x8000 : static_cast<std::uint16_t>(0x8001 + ahead)) << ahead;
    ASSERT_EQ(check.counters().rebased, gap || late ? 0u : 1u) << ahead;
  }
}

TEST(SequenceCheck, RestartTakesNewBasesAndKeepsTotals) {
  SequenceCheck<2> check;
  check.step(0, 0);
  EXPECT_EQ(check.step(0, 4), 3);
  check.restart();
  EXPECT_EQ(check.step(0, 500), 3);
  EXPECT_EQ(check.step(0, 502), 4);
  EXPECT_EQ(check.counters().lost, 4u);
}

TEST(SequenceCheck, FollowingCountsNothingAndLeavesNoGap) {
  SequenceCheck<2> check;
  check.step(1, 0);
  check.step(1, 4);
  for (const std::uint16_t number : {100, 50, 50, 60000}) {
    EXPECT_EQ(check.follow(1, number), 3);
    EXPECT_EQ(check.expected(1), static_cast<std::uint16_t>(number + 1));
  }
  EXPECT_EQ(check.step(1, 60001), 3);
  EXPECT_EQ(check.counters().lost, 3u);
  EXPECT_EQ(check.counters().late + check.counters().rebased, 0u);
}

}  // namespace
}  // namespace clarion
