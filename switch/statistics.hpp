// SPDX-License-Identifier: Apache-2.0
// The fabric as JSON text, for the control socket. switch/README.md lists the fields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fabric.hpp"
#include "queue_statistics.hpp"

namespace clarion::emu {

// What is known of the wires of a switch, and the neighbours heard.
std::string wires_of(const Fabric& fabric, const Switch& sw);

// Cumulative microseconds per bin, without the empty bins at the end; and where the bins begin.
nlohmann::json queue_histogram(const QueueStatistics& queue);
nlohmann::json queue_histogram_lower_edges_bytes();

std::string describe(const Fabric& fabric);  // the constants: histogram edges, clock, version
std::string statistics(Fabric& fabric);      // counters since start

}  // namespace clarion::emu
