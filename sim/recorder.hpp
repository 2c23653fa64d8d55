// SPDX-License-Identifier: Apache-2.0
// What is seen of a simulation, as lines of JSON: a sample of every flow and port, and the end. sim/README.md
// lists the fields.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

#include "simulation.hpp"

namespace clarion::sim {

class Recorder {
 public:
  Recorder(Simulation& simulation, std::FILE* out) : simulation_(simulation), out_(out) {}

  void sample();

  // The measured window begins: queue histograms are kept as they are now.
  void open_window();

  void finish();

 private:
  nlohmann::json histograms() const;
  void write(const nlohmann::json& line);

  Simulation& simulation_;
  std::FILE* out_;
  nlohmann::json histograms_at_window_start_ = nlohmann::json::object();
};

}  // namespace clarion::sim
