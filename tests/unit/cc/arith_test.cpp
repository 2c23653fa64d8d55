// SPDX-License-Identifier: Apache-2.0
#include "cc/arith.h"

#include <gtest/gtest.h>

namespace {

constexpr __u64 kMax = ~0ULL;

TEST(Arith, ClampKeepsTheRange) {
  EXPECT_EQ(clamp_u64(0, 1, 10), 1u);
  EXPECT_EQ(clamp_u64(5, 1, 10), 5u);
  EXPECT_EQ(clamp_u64(11, 1, 10), 10u);
  EXPECT_EQ(clamp_u64(kMax, 0, kMax), kMax);
}

TEST(Arith, SumsAndDifferencesSaturate) {
  EXPECT_EQ(sub_floor_u64(3, 5), 0u);
  EXPECT_EQ(sub_floor_u64(5, 3), 2u);
  EXPECT_EQ(add_sat_u64(kMax, 1), kMax);
  EXPECT_EQ(add_sat_u64(kMax - 1, 1), kMax);
  EXPECT_EQ(add_sat_u64(2, 3), 5u);
}

TEST(Arith, ProductsSaturate) {
  EXPECT_EQ(mul_sat_u64(0, kMax), 0u);
  EXPECT_EQ(mul_sat_u64(kMax, 0), 0u);
  EXPECT_EQ(mul_sat_u64(kMax, 1), kMax);
  EXPECT_EQ(mul_sat_u64(1ULL << 32, 1ULL << 31), 1ULL << 63);
  EXPECT_EQ(mul_sat_u64(1ULL << 32, 1ULL << 32), kMax);
}

TEST(Arith, DivisionByZeroIsZero) {
  EXPECT_EQ(div_u64(7, 2), 3u);
  EXPECT_EQ(div_u64(7, 0), 0u);
  EXPECT_EQ(mul_div_u64(7, 9, 0), 0u);
  EXPECT_EQ(mul_div_u64(7, 9, 2), 31u);  // 63 / 2
  EXPECT_EQ(ratio_q16(7, 0), 0u);
}

TEST(Arith, RatioKeepsTheFraction) {
  EXPECT_EQ(ratio_q16(1, 2), 32768u);  // 0.5 * 65536
  EXPECT_EQ(ratio_q16(3, 2), 98304u);  // 1.5 * 65536
  EXPECT_EQ(ratio_q16(1, 3), 21845u);  // 21845.33
  EXPECT_EQ(ratio_q16((1ULL << 48) - 1, 1), ((1ULL << 48) - 1) << 16);
  EXPECT_EQ(ratio_q16(1ULL << 48, 1), kMax);  // 2^64 does not fit
}

TEST(Arith, ScaleRoundsDown) {
  EXPECT_EQ(scale_q16(100, 45875), 69u);  // 100 * 0.69999
  EXPECT_EQ(scale_q16(100, 65536), 100u);
  EXPECT_EQ(scale_q16(100, 0), 0u);
  EXPECT_EQ(scale_percent(199, 50), 99u);
  EXPECT_EQ(scale_percent(0, 105), 0u);
}

TEST(Arith, WrapDifferencesAreSigned) {
  EXPECT_EQ(wrap_diff_u32(5, 0xfffffffb), 10);  // 5 + 5
  EXPECT_EQ(wrap_diff_u32(0xfffffffb, 5), -10);
  EXPECT_EQ(wrap_diff_u32(0x80000000, 0), INT32_MIN);
  EXPECT_EQ(wrap_diff_u16(3, 0xfffe), 5);
  EXPECT_EQ(wrap_diff_u16(0xfffe, 3), -5);
  EXPECT_EQ(wrap_diff_u16(0x8000, 0), -32768);
}

TEST(Arith, MicrosecondsToQ28Seconds) {
  EXPECT_EQ(us_to_q28(0), 0u);
  EXPECT_EQ(us_to_q28(1), 268u);             // 268.4
  EXPECT_EQ(us_to_q28(500000), 134217727u);  // 0.5 * 2^28 = 134217728, rounded down
  EXPECT_EQ(us_to_q28(1000000), 268435455u);
  EXPECT_EQ(us_to_q28(16000001), 0xffffffffu);  // 16 s do not fit
  EXPECT_EQ(us_to_q28(0xffffffff), 0xffffffffu);
}

}  // namespace
