// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "laws/laws.hpp"
#include "switch/commands.hpp"
#include "switch/core_path.hpp"

namespace clarion::sim {
namespace {

constexpr std::uint32_t SNAP_BYTES = 192;  // more than the headers of any frame
constexpr std::uint32_t LARGEST_FRAME_BYTES = 16 * 1024;

bool has_hazards(const emu::Options& options) {
  for (const emu::SwitchOptions& sw : options.switches) {
    for (const emu::PortOptions& port : sw.ports) {
      if (port.hazards.on()) return true;
    }
  }
  return false;
}

emu::Surroundings surroundings_of(const SimulationOptions& options) {
  const bool whole = has_hazards(options.network) || !options.changes.empty();
  return {false, BEGINNING, whole ? UINT32_MAX : SNAP_BYTES};
}

}  // namespace

// A host and its port of the switch: each is where the other's frames go.
class Simulation::Attachment final : public emu::FrameSink, public Uplink {
 public:
  Attachment(const HostOptions& options, Simulation& simulation, emu::Port& port)
      : simulation_(simulation), fabric_(simulation.fabric_), port_(port), host_(options.name, options.address, options.shim, *this) {
    port.sink = this;
  }

  Host& host() { return host_; }

  void take(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length) override {
    const Endpoint* served = host_.receive(now, frame, stored, length);
    if (served != nullptr) simulation_.served(served->actor, now);
  }

  void send(const Frame& frame) override {
    // Where whole frames are kept, payload is zeros.
    std::memcpy(buffer_.data(), frame.bytes.data(), frame.stored);
    if (written_ > frame.stored) std::memset(buffer_.data() + frame.stored, 0, written_ - frame.stored);
    written_ = frame.stored;
    fabric_.accept(port_, buffer_.data(), frame.length);
  }

 private:
  Simulation& simulation_;
  emu::Fabric& fabric_;
  emu::Port& port_;
  Host host_;
  std::array<std::uint8_t, LARGEST_FRAME_BYTES> buffer_{};
  std::uint32_t written_ = 0;
};

Simulation::Simulation(const SimulationOptions& options)
    : zero_(BEGINNING + options.lead_us * 1000),
      fabric_(options.network, emu::core_path, surroundings_of(options)),
      timers_(2 * options.flows.size()) {
  for (const HostOptions& host : options.hosts) add_host(host);
  for (const FlowOptions& each : options.flows) add_flow(each, options);
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

void Simulation::add_flow(const FlowOptions& options, const SimulationOptions& all) {
  auto made = std::make_unique<Flow>();
  Host& from = attachments_[options.sender]->host();
  Host& to = attachments_[options.receiver]->host();
  made->params = default_params();
  for (const auto& [name, value] : options.params) set_param(made->params, name, value);
  const auto seed = static_cast<std::uint32_t>(all.network.seed * 65537 + flows_.size());
  SenderSettings settings;
  settings.mss_bytes = all.mss_bytes;
  settings.ecn = all.ecn;
  if (options.law.rfind("clarion_", 0) == 0) settings.max_burst = 1;  // a header goes on each packet
  Address remote = to.address();
  remote.port = options.destination_port;
  made->sender = std::make_unique<SendingEnd>(from, remote, options.source_port, settings,
                                              make_law(options.law, made->clarion, made->params, seed),
                                              made->clarion, reductions_);
  remote = from.address();
  remote.port = options.source_port;
  made->receiver =
      std::make_unique<ReceivingEnd>(to, remote, options.destination_port, all.mss_bytes,
                                     ReceiverSettings{all.buffer_bytes / all.mss_bytes, true}, all.ecn);
  made->sender->actor = 2 * flows_.size();
  made->receiver->actor = made->sender->actor + 1;
  made->start = zero_ + options.start_us * 1000;
  made->connect = made->start - all.lead_us * 1000;
  made->stop = options.stop_us == ~std::uint64_t{0} ? NEVER : zero_ + options.stop_us * 1000;
  made->size_bytes = options.size_bytes;
  flows_.push_back(std::move(made));
}

void Simulation::advance(Nanoseconds time) {
  const Nanoseconds until = zero_ + time;
  for (;;) {
    const Nanoseconds frames = fabric_.next_event();
    const Nanoseconds timers = timers_.next_time();
    const Nanoseconds next = std::min(frames, timers);
    if (next > until) break;
    ++events_;
    if (frames <= timers) {
      fabric_.advance(next);
      continue;
    }
    fabric_.advance(next);  // moves the clock: nothing else is due
    act(timers_.next_port());
  }
  fabric_.advance(until);
}

bool Simulation::is_drained() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const auto& each) {
    return !each->is_started || each->sender->sender().is_done();
  });
}

Nanoseconds Simulation::next_of(std::size_t actor) const {
  const Flow& each = *flows_[actor / 2];
  if (actor % 2 != 0) return each.receiver->next_timer();
  if (!each.is_connecting) return each.connect;
  if (!each.is_started) return std::min(each.sender->next_timer(), each.start);
  return std::min(each.sender->next_timer(), each.stop);
}

void Simulation::plan(std::size_t actor) { timers_.set(actor, next_of(actor)); }

void Simulation::served(std::size_t actor, Nanoseconds now) {
  plan(actor);
  Flow& each = *flows_[actor / 2];
  const bool is_whole = actor % 2 != 0 && each.receiver->received_bytes() >= each.size_bytes;
  if (is_whole && each.finished == NEVER) each.finished = now;
}

void Simulation::act(std::size_t actor) {
  Flow& each = *flows_[actor / 2];
  const Nanoseconds now = fabric_.now();
  if (actor % 2 != 0) {
    each.receiver->on_timer(now);
  } else if (!each.is_connecting) {
    each.is_connecting = true;
    each.sender->connect(now);
  } else if (!each.is_started && each.start <= now) {
    each.is_started = true;
    each.sender->write_up_to(now, each.size_bytes);
  } else if (each.stop <= now) {
    each.stop = NEVER;
    each.sender->stop(now);
  } else {
    each.sender->on_timer(now);
  }
  plan(actor);
}

}  // namespace clarion::sim
