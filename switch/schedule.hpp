// SPDX-License-Identifier: Apache-2.0
// Which port has something to do next: an indexed binary heap with one entry per port.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "clock.hpp"

namespace clarion::emu {

class Schedule {
 public:
  explicit Schedule(std::size_t ports) : time_(ports, NEVER), position_(ports), heap_(ports) {
    for (std::size_t i = 0; i < ports; ++i) heap_[i] = position_[i] = i;
  }

  Nanoseconds next_time() const { return heap_.empty() ? NEVER : time_[heap_[0]]; }
  std::size_t next_port() const { return heap_[0]; }

  void set(std::size_t port, Nanoseconds time) {
    if (time_[port] == time) return;
    time_[port] = time;
    sift_down(sift_up(position_[port]));
  }

 private:
  // At equal times the lower index goes first, so that a run can be repeated.
  bool before(std::size_t a, std::size_t b) const {
    return std::pair(time_[heap_[a]], heap_[a]) < std::pair(time_[heap_[b]], heap_[b]);
  }

  void swap(std::size_t a, std::size_t b) {
    std::swap(heap_[a], heap_[b]);
    position_[heap_[a]] = a;
    position_[heap_[b]] = b;
  }

  std::size_t sift_up(std::size_t i) {
    for (; i > 0 && before(i, (i - 1) / 2); i = (i - 1) / 2) swap(i, (i - 1) / 2);
    return i;
  }

  void sift_down(std::size_t i) {
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) return;
      if (child + 1 < heap_.size() && before(child + 1, child)) ++child;
      if (!before(child, i)) return;
      swap(i, child);
      i = child;
    }
  }

  std::vector<Nanoseconds> time_;
  std::vector<std::size_t> position_;
  std::vector<std::size_t> heap_;
};

}  // namespace clarion::emu
