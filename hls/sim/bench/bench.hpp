// SPDX-License-Identifier: Apache-2.0
// The block on a test bench: sources of frames, sinks, and a log of what its queues decided, clock by clock.
//
// Either ports with an ingress and an egress unit of their own, or a bump in the wire between two ports.
// Units count as in a register window: all ingress units, then all egress units.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hls/sim/bench/units.hpp"

namespace clarion::sim {

// A reply of a unit to a command that was given beside the registers.
struct TimedReply {
  unsigned unit;
  std::uint32_t clock;
  ReplyBeat reply;
};

class Bench {
 public:
  Bench(unsigned ports, bool bump);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void clock();
  // Runs until all is at rest, for at most so many clocks; false if it is not by then.
  bool settle(std::uint32_t clocks);

  // Gives a command to a unit at a clock, or behind those given before, bypassing the registers, which rest
  // until it is answered.
  void schedule(unsigned unit, std::uint32_t clock, const Words& command);

  unsigned ports() const { return static_cast<unsigned>(lanes_.size()); }
  std::uint32_t clocks() const { return clock_; }
  Units& units() { return *units_; }
  const Lane& lane(unsigned port) const { return *lanes_[port]; }
  Source& source(unsigned port, bool host) { return lanes_[port]->source[host]; }
  Sink& sink(unsigned port, bool host) { return lanes_[port]->sink[host]; }
  EventLog& log(unsigned port) { return lanes_[port]->log; }

  Wires wires;
  std::vector<TimedReply> replies;
  std::uint32_t units_on = ~std::uint32_t{0};  // mask of the clocked units; a bump ignores it

 private:
  struct Scheduled {
    std::uint32_t clock;
    Words command;
  };

  MailboxWires& mail(unsigned unit) { return lanes_[unit % ports()]->mail[unit / ports()]; }
  void give_commands();
  void take_replies();
  bool moves();
  bool stalled() const;
  bool all_out() const;
  std::uint64_t activity() const;

  Lanes lanes_;
  std::unique_ptr<Units> units_;
  std::vector<std::deque<Scheduled>> scheduled_;  // by unit
  unsigned unanswered_ = 0;                       // scheduled commands
  std::uint32_t clock_ = 0;
  std::uint32_t quiet_ = 0;
  std::uint64_t activity_ = 0;
};

}  // namespace clarion::sim
