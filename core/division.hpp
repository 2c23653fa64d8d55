// SPDX-License-Identifier: Apache-2.0
// The one division of the data plane: normalise, 256-entry reciprocal table, one Newton step. It needs
// 32x32-bit multiplies and shifts only, so P4, hardware and software give the same bits.
// Error against real arithmetic: at most 2^-17 below and 2^-31 above, relative (docs/datapath.md).
#pragma once

#include <cstdint>

#include "platform.hpp"
#include "reciprocal_table.hpp"
#include "types.hpp"

namespace clarion {

// mantissa * 2^exponent, with 2^31 <= mantissa < 2^32 unless the value is 0 (mantissa 0).
struct Normalised {
  std::uint32_t mantissa = 0;
  std::int32_t exponent = 0;
};

// The leading 32 bits of `value`; what is shifted out is dropped.
CLARION_INLINE Normalised normalise(std::uint64_t value) {
  if (value == 0) return Normalised{};
  std::int32_t exponent = 32;
  for (unsigned step = 32; step > 0; step >>= 1) {  // six steps of a binary search for the leading bit
    if (value >> (64 - step) == 0) {
      value <<= step;
      exponent -= static_cast<std::int32_t>(step);
    }
  }
  return Normalised{static_cast<std::uint32_t>(value >> 32), exponent};
}

// 2^63 / mantissa, never above it and below it by at most 2^-17.9; the mantissa has its top bit set.
CLARION_INLINE std::uint32_t reciprocal(std::uint32_t mantissa) {
  const std::uint64_t guess = RECIPROCAL_TABLE[mantissa >> 23 & 0xffu];                  // 2^47 / mantissa
  const std::uint64_t correction = ((std::uint64_t{1} << 48) - guess * mantissa) >> 16;  // 2^31 * (1 + error)
  return static_cast<std::uint32_t>(guess * correction >> 15);
}

// A quotient, mantissa * 2^exponent; 0 or a mantissa of at least 30 bits.
struct Quotient {
  std::uint32_t mantissa = 0;
  std::int32_t exponent = 0;
};

// numerator / denominator; 0 if the denominator is 0: nothing to share among.
CLARION_INLINE Quotient divide(std::uint64_t numerator, std::uint64_t denominator) {
  if (numerator == 0 || denominator == 0) return Quotient{};
  const Normalised n = normalise(numerator);
  const Normalised d = normalise(denominator);
  const std::uint64_t product = static_cast<std::uint64_t>(n.mantissa) * reciprocal(d.mantissa);
  return Quotient{static_cast<std::uint32_t>(product >> 32), n.exponent - d.exponent - 31};
}

// The quotient times 2^scale, rounded down to an integer and at most `limit`.
CLARION_INLINE std::uint64_t to_integer(Quotient quotient, std::int32_t scale, std::uint64_t limit) {
  const std::int32_t shift = quotient.exponent + scale;
  if (quotient.mantissa == 0 || shift <= -32) return 0;
  if (shift <= 0) return min_u64(quotient.mantissa >> -shift, limit);
  if (shift >= 32) return limit;  // every limit is below 2^62
  return min_u64(static_cast<std::uint64_t>(quotient.mantissa) << shift, limit);
}

// A quotient made ready for a multiplication per packet: value = mantissa / 2^shift, shift below 64.
struct Gain {
  std::uint32_t mantissa = 0;
  std::uint32_t shift = 0;
};

// Saturates at 2^32 - 1; a value too small to give 1 for any factor is 0.
CLARION_INLINE Gain to_gain(Quotient quotient) {
  if (quotient.mantissa == 0 || quotient.exponent < -63) return Gain{};
  if (quotient.exponent > 0) {
    return Gain{static_cast<std::uint32_t>(to_integer(quotient, 0, 0xffffffff)), 0};
  }
  return Gain{quotient.mantissa, static_cast<std::uint32_t>(-quotient.exponent)};
}

// gain * factor, rounded down.
CLARION_INLINE std::uint64_t multiply(Gain gain, std::uint32_t factor) {
  return (static_cast<std::uint64_t>(gain.mantissa) * factor) >> gain.shift;
}

}  // namespace clarion
