// SPDX-License-Identifier: Apache-2.0
// The device under test of a bench: the units of its ports and the registers in front of them. A driver is
// linked with one implementation: block_units.cpp (the block in C simulation), one of its slower variants, or
// ../rtl/rtl_units.cpp (the block's RTL).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hls/sim/bench/traffic.hpp"
#include "hls/sim/register_file.hpp"

namespace clarion::sim {

constexpr unsigned MAX_PORTS = 4;

// A decision of a queue, logged by EventLog as the egress's Watch.
struct QueueEvent {
  enum class Kind : std::uint8_t { joins, drops, leaves };

  Kind kind;
  std::uint32_t clock;
  Ticks now;  // arrival of a packet that joins
  std::uint64_t queue_bytes;
};

class EventLog {
 public:
  void joins(Ticks now, std::uint64_t queue_bytes, bool dropped) {
    using Kind = QueueEvent::Kind;
    if (!dropped) ++joined;
    events.push_back({dropped ? Kind::drops : Kind::joins, clock, now, queue_bytes});
  }
  void leaves(std::uint64_t queue_bytes) {
    events.push_back({QueueEvent::Kind::leaves, clock, 0, queue_bytes});
  }

  std::vector<QueueEvent> events;
  std::uint32_t clock = 0;
  std::uint64_t joined = 0;
};

// Input signals of the units, constant until they are set again; `now` advances by `now_step` per clock.
struct Wires {
  Ticks now = 0;
  Ticks now_step = 0;
  std::uint8_t protocol = 253;
  std::uint64_t elsewhere[MAX_PORTS] = {};
};

// The streams of a port's units: [0] ingress, [1] egress; for frames [0] the wire, [1] the host.
struct Lane {
  block::Axis in[2] = {block::Axis{"from_wire", 1}, block::Axis{"from_host", 1}};
  block::Axis out[2] = {block::Axis{"to_wire", 1}, block::Axis{"to_host", 1}};
  CommandStream commands[2] = {CommandStream{"ingress commands", 2}, CommandStream{"egress commands", 2}};
  ReplyStream replies[3] = {ReplyStream{"ingress replies", 8}, ReplyStream{"egress replies", 8},
                            ReplyStream{"grant replies", 8}};
  Source source[2];
  Sink sink[2];
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

class Units {
 public:
  virtual ~Units() = default;

  // One clock of the units whose bit is set, and of the registers unless `registers_rest`.
  virtual void step(const Wires& wires, std::uint32_t units_on, bool registers_rest) = 0;

  // Accesses from the bus, between two clocks.
  virtual RegisterFile::Reading read32(std::uint32_t offset) = 0;
  virtual bool write32(std::uint32_t offset, std::uint32_t value) = 0;

  // Clocks without activity at the interfaces after which the units count as at rest: an ingress may still be
  // discarding an invalid frame.
  virtual std::uint32_t quiet_clocks() const { return 600; }

  // The decisions of a port's queue. Null for RTL, whose queues cannot be observed; RTL takes no commands
  // beside the registers either.
  virtual EventLog* log(unsigned port) = 0;
};

// Throws std::invalid_argument if there are no such units.
std::unique_ptr<Units> make_units(Lanes& lanes, bool bump);

}  // namespace clarion::sim
