// SPDX-License-Identifier: Apache-2.0
// The senders in the form that kernels have that leave recovery to TCP.
#pragma once

#include <memory>
#include <string>

#include "sim/tcp/congestion_control.hpp"

struct cc_params;

namespace clarion::sim {

// The law of that name ("reno", "clarion_hstcp", ...), null if there is none. `params` must outlive it.
std::unique_ptr<CongestionControl> make_stack_law(const std::string& name, const cc_params& params);

// Whether there is a law of that name that leaves its beginning to TCP's slow start.
bool slow_starts(const std::string& name);

}  // namespace clarion::sim
