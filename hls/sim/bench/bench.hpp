// SPDX-License-Identifier: Apache-2.0
// The block on a test bench: sources of frames, sinks, and a log of what its queues decided, clock by clock.
//
// Either ports with an ingress and an egress unit of their own, or a bump in the wire between two ports.
// Units count as in a register window: all ingress units, then all egress units.
#ifndef CLARION_SIM_BENCH_BENCH_HPP
#define CLARION_SIM_BENCH_BENCH_HPP

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hls/sim/bench/traffic.hpp"
#include "hls/sim/register_file.hpp"

namespace clarion::sim {

// What a queue decided. Told by the egress as its Watch.
struct QueueEvent {
  enum class Kind : std::uint8_t { joins, drops, leaves };

  Kind kind;
  std::uint32_t clock;
  Ticks now;  // of a packet that joins: when it came
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

// A reply of a unit to a command that was given beside the register file.
struct TimedReply {
  unsigned unit;
  std::uint32_t clock;
  std::uint32_t logged;  // events of the unit's log before it
  block::Reply reply;
};

class Bench {
 public:
  static constexpr unsigned kMaxPorts = 4;
  // A way in may be busy so long with throwing away what was none, and nothing shows.
  static constexpr std::uint32_t kQuietClocks = 600;

  // In each clock: what `now` goes on by. The wires keep their values.
  struct Wires {
    Ticks now = 0;
    Ticks now_step = 0;
    std::uint8_t protocol = 253;
    std::uint64_t elsewhere[kMaxPorts] = {};
  };

  Bench(unsigned ports, bool bump);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  void clock();
  // Until nothing is left to do, at most so many clocks; false if there still is.
  bool settle(std::uint32_t clocks);

  // Gives a command to a unit at a clock, beside the register file, which rests until it is answered.
  void schedule(unsigned unit, std::uint32_t clock, const block::Command& command);

  unsigned ports() const { return static_cast<unsigned>(lanes_.size()); }
  std::uint32_t clocks() const { return clock_; }
  RegisterFile& registers() { return *registers_; }
  Source& source(unsigned port, bool host);
  Sink& sink(unsigned port, bool host);
  bool take_beat(unsigned port);  // of those that wait for the wire, although its sink is closed
  EventLog& log(unsigned port);

  Wires wires;
  std::vector<TimedReply> replies;
  std::uint32_t units_on = ~std::uint32_t{0};  // those that are clocked, where they are apart

 private:
  struct Lane;
  struct Bump;
  struct Scheduled {
    unsigned unit;
    std::uint32_t clock;
    block::Command command;
  };

  void step_units();
  void give_commands();
  void answer();
  void take_replies(unsigned port, unsigned stream);
  std::size_t activity() const;
  bool all_out(unsigned port);

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<Bump> bump_;
  std::unique_ptr<RegisterFile> registers_;
  std::deque<Scheduled> scheduled_;
  unsigned unanswered_ = 0;
  std::uint32_t clock_ = 0;
  std::uint32_t quiet_ = 0;
};

}  // namespace clarion::sim

#endif  // CLARION_SIM_BENCH_BENCH_HPP
