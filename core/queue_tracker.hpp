// SPDX-License-Identifier: Apache-2.0
// The persistent queue: the least that was waiting at any time during half an average RTT. What drains
// within that time is a burst, not a standing queue (Katabi et al. 2002, section 3.5).
#pragma once

#include <cstdint>

#include "platform.hpp"
#include "types.hpp"

namespace clarion {

class QueueTracker {
 public:
  CLARION_INLINE void restart() { *this = QueueTracker{}; }

  // Any observation of the bytes waiting.
  CLARION_INLINE void observe(std::uint64_t queue_bytes) { minimum_ = min_u64(minimum_, queue_bytes); }

  // An arrival observes too, and ends the window when it has lasted `window` ticks.
  CLARION_INLINE void arrival(Ticks now, std::uint64_t queue_bytes, std::uint32_t window) {
    observe(queue_bytes);
    if (!started_) {
      started_ = true;
      start_ = now;
    } else if (elapsed_ticks(start_, now) >= window) {
      persistent_ = minimum_;
      minimum_ = min_u64(queue_bytes, QUEUE_MAX);
      start_ = now;
    }
  }

  std::uint64_t persistent_bytes() const { return persistent_; }
  std::uint64_t minimum_bytes() const { return minimum_; }
  Ticks window_start() const { return start_; }
  bool started() const { return started_; }

 private:
  std::uint64_t persistent_ = 0;       // of the last complete window
  std::uint64_t minimum_ = QUEUE_MAX;  // of the window that is running
  Ticks start_ = 0;
  bool started_ = false;
};

}  // namespace clarion
