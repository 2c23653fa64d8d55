// SPDX-License-Identifier: Apache-2.0
// Writes arguments and results of a function of core_functions.hpp, a line of 40 hexadecimal digits each: b,
// a, result.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <random>

#include "hls/synth/bambu/core_functions.hpp"

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[1], "rate") != 0 && std::strcmp(argv[1], "share") != 0)) {
    std::fprintf(stderr, "usage: core_vectors rate|share NUMBER\n");
    return 2;
  }
  const bool rate = std::strcmp(argv[1], "rate") == 0;
  std::mt19937_64 random(11);
  for (unsigned long left = std::strtoul(argv[2], nullptr, 10); left > 0; --left) {
    const unsigned fewer = static_cast<unsigned>(random() % 48);  // bits: small numbers too
    const std::uint64_t a = rate ? (random() & clarion::BYTES_MAX) >> fewer : random();
    const auto b = static_cast<std::uint32_t>(random()) >> random() % 32;
    const std::uint64_t result = rate ? clarion::synth::rate(a, b) : clarion::synth::share(a, b);
    std::printf("%08" PRIx32 "%016" PRIx64 "%016" PRIx64 "\n", b, a, result);
  }
  return 0;
}
