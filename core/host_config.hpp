// SPDX-License-Identifier: Apache-2.0
// Software only: the core's integers from the units that people configure, and telemetry back into them.
#pragma once

#include <cmath>
#include <cstdint>

#include "config.hpp"
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

inline double us_of_ticks(double ticks) { return ticks * 1e6 / TICKS_PER_SECOND; }

// A coefficient (0 to below 4) as q16, rounded to nearest; what is outside becomes the nearest legal value.
inline std::uint32_t q16_of(double coefficient) {
  const double scaled = std::round(coefficient * 65536.0);
  if (!(scaled > 0.0)) return 0;
  return scaled < COEFFICIENT_MAX ? static_cast<std::uint32_t>(scaled) : COEFFICIENT_MAX;
}

// An interval bound in ticks: at least 1, at most 16 s.
inline std::uint32_t interval_of_us(std::uint64_t us) {
  const Ticks ticks = us < 16000000 ? ticks_of_us(us) : TICKS_MAX;
  return ticks == 0 ? 1 : static_cast<std::uint32_t>(ticks);
}

inline XcpConfig xcp_config(std::uint64_t capacity_bps, double alpha, double beta, double gamma,
                            std::uint64_t min_interval_us, std::uint64_t max_interval_us) {
  XcpConfig config;
  config.enabled = true;
  config.capacity_bytes_per_s = capacity_bps / 8;
  config.alpha_q16 = q16_of(alpha);
  config.beta_q16 = q16_of(beta);
  config.gamma_q16 = q16_of(gamma);
  config.min_interval = interval_of_us(min_interval_us);
  config.max_interval = interval_of_us(max_interval_us);
  return limited(config);
}

inline double bytes_per_s(std::int64_t q8) { return static_cast<double>(q8) / 256.0; }

// A gain as a number of q8 units per tick or byte.
inline double value_of(Gain gain) { return std::ldexp(gain.mantissa, -static_cast<int>(gain.shift)); }

}  // namespace clarion
