// SPDX-License-Identifier: Apache-2.0
// A port's law for a protocol with routers of its own, from JSON: {"law": "vcp", "target": 0.95, ...}.
#pragma once

#include <nlohmann/json.hpp>

#include "error.hpp"
#include "router/router_options.hpp"

namespace clarion::emu {

// Throws Fault.
RouterOptions read_router(const nlohmann::json& value, const Path& path);

}  // namespace clarion::emu
