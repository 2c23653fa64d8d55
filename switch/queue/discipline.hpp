// SPDX-License-Identifier: Apache-2.0
// What a queue does beside first in, first out and dropping what does not fit.
#pragma once

#include <cstdint>

#include "waiting.hpp"

namespace clarion::emu {

// Who keeps the books of a queue: every packet that it drops or marks passes here once.
class QueueKeeper {
 public:
  virtual ~QueueKeeper() = default;
  virtual void drop(Waiting* packet) = 0;
  virtual void mark(Waiting* packet) = 0;  // one that is ECN-capable
};

class QueueDiscipline {
 public:
  explicit QueueDiscipline(QueueKeeper& keeper) : keeper_(keeper) {}
  virtual ~QueueDiscipline() = default;

  void set_limit(std::uint64_t bytes) { limit_bytes_ = bytes; }

  // A packet has come: it waits from now on, or it or others have been dropped.
  virtual void enqueue(Nanoseconds now, Waiting* packet) = 0;

  // The next to be sent; null if what was there has been dropped.
  virtual Waiting* dequeue(Nanoseconds now) = 0;

  virtual std::uint64_t bytes() const = 0;
  virtual std::size_t packets() const = 0;

 protected:
  bool has_room_for(const Waiting* packet) const { return bytes() + packet->length <= limit_bytes_; }

  // Marks a packet that is ECN-capable if that is allowed, drops it otherwise; true: it is dropped.
  bool discard(Waiting* packet, bool may_mark) {
    if (may_mark && packet->is_ecn_capable()) {
      keeper_.mark(packet);
      return false;
    }
    keeper_.drop(packet);
    return true;
  }

  QueueKeeper& keeper_;
  std::uint64_t limit_bytes_ = 0;
};

// One list, sent in order.
class FifoDiscipline : public QueueDiscipline {
 public:
  using QueueDiscipline::QueueDiscipline;

  std::uint64_t bytes() const override { return list_.bytes(); }
  std::size_t packets() const override { return list_.packets(); }

 protected:
  WaitingList list_;
};

}  // namespace clarion::emu
