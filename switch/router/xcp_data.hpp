// SPDX-License-Identifier: Apache-2.0
// Clarion's DATA header as the variants of XCP read and write it at a router.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/header.hpp"
#include "core/types.hpp"
#include "xcp_control.hpp"

namespace clarion::emu {

// Its kind is that of a packet without feedback where there is no whole header.
inline Meta read_header(const std::uint8_t* frame, std::uint32_t length, std::uint8_t protocol) {
  Meta meta;
  parse(frame, length, protocol, meta);
  return meta;
}

inline XcpPacket xcp_packet(const Meta& meta, std::uint32_t length) {
  constexpr double TICK_S = 1.0 / TICKS_PER_SECOND;
  return {static_cast<double>(length), meta.rtt * TICK_S, meta.x * TICK_S};
}

// Feedback as the header holds it, at most `wanted`.
inline std::int32_t whole_feedback(double feedback, std::int32_t wanted) {
  constexpr double LEAST = -2147483647;
  return feedback >= wanted ? wanted : static_cast<std::int32_t>(std::max(std::floor(feedback), LEAST));
}

// Headers hold whole bytes/s. The fraction that a grant leaves over is added to the next one, so that grants
// add up to what the pools have paid.
class WholeGrants {
 public:
  std::int32_t of(double granted, std::int32_t wanted) {
    if (granted >= wanted) return wanted;
    const std::int32_t whole = whole_feedback(granted + fraction_, wanted);
    fraction_ += granted - whole;
    return whole;
  }

 private:
  double fraction_ = 0;
};

}  // namespace clarion::emu
