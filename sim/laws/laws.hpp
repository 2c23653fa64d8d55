// SPDX-License-Identifier: Apache-2.0
// All laws by the names that they have on a host.
#pragma once

#include <string>
#include <vector>

#include "clarion_law.hpp"
#include "rate_law.hpp"
#include "stack_law.hpp"

namespace clarion::sim {

// The names of all.
const std::vector<std::string>& laws();

bool is_law(const std::string& name);

// is_law(name). `flow` and `params` must outlive it.
std::unique_ptr<CongestionControl> make_law(const std::string& name, flow& flow, const cc_params& params,
                                            std::uint32_t seed);

}  // namespace clarion::sim
