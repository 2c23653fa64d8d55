// SPDX-License-Identifier: Apache-2.0
// Makes a device fit to be a switch port.
#pragma once

#include <string>

namespace clarion::emu {

// Brings the device up, with room for the header (MTU >= 1600), offloads off so that frames come whole, and
// without IPv6 of its own so that the kernel does not talk to the hosts through the port. What the device or
// the kernel does not offer is left as it is; only failing to bring it up throws (std::runtime_error).
void prepare_device(const std::string& name);

}  // namespace clarion::emu
