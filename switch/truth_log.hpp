// SPDX-License-Identifier: Apache-2.0
// Ground truth: one CSV line for every packet that a link or a queue lost, marked or changed. docs:
// switch/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "clock.hpp"

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
  enum class Direction { out, in };  // out of the switch's port, or into it

  TruthLog(const std::string& path, std::uint8_t clarion_protocol);  // empty path: logs nothing
  TruthLog(const TruthLog&) = delete;
  TruthLog& operator=(const TruthLog&) = delete;
  ~TruthLog();

  void record(Nanoseconds time, std::string_view switch_name, std::string_view port, Direction direction,
              Cause cause, const std::uint8_t* frame, std::uint32_t length);

  // Writes out what is buffered if the last write is a second old.
  void tick(Nanoseconds now);
  void flush();

 private:
  void append(std::uint64_t value);
  void append(std::string_view text) { buffer_.append(text).push_back(','); }

  int fd_ = -1;
  std::string path_;
  std::uint8_t clarion_protocol_;
  Nanoseconds written_ = 0;
  std::string buffer_;
};

}  // namespace clarion::emu
