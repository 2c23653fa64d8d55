// SPDX-License-Identifier: Apache-2.0
// What is wrong with an input, as data: made where it is found, put into words where a person reads it.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace clarion::emu {

// The kinds of faults; base/clarion_base/faults.py has the same words.
enum class FaultCode : std::uint8_t {
  invalid,  // not of the field's type or form
  out_of_range,
  unknown,  // a field or a name that does not exist
  missing,
  not_found,  // an object that is not there
  already_exists,
  conflict,     // with another field or with the present state
  unsupported,  // by this switch
};

constexpr const char* name_of(FaultCode code) {
  constexpr const char* NAMES[] = {"invalid",   "out_of_range",   "unknown",  "missing",
                                   "not_found", "already_exists", "conflict", "unsupported"};
  return NAMES[static_cast<std::size_t>(code)];
}

// To a field in a document: names of members and positions of elements.
class Path {
 public:
  using Step = std::variant<std::string, std::size_t>;

  Path() = default;
  Path(const char* field) : steps_{std::string(field)} {}
  Path(std::string field) : steps_{std::move(field)} {}

  Path operator/(Step step) const {
    Path longer = *this;
    longer.steps_.push_back(std::move(step));
    return longer;
  }

  const std::vector<Step>& steps() const { return steps_; }

  // As people write it: switches[0].ports[1].loss.rate
  std::string text() const {
    std::string text;
    for (const Step& step : steps_) {
      if (const auto* position = std::get_if<std::size_t>(&step)) {
        text += "[" + std::to_string(*position) + "]";
      } else {
        text += (text.empty() ? "" : ".") + std::get<std::string>(step);
      }
    }
    return text;
  }

 private:
  std::vector<Step> steps_;
};

// Thrown for a wrong value in the configuration, on the command line or in a control command.
struct Fault {
  Path path;
  FaultCode code;
  std::string reason;  // says what would be right
};

inline std::string sentence(const Fault& fault) {
  return (fault.path.steps().empty() ? "document" : fault.path.text()) + ": " + fault.reason;
}

inline void warn(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
}

}  // namespace clarion::emu
