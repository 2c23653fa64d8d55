// SPDX-License-Identifier: Apache-2.0
// What a port does for a protocol that needs routers of its own, beside the queue: it sees every packet come
// and go, and may write into the header of those that go.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../clock.hpp"

namespace clarion::emu {

class RouterLaw {
 public:
  virtual ~RouterLaw() = default;

  // The port's rate, from `now` on; never 0.
  virtual void set_rate(Nanoseconds now, std::uint64_t rate_bps) = 0;

  // A packet has come to the port, and may yet find its queue full. Of the frame at least the headers are
  // there; `length` is that of all of it.
  virtual void arrive(Nanoseconds now, const std::uint8_t* frame, std::uint32_t length) = 0;

  // So much waits from `now` on, until this is called again.
  virtual void queue_is(Nanoseconds now, std::uint64_t bytes) = 0;

  // A packet goes onto the link; the same holds for its frame.
  virtual void depart(Nanoseconds now, std::uint8_t* frame, std::uint32_t length) = 0;

  // As after a power cut: nothing is known but the rate, and nothing waits.
  virtual void restart(Nanoseconds now) = 0;

  // What statistics show of it.
  virtual std::vector<std::pair<const char*, double>> report() const = 0;
};

}  // namespace clarion::emu
