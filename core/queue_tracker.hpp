// SPDX-License-Identifier: Apache-2.0
// The persistent queue: the least that was waiting at any time during half an average RTT. What drains
// within that time is a burst, not a standing queue (Katabi et al. 2002, section 3.5).
#pragma once

#include <cstdint>

#include "platform.hpp"
#include "types.hpp"

namespace clarion {

// What a port knows of its queue.
struct QueueWindow {
  std::uint64_t persistent = 0;       // bytes, of the last complete window
  std::uint64_t minimum = QUEUE_MAX;  // bytes, of the window that is running
  Ticks start = 0;
  bool started = false;
};

// Any observation of the bytes waiting.
CLARION_INLINE void observe_queue(QueueWindow& queue, std::uint64_t queue_bytes) {
  queue.minimum = min_u64(queue.minimum, queue_bytes);
}

// An arrival observes too, and ends the window when it has lasted `window` ticks.
CLARION_INLINE void arrive_at_queue(QueueWindow& queue, Ticks now, std::uint64_t queue_bytes,
                                    std::uint32_t window) {
  observe_queue(queue, queue_bytes);
  if (!queue.started) {
    queue.started = true;
    queue.start = now;
  } else if (elapsed_ticks(queue.start, now) >= window) {
    queue.persistent = queue.minimum;
    queue.minimum = min_u64(queue_bytes, QUEUE_MAX);
    queue.start = now;
  }
}

class QueueTracker {
 public:
  CLARION_INLINE void restart() { queue_ = QueueWindow{}; }
  CLARION_INLINE void observe(std::uint64_t queue_bytes) { observe_queue(queue_, queue_bytes); }
  CLARION_INLINE void arrival(Ticks now, std::uint64_t queue_bytes, std::uint32_t window) {
    arrive_at_queue(queue_, now, queue_bytes, window);
  }

  std::uint64_t persistent_bytes() const { return queue_.persistent; }
  std::uint64_t minimum_bytes() const { return queue_.minimum; }
  Ticks window_start() const { return queue_.start; }
  bool started() const { return queue_.started; }

 private:
  QueueWindow queue_;
};

}  // namespace clarion
