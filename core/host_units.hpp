// SPDX-License-Identifier: Apache-2.0
// Software only: the core's integers from people's units, and telemetry back into them.
#pragma once

#include <cmath>
#include <cstdint>

#include "division.hpp"
#include "types.hpp"

namespace clarion {

// Ticks in `us` microseconds, rounded down: 2^28 / 10^6 = 2^22 / 5^6. Exact up to 2^64 - 1 ticks (2177
// years).
inline Ticks ticks_of_us(std::uint64_t us) {
  return us / 15625 * (1u << 22) + us % 15625 * (1u << 22) / 15625;
}

// Ticks in `ns` nanoseconds, rounded down: 2^28 / 10^9 = 2^19 / 5^9.
inline Ticks ticks_of_ns(std::uint64_t ns) {
  return ns / 1953125 * (1u << 19) + ns % 1953125 * (1u << 19) / 1953125;
}

// Nanoseconds of ticks, rounded down.
inline std::uint64_t ns_of_ticks(Ticks ticks) {
  return (ticks >> 19) * 1953125 + ((ticks & ((1u << 19) - 1)) * 1953125 >> 19);
}

inline double us_of_ticks(double ticks) { return ticks * 1e6 / TICKS_PER_SECOND; }

// A setting as an integer of the data plane, `numerator / denominator` of it per unit: to nearest, halves up.
inline std::uint64_t nearest(double value, double numerator, double denominator, std::uint64_t least,
                             std::uint64_t most) {
  const double scaled = std::floor(value * numerator / denominator + 0.5);
  if (!(scaled > static_cast<double>(least))) return least;
  return scaled < static_cast<double>(most) ? static_cast<std::uint64_t>(scaled) : most;
}

// The same, rounded down. Exact.
inline std::uint64_t rounded_down(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator,
                                  std::uint64_t least, std::uint64_t most) {
  const auto scaled = static_cast<unsigned __int128>(value) * numerator / denominator;
  if (scaled < least) return least;
  return scaled < most ? static_cast<std::uint64_t>(scaled) : most;
}

inline double bytes_per_s(std::int64_t q8) { return static_cast<double>(q8) / 256.0; }

// A gain as a number of q8 units per tick or byte.
inline double value_of(Gain gain) { return std::ldexp(gain.mantissa, -static_cast<int>(gain.shift)); }

}  // namespace clarion
