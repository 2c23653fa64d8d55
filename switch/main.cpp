// SPDX-License-Identifier: Apache-2.0
// clarion-switch: the embedded switch. Read the options, build the fabric, forward until told to stop.
#include <cstdio>
#include <string>

#include "command_line.hpp"
#include "core_path.hpp"
#include "event_loop.hpp"
#include "fabric.hpp"
#include "options_reader.hpp"

namespace {

constexpr const char* USAGE =
    "usage: clarion-switch --config FILE.json [--control /path/of.sock]\n"
    "Forwards frames between network devices as FILE.json says; see switch/README.md.\n"
    "Prints 'ready' when it forwards; SIGTERM or SIGINT ends it.\n";

void run(int argc, char** argv) {
  using namespace clarion::emu;
  std::string config;
  std::string control;
  if (!read_arguments(argc, argv, {{"--config", &config}, {"--control", &control}})) {
    std::fputs(USAGE, stdout);
    return;
  }
  ask_for_punctuality();
  Fabric fabric(read_options_file(config), core_path);
  EventLoop loop(fabric, control);
  std::puts("ready");
  std::fflush(stdout);
  loop.run();
}

}  // namespace

int main(int argc, char** argv) {
  return clarion::emu::exit_status([argc, argv] { run(argc, argv); });
}
