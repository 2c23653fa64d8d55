// SPDX-License-Identifier: Apache-2.0
// What a port of the switch does to packets in hls-sim: it passes them through the FPGA block in C
// simulation, whose packet memory is the port's queue. The same interface as switch/core_path.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/types.hpp"
#include "packet_fifo.hpp"
#include "path_types.hpp"
#include "port_entries.hpp"

namespace clarion::sim {
class SimulatedPort;
}  // namespace clarion::sim

namespace clarion::emu {

class BlockPath {
 public:
  // All packets of `out` are on the wire.
  BlockPath(PacketFifo& out, std::uint8_t protocol);
  BlockPath(const BlockPath&) = delete;
  BlockPath& operator=(const BlockPath&) = delete;
  ~BlockPath();

  void enter(const PortEntries& entries, std::uint64_t queue_limit_bytes);
  void forget();  // ConfigError: only the block itself can

  std::uint8_t fresh_xcp_epoch() const { return next_epoch(xcp_epoch_); }
  std::uint8_t fresh_check_epoch() const { return next_epoch(check_epoch_); }

  // What is returned is valid until the next call.
  Incoming ingress(Ticks now, const std::uint8_t* frame, std::uint32_t length);
  Admission enqueue(Ticks now, const std::uint8_t* frame, std::uint32_t length, const Meta& meta);
  std::size_t queued() const;
  std::uint64_t queue_bytes() const;
  Packet* depart(Ticks now);

  std::uint64_t intervals() const { return telemetry().interval.intervals; }
  PortTelemetry telemetry() const;  // as the block's registers say

  sim::SimulatedPort& block() { return *block_; }  // for a register window

 private:
  using CommandWords = std::array<std::uint32_t, 16>;

  void configure_ingress(const PortEntries& entries);
  void configure_egress(const PortEntries& entries, std::uint64_t queue_limit_bytes);

  PacketFifo& out_;
  std::unique_ptr<sim::SimulatedPort> block_;
  Ticks now_ = 0;
  CommandWords ingress_command_{};  // as last given: what software set since is not undone without a need
  CommandWords egress_command_{};
  std::uint8_t xcp_epoch_ = 0;
  std::uint8_t check_epoch_ = 0;
};

}  // namespace clarion::emu
