// SPDX-License-Identifier: Apache-2.0
// Units, ranges and the saturating arithmetic of the core. docs/datapath.md has the table of every quantity.
#pragma once

#include <cstdint>

#include "platform.hpp"

namespace clarion {

using Ticks = std::uint64_t;  // a point in time, in ticks of 2^-28 s since any fixed start

constexpr unsigned TICKS_PER_SECOND_LOG2 = 28;
constexpr std::uint32_t TICKS_PER_SECOND = 1u << TICKS_PER_SECOND_LOG2;

// Rates and pools count 1/256 byte/s ("q8"), so that a packet's share keeps its fraction.
constexpr unsigned RATE_FRACTION_BITS = 8;

constexpr std::uint64_t max_of_bits(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }

constexpr std::uint64_t RATE_MAX = max_of_bits(46);        // q8: 2^38 bytes/s, 2.2 Tbit/s
constexpr std::uint64_t POOL_MAX = max_of_bits(48);        // q8
constexpr std::uint64_t BYTES_MAX = max_of_bits(48);       // input of an interval
constexpr std::uint64_t SUM_X_MAX = max_of_bits(48);       // ticks
constexpr std::uint64_t QUEUE_MAX = max_of_bits(40);       // bytes
constexpr std::uint32_t TICKS_MAX = 0xffffffff;            // any duration: 16 s
constexpr std::uint32_t COEFFICIENT_MAX = (1u << 18) - 1;  // q16, just below 4.0

CLARION_INLINE std::uint64_t min_u64(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
CLARION_INLINE std::int64_t min_i64(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// a + b, at most `limit`. Needs a <= limit; b may be anything.
CLARION_INLINE std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  return b > limit - a ? limit : a + b;
}

// The same at 64 bits, from the carry of the sum: the comparison above would be known as a saturating
// addition, of which bambu makes one of half the bits where half of its bits are needed.
CLARION_INLINE std::uint64_t saturating_add64(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  const std::uint64_t carry = ((a & b) | ((a | b) & ~sum)) >> 63;
  return carry != 0 ? UINT64_MAX : sum;
}

// Time from `start` to `now` as a 32-bit duration: 0 if the clock went back, at most 16 s.
CLARION_INLINE std::uint32_t elapsed_ticks(Ticks start, Ticks now) {
  return now > start ? static_cast<std::uint32_t>(min_u64(now - start, TICKS_MAX)) : 0;
}

}  // namespace clarion
