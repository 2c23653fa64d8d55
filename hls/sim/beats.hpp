// SPDX-License-Identifier: Apache-2.0
// Bytes of frames into beats and out of them, in words of 64 bits: byte by byte, wide integers are slow.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "hls/block/axis.hpp"

namespace clarion::sim {

constexpr unsigned BEAT_QUADS = block::BEAT_BYTES / 8;

// The first `count` bytes, at most a beat; the others are `rest`.
inline void put_bytes(block::Beat& beat, const std::uint8_t* bytes, std::size_t count, int rest) {
  std::uint64_t words[BEAT_QUADS];
  std::memset(words, rest, sizeof words);
  std::memcpy(words, bytes, count);
  for (unsigned i = 0; i < BEAT_QUADS; ++i) beat.data.range(64 * i + 63, 64 * i) = words[i];
}

inline void append_bytes(std::vector<std::uint8_t>& bytes, const block::Beat& beat, unsigned count) {
  std::uint64_t words[BEAT_QUADS];
  for (unsigned i = 0; i < BEAT_QUADS; ++i) words[i] = beat.data.range(64 * i + 63, 64 * i).to_uint64();
  const auto* begin = reinterpret_cast<const std::uint8_t*>(words);
  bytes.insert(bytes.end(), begin, begin + count);
}

// As `tkeep`: a beat that this many bytes are left for.
inline std::uint64_t keep_of(std::size_t bytes) {
  return bytes >= block::BEAT_BYTES ? UINT64_MAX : (std::uint64_t{1} << bytes) - 1;
}

}  // namespace clarion::sim
