// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the core between numbers that bambu pipelines: up to 64 bits wide, one result, no state.
#ifndef CLARION_SYNTH_BAMBU_CORE_FUNCTIONS_HPP
#define CLARION_SYNTH_BAMBU_CORE_FUNCTIONS_HPP

#include "core/xcp_departure.hpp"
#include "core/xcp_interval.hpp"

namespace clarion::synth {

// bytes / ticks as a rate: one whole division, with normalising and saturation.
CLARION_INLINE std::uint64_t rate(std::uint64_t bytes, std::uint32_t ticks) { return rate_of(bytes, ticks); }

// What a packet would be given of the pool of increases: shift above mantissa, and x.
CLARION_INLINE std::uint64_t share(std::uint64_t gain, std::uint32_t x) {
  const Gain cp{static_cast<std::uint32_t>(gain), static_cast<std::uint32_t>(gain >> 32) & 63};
  return fair_share(cp, Gain{}, x, 0).p;
}

}  // namespace clarion::synth

#endif  // CLARION_SYNTH_BAMBU_CORE_FUNCTIONS_HPP
