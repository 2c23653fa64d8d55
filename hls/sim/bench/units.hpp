// SPDX-License-Identifier: Apache-2.0
// The device under test of a bench: the RTL of the units of its ports, and the registers in front of them.
// A driver is linked with units.cpp, which is compiled once per size of the block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/types.hpp"
#include "hls/sim/bench/traffic.hpp"

namespace clarion::sim {

constexpr unsigned MAX_PORTS = 3;

// What an egress did. What is sent has left the queue's bytes in the same clock, and of what happens in one
// clock it comes first.
struct QueueEvent {
  enum class Kind : std::uint8_t { joins, drops, leaves, sent };

  Kind kind;
  std::uint32_t clock;
  Ticks now;                  // arrival of a packet that joins, or is dropped
  std::uint64_t queue_bytes;  // waiting without it; of a frame that is sent, its length
};

class EventLog {
 public:
  void add(const QueueEvent& event) {
    events.push_back(event);
    joined += event.kind == QueueEvent::Kind::joins;
    decided += event.kind != QueueEvent::Kind::sent;
  }

  std::vector<QueueEvent> events;
  std::uint64_t joined = 0;
  std::uint64_t decided = 0;  // all events but `sent`
};

// Input signals of the units, constant until they are set again; `now` advances by `now_step` per clock.
struct Wires {
  Ticks now = 0;
  Ticks now_step = 0;
  std::uint8_t protocol = 253;
  std::uint64_t elsewhere[MAX_PORTS] = {};
};

using Words = CommandWords;

// A port. Frames at [0] the wire, [1] the host; commands to its [0] ingress, [1] egress.
struct Lane {
  Source source[2];
  Sink sink[2];
  MailboxWires mail[2];  // beside the registers
  EventLog log;
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

struct Reading {
  bool ok;  // false: SLVERR
  std::uint32_t value;
};

class Units {
 public:
  virtual ~Units() = default;

  // One clock of the units whose bit is set, and of the registers unless they rest.
  virtual void step(const Wires& wires, std::uint32_t units_on, bool registers_rest, std::uint32_t clock) = 0;

  // Accesses from the bus, between two clocks of the units.
  virtual Reading read32(std::uint32_t offset) = 0;
  virtual bool write32(std::uint32_t offset, std::uint32_t value) = 0;
  // Whether a unit has a request of the registers to answer.
  virtual bool busy(unsigned unit) const = 0;
};

// Sizes that the units were made with.
unsigned buckets();
unsigned queue_beats();

// As after power-on, once the ingress units take commands. In a bump, [p] of what an ingress passes on goes
// to the egress of the other of two ports, and hosts are left out.
std::unique_ptr<Units> make_units(Lanes& lanes, bool bump);

}  // namespace clarion::sim
