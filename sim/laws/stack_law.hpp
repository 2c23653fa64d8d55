// SPDX-License-Identifier: Apache-2.0
// The senders in the form that kernels have: those that leave recovery to TCP, and BBR.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/tcp/congestion_control.hpp"

struct cc_params;

namespace clarion::sim {

// The law of that name ("reno", "clarion_hstcp", ...), null if there is none. `seed` is for laws that draw lots.
// `params` must outlive it.
std::unique_ptr<CongestionControl> make_stack_law(const std::string& name, const cc_params& params,
                                                  std::uint32_t seed);

// The names of all.
std::vector<std::string> stack_laws();

}  // namespace clarion::sim
