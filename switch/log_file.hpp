// SPDX-License-Identifier: Apache-2.0
// A file that is only written to, from memory in large pieces. If it cannot go on, forwarding does.
#pragma once

#include <cstdint>
#include <string>

#include "clock.hpp"
#include "error.hpp"

namespace clarion::emu {

class LogFile {
 public:
  // `option` is what the file is for, as faults and warnings name it. Fault: it cannot be written.
  LogFile(const Path& option, std::string path);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile();

  bool is_open() const { return fd_ >= 0; }
  std::string& buffer() { return buffer_; }

  // After something was appended to the buffer, at most LONGEST_BYTES.
  static constexpr std::size_t LONGEST_BYTES = 4096;
  void appended() {
    if (buffer_.size() > BUFFER_BYTES) flush();
  }

  // Writes out what is buffered if the last write is a second old.
  void tick(Nanoseconds now);
  void flush();

 private:
  static constexpr std::size_t BUFFER_BYTES = 1 << 20;

  int fd_ = -1;
  std::string option_;
  std::string path_;
  Nanoseconds written_ = 0;
  std::string buffer_;
};

}  // namespace clarion::emu
