// SPDX-License-Identifier: Apache-2.0
// clarion-sim: a network with its hosts in virtual time.
#include <cstdio>
#include <string>

#include "options.hpp"
#include "recorder.hpp"
#include "simulation.hpp"
#include "switch/command_line.hpp"

namespace {

constexpr const char* USAGE =
    "usage: clarion-sim --config FILE.json\n"
    "Simulates what FILE.json describes and prints samples as lines of JSON; see sim/README.md.\n";

void run(int argc, char** argv) {
  using namespace clarion::sim;
  std::string config;
  if (!clarion::emu::read_arguments(argc, argv, {{"--config", &config}})) {
    std::fputs(USAGE, stdout);
    return;
  }
  const SimulationOptions options = read_simulation_file(config);
  Simulation simulation(options);
  Recorder recorder(simulation, stdout);
  for (std::uint64_t at_us = 0; at_us <= options.duration_us; at_us += options.sample_us) {
    simulation.advance(at_us * 1000);
    recorder.sample();
  }
  recorder.finish();
}

}  // namespace

int main(int argc, char** argv) {
  return clarion::emu::exit_status([argc, argv] { run(argc, argv); });
}
