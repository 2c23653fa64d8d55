// SPDX-License-Identifier: Apache-2.0
// Ground truth: one CSV line for every packet that a link or a queue lost, marked or changed. docs:
// switch/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "clock.hpp"
#include "log_file.hpp"

namespace clarion::emu {

class TruthLog {
 public:
  // First those that a packet does not survive.
  enum class Cause : std::uint8_t {
    wire,
    queue,
    policer,
    outage,
    blocked,
    mark,
    duplicate,
    displaced,
    stripped,
    flipped,
  };
  static bool is_loss(Cause cause) { return cause <= Cause::blocked; }
  static std::string_view name_of(Cause cause);
  enum class Direction { out, in };  // out of the switch's port, or into it

  TruthLog(const std::string& path, std::uint8_t clarion_protocol);  // empty path: logs nothing

  void record(Nanoseconds time, std::string_view switch_name, std::string_view port, Direction direction,
              Cause cause, const std::uint8_t* frame, std::uint32_t length);

  void tick(Nanoseconds now) {
    if (file_) file_->tick(now);
  }
  void flush() {
    if (file_) file_->flush();
  }

 private:
  void append(std::uint64_t value);
  void append(std::string_view text) { file_->buffer().append(text).push_back(','); }

  std::unique_ptr<LogFile> file_;
  std::uint8_t clarion_protocol_;
};

}  // namespace clarion::emu
