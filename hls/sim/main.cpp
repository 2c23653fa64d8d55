// SPDX-License-Identifier: Apache-2.0
// clarion-hls-sim: clarion-switch with the simulated FPGA block at each port.
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "error.hpp"
#include "event_loop.hpp"
#include "fabric.hpp"
#include "hls/sim/block_path.hpp"
#include "hls/sim/switch_window.hpp"
#include "options_reader.hpp"

namespace {

using clarion::sim::SwitchWindow;
using namespace clarion::emu;

constexpr const char* USAGE =
    "usage: clarion-hls-sim --config FILE.json [--control /path/of.sock] [--bar DIRECTORY]\n"
    "clarion-switch with the simulated FPGA block at each port; see switch/README.md and "
    "docs/fpga.md.\n"
    "--bar makes DIRECTORY/SWITCH.bar for each switch: its registers, for `clarion nic --bar`.\n"
    "Prints 'ready' when it forwards; SIGTERM or SIGINT ends it.\n";

constexpr Nanoseconds POLL_REGISTERS_NS = 1'000'000;

std::vector<std::unique_ptr<SwitchWindow>> open_windows(const Fabric& fabric, const std::string& directory) {
  std::vector<std::unique_ptr<SwitchWindow>> windows;
  if (directory.empty()) return windows;
  for (const auto& sw : fabric.switches()) {
    windows.push_back(std::make_unique<SwitchWindow>(fabric, *sw, directory + "/" + sw->name + ".bar"));
  }
  return windows;
}

void check_directory(const std::string& directory) {
  struct stat status{};
  if (directory.empty() || (stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode))) return;
  throw Fault{"--bar", FaultCode::not_found, directory + " is not a directory"};
}

void run(int argc, char** argv) {
  std::string config;
  std::string control;
  std::string bar;
  if (!read_arguments(argc, argv, {{"--config", &config}, {"--control", &control}, {"--bar", &bar}})) {
    std::fputs(USAGE, stdout);
    return;
  }
  check_directory(bar);
  ask_for_punctuality();
  Fabric fabric(read_options_file(config), block_path);
  const auto windows = open_windows(fabric, bar);
  EventLoop loop(fabric, control);
  if (!windows.empty()) {
    loop.every(POLL_REGISTERS_NS, [&windows] {
      for (const auto& window : windows) window->poll();
    });
  }
  std::puts("ready");
  std::fflush(stdout);
  loop.run();
}

}  // namespace

int main(int argc, char** argv) {
  return exit_status([argc, argv] { run(argc, argv); });
}
