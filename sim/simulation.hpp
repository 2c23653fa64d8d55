// SPDX-License-Identifier: Apache-2.0
// Switches, hosts and flows in virtual time: what is due first happens first, and nothing waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "flow.hpp"
#include "options.hpp"
#include "switch/fabric.hpp"
#include "switch/schedule.hpp"

namespace clarion::sim {

// The clock of the switches at the start of a run: TCP's clock must not show 0.
constexpr Nanoseconds BEGINNING = emu::SECOND_NS;

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  // Carries out everything up to and including `time`, counted from the start of the run.
  void advance(Nanoseconds time);

  Nanoseconds now() const { return fabric_.now() - zero_; }
  Nanoseconds zero() const { return zero_; }
  emu::Fabric& fabric() { return fabric_; }

  const std::vector<std::unique_ptr<Flow>>& flows() const { return flows_; }

  // Whether every flow that has begun has nothing left to send or to have acknowledged.
  bool is_drained() const;

  // Those since the call before.
  std::vector<Reduction> take_reductions() { return std::exchange(reductions_, {}); }

  std::uint64_t events() const { return events_; }

 private:
  class Attachment;

  void add_host(const HostOptions& options);
  void plan(std::size_t actor);
  bool settle_next_timer();
  void settle(std::size_t host);
  void served(std::size_t actor, Nanoseconds now);
  void act(std::size_t actor);
  Nanoseconds next_of(std::size_t actor) const;

  Nanoseconds zero_;  // of the run, on the switches' clock
  bool keeps_whole_frames_;
  emu::Fabric fabric_;
  std::vector<std::unique_ptr<Attachment>> attachments_;
  std::vector<Reduction> reductions_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::vector<std::size_t> host_of_;  // of each flow's sender
  // Two per flow, its sender's and its receiver's; one per host, of its device. None comes up too late, but
  // one that has been put off may come up too early.
  emu::Schedule timers_;
  std::uint64_t events_ = 0;
};

}  // namespace clarion::sim
