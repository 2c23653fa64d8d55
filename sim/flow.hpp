// SPDX-License-Identifier: Apache-2.0
// One flow: its two ends, and what its application does when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hosts/connection.hpp"
#include "hosts/datagrams.hpp"
#include "options.hpp"
#include "prefetch.hpp"

namespace clarion::sim {

// A TCP connection, or datagrams at a constant rate.
class Flow {
 public:
  static constexpr std::uint64_t ENDLESS = ~std::uint64_t{0};

  // Its times count from `zero`. `number` is its place among all flows.
  Flow(const FlowOptions& options, const SimulationOptions& all, std::size_t number, Nanoseconds zero,
       Host& from, Host& to, std::vector<Reduction>& reductions);

  // When its sending or receiving end has something to do next, and doing it.
  Nanoseconds next_of_sender() const;
  Nanoseconds next_of_receiver() const { return sink_ ? NEVER : receiver_->next_timer(); }
  void run_sender(Nanoseconds now);
  void run_receiver(Nanoseconds now) { receiver_->on_timer(now); }

  // Looks whether all of a transfer has arrived.
  void note_arrival(Nanoseconds now);

  // Fetches what run_sender() will look at into the cache.
  void prefetch() const { sim::prefetch(this, bytes_between(this, &clarion_.law)); }

  Nanoseconds start() const { return start_; }
  bool is_started() const { return is_started_; }
  bool is_over() const;  // a transfer that is complete and acknowledged
  bool is_drained() const;
  Nanoseconds finished() const { return finished_; }  // NEVER: it is no transfer, or not complete
  std::uint64_t received_bytes() const;

  // Null if it is not TCP.
  const SendingEnd* sender() const { return sender_ ? &*sender_ : nullptr; }
  const DatagramSource* source() const { return source_.get(); }
  const flow& clarion() const { return clarion_; }

 private:
  enum class Action : std::uint8_t { connect, write, pause };
  struct Step {
    Nanoseconds at;
    Action action;
  };

  void open(const FlowOptions& options, const SimulationOptions& all, std::size_t number, Host& from,
            Host& to, std::vector<Reduction>& reductions);
  void plan(const FlowOptions& options, Nanoseconds lead, Nanoseconds zero);
  void act(Nanoseconds now);

  // In the order in which packets need it, so that few lines of memory are fetched for each: the sending end,
  Nanoseconds next_step_at_ = NEVER;
  std::unique_ptr<DatagramSource> source_;
  std::optional<SendingEnd> sender_;
  flow clarion_{};
  cc_params params_{};

  // the receiving end,
  alignas(64) std::uint64_t size_bytes_;
  std::unique_ptr<DatagramSink> sink_;
  Nanoseconds finished_ = NEVER;
  std::optional<ReceivingEnd> receiver_;

  // and what packets do not need.
  std::vector<Step> steps_;  // in the order of time
  std::size_t next_step_ = 0;
  Nanoseconds start_ = 0;
  bool is_started_ = false;
};

}  // namespace clarion::sim
