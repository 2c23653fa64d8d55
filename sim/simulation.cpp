// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <algorithm>
#include <cstring>

#include "switch/commands.hpp"
#include "switch/core_path.hpp"

namespace clarion::sim {
namespace {

// The headers of any frame: TCP's options end after 40 bytes.
constexpr std::uint32_t SNAP_BYTES = 128;
static_assert(SNAP_BYTES <= Frame::MAX_HEADER_BYTES &&
              SNAP_BYTES >= FIXED_BYTES + CLARION_MAX_BYTES + TCP_BYTES + 40);
constexpr std::uint32_t LARGEST_FRAME_BYTES = 16 * 1024;

bool has_hazards(const emu::Options& options) {
  for (const emu::SwitchOptions& sw : options.switches) {
    for (const emu::PortOptions& port : sw.ports) {
      if (port.hazards.on()) return true;
    }
  }
  return false;
}

// The same of a change.
bool brings_hazards(const ChangeOptions& change) {
  return change.command.find("\"hazards\"") != std::string::npos;
}

// Hazards look into whole frames, nothing else does.
bool needs_whole_frames(const SimulationOptions& options) {
  return has_hazards(options.network) ||
         std::any_of(options.changes.begin(), options.changes.end(), brings_hazards);
}

}  // namespace

// A host and its port of the switch: each is where the other's frames go.
class Simulation::Attachment final : public emu::FrameSink, public Uplink {
 public:
  Attachment(const HostOptions& options, Simulation& simulation, emu::Port& port)
      : simulation_(simulation),
        fabric_(simulation.fabric_),
        port_(port),
        device_(options.device.rate_bps != 0 ? std::make_unique<Device>(options.device, *this) : nullptr),
        host_(options.name, options.address, options.shim, device_ ? static_cast<Uplink&>(*device_) : *this,
              device_ != nullptr),
        whole_(simulation.keeps_whole_frames_ ? LARGEST_FRAME_BYTES : 0) {
    port.sink = this;
  }

  Host& host() { return host_; }
  Device* device() { return device_.get(); }

  void take(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length) override {
    const Endpoint* served = host_.receive(now, frame, stored, length);
    if (served != nullptr) simulation_.served(served->actor, now);
  }

  bool send(Nanoseconds /*now*/, const Frame& frame, Endpoint* /*owner*/) override {
    fabric_.accept(port_, whole_.empty() ? frame.bytes.data() : with_payload(frame), frame.length);
    return true;
  }

 private:
  // Of zeros.
  const std::uint8_t* with_payload(const Frame& frame) {
    std::memcpy(whole_.data(), frame.bytes.data(), frame.stored);
    if (written_ > frame.stored) std::memset(whole_.data() + frame.stored, 0, written_ - frame.stored);
    written_ = frame.stored;
    return whole_.data();
  }

  Simulation& simulation_;
  emu::Fabric& fabric_;
  emu::Port& port_;
  std::unique_ptr<Device> device_;
  Host host_;
  std::vector<std::uint8_t> whole_;  // empty: only headers are kept
  std::uint32_t written_ = 0;
};

Simulation::Simulation(const SimulationOptions& options)
    : zero_(BEGINNING + options.lead_us * 1000),
      keeps_whole_frames_(needs_whole_frames(options)),
      fabric_(options.network, emu::core_path,
              {false, BEGINNING, keeps_whole_frames_ ? UINT32_MAX : SNAP_BYTES}),
      timers_(2 * options.flows.size() + options.hosts.size()) {
  for (const HostOptions& host : options.hosts) add_host(host);
  for (const FlowOptions& each : options.flows) {
    Host& from = attachments_[each.sender]->host();
    Host& to = attachments_[each.receiver]->host();
    host_of_.push_back(each.sender);
    flows_.push_back(std::make_unique<Flow>(each, options, flows_.size(), zero_, from, to, reductions_));
  }
  for (const ChangeOptions& change : options.changes) {
    fabric_.at(zero_ + change.at_us * 1000, [this, command = change.command] {
      emu::Subscription nobody;
      emu::execute(fabric_, command, nobody);
    });
  }
  for (std::size_t actor = 0; actor < 2 * flows_.size(); ++actor) plan(actor);
}

Simulation::~Simulation() = default;

void Simulation::add_host(const HostOptions& options) {
  emu::Port* port = fabric_.find(options.port);
  attachments_.push_back(std::make_unique<Attachment>(options, *this, *port));
}

void Simulation::advance(Nanoseconds time) {
  const Nanoseconds until = zero_ + time;
  for (;;) {
    const Nanoseconds frames = fabric_.next_event();
    const Nanoseconds timers = timers_.next_time();
    const Nanoseconds next = std::min(frames, timers);
    if (next > until) break;
    if (timers < frames && settle_next_timer()) continue;
    ++events_;
    fabric_.advance(next);  // if frames come later, it only moves the clock
    if (timers < frames) act(timers_.next_port());
  }
  fabric_.advance(until);
}

bool Simulation::is_drained() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const auto& flow) { return flow->is_drained(); });
}

Nanoseconds Simulation::next_of(std::size_t actor) const {
  if (actor >= 2 * flows_.size()) return attachments_[actor - 2 * flows_.size()]->device()->next_timer();
  const Flow& flow = *flows_[actor / 2];
  return actor % 2 == 0 ? flow.next_of_sender() : flow.next_of_receiver();
}

// A timer that is put off stays where it is until it comes up there: each acknowledgement puts off the
// retransmission, which hardly ever comes.
void Simulation::plan(std::size_t actor) {
  const Nanoseconds next = next_of(actor);
  if (next < timers_.time_of(actor)) timers_.set(actor, next);
}

// Whether the timer that comes up first has been put off: then it goes to where it belongs.
bool Simulation::settle_next_timer() {
  const std::size_t actor = timers_.next_port();
  const Nanoseconds next = next_of(actor);
  if (next <= timers_.next_time()) return false;
  timers_.set(actor, next);
  return true;
}

// A device has sent frames or been given some: their owners may go on.
void Simulation::settle(std::size_t host) {
  Device* device = attachments_[host]->device();
  if (device == nullptr) return;
  device->each_that_left([this](Endpoint* owner) {
    if (owner == nullptr) return;
    owner->on_left(fabric_.now());
    plan(owner->actor);
  });
  plan(2 * flows_.size() + host);
}

void Simulation::served(std::size_t actor, Nanoseconds now) {
  plan(actor);
  settle(host_of_[actor / 2]);
  if (actor % 2 != 0) flows_[actor / 2]->note_arrival(now);
}

void Simulation::act(std::size_t actor) {
  if (actor >= 2 * flows_.size()) {
    const std::size_t host = actor - 2 * flows_.size();
    attachments_[host]->device()->on_timer(fabric_.now());
    return settle(host);
  }
  Flow& flow = *flows_[actor / 2];
  actor % 2 == 0 ? flow.run_sender(fabric_.now()) : flow.run_receiver(fabric_.now());
  timers_.set(actor, next_of(actor));
  const std::size_t following = timers_.next_port();
  if (following < 2 * flows_.size()) flows_[following / 2]->prefetch();
  settle(host_of_[actor / 2]);
}

}  // namespace clarion::sim
