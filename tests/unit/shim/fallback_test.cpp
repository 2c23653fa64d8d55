// SPDX-License-Identifier: Apache-2.0
// Headers that look black-holed are given up, and taken up again a limited number of times.
#include "fallback.h"

#include <gtest/gtest.h>

namespace {

TEST(Fallback, ThreeAttemptsForOneSegmentMakeAFlowPlain) {
  flow f{};
  EXPECT_FALSE(flow_note_attempt(&f, 1000));
  EXPECT_FALSE(flow_note_attempt(&f, 1000));
  EXPECT_EQ(f.id.plain, 0);
  EXPECT_TRUE(flow_note_attempt(&f, 1000));
  EXPECT_EQ(f.id.plain, 1);
  EXPECT_EQ(f.id.plain_fallbacks, 1);
}

TEST(Fallback, ProgressStartsTheCountAgain) {
  flow f{};
  flow_note_attempt(&f, 1000);
  flow_note_attempt(&f, 1000);
  EXPECT_FALSE(flow_note_attempt(&f, 2448));
  EXPECT_FALSE(flow_note_attempt(&f, 2448));
  EXPECT_EQ(f.id.plain, 0);
}

TEST(Fallback, HeadersComeBackEightTimes) {
  flow f{};
  for (int fallback = 1; fallback <= 9; fallback++) {
    for (int attempt = 0; attempt < 3; attempt++) flow_note_attempt(&f, 1000);
    EXPECT_EQ(f.id.plain, 1);
    flow_note_header(&f);
    EXPECT_EQ(f.id.plain, fallback == 9) << fallback;
  }
}

TEST(Fallback, TheCountOfFallbacksSaturates) {
  flow f{};
  for (int attempt = 0; attempt < 3 * 300; attempt++) flow_note_attempt(&f, 1000);
  EXPECT_EQ(f.id.plain_fallbacks, 255);
}

}  // namespace
