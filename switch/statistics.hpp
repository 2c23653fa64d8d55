// SPDX-License-Identifier: Apache-2.0
// The fabric as JSON text, for the control socket. switch/README.md lists the fields.
#pragma once

#include <string>

#include "fabric.hpp"

namespace clarion::emu {

std::string describe(const Fabric& fabric);  // the constants: histogram edges, clock, version
std::string statistics(Fabric& fabric);      // counters since start

}  // namespace clarion::emu
