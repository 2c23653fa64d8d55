// SPDX-License-Identifier: Apache-2.0
// The largest value of a window, with its second and third.
#include "cc/windowed_max.h"

#include <gtest/gtest.h>

namespace {

constexpr __u32 WINDOW = 10;

class WindowedMax : public testing::Test {
 protected:
  void take(__u32 at, __u32 value) { windowed_max_update(&m_, WINDOW, at, value); }
  __u32 value() const { return windowed_max_value(&m_); }
  void expect(__u32 first, __u32 second, __u32 third) const {
    EXPECT_EQ(m_.best[0].value, first);
    EXPECT_EQ(m_.best[1].value, second);
    EXPECT_EQ(m_.best[2].value, third);
  }
  // 50 at 0, 40 at 3, 30 at 6
  void take_three() {
    take(0, 50);
    take(3, 40);
    take(6, 30);
    expect(50, 40, 30);
  }
  windowed_max m_{};
};

TEST_F(WindowedMax, ALargerOneForgetsAllOthers) {
  take_three();
  take(7, 50);  // as large counts as larger: it lasts longer
  expect(50, 50, 50);
  EXPECT_EQ(m_.best[0].at, 7U);
}

TEST_F(WindowedMax, AQuarterOfTheWindowBeginsTheSecondHalfOfItTheThird) {
  take(0, 50);
  take(2, 20);
  expect(50, 50, 50);
  take(3, 20);  // beyond 10 / 4
  expect(50, 20, 20);
  take(5, 10);
  expect(50, 20, 20);
  take(6, 10);  // beyond 10 / 2
  expect(50, 20, 10);
  EXPECT_EQ(m_.best[1].at, 3U);
  EXPECT_EQ(m_.best[2].at, 6U);
}

TEST_F(WindowedMax, AValueBetweenTakesThePlaceOfSmallerOnes) {
  take_three();
  take(7, 35);
  expect(50, 40, 35);
  take(8, 45);
  expect(50, 45, 45);
}

TEST_F(WindowedMax, TheFirstLastsTheWindowThenTheSecondFollows) {
  take_three();
  take(10, 10);
  expect(50, 40, 30);
  take(11, 10);
  expect(40, 30, 10);
}

TEST_F(WindowedMax, WhereTheSecondIsTooOldTheThirdFollows) {
  take_three();
  take(14, 10);
  expect(30, 10, 10);
}

TEST_F(WindowedMax, AfterAWholeWindowWithoutAnyTheNewestIsAllThereIs) {
  take_three();
  take(17, 10);
  expect(10, 10, 10);
}

}  // namespace
