// SPDX-License-Identifier: Apache-2.0
// The embedded core as the path of a port, with the port's queue in the switch's packet memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>

#include "core/data_plane.hpp"
#include "core/host_units.hpp"
#include "epochs.hpp"
#include "packet_fifo.hpp"
#include "port_path.hpp"

namespace clarion::emu {

class CorePath final : public PortPath {
 public:
  // The packets of `out` that are queued are this path's; the rest is on the wire.
  CorePath(PacketFifo& out, std::uint8_t protocol) : out_(out), protocol_(protocol) {
    plane_.set_protocol(protocol);
  }

  void enter(const PortEntries& entries, std::uint64_t queue_limit_bytes) override {
    epochs_.enter(plane_.state(0), entries);
    plane_.adopt(0, core_config(entries));
    queue_limit_bytes_ = queue_limit_bytes;
    if (disciplined_) disciplined_->set_limit(queue_limit_bytes);
  }

  bool set_discipline(const DisciplineOptions& options, std::uint64_t rate_bps, RandomStream random,
                      QueueObserver& observer) override {
    make_disciplined_ = [this, options, rate_bps, random, &observer] {
      disciplined_ = std::make_unique<DisciplinedQueue>(options, rate_bps, protocol_, random, observer);
      disciplined_->set_limit(queue_limit_bytes_);
    };
    make_disciplined_();
    return true;
  }

  void forget() override { epochs_.forget(plane_.state(0)); }

  void restart() override {
    plane_.~DataPlane();  // in its place: it is too large for the stack
    new (&plane_) DataPlane<1>();
    plane_.set_protocol(protocol_);
    epochs_ = Epochs{};
    if (make_disciplined_) make_disciplined_();
  }

  std::uint8_t fresh_xcp_epoch() const override { return epochs_.fresh_xcp(); }
  std::uint8_t fresh_check_epoch() const override { return epochs_.fresh_check(); }

  Incoming ingress(Ticks now, const std::uint8_t* frame, std::uint32_t length) override {
    return {frame, length, plane_.ingress(0, now, frame, length)};
  }

  Admission enqueue(Ticks now, const std::uint8_t* frame, std::uint32_t length,
                    const Meta& incoming) override {
    Meta meta = incoming;
    plane_.enqueue(0, now, queue_bytes(), length, meta);
    if (disciplined_) {
      disciplined_->enqueue(ns_of_ticks(now), frame, out_.stored(length), length, meta);
      return Admission::taken;  // whom it has dropped instead, it has reported
    }
    if (queue_bytes_ + length > queue_limit_bytes_) return Admission::dropped;
    if (out_.push(frame, length, meta) == nullptr) return Admission::no_memory;
    queue_bytes_ += length;
    return Admission::taken;
  }

  bool takes_measured() const override { return true; }

  bool interval_due(Ticks now) const override {
    const CorePort& port = plane_.port(0);
    return port.config.xcp.enabled && port.interval.due(now, port.config.xcp);
  }
  std::uint32_t interval_ticks() const override {
    return plane_.port(0).interval.length(plane_.port(0).config.xcp);
  }

  // As long as nothing is known, the capacity is what comes in: nothing is handed out, nothing taken back.
  void set_measured(Ticks now, std::uint64_t bytes_per_s) override {
    const CorePort& port = plane_.port(0);
    const std::uint32_t elapsed = elapsed_ticks(port.interval.start(), now);
    const std::uint64_t came_q8 = rate_of(port.arrival.sums().input, elapsed);
    plane_.state(0).config.xcp.capacity_bytes_per_s =
        bytes_per_s == 0 ? came_q8 >> RATE_FRACTION_BITS : bytes_per_s;
  }

  std::size_t queued() const override { return disciplined_ ? disciplined_->packets() : out_.queued(); }
  std::uint64_t queue_bytes() const override { return disciplined_ ? disciplined_->bytes() : queue_bytes_; }

  Packet* depart(Ticks now) override {
    if (disciplined_) return depart_disciplined(now);
    Packet* packet = out_.queue_head();
    queue_bytes_ -= packet->length;
    plane_.dequeue(0, now, queue_bytes_, packet->frame(), packet->length, packet->meta);
    out_.depart();
    return packet;
  }

  std::uint64_t intervals() const override { return report().intervals; }

  PortTelemetry telemetry() const override {
    const CorePort& core = plane_.port(0);
    return {core.malformed, core.wire_check.counters(), core.queue_check.counters(), report()};
  }

  const RegisterArray* find_register(const std::string& name) const override;

  const CorePort& core() const { return plane_.port(0); }
  const Epochs& epochs() const { return epochs_; }

 private:
  // Its packets wait in memory of their own, since they may leave in another order.
  Packet* depart_disciplined(Ticks now) {
    Waiting* waiting = disciplined_->dequeue(ns_of_ticks(now));
    if (waiting == nullptr) return nullptr;
    plane_.dequeue(0, now, disciplined_->bytes(), waiting->frame.data(), waiting->length, waiting->meta);
    Packet* packet = out_.push(waiting->frame.data(), waiting->length, waiting->meta);
    disciplined_->release(waiting);
    if (packet == nullptr) throw std::runtime_error("packet memory for the wires is full");
    out_.depart();
    return packet;
  }

  const IntervalReport& report() const { return plane_.port(0).interval.report(); }

  PacketFifo& out_;
  std::uint64_t queue_bytes_ = 0;  // of the drop-tail queue
  std::uint64_t queue_limit_bytes_ = 0;
  std::unique_ptr<DisciplinedQueue> disciplined_;  // instead of it
  std::uint8_t protocol_;
  DataPlane<1> plane_;  // this port's own state is all a packet meets at this port
  Epochs epochs_;
  std::function<void()> make_disciplined_;
};

inline std::unique_ptr<PortPath> core_path(PacketFifo& out, std::uint8_t protocol) {
  return std::make_unique<CorePath>(out, protocol);
}

}  // namespace clarion::emu
