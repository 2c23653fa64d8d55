// SPDX-License-Identifier: Apache-2.0
// Reads XCP's settings of a port: the same ranges, in the same words, as every other entrance to a data plane
// (clarion_contract.checks).
#pragma once

#include "json_object.hpp"
#include "options.hpp"

namespace clarion::emu {

// The keys that are there, on top of `xcp`.
void read_xcp(const nlohmann::json& value, const Path& path, XcpOptions& xcp);

}  // namespace clarion::emu
