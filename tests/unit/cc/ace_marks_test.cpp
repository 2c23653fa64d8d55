// SPDX-License-Identifier: Apache-2.0
// Marks from the kernel's count, which is too large by eights.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/ace_marks.h"
#undef _Static_assert

namespace {

TEST(AceMarks, AnAckIsWorthTheLeastNumberThatItsBitsAllow) {
  ace_marks marks{};
  ace_marks_init(&marks, 100, 0);
  EXPECT_EQ(ace_marks_count(&marks, 103), 103U);
  EXPECT_EQ(ace_marks_count(&marks, 103), 103U);
  EXPECT_EQ(ace_marks_count(&marks, 111), 103U);  // eight that there were none of
  EXPECT_EQ(ace_marks_count(&marks, 129), 105U);  // 18
  EXPECT_EQ(ace_marks_count(&marks, 136), 112U);
}

TEST(AceMarks, AnExactCountStandsAsItIs) {
  ace_marks marks{};
  ace_marks_init(&marks, 0, 1);
  EXPECT_EQ(ace_marks_count(&marks, 24), 24U);
}

TEST(AceMarks, TheCountGoesRound) {
  ace_marks marks{};
  ace_marks_init(&marks, 0xffffffff, 0);
  EXPECT_EQ(ace_marks_count(&marks, 2), 2U);
}

TEST(AceMarks, AReductionForNoMarksIsAFalseAlarm) {
  ace_marks marks{};
  ace_marks_init(&marks, 0, 0);
  EXPECT_FALSE(ace_marks_is_false_alarm(&marks, 0));  // a loss: the kernel has counted nothing
  const __u32 seen = ace_marks_count(&marks, 8);
  EXPECT_TRUE(ace_marks_is_false_alarm(&marks, seen));
  ace_marks_end_ack(&marks);
  EXPECT_FALSE(ace_marks_is_false_alarm(&marks, seen));
  ace_marks_count(&marks, 9);
  EXPECT_FALSE(ace_marks_is_false_alarm(&marks, seen));
}

}  // namespace
