// SPDX-License-Identifier: Apache-2.0
// clarion-sim: a network with its hosts in virtual time.
#include <csignal>
#include <cstdio>
#include <string>

#include "laws/laws.hpp"
#include "options.hpp"
#include "recorder.hpp"
#include "simulation.hpp"
#include "switch/command_line.hpp"

namespace {

constexpr const char* USAGE =
    "usage: clarion-sim --config FILE.json\n"
    "       clarion-sim laws\n"
    "Simulates what FILE.json describes and prints samples as lines of JSON; or prints the names of the laws "
    "that\n"
    "senders may have. See sim/README.md.\n";

volatile std::sig_atomic_t stop_signal = 0;

// Samples while the flows run, and on until what they have sent has come through, but not for ever. Stopped,
// it ends at the next sample.
void record(clarion::sim::Simulation& simulation, const clarion::sim::SimulationOptions& options) {
  clarion::sim::Recorder recorder(simulation, stdout);
  bool is_window_open = false;
  const std::uint64_t end_us = options.duration_us + options.drain_us;
  for (std::uint64_t at_us = 0; at_us <= end_us; at_us += options.sample_us) {
    simulation.advance(at_us * 1000);
    recorder.sample();
    if (!is_window_open && at_us >= options.measure_from_us) {
      is_window_open = true;
      recorder.open_window();
    }
    if (stop_signal != 0 || (at_us >= options.duration_us && simulation.is_drained())) break;
  }
  recorder.finish();
}

void run(int argc, char** argv) {
  using namespace clarion::sim;
  if (argc == 2 && std::string(argv[1]) == "laws") {
    for (const std::string& name : laws()) std::puts(name.c_str());
    return;
  }
  std::string config;
  if (!clarion::emu::read_arguments(argc, argv, {{"--config", &config}})) {
    std::fputs(USAGE, stdout);
    return;
  }
  const SimulationOptions options = read_simulation_file(config);
  Simulation simulation(options);
  std::signal(SIGTERM, [](int number) { stop_signal = number; });
  record(simulation, options);
}

}  // namespace

int main(int argc, char** argv) {
  return clarion::emu::exit_status([argc, argv] { run(argc, argv); });
}
