// SPDX-License-Identifier: Apache-2.0
// The queue of a port with a discipline: its packets, and what happens to those that it does not send.
#pragma once

#include <cstdint>
#include <memory>

#include "../random.hpp"
#include "discipline.hpp"
#include "discipline_options.hpp"

namespace clarion::emu {

// Told of packets that a queue has dropped or marked by itself, as they are then.
class QueueObserver {
 public:
  virtual ~QueueObserver() = default;
  virtual void dropped(const std::uint8_t* frame, std::uint32_t length) = 0;
  virtual void marked(const std::uint8_t* frame, std::uint32_t length) = 0;
};

class DisciplinedQueue final : private QueueKeeper {
 public:
  // `options.name` is not drop_tail.
  DisciplinedQueue(const DisciplineOptions& options, std::uint64_t rate_bps, std::uint8_t protocol,
                   RandomStream random, QueueObserver& observer);

  void set_limit(std::uint64_t bytes) { discipline_->set_limit(bytes); }

  void enqueue(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length,
               const Meta& meta);

  // The next to be sent, to be released then; null if the rest has been dropped.
  Waiting* dequeue(Nanoseconds now) { return discipline_->dequeue(now); }
  void release(Waiting* packet) { store_.give(packet); }

  std::uint64_t bytes() const { return discipline_->bytes(); }
  std::size_t packets() const { return discipline_->packets(); }

 private:
  void drop(Waiting* packet) override;
  void mark(Waiting* packet) override;

  WaitingStore store_;
  QueueObserver& observer_;
  std::unique_ptr<QueueDiscipline> discipline_;
};

}  // namespace clarion::emu
