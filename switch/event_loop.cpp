// SPDX-License-Identifier: Apache-2.0
#include "event_loop.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "commands.hpp"

namespace clarion::emu {

EventLoop::EventLoop(Fabric& fabric, const std::string& control_path) : fabric_(fabric) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (epoll_ < 0 || signals_ < 0)
    throw std::runtime_error(std::string("epoll, signalfd: ") + std::strerror(errno));
  watch(signals_);
  for (const auto& port : fabric.ports()) {
    if (!port->netdev) continue;
    sources_.push_back({port.get(), {}, NEVER});
    watch(port->netdev->fd());
  }
  if (!control_path.empty()) {
    control_ = std::make_unique<ControlSocket>(control_path, epoll_,
                                               [this](const std::string& line, Subscription& subscription) {
                                                 return execute(fabric_, line, subscription);
                                               });
  }
}

EventLoop::~EventLoop() {
  control_.reset();
  if (signals_ >= 0) close(signals_);
  if (epoll_ >= 0) close(epoll_);
}

void EventLoop::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void EventLoop::every(Nanoseconds period_ns, std::function<void()> work) {
  period_ns_ = period_ns;
  work_ = std::move(work);
}

void EventLoop::work() {
  if (!work_ || woke_ - worked_ < period_ns_) return;
  worked_ = woke_;
  work_();
}

void EventLoop::run() {
  bool busy = false;
  due_ = fabric_.next_time();
  while (!stopping_) {
    pause(busy);
    clock_offset_ns_ = real_to_monotonic_ns();
    const Nanoseconds previous = woke_;
    woke_ = now_ns();
    look_at_all();
    note_lateness(previous);
    const std::size_t frames = receive();
    fabric_.advance(std::max(fabric_.now(), woke_));
    fabric_.transmit();
    if (control_) control_->publish(fabric_.events());
    fabric_.tick(woke_);
    work();
    due_ = fabric_.next_time();
    busy = (frames > 0 || due_ < woke_ + PACE_NS) && woke_ - previous < 2 * PACE_NS;
  }
  fabric_.farewell();
}

// Busy: sleep out the pace, without the price of polling. Else wait for whatever comes first. However much
// there is to do, a fifth of the time is left to others: the process may run at real-time priority.
void EventLoop::pause(bool busy) {
  if (!busy) {
    const Nanoseconds now = now_ns();
    poll_descriptors(due_ <= now ? 0 : std::min(due_ - now, period_ns_));
    return;
  }
  const Nanoseconds now = now_ns();
  const timespec until = to_timespec(std::max(woke_ + PACE_NS, now + (now - woke_) / 4));
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  if (now_ns() - polled_ > POLL_EVERY_NS) poll_descriptors(0);
}

void EventLoop::poll_descriptors(Nanoseconds timeout_ns) {
  std::array<epoll_event, 64> events;
  const timespec timeout = to_timespec(timeout_ns);
  const int ready = epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
  polled_ = now_ns();
  for (int i = 0; i < ready; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    if (fd == signals_) {
      stopping_ = true;
    } else if (control_) {
      control_->handle(fd);
    }
  }
}

void EventLoop::look(Source& source) {
  if (!source.port->netdev->peek(source.frame)) {
    source.time = NEVER;
    return;
  }
  source.time = source.frame.real_time_ns + static_cast<Nanoseconds>(clock_offset_ns_);
}

void EventLoop::look_at_all() {
  for (Source& source : sources_) look(source);
}

// Whatever was due first has waited for this wake-up, from the one before it on: what was left over there is
// not counted twice.
void EventLoop::note_lateness(Nanoseconds previous) {
  Nanoseconds due = due_;
  for (const Source& source : sources_) due = std::min(due, source.time);
  const Nanoseconds since = std::max(due, previous);
  if (since < woke_ && woke_ - since > LATE_NS) fabric_.add_late(woke_ - since);
}

// Takes the frames of all netdevs in the order of their arrival, as the kernel noted it, up to now.
std::size_t EventLoop::receive() {
  std::size_t frames = 0;
  while (!sources_.empty() && frames < BATCH) {
    Source& first = *std::min_element(sources_.begin(), sources_.end(),
                                      [](const Source& a, const Source& b) { return a.time < b.time; });
    if (first.time == NEVER) break;
    fabric_.receive(*first.port, std::clamp(first.time, fabric_.now(), std::max(fabric_.now(), woke_)),
                    first.frame.data, first.frame.length);
    first.port->netdev->release();
    look(first);
    ++frames;
  }
  return frames;
}

}  // namespace clarion::emu
