// SPDX-License-Identifier: Apache-2.0
// What the generator draws, the same everywhere for a seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random.hpp"

namespace clarion::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : stream_(seed) {}

  std::uint64_t next() { return stream_.next(); }

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
  emu::RandomStream stream_;
};

}  // namespace clarion::fuzz
