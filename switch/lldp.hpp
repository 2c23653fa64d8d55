// SPDX-License-Identifier: Apache-2.0
// LLDP at the ports of all switches of the process: hellos every second, neighbours heard, wires judged.
//
// A hello does not join the port's queue, as control traffic has one of its own in a switch: a full queue
// must not make the neighbour deaf. The wire's losses and outages hold for it, with random numbers of its
// own, so that data meets the same losses with and without it; what else a link does that is no wire, it
// passes. Neither the truth log nor the port's counters have it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clock.hpp"
#include "port.hpp"

namespace clarion::emu {

class Fabric;

class Lldp {
 public:
  static constexpr Nanoseconds HELLO_EVERY_NS = SECOND_NS;
  static constexpr std::uint16_t TTL_S = 4;

  // `speaks` false: sends nothing and judges nothing.
  Lldp(Fabric& fabric, bool speaks, Nanoseconds start)
      : fabric_(fabric), speaks_(speaks), next_hello_(speaks ? start : NEVER) {}

  // When run() has something to do.
  Nanoseconds next_time() const { return next_time_ < next_hello_ ? next_time_ : next_hello_; }

  // Carries out what is due at `now`.
  void run(Nanoseconds now);

  // A frame for the nearest bridge came in by the port, off its wire.
  void receive(Port& port, Nanoseconds now, const std::uint8_t* frame, std::uint32_t length);

  // The same, if it has come so far without loss.
  void hear(Port& port, Nanoseconds now, const std::uint8_t* frame, std::uint32_t length);

  // Tells all neighbours that this process ends.
  void farewell(Nanoseconds now);

  bool speaks() const { return speaks_; }
  bool speaks(const Port& port) const { return speaks_ && port.options.wire != WireKnowledge::none; }

 private:
  void greet(Nanoseconds now);
  void expire(Nanoseconds now);
  void send(Port& port, Nanoseconds now, std::uint16_t ttl_s);
  void judge(Port& port, Judgement before);

  Fabric& fabric_;
  bool speaks_;
  bool is_first_ = true;  // the hellos of a start go at once, so that wires are proven
  // Those that follow are spread over the second, one port after the other: a controller gets them all.
  std::size_t next_port_ = 0;
  Nanoseconds next_hello_;
  Nanoseconds next_time_ = NEVER;  // of the first neighbour that falls silent
};

}  // namespace clarion::emu
