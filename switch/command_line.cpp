// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <exception>

#include "error.hpp"

namespace clarion::emu {
namespace {

std::string& value_of(const std::string& name, const std::vector<Argument>& known) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Argument& a) { return a.name == name; });
  if (found != known.end()) return *found->value;
  std::string names;
  for (const Argument& argument : known) names += std::string(argument.name) + ", ";
  throw Fault{name, FaultCode::unknown, "unknown argument; known: " + names + "--help"};
}

}  // namespace

bool read_arguments(int argc, char** argv, const std::vector<Argument>& known) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "-h") return false;
    std::string& value = value_of(name, known);
    if (++i == argc) throw Fault{name, FaultCode::missing, "needs a value"};
    value = argv[i];
  }
  if (known.front().value->empty()) throw Fault{known.front().name, FaultCode::missing, "is missing"};
  return true;
}

// Without the timer slack of 1 ns every wake-up would be 50 us late. Without real-time priority each frame
// handed to a host may wake a process that takes the CPU at once; measured on two busy cores, that cost up to
// half of the throughput and overran receive rings. The event loop sleeps often enough to share.
void ask_for_punctuality() {
  prctl(PR_SET_TIMERSLACK, 1);
  const sched_param lowest_real_time{1};
  sched_setscheduler(0, SCHED_FIFO, &lowest_real_time);
}

int exit_status(const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const Fault& fault) {
    warn("config: " + sentence(fault));
    return 2;
  } catch (const std::exception& error) {
    warn(error.what());
    return 1;
  }
}

}  // namespace clarion::emu
