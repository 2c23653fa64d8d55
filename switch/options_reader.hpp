// SPDX-License-Identifier: Apache-2.0
// Options from JSON. Every error is a Fault that names the field by its path and the legal values.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "options.hpp"

namespace clarion::emu {

// Why a port without rate_bps cannot have a measured capacity.
constexpr const char* UNMEASURABLE =
    "\"measured\": nothing ever waits at a port without rate_bps; give that, or the capacity in bit/s";

// Why a port with a router's law cannot have XCP.
constexpr const char* ROUTED = "a port has one explicit law, and router.law is set; leave one of them out";

// An Ethernet address such as 02:00:00:00:00:01.
std::optional<MacAddress> parse_mac(const std::string& text);

Options read_options_file(const std::string& path);
Options read_options(const nlohmann::json& document);

// Applies the run-time settable keys of a "set" command (switch/README.md) to a copy of a port's options.
PortOptions read_port_changes(const nlohmann::json& command, const PortOptions& current);

}  // namespace clarion::emu
