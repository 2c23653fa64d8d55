// SPDX-License-Identifier: Apache-2.0
// One port of the block in C simulation: an ingress and an egress unit, each call clocking one of them until
// it is done.
//
// Block time does not advance meanwhile: the caller gives `now`. Frames shorter than 60 bytes are padded with
// zeros, as a MAC does. A unit that is not done within MAX_CLOCKS throws std::runtime_error.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "hls/block/egress.hpp"
#include "hls/block/ingress.hpp"
#include "hls/sim/register_file.hpp"

namespace clarion::sim {

using Bytes = std::vector<std::uint8_t>;

// Words of a command, from the operation on.
using CommandWords = std::array<std::uint32_t, registers::COMMAND_WORDS>;

// Words of a reply. A field is at its place in register_map.hpp.
struct Answer {
  std::uint32_t status = 0;
  std::array<std::uint32_t, registers::REPLY_WORDS> words{};

  std::uint32_t at(unsigned place) const { return words[place]; }
  std::uint64_t wide(unsigned place) const {
    return words[place] | static_cast<std::uint64_t>(words[place + 1]) << 32;
  }
};

// Observer of the egress's decisions: their number, and the last one's outcome.
struct QueueWatch {
  void joins(Ticks, std::uint64_t, bool drops) {
    ++decided;
    dropped = drops;
  }
  void leaves(std::uint64_t) {}

  std::uint64_t decided = 0;
  bool dropped = false;
};

struct SimulatedParts : block::Hardware {
  using Watch = QueueWatch;
};

class SimulatedPort {
 public:
  static constexpr unsigned MAX_CLOCKS = 100'000;

  explicit SimulatedPort(std::uint8_t protocol) : protocol_(protocol) {}

  void set_protocol(std::uint8_t protocol) { protocol_ = protocol; }

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
  Answer ask_ingress(Ticks now, const CommandWords& command) { return ask(now, command, false); }
  Answer ask_egress(Ticks now, const CommandWords& command) { return ask(now, command, true); }

  // For a register file: the units' mailboxes, and one clock of a unit without traffic.
  UnitStreams ingress_streams(unsigned port);
  UnitStreams egress_streams(unsigned port);
  void clock_ingress(Ticks now);
  void clock_egress(Ticks now);

  std::uint64_t clocks() const { return clocks_; }  // of both units since start

 private:
  static constexpr std::size_t REPLY_DEPTH = 8;
  static constexpr std::size_t ONE_BEAT = 1;

  struct Waiting {
    std::uint16_t number;
    std::uint32_t length;
  };

  static std::uint32_t send(block::Axis& to, const std::uint8_t* frame, std::uint32_t length,
                            std::uint16_t number);
  Answer ask(Ticks now, const CommandWords& command, bool egress);

  std::uint8_t protocol_;
  std::uint64_t clocks_ = 0;
  // On the heap, because they are large.
  std::unique_ptr<block::Ingress<>> ingress_ = std::make_unique<block::Ingress<>>();
  std::unique_ptr<block::Egress<SimulatedParts>> egress_ = std::make_unique<block::Egress<SimulatedParts>>();

  block::Axis from_wire_{"from_wire", block::FRAME_MAX_BEATS};
  block::Axis to_host_{"to_host", ONE_BEAT};
  block::Axis from_host_{"from_host", block::FRAME_MAX_BEATS};
  block::Axis to_wire_{"to_wire", ONE_BEAT};
  CommandStream ingress_commands_{"ingress commands", 1};
  ReplyStream ingress_replies_{"ingress replies", REPLY_DEPTH};
  CommandStream egress_commands_{"egress commands", 1};
  ReplyStream egress_replies_{"egress replies", REPLY_DEPTH};
  ReplyStream grant_replies_{"grant replies", REPLY_DEPTH};

  Bytes received_;
  Bytes taken_;
  std::uint16_t number_ = 0;  // of the last frame offered
  std::deque<Waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

}  // namespace clarion::sim
