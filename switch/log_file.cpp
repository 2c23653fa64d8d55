// SPDX-License-Identifier: Apache-2.0
#include "log_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace clarion::emu {

LogFile::LogFile(const Path& option, std::string path) : option_(option.text()), path_(std::move(path)) {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw Fault{option, FaultCode::invalid, "cannot write " + path_ + ": " + std::strerror(errno)};
  }
  buffer_.reserve(BUFFER_BYTES + LONGEST_BYTES);
}

LogFile::~LogFile() {
  flush();
  if (fd_ >= 0) close(fd_);
}

void LogFile::tick(Nanoseconds now) {
  if (now - written_ < SECOND_NS) return;
  written_ = now;
  flush();
}

void LogFile::flush() {
  for (std::size_t done = 0; fd_ >= 0 && done < buffer_.size();) {
    const ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      warn(option_ + ": " + path_ + ": " + std::strerror(errno) + "; logging stops, forwarding goes on");
      close(fd_);
      fd_ = -1;
    }
  }
  buffer_.clear();
}

}  // namespace clarion::emu
