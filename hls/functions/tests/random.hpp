// SPDX-License-Identifier: Apache-2.0
// Numbers of every size, and often those at the ends.
#pragma once

#include <cstdint>
#include <random>

namespace clarion::block {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  bool chance(unsigned of) { return engine_() % of == 0; }
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }

  // Of at most so many bits.
  std::uint64_t bits(unsigned most) {
    const std::uint64_t all = most == 64 ? UINT64_MAX : (std::uint64_t{1} << most) - 1;
    if (chance(16)) return all - below(3);
    if (chance(16)) return below(3);
    return (engine_() & all) >> below(most);
  }

  std::uint32_t word() { return static_cast<std::uint32_t>(bits(32)); }
  std::int32_t signed_word() {
    const auto size = static_cast<std::int64_t>(bits(31));
    return static_cast<std::int32_t>(chance(4) ? -size - static_cast<std::int64_t>(below(2)) : size);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace clarion::block
