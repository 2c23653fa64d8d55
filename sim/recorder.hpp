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
  Recorder(Simulation& simulation, std::FILE* out);

  // A flow is in the samples from its start on; a transfer until it is over, with a last one then.
  void sample();

  // The measured window begins: queue histograms are kept as they are now.
  void open_window();

  void finish();

 private:
  nlohmann::json flow_rows();
  nlohmann::json histograms() const;
  void write(const nlohmann::json& line);

  Simulation& simulation_;
  std::FILE* out_;
  std::vector<std::size_t> waiting_;  // flows that have not started, by number, the first to do so last
  std::vector<std::size_t> sampled_;  // those that have and are not over
  nlohmann::json histograms_at_window_start_ = nlohmann::json::object();
};

}  // namespace clarion::sim
