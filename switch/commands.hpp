// SPDX-License-Identifier: Apache-2.0
// The language of the control socket: one JSON object in, one JSON object out.
#pragma once

#include <string>

#include "fabric.hpp"
#include "subscription.hpp"

namespace clarion::emu {

// Never throws: what is wrong with the command is in the reply, {"error": "field: reason"}.
std::string execute(Fabric& fabric, const std::string& line, Subscription& subscription);

}  // namespace clarion::emu
