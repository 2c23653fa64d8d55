// SPDX-License-Identifier: Apache-2.0
// Time in the switch: nanoseconds of CLOCK_MONOTONIC. The core gets it in ticks of 2^-28 s.
#pragma once

#include <time.h>

#include <cstdint>

namespace clarion::emu {

using Nanoseconds = std::uint64_t;

constexpr Nanoseconds NEVER = ~Nanoseconds{0};
constexpr Nanoseconds SECOND_NS = 1'000'000'000;

inline Nanoseconds read_clock(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * SECOND_NS + static_cast<Nanoseconds>(t.tv_nsec);
}

inline Nanoseconds now_ns() { return read_clock(CLOCK_MONOTONIC); }

// What to add to a CLOCK_REALTIME value to get CLOCK_MONOTONIC. Kernel receive timestamps are real time,
// which may step, so this is read again at every wake-up.
inline std::int64_t real_to_monotonic_ns() {
  return static_cast<std::int64_t>(read_clock(CLOCK_MONOTONIC)) -
         static_cast<std::int64_t>(read_clock(CLOCK_REALTIME));
}

inline timespec to_timespec(Nanoseconds t) {
  return {static_cast<time_t>(t / SECOND_NS), static_cast<long>(t % SECOND_NS)};
}

}  // namespace clarion::emu
