// SPDX-License-Identifier: Apache-2.0
// What a controller's agent asks of one switch: changes that happen together or not at all, and reading back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fabric.hpp"

namespace clarion::emu {

// All changes between two packets. Throws Fault, with nothing changed.
void apply_batch(Fabric& fabric, Switch& sw, const nlohmann::json& changes);

// Everything that a batch can set, in the same words.
nlohmann::json entries_of(const Switch& sw);

// Cells [first, first + count) of a register array; those of ports that the switch does not have are 0.
nlohmann::json read_registers(const Switch& sw, const std::string& array, std::uint64_t first,
                              std::uint64_t count);

nlohmann::json counters_of(const Switch& sw);

}  // namespace clarion::emu
