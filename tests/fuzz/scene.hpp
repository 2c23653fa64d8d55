// SPDX-License-Identifier: Apache-2.0
// What is being tried right now, for the report of a failure: of a property, of a sanitiser, of a signal.
#pragma once

#include <cstdint>

namespace clarion::fuzz {

struct Scene {
  const char* program = "";
  const char* target = "";
  std::uint64_t seed = 0;
  std::uint64_t round = 0;
  std::uint64_t number = 0;  // of the frame in its round
  const std::uint8_t* frame = nullptr;
  std::uint32_t length = 0;
};
extern Scene scene;

// From here on the process says, however it dies, at which frame, and how to see it again.
void watch();

// A round may take so long.
void allow_seconds(unsigned seconds);

// A property does not hold; `frame` is what came out instead, if anything.
[[noreturn]] void fail(const char* reason, const std::uint8_t* frame = nullptr, std::uint32_t length = 0);

inline void require(bool holds, const char* reason, const std::uint8_t* frame = nullptr,
                    std::uint32_t length = 0) {
  if (!holds) fail(reason, frame, length);
}

}  // namespace clarion::fuzz
