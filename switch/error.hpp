// SPDX-License-Identifier: Apache-2.0
// How the switch says that something is wrong: one line that names the field and the reason.
#pragma once

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace clarion::emu {

// A wrong value in the configuration or in a control command; what() is "path.to.field: reason".
class ConfigError : public std::runtime_error {
 public:
  ConfigError(const std::string& field, const std::string& reason)
      : std::runtime_error(field + ": " + reason) {}
};

inline void warn(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
}

}  // namespace clarion::emu
