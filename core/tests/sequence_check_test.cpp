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
    const bool late = ahead < 0 && ahead > -16384;
    ASSERT_EQ(total, gap ? ahead : late ? 65535 : 0) << ahead;
    ASSERT_EQ(check.expected(0), late ? 0x8000 : static_cast<std::uint16_t>(0x8001 + ahead)) << ahead;
    ASSERT_EQ(check.counters().rebased, gap || late ? 0u : 1u) << ahead;
    ASSERT_EQ(check.far(0), late && ahead < -256 ? 1u : 0u) << ahead;
  }
}

// A bucket that expects 5001 and has seen `row` packets far behind in a row.
SequenceCheck<1> after_far_packets(unsigned row) {
  SequenceCheck<1> check;
  check.step(0, 5000);
  for (unsigned i = 0; i < row; ++i) check.step(0, static_cast<std::uint16_t>(i));
  return check;
}

TEST(SequenceCheck, SixtyFourInARowFarBehindAreARestart) {
  SequenceCheck<1> check = after_far_packets(63);
  EXPECT_EQ(check.total(0), 65536 - 63);
  EXPECT_EQ(check.expected(0), 5001);
  EXPECT_EQ(check.counters().late, 63u);
  EXPECT_EQ(check.counters().rebased, 0u);
  EXPECT_EQ(check.step(0, 63), 65536 - 63);
  EXPECT_EQ(check.expected(0), 64);
  EXPECT_EQ(check.far(0), 0);
  EXPECT_EQ(check.counters().late, 63u);
  EXPECT_EQ(check.counters().rebased, 1u);
}

TEST(SequenceCheck, AnyOtherPacketEndsTheRow) {
  const std::uint16_t in_order = 5001, gap = 5010, late = 5001 - 256, jump = 40000;
  for (const std::uint16_t number : {in_order, gap, late, jump}) {
    SequenceCheck<1> check = after_far_packets(63);
    check.step(0, number);
    EXPECT_EQ(check.far(0), 0) << number;
  }
  SequenceCheck<1> followed = after_far_packets(63);
  followed.follow(0, 100);
  EXPECT_EQ(followed.far(0), 0);
  SequenceCheck<1> restarted = after_far_packets(63);
  restarted.restart();
  restarted.step(0, 100);
  EXPECT_EQ(restarted.far(0), 0);
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
