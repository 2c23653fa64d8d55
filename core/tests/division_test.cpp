// SPDX-License-Identifier: Apache-2.0
// The shared division against real arithmetic, in 128-bit integers that only this test uses.
#include "core/division.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace clarion {
namespace {

__extension__ typedef unsigned __int128 Wide;

// True if 2^63 * (1 - 2^-17.99) < reciprocal * mantissa <= 2^63; 2^-17.99 is 3.8415e-6, taken as 2^63 * it.
void expect_reciprocal_within_bound(std::uint32_t mantissa) {
  const Wide exact = Wide{1} << 63;
  const Wide bound = exact / 260314;  // 2^17.99
  const Wide product = static_cast<Wide>(reciprocal(mantissa)) * mantissa;
  EXPECT_LE(product, exact) << mantissa;
  EXPECT_GT(product, exact - bound) << mantissa;
}

TEST(Normalise, KeepsTheLeadingBits) {
  EXPECT_EQ(normalise(0).mantissa, 0u);
  EXPECT_EQ(normalise(1).mantissa, 0x80000000u);
  EXPECT_EQ(normalise(1).exponent, -31);
  EXPECT_EQ(normalise(0xffffffff).mantissa, 0xffffffffu);
  EXPECT_EQ(normalise(0xffffffff).exponent, 0);
  EXPECT_EQ(normalise(UINT64_MAX).mantissa, 0xffffffffu);
  EXPECT_EQ(normalise(UINT64_MAX).exponent, 32);
  EXPECT_EQ(normalise(0x100000001).mantissa, 0x80000000u);  // the last bit is dropped
  EXPECT_EQ(normalise(0x100000001).exponent, 1);
}

TEST(Normalise, EveryLength) {
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(normalise(std::uint64_t{1} << bit).mantissa, 0x80000000u);
    EXPECT_EQ(normalise(std::uint64_t{1} << bit).exponent, bit - 31);
  }
}

TEST(Reciprocal, EveryTableEntryAtItsEdgesAndMiddle) {
  for (std::uint32_t entry = 0; entry < 256; ++entry) {
    const std::uint32_t first = 0x80000000u + (entry << 23);
    for (std::uint32_t beside = 0; beside < 64; ++beside) {
      expect_reciprocal_within_bound(first + beside);
      expect_reciprocal_within_bound(first + (1u << 23) - 1 - beside);
      expect_reciprocal_within_bound(first + (1u << 22) - 32 + beside);
    }
  }
}

TEST(Reciprocal, EverySteppedMantissa) {
  for (std::uint64_t mantissa = 0x80000000u; mantissa <= 0xffffffffu; mantissa += 4093) {
    expect_reciprocal_within_bound(static_cast<std::uint32_t>(mantissa));
  }
}

TEST(Reciprocal, PowerOfTwo) {
  // 65408 * 65664 = 2^32 - 2^14: 2^63 / 2^31 less 2^-18 of it.
  EXPECT_EQ(reciprocal(0x80000000u), 4294950912u);
}

// -2^-17 <= quotient / (n / d) - 1 <= 2^-31, checked as quotient * d against n without rounding.
void expect_quotient_within_bound(std::uint64_t n, std::uint64_t d) {
  const Quotient q = divide(n, d);
  // Both sides as integers: q.mantissa * d * 2^exponent against n, shifted so that no bit is lost.
  const int up = q.exponent < 0 ? -q.exponent : 0;
  if (up > 63) return;  // n would leave 128 bits; the same mantissas are met with other exponents
  const Wide got = (static_cast<Wide>(q.mantissa) * d) << (q.exponent > 0 ? q.exponent : 0);
  const Wide exact = static_cast<Wide>(n) << up;
  EXPECT_LE(got, exact + (exact >> 31)) << n << " / " << d;
  EXPECT_GE(got + (exact >> 17), exact) << n << " / " << d;
}

TEST(Divide, RandomOperandsOfEveryLength) {
  std::mt19937_64 random(1);
  for (int n_bits = 1; n_bits <= 64; ++n_bits) {
    for (int d_bits = 1; d_bits <= 32; ++d_bits) {
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t n = (random() | UINT64_C(1) << 63) >> (64 - n_bits);
        const std::uint64_t d = (random() | UINT64_C(1) << 63) >> (64 - d_bits);
        expect_quotient_within_bound(n, d);
      }
    }
  }
}

TEST(Divide, ZeroOnEitherSideIsZero) {
  EXPECT_EQ(divide(0, 5).mantissa, 0u);
  EXPECT_EQ(divide(5, 0).mantissa, 0u);
  EXPECT_EQ(divide(0, 0).mantissa, 0u);
}

TEST(ToInteger, FloorsAndSaturates) {
  const Quotient five{5u << 28, -28};
  EXPECT_EQ(to_integer(five, 0, 100), 5u);
  EXPECT_EQ(to_integer(five, -1, 100), 2u);
  EXPECT_EQ(to_integer(five, -3, 100), 0u);
  EXPECT_EQ(to_integer(five, -100, 100), 0u);
  EXPECT_EQ(to_integer(five, 4, 100), 80u);
  EXPECT_EQ(to_integer(five, 5, 100), 100u);
  EXPECT_EQ(to_integer(five, 40, RATE_MAX), 5ull << 40);
  EXPECT_EQ(to_integer(five, 61, RATE_MAX), RATE_MAX);
  EXPECT_EQ(to_integer(Quotient{}, 61, RATE_MAX), 0u);
}

TEST(ToGain, ShiftsUpToItsEnds) {
  EXPECT_EQ(to_gain(Quotient{0x80000000u, -63}).shift, 63u);
  EXPECT_EQ(to_gain(Quotient{0x80000000u, -63}).mantissa, 0x80000000u);
  EXPECT_EQ(to_gain(Quotient{0x80000000u, -64}).mantissa, 0u);  // times 2^32 - 1 this is below 1
  EXPECT_EQ(to_gain(Quotient{0x7fffffffu, 1}).mantissa, 0xfffffffeu);
  EXPECT_EQ(to_gain(Quotient{0x80000000u, 1}).mantissa, 0xffffffffu);
  EXPECT_EQ(to_gain(Quotient{0x80000000u, 30}).mantissa, 0xffffffffu);
}

TEST(ToGain, JustBelowItsLimitIsNotRoundedUp) {
  // 2^39 / 129 = 4261672975.1, less than 2^32 - 1 = 4294967295: a mantissa of 31 bits with exponent 1.
  const Gain gain = to_gain(divide(std::uint64_t{1} << 39, 129));
  EXPECT_EQ(gain.shift, 0u);
  EXPECT_LE(gain.mantissa, 4261672975u);
  EXPECT_GT(gain.mantissa, 4261672975u - 32514u);  // 2^-17 of it
}

TEST(Multiply, FloorsOverTheWholeRange) {
  EXPECT_EQ(multiply(Gain{0xffffffffu, 0}, 0xffffffffu), 0xfffffffe00000001ull);
  EXPECT_EQ(multiply(Gain{0x80000000u, 31}, 7), 7u);
  EXPECT_EQ(multiply(Gain{0x80000000u, 32}, 7), 3u);
  EXPECT_EQ(multiply(Gain{0xffffffffu, 63}, 0xffffffffu), 1u);
}

}  // namespace
}  // namespace clarion
