// SPDX-License-Identifier: Apache-2.0
// A simulation of many flows waits for memory more than for anything else: what is needed soon is fetched
// ahead.
#pragma once

#include <cstddef>

namespace clarion::sim {

inline void prefetch(const void* object, std::size_t bytes) {
  constexpr std::size_t LINE_BYTES = 64;
  const auto* at = static_cast<const char*>(object);
  for (std::size_t i = 0; i < bytes; i += LINE_BYTES) __builtin_prefetch(at + i);
}

// From one member of an object to another.
inline std::size_t bytes_between(const void* begin, const void* end) {
  return static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(begin));
}

}  // namespace clarion::sim
