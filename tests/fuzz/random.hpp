// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same everywhere for a seed: xoshiro256++, seeded by splitmix64.
#pragma once

#include <cstdint>

namespace clarion::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
      word = mixed ^ mixed >> 31;
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = turned(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = turned(state_[3], 45);
    return result;
  }

  // 0 to `limit` - 1.
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>((next() >> 32) * limit >> 32);
  }

  bool one_in(std::uint32_t n) { return below(n) == 0; }

  template <class Value, std::size_t N>
  Value of(const Value (&values)[N]) {
    return values[below(N)];
  }

  // Any number, the ends of its range and small ones more often than others.
  std::uint32_t extreme() {
    const std::uint64_t drawn = next();
    const auto any = static_cast<std::uint32_t>(drawn >> 32);
    switch (drawn & 15) {
      case 0:
      case 1:
        return 0;
      case 2:
        return 0xffffffff;
      case 3:
        return 0x7fffffff;
      case 4:
        return 0x80000000;
      case 5:
      case 6:
      case 7:
        return any & 0xff;
      case 8:
        return 0xffffffff - (any & 0xff);
      default:
        return any >> (drawn >> 4 & 31);
    }
  }

 private:
  static std::uint64_t turned(std::uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
  }

  std::uint64_t state_[4];
};

}  // namespace clarion::fuzz
