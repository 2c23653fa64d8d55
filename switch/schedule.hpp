// SPDX-License-Identifier: Apache-2.0
// Which port has something to do next: an indexed heap with one entry per port. Four children to a parent,
// and times beside the ports: of a heap of thousands a change touches few lines of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock.hpp"

namespace clarion::emu {

class Schedule {
 public:
  explicit Schedule(std::size_t ports) : heap_(ports), position_(ports) {
    for (std::size_t i = 0; i < ports; ++i) place(i, {NEVER, static_cast<std::uint32_t>(i)});
  }

  Nanoseconds next_time() const { return heap_.empty() ? NEVER : heap_[0].time; }
  std::size_t next_port() const { return heap_[0].port; }

  Nanoseconds time_of(std::size_t port) const { return heap_[position_[port]].time; }

  void set(std::size_t port, Nanoseconds time) {
    const std::size_t at = position_[port];
    const Entry changed{time, heap_[at].port};
    if (time < heap_[at].time) {
      sift_up(at, changed);
    } else if (time > heap_[at].time) {
      sift_down(at, changed);
    }
  }

 private:
  static constexpr std::size_t CHILDREN = 4;

  struct Entry {
    Nanoseconds time;
    std::uint32_t port;

    // At equal times the lower index goes first, so that a run can be repeated.
    bool operator<(const Entry& other) const {
      return time < other.time || (time == other.time && port < other.port);
    }
  };

  void place(std::size_t at, const Entry& entry) {
    heap_[at] = entry;
    position_[entry.port] = static_cast<std::uint32_t>(at);
  }

  // The entry at `at` becomes `entry`, which may go before its parents;
  void sift_up(std::size_t at, const Entry& entry) {
    for (; at > 0 && entry < heap_[(at - 1) / CHILDREN]; at = (at - 1) / CHILDREN) {
      place(at, heap_[(at - 1) / CHILDREN]);
    }
    place(at, entry);
  }

  // or after its children.
  void sift_down(std::size_t at, const Entry& entry) {
    for (;;) {
      const std::size_t first = CHILDREN * at + 1;
      if (first >= heap_.size()) break;
      const auto children = heap_.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(CHILDREN, heap_.size() - first);
      const auto least = std::min_element(children, children + static_cast<std::ptrdiff_t>(count));
      if (!(*least < entry)) break;
      const auto below = static_cast<std::size_t>(least - heap_.begin());
      place(at, *least);
      at = below;
    }
    place(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> position_;  // of each port in it
};

}  // namespace clarion::emu
