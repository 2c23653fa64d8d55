// SPDX-License-Identifier: Apache-2.0
// The simulated FPGA block as the path of a port of the switch; its packet memory is the port's queue.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "core/types.hpp"
#include "packet_fifo.hpp"
#include "port.hpp"
#include "port_path.hpp"

namespace clarion::sim {
class SimulatedPort;
}  // namespace clarion::sim

namespace clarion::emu {

class BlockPath final : public PortPath {
 public:
  // `out`: packets that have left the block for the wire.
  BlockPath(PacketFifo& out, std::uint8_t protocol);
  BlockPath(const BlockPath&) = delete;
  BlockPath& operator=(const BlockPath&) = delete;
  ~BlockPath() override;

  void enter(const PortEntries& entries, std::uint64_t queue_limit_bytes) override;
  void forget() override;   // Fault: only a reset of the block does that
  void restart() override;  // Fault: as forget

  std::uint8_t fresh_xcp_epoch() const override { return next_epoch(xcp_epoch_); }
  std::uint8_t fresh_check_epoch() const override { return next_epoch(check_epoch_); }

  Incoming ingress(Ticks now, const std::uint8_t* frame, std::uint32_t length) override;
  Admission enqueue(Ticks now, const std::uint8_t* frame, std::uint32_t length, const Meta& meta) override;
  std::size_t queued() const override;
  std::uint64_t queue_bytes() const override;
  Packet* depart(Ticks now) override;

  std::uint64_t intervals() const override { return telemetry().interval.intervals; }
  PortTelemetry telemetry() const override;  // as the block's registers say

  // Fault: the block's state is in its own registers, not in the P4 program's arrays.
  const RegisterArray* find_register(const std::string& name) const override;

  sim::SimulatedPort& block() { return *block_; }  // for a register window

 private:
  using CommandWords = std::array<std::uint32_t, 16>;

  void configure_ingress(const PortEntries& entries);
  void configure_egress(const PortEntries& entries, std::uint64_t queue_limit_bytes);

  PacketFifo& out_;
  std::unique_ptr<sim::SimulatedPort> block_;
  Ticks now_ = 0;
  CommandWords ingress_command_{};  // the last given; not repeated, or it would undo what software set since
  CommandWords egress_command_{};
  std::uint8_t xcp_epoch_ = 0;
  std::uint8_t check_epoch_ = 0;
};

inline std::unique_ptr<PortPath> block_path(PacketFifo& out, std::uint8_t protocol) {
  return std::make_unique<BlockPath>(out, protocol);
}

// The block of a port whose path is a BlockPath.
inline sim::SimulatedPort& block_of(Port& port) { return static_cast<BlockPath&>(*port.path).block(); }

}  // namespace clarion::emu
