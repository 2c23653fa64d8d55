// SPDX-License-Identifier: Apache-2.0
// A seeded random stream of its own for each direction of each link, so that a run can be repeated.
//
// Stream = xoshiro256++ (Blackman and Vigna 2019), its state filled by SplitMix64 from
// seed + FNV-1a("switch:port:out") or ("switch:port:in"). Adding a port does not disturb the others.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace clarion::emu {

class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = split_mix(seed);
  }
  RandomStream(std::uint64_t seed, std::string_view name) : RandomStream(seed + fnv1a(name)) {}

  std::uint64_t next() {
    const std::uint64_t result = rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  static std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return h;
  }

  static std::uint64_t split_mix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace clarion::emu
