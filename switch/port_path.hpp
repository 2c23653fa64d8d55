// SPDX-License-Identifier: Apache-2.0
// What a port does to packets. The executable chooses it: the embedded core (core_path.hpp), or the
// simulated FPGA block (hls/sim/block_path.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/header.hpp"
#include "packet_fifo.hpp"
#include "path_types.hpp"
#include "port_entries.hpp"
#include "queue/disciplined_queue.hpp"
#include "random.hpp"
#include "registers.hpp"

namespace clarion::emu {

// Why a path refuses a discipline, and a capacity that is to be measured.
constexpr const char* NOT_DISCIPLINED = "the FPGA block has drop-tail only; leave it out";
constexpr const char* NOT_MEASURED = "\"measured\": the FPGA block measures none; give it in bit/s";

class PortPath {
 public:
  virtual ~PortPath() = default;

  virtual void enter(const PortEntries& entries, std::uint64_t queue_limit_bytes) = 0;

  // Controllers and checks start from nothing, whatever the next epoch is.
  virtual void forget() = 0;

  // As after a power cut: every state is lost, with the queue, which must be empty by now.
  virtual void restart() = 0;

  virtual std::uint8_t fresh_xcp_epoch() const = 0;
  virtual std::uint8_t fresh_check_epoch() const = 0;

  // A frame has come in; what is returned is looked up and goes on. It is valid until the next call.
  virtual Incoming ingress(Ticks now, const std::uint8_t* frame, std::uint32_t length) = 0;

  // A frame is to leave by this port.
  virtual Admission enqueue(Ticks now, const std::uint8_t* frame, std::uint32_t length, const Meta& meta) = 0;

  // Whether the path takes a measured capacity; only then the three that follow mean anything. Whether a
  // frame that arrives at `now` will end the control interval, how long that is, and what the control step at
  // its end takes as the capacity: 0 for not known yet.
  virtual bool takes_measured() const { return false; }
  virtual bool interval_due(Ticks /*now*/) const { return false; }
  virtual std::uint32_t interval_ticks() const { return 0; }
  virtual void set_measured(Ticks /*now*/, std::uint64_t /*bytes_per_s*/) {}

  // Gives the queue, which is empty, a discipline other than drop-tail; `observer` hears of every packet that
  // it drops or marks. False: the path has none.
  virtual bool set_discipline(const DisciplineOptions& /*options*/, std::uint64_t /*rate_bps*/,
                              RandomStream /*random*/, QueueObserver& /*observer*/) {
    return false;
  }

  virtual std::size_t queued() const = 0;
  virtual std::uint64_t queue_bytes() const = 0;

  // Puts the next packet of the queue, which must not be empty, onto the wire. Null: its discipline has
  // dropped all that was there.
  virtual Packet* depart(Ticks now) = 0;

  virtual std::uint64_t intervals() const = 0;
  virtual PortTelemetry telemetry() const = 0;

  // Null if there is none of that name.
  virtual const RegisterArray* find_register(const std::string& name) const = 0;
};

// Makes the path of one port, around its outgoing wire and with the IP protocol number of the header.
using PathFactory = std::function<std::unique_ptr<PortPath>(PacketFifo& out, std::uint8_t protocol)>;

}  // namespace clarion::emu
