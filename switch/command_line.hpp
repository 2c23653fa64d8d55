// SPDX-License-Identifier: Apache-2.0
// What the programs that are a switch have in common: arguments, priority, how they end.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace clarion::emu {

struct Argument {
  const char* name;
  std::string* value;
};

// False: the user asked for help. Fault names the argument; the first one of `known` is needed.
bool read_arguments(int argc, char** argv, const std::vector<Argument>& known);

// Best effort.
void ask_for_punctuality();

// The exit status: what `body` throws becomes one line and 2 for a Fault, 1 for everything else.
int exit_status(const std::function<void()>& body);

}  // namespace clarion::emu
