// SPDX-License-Identifier: Apache-2.0
// One port of the block in simulation: an ingress and an egress unit, each call clocking one of them until it
// is done.
//
// Block time does not advance meanwhile: the caller gives `now`. Frames shorter than 60 bytes are padded with
// zeros, as a MAC does. A unit that is not done within MAX_CLOCKS throws std::runtime_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hls/sim/register_file.hpp"

namespace clarion::sim {

using Bytes = std::vector<std::uint8_t>;

// Words of a reply. A field is at its place in register_map.hpp.
struct Answer {
  std::uint32_t status = 0;
  std::array<std::uint32_t, registers::REPLY_WORDS> words{};

  std::uint32_t at(unsigned place) const { return words[place]; }
  std::uint64_t wide(unsigned place) const {
    return words[place] | static_cast<std::uint64_t>(words[place + 1]) << 32;
  }
};

class SimulatedPort {
 public:
  static constexpr unsigned MAX_CLOCKS = 100'000;
  // Sizes of the units.
  static const unsigned BUCKETS;
  static const unsigned QUEUE_BEATS;

  explicit SimulatedPort(std::uint8_t protocol);
  SimulatedPort(const SimulatedPort&) = delete;
  SimulatedPort& operator=(const SimulatedPort&) = delete;
  ~SimulatedPort();

  void set_protocol(std::uint8_t protocol);

  // Passes a frame from the wire through the ingress. The result is valid until the next call.
  const Bytes& receive(Ticks now, const std::uint8_t* frame, std::uint32_t length);

  // Gives a frame to the egress, which queues or drops it.
  bool offer(Ticks now, const std::uint8_t* frame, std::uint32_t length);

  // Frames that were offered, not dropped and not taken yet, and their bytes.
  std::size_t waiting() const { return waiting_.size(); }
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

  // Takes the next waiting frame onto the wire. The result is valid until the next call.
  const Bytes& take(Ticks now);

  // Carries out a command between two packets.
  Answer ask_ingress(Ticks now, const CommandWords& command);
  Answer ask_egress(Ticks now, const CommandWords& command);

  // For a register file: the units' mailboxes, and one clock of a unit without traffic.
  WindowUnit ingress_unit(unsigned port);
  WindowUnit egress_unit(unsigned port);
  void clock_ingress(Ticks now);
  void clock_egress(Ticks now);

  std::uint64_t clocks() const;  // of both units since start

 private:
  struct Units;
  struct Waiting {
    std::uint16_t number;
    std::uint32_t length;
  };

  std::unique_ptr<Units> units_;
  std::uint16_t number_ = 0;  // of the last frame offered
  std::deque<Waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace clarion::sim
