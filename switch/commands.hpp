// SPDX-License-Identifier: Apache-2.0
// The language of the control socket: one JSON object in, one JSON object out.
#pragma once

#include <string>

#include "fabric.hpp"
#include "subscription.hpp"

namespace clarion::emu {

// Never throws. The reply to a command that is refused is {"ok": false, "fault": {"path": ["changes", 3,
// "xcp"], "code": "invalid", "reason": "must be an object"}}.
std::string execute(Fabric& fabric, const std::string& line, Subscription& subscription);

}  // namespace clarion::emu
