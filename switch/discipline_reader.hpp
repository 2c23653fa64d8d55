// SPDX-License-Identifier: Apache-2.0
// A queue discipline from JSON: {"name": "codel", "target_us": 5000, ...}.
#pragma once

#include <nlohmann/json.hpp>

#include "error.hpp"
#include "queue/discipline_options.hpp"

namespace clarion::emu {

// Throws Fault.
DisciplineOptions read_discipline(const nlohmann::json& value, const Path& path);

}  // namespace clarion::emu
