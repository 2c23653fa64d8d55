// SPDX-License-Identifier: Apache-2.0
// Waits for frames, for the next thing due, for commands and for signals; runs until SIGTERM or SIGINT.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control_socket.hpp"
#include "fabric.hpp"

namespace clarion::emu {

class EventLoop {
 public:
  // Blocks SIGTERM and SIGINT for the process. An empty control path means no control socket.
  EventLoop(Fabric& fabric, const std::string& control_path);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // Something else to do at least so often, as long as the loop runs.
  void every(Nanoseconds period_ns, std::function<void()> work);

  void run();

 private:
  // A loaded switch wakes at most every so often and works in batches; a switch that has been idle for that
  // long wakes at once. It bounds what batching adds to the delay of a packet.
  static constexpr Nanoseconds PACE_NS = 100'000;
  static constexpr Nanoseconds POLL_EVERY_NS = 2'000'000;  // descriptors, while pacing
  static constexpr std::size_t BATCH = 256;                // frames between two transmissions
  static constexpr Nanoseconds LATE_NS = 1'000'000;        // what a busy machine takes to wake a process

  struct Source {
    Port* port;
    ReceivedFrame frame;  // the oldest one, if time is not NEVER
    Nanoseconds time;
  };

  void watch(int fd);
  void pause(bool busy);
  void poll_descriptors(Nanoseconds timeout_ns);
  void look_at_all();
  void note_lateness(Nanoseconds previous);
  std::size_t receive();
  void look(Source& source);
  void work();

  Fabric& fabric_;
  std::vector<Source> sources_;
  int epoll_ = -1;
  int signals_ = -1;
  std::unique_ptr<ControlSocket> control_;
  std::int64_t clock_offset_ns_ = 0;
  Nanoseconds due_ = 0;  // when the fabric has something to do, as of the end of the last round
  Nanoseconds woke_ = 0;
  Nanoseconds polled_ = 0;
  bool stopping_ = false;
  std::function<void()> work_;
  Nanoseconds period_ns_ = SECOND_NS;  // the longest sleep
  Nanoseconds worked_ = 0;
};

}  // namespace clarion::emu
