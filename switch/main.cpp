// SPDX-License-Identifier: Apache-2.0
// clarion-switch: the embedded switch. Read the options, build the fabric, forward until told to stop.
#include <sched.h>
#include <sys/prctl.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "error.hpp"
#include "event_loop.hpp"
#include "fabric.hpp"
#include "options_reader.hpp"

namespace {

constexpr const char* kUsage =
    "usage: clarion-switch --config FILE.json [--control /path/of.sock]\n"
    "Forwards frames between network devices as FILE.json says; see switch/README.md.\n"
    "Prints 'ready' when it forwards; SIGTERM or SIGINT ends it.\n";

struct Arguments {
  std::string config;
  std::string control;
  bool help = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    std::string* value = name == "--config"    ? &arguments.config
                         : name == "--control" ? &arguments.control
                                               : nullptr;
    if (name == "--help" || name == "-h") {
      arguments.help = true;
    } else if (value == nullptr) {
      throw clarion::emu::ConfigError(name, "unknown argument; known: --config, --control, --help");
    } else if (++i == argc) {
      throw clarion::emu::ConfigError(name, "needs a value");
    } else {
      *value = argv[i];
    }
  }
  if (!arguments.help && arguments.config.empty()) throw clarion::emu::ConfigError("--config", "is missing");
  return arguments;
}

// Best effort. Without the timer slack of 1 ns every wake-up would be 50 us late. Without real-time priority
// each frame handed to a host may wake a process that takes the CPU at once; measured on two busy cores, that
// cost up to half of the throughput and overran receive rings. The event loop sleeps often enough to share.
void ask_for_punctuality() {
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param lowest_real_time{1};
  sched_setscheduler(0, SCHED_FIFO, &lowest_real_time);
}

int run(int argc, char** argv) {
  using namespace clarion::emu;
  const Arguments arguments = read_arguments(argc, argv);
  if (arguments.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  ask_for_punctuality();
  Fabric fabric(read_options_file(arguments.config));
  EventLoop loop(fabric, arguments.control);
  std::puts("ready");
  std::fflush(stdout);
  loop.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const clarion::emu::ConfigError& error) {
    clarion::emu::warn(std::string("config: ") + error.what());
    return 2;
  } catch (const std::exception& error) {
    clarion::emu::warn(error.what());
    return 1;
  }
}
