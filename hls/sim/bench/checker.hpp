// SPDX-License-Identifier: Apache-2.0
// Holds a bump in the wire against the data plane in software (core/data_plane.hpp), clock by clock: the
// order in which packets join and leave, and the bytes waiting, are the block's; all bytes of frames and all
// state must follow from them. The first difference is an exception.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/data_plane.hpp"
#include "hls/sim/bench/bench.hpp"

namespace clarion::sim {

class Difference : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Checker {
 public:
  static constexpr unsigned PORTS = 2;
  static constexpr unsigned BUCKETS = CLARION_BUCKETS;

  Checker();

  Bench& bench() { return bench_; }

  // A frame that has been given to the source of a port; one that is not valid is to be rejected.
  void expect(unsigned port, const SentFrame& sent, bool valid);
  // A command to a unit so many clocks from now; to an ingress behind a read, which gives its place among the
  // frames.
  void give(unsigned unit, std::uint32_t clock, const Words& command);

  void clock();
  // Until every frame has come out and every command is answered.
  void finish(std::uint32_t most_clocks);

  struct Sums {
    std::uint64_t packets = 0, beats = 0, drops = 0, overflows = 0, errored = 0, intervals = 0, answers = 0;
  };
  const Sums& sums() const { return sums_; }

 private:
  struct Frame {
    std::vector<std::uint8_t> bytes;
    std::uint64_t user;
    bool valid;
    Meta meta;
  };

  struct Given {
    Words command;
    bool begun = false;
    std::vector<Words> expected;  // beats of the answer
    unsigned beats = 0;           // that have come
  };

  struct Ingress {
    TagConfig tag;
    std::uint8_t epoch = 0;
    std::array<std::uint8_t, BUCKETS> epochs{};
    std::uint64_t packets = 0, bytes = 0, errored = 0;
    std::uint64_t malformed = 0;  // counters of the core, as they were at the last reset
    SequenceCounters counters;
    std::deque<Frame> told;    // in front of it
    std::deque<Frame> passed;  // behind it
  };

  struct Egress {
    PortConfig config;
    std::uint8_t epoch = 0;
    std::uint8_t running_epoch = 0;
    std::uint64_t limit = QUEUE_MAX;
    std::uint64_t sent_packets = 0, sent_bytes = 0, drop_packets = 0, drop_bytes = 0, overflow = 0;
    std::uint64_t over_both = 0;  // drops beyond the limit; packet memory may have been full as well
    SequenceCounters counters;
    std::uint64_t queue_bytes = 0;
    std::array<std::uint64_t, 4> byte_ticks{};  // at the ends of the last clocks, the newest first
    std::uint64_t byte_ticks_reset = 0;
    std::deque<Frame> waiting;
    std::deque<Frame> leaving;
  };

  using Answer = std::vector<Words>;

  const DataPlane<PORTS, BUCKETS>::PortState& state(unsigned port) const { return plane_->port(port); }
  void adopt(unsigned port);

  bool pass_one(unsigned port);
  void take_replies(bool of_egress);
  void begin(unsigned unit, Given& given, const ReplyBeat& reply);
  void configure_ingress(unsigned port, const Words& command);
  void configure_egress(unsigned port, const Words& command);
  void reset_ingress(unsigned port);
  void reset_egress(unsigned port);
  Answer ingress_state(unsigned port) const;
  Answer ingress_bucket(unsigned port, unsigned bucket) const;
  Answer egress_state(unsigned port) const;
  Answer egress_bucket(unsigned port, unsigned bucket) const;

  void take_events(unsigned port);
  void wait(unsigned port);
  void join(unsigned port, const QueueEvent& event);
  void leave(unsigned port, const QueueEvent& event);
  void send(unsigned port);
  bool all_out() const;
  [[noreturn]] void differ(unsigned unit, const std::string& what) const;

  Bench bench_;
  std::unique_ptr<DataPlane<PORTS, BUCKETS>> plane_;
  Ingress ingress_[PORTS];
  Egress egress_[PORTS];
  std::deque<Given> given_[2 * PORTS];
  Ticks now_ = 0;            // in the clock that has just been
  std::uint64_t ticks_ = 0;  // that it lasted
  Sums sums_;
};

}  // namespace clarion::sim
