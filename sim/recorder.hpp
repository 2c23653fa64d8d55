// SPDX-License-Identifier: Apache-2.0
// What is seen of a simulation, as lines of JSON: a sample of every flow and port, and the end.
#pragma once

#include <cstdio>

#include "simulation.hpp"

namespace clarion::sim {

class Recorder {
 public:
  Recorder(Simulation& simulation, std::FILE* out) : simulation_(simulation), out_(out) {}

  void sample();
  void finish();

 private:
  Simulation& simulation_;
  std::FILE* out_;
};

}  // namespace clarion::sim
