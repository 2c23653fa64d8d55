// SPDX-License-Identifier: Apache-2.0
// The fabric as JSON text, for the control socket. switch/README.md lists the fields.
#pragma once

#include <string>

#include "fabric.hpp"

namespace clarion::emu {

// What is known of the wires of a switch, and the neighbours heard.
std::string wires_of(const Fabric& fabric, const Switch& sw);

std::string describe(const Fabric& fabric);  // the constants: histogram edges, clock, version
std::string statistics(Fabric& fabric);      // counters since start

}  // namespace clarion::emu
