// SPDX-License-Identifier: Apache-2.0
// A copy of a frame that ends where its memory ends, so that a sanitiser sees an access beyond it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

#include "generator.hpp"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else  // a compiler without sanitisers: the frames only end where their memory ends
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#endif

namespace clarion::fuzz {

class Guarded {
 public:
  ~Guarded() { ASAN_UNPOISON_MEMORY_REGION(memory_.get(), BYTES); }

  // Valid until the next call.
  std::uint8_t* hold(const std::uint8_t* frame, std::uint32_t length) {
    if (front_ != nullptr) ASAN_UNPOISON_MEMORY_REGION(front_, FRONT_BYTES);
    std::uint8_t* start = memory_.get() + BYTES - length;
    std::memcpy(start, frame, length);
    front_ = start - FRONT_BYTES;
    ASAN_POISON_MEMORY_REGION(front_, FRONT_BYTES);  // but for some of the last 8 bytes
    return start;
  }

 private:
  static constexpr std::uint32_t FRONT_BYTES = 64;
  static constexpr std::uint32_t BYTES = FRONT_BYTES + LONGEST_BYTES;

  std::unique_ptr<std::uint8_t[]> memory_ = std::make_unique<std::uint8_t[]>(BYTES);
  std::uint8_t* front_ = nullptr;
};

}  // namespace clarion::fuzz
