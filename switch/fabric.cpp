// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/xcp_settings.hpp"
#include "error.hpp"
#include "frame_edit.hpp"
#include "options_reader.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds LATE_NS = 1'000'000;  // from here on the lateness of a hand-over is counted

std::size_t count_ports(const Options& options) {
  std::size_t count = 0;
  for (const SwitchOptions& sw : options.switches) count += sw.ports.size();
  return count;
}

XcpConfig xcp_of(const PortOptions& options) {
  XcpSettings settings = options.xcp.settings;
  if (!options.xcp.has_capacity) settings.capacity_bps = options.rate_bps;
  XcpConfig config = xcp_config(settings);
  config.enabled = options.xcp.enabled;
  return config;
}

std::uint64_t queue_limit_bytes(const Port& port, const PortEntries& entries) {
  return entries.queue_limit_bytes.value_or(port.options.queue_bytes);
}

// For the second packet of a pair: none is lost for a measurement.
bool has_room(const Port& port) {
  return port.path->queue_bytes() + Netdev::MAX_FRAME_BYTES <= queue_limit_bytes(port, port.entries);
}

bool same(const TagConfig& a, const TagConfig& b) {
  return a.stamp == b.stamp && a.check == b.check && a.edge == b.edge && a.wire == b.wire;
}

// The present entries with what differs between two options. Switching on takes a fresh epoch.
PortEntries changed(const Port& port, const PortOptions& before, const PortOptions& after) {
  PortEntries entries = port.entries;
  const XcpConfig was = xcp_of(before);
  const XcpConfig xcp = xcp_of(after);
  // A capacity that follows the rate does so until a controller says otherwise.
  const bool xcp_changes = before.xcp != after.xcp;
  const bool follows = was.enabled && entries.xcp && entries.xcp->config == was;
  if (xcp_changes || (follows && was != xcp)) {
    const std::uint8_t epoch = entries.xcp ? entries.xcp->epoch : port.path->fresh_xcp_epoch();
    entries.xcp = xcp.enabled ? std::optional(XcpEntry{xcp, epoch}) : std::nullopt;
  }
  if (!same(before.tag, after.tag)) {
    const bool watched = entries.tag && entries.tag->check;
    const std::uint8_t epoch = watched ? entries.tag->epoch : port.path->fresh_check_epoch();
    const bool any = after.tag.check || after.tag.edge || after.tag.wire;
    const TagEntry tag{after.tag.check, after.tag.edge, after.tag.wire, epoch};
    entries.tag = any ? std::optional(tag) : std::nullopt;
    entries.stamp = after.tag.stamp;
  }
  return entries;
}

}  // namespace

class Fabric::Observer final : public QueueObserver {
 public:
  Observer(Fabric& fabric, Port& port) : fabric_(fabric), port_(port) {}

  void dropped(const std::uint8_t* frame, std::uint32_t length) override {
    fabric_.drop(port_, frame, length);
  }

  void marked(const std::uint8_t* frame, std::uint32_t length) override {
    ++port_.counters.marked_packets;
    fabric_.log(port_, TruthLog::Direction::out, TruthLog::Cause::mark, frame, length);
  }

 private:
  Fabric& fabric_;
  Port& port_;
};

Fabric::~Fabric() = default;

Fabric::Fabric(const Options& options, const PathFactory& make_path, const Surroundings& surroundings)
    : pool_(ChunkPool::DEFAULT_LIMIT_BYTES, surroundings.snap_bytes),
      truth_(options.truth_log, options.protocol),
      captures_(options.capture, surroundings.netdevs ? -real_to_monotonic_ns() : 0),
      schedule_(count_ports(options)),
      now_(surroundings.start),
      born_(now_),
      seed_(options.seed),
      protocol_(options.protocol),
      lldp_(*this, options.lldp, now_) {
  for (const SwitchOptions& switch_options : options.switches) {
    Switch& sw = *switches_.emplace_back(std::make_unique<Switch>());
    sw.name = switch_options.name;
    sw.quoted_name = nlohmann::json(sw.name).dump();
    sw.chassis_id = switch_options.chassis_id;
    for (const PortOptions& port_options : switch_options.ports) {
      Port& port = *ports_.emplace_back(std::make_unique<Port>(port_options, ports_.size(), sw.name, pool_,
                                                               options.seed, options.protocol, make_path));
      port.parent = &sw;
      sw.ports.push_back(&port);
      set_discipline(port);
      port.router = make_router_law(port_options.router, now_, port_options.rate_bps,
                                    RandomStream(seed_, sw.name + ":" + port_options.name + ":router"),
                                    static_cast<std::uint16_t>(port.id + 1), protocol_);
      port.options.xcp = XcpOptions{};  // all off: the configuration is the first change
      port.options.tag = TagConfig{};
      apply(port, port_options);
    }
    for (const auto& [address, name] : switch_options.forwarding) {
      sw.programmed.addresses[ProgrammedForwarding::key_of(address.data())] = find(sw.name + ":" + name);
    }
  }
  for (const auto& port : ports_) {
    if (!port->options.peer.empty()) {
      port->peer = find(port->options.peer);
    } else if (surroundings.netdevs) {
      open_netdev(*port);
    }
  }
  captures_.open(ports_);
}

void Fabric::set_discipline(Port& port) {
  const DisciplineOptions& discipline = port.options.discipline;
  if (discipline.name == DisciplineOptions::Name::drop_tail) return;
  Observer& observer = *observers_.emplace_back(std::make_unique<Observer>(*this, port));
  const RandomStream random(seed_, port.switch_name + ":" + port.options.name + ":queue");
  if (!port.path->set_discipline(discipline, port.options.rate_bps, random, observer)) {
    throw Fault{port.options.path / "discipline", FaultCode::unsupported, NOT_DISCIPLINED};
  }
}

void Fabric::open_netdev(Port& port) {
  try {
    port.netdev = std::make_unique<Netdev>(port.options.netdev);
  } catch (const std::runtime_error& error) {
    throw Fault{port.options.path / "netdev", FaultCode::invalid, error.what()};
  }
}

void Fabric::apply(Port& port, const PortOptions& options) {
  const PortEntries entries = changed(port, port.options, options);
  if (measures(entries) && !port.path->takes_measured()) {
    throw Fault{options.path / "xcp" / "capacity_bps", FaultCode::unsupported, NOT_MEASURED};
  }
  if (measures(entries) && options.rate_bps == 0) {  // as a controller may have set it
    throw Fault{options.path / "rate_bps", FaultCode::conflict, UNMEASURABLE};
  }
  port.options = options;
  port.shaper.set_rate(options.rate_bps);
  if (port.router) port.router->set_rate(now_, options.rate_bps);
  port.out_wire.configure(options.delay_us, options.loss);
  port.in_wire.configure(options.ingress_delay_us, options.ingress_loss);
  port.hello_out.configure(options.loss);
  port.hello_in.configure(options.ingress_loss);
  if (!lldp_.speaks(port)) port.neighbours.clear();
  port.hazards.configure(options.hazards);
  enter(port, entries);
}

void Fabric::enter(Port& port, const PortEntries& entries) {
  PortEntries effective = entries;
  if (entries.tag) effective.tag->wire = is_bare_wire(entries.tag->wire, port.neighbours.judgement());
  port.path->enter(effective, queue_limit_bytes(port, entries));
  port.entries = entries;
  if (!measures(entries) && port.held_until != 0) {
    port.held_until = 0;
    reschedule(port);
  }
  if (!entries.xcp) port.meter = CapacityMeter{};  // which does not see departures without XCP
}

void Fabric::reconfigure(Port& port, const PortOptions& options) {
  apply(port, options);
  serve(port);
  reschedule(port);
}

Port* Fabric::find(const std::string& switch_and_port) {
  for (const auto& port : ports_) {
    if (port->switch_name + ":" + port->options.name == switch_and_port) return port.get();
  }
  return nullptr;
}

Switch* Fabric::find_switch(const std::string& name) {
  for (const auto& sw : switches_) {
    if (sw->name == name) return sw.get();
  }
  return nullptr;
}

void Fabric::advance(Nanoseconds time) {
  for (;;) {
    const Nanoseconds planned = work_.empty() ? NEVER : work_.begin()->first;
    const Nanoseconds next = std::min({planned, schedule_.next_time(), lldp_.next_time()});
    if (next > time) break;
    now_ = std::max(now_, next);
    if (planned == next) {
      run_work();
    } else if (lldp_.next_time() == next) {
      lldp_.run(now_);
    } else {
      run(*ports_[schedule_.next_port()]);
    }
  }
  now_ = std::max(now_, time);
}

Nanoseconds Fabric::next_event() const {
  const Nanoseconds planned = work_.empty() ? NEVER : work_.begin()->first;
  return std::min({planned, schedule_.next_time(), lldp_.next_time()});
}

void Fabric::at(Nanoseconds time, std::function<void()> work) { work_.emplace(time, std::move(work)); }

void Fabric::run_work() {
  const auto first = work_.extract(work_.begin());
  try {
    first.mapped()();
  } catch (const Fault& fault) {  // legal when it was planned, but not with what was set since
    warn("planned change: " + sentence(fault));
  }
}

void Fabric::restart(Switch& sw, Nanoseconds down_ns) {
  for (Port* port : sw.ports) lose_queue(*port);
  for (Port* port : sw.ports) {
    port->path->restart();
    port->neighbours.clear();
    port->meter = CapacityMeter{};
    port->pairs = PairFormer{};
    if (port->router) port->router->restart(now_);
    enter(*port, port->entries);
    reschedule(*port);
  }
  sw.table = ForwardingTable{};
  sw.down_until = now_ + down_ns;
}

void Fabric::lose_queue(Port& port) {
  while (port.path->queued() > 0) {
    Packet* next = port.path->depart(ticks_of_ns(now_));
    if (next == nullptr) continue;
    Packet& packet = *next;
    packet.arrival = now_;
    packet.lost = true;
    ++port.counters.hazard_lost_packets;
    lose(port, TruthLog::Direction::out, TruthLog::Cause::outage, packet.frame(), packet.length);
  }
  note_queue(port);
  port.held_until = 0;
}

void Fabric::run(Port& port) {
  serve(port);
  if (port.delivers_inside()) deliver_inside(port);
  deliver_incoming(port);
  reschedule(port);
}

void Fabric::reschedule(Port& port) {
  Nanoseconds next = NEVER;
  if (port.path->queued() > 0) next = port.departs_at();
  if (port.delivers_inside()) {
    if (port.out.flying() > 0) next = std::min(next, port.out.wire_head()->arrival);
    next = std::min(next, port.hazards.next_time());
  }
  if (port.in.flying() > 0) next = std::min(next, port.in.wire_head()->arrival);
  schedule_.set(port.id, next);
}

void Fabric::receive(Port& port, Nanoseconds time, const std::uint8_t* frame, std::uint32_t length) {
  advance(time);
  accept(port, frame, length);
}

void Fabric::accept(Port& port, const std::uint8_t* frame, std::uint32_t length) {
  if (is_for_nearest_bridge(frame, length)) return lldp_.receive(port, now_, frame, length);
  if (port.in_wire.loses(length)) {
    ++port.counters.ingress_lost_packets;
    return lose(port, TruthLog::Direction::in, TruthLog::Cause::wire, frame, length);
  }
  const Nanoseconds arrival = port.in_wire.arrival_of(now_);
  Packet* packet = arrival > now_ ? port.in.push(frame, length, Meta{}) : nullptr;
  if (arrival > now_ && packet == nullptr) {
    ++port.counters.memory_drops;
    return lose(port, TruthLog::Direction::in, TruthLog::Cause::queue, frame, length);
  }
  captures_.packet(port, TruthLog::Direction::in, now_, frame, stored(length), length);
  if (packet == nullptr) return arrive(port, frame, length);
  packet->arrival = arrival;
  port.in.depart();
  reschedule(port);
}

void Fabric::deliver_incoming(Port& port) {
  while (port.in.flying() > 0 && port.in.wire_head()->arrival <= now_) {
    Packet* packet = port.in.wire_head();
    arrive(port, packet->frame(), packet->length);
    port.in.pop();
  }
}

void Fabric::deliver_inside(Port& port) {
  while (port.out.flying() > 0 && port.out.wire_head()->arrival <= now_) {
    Packet* packet = port.out.wire_head();
    if (!packet->lost) hand_on(port, packet->frame(), packet->stored, packet->length);
    port.out.pop();
  }
  while (port.hazards.next_time() <= now_) {
    const FrameBytes frame = port.hazards.take_next();
    const auto length = static_cast<std::uint32_t>(frame.size());
    hand_on(port, frame.data(), length, length);
  }
}

void Fabric::hand_on(Port& port, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length) {
  if (port.peer != nullptr) return arrive(*port.peer, frame, length);
  port.sink->take(now_, frame, stored, length);
}

// The frame is at the switch: from here on it is looked up and copied to where it goes.
void Fabric::arrive(Port& port, const std::uint8_t* frame, std::uint32_t length) {
  if (length < ETHERNET_BYTES) {
    ++port.counters.rx_runts;
    return;
  }
  if (now_ < port.parent->down_until) {
    ++port.counters.ingress_lost_packets;
    return lose(port, TruthLog::Direction::in, TruthLog::Cause::outage, frame, length);
  }
  if (is_for_nearest_bridge(frame, length)) return lldp_.hear(port, now_, frame, length);
  ++port.counters.rx_packets;
  port.counters.rx_bytes += length;
  const Incoming incoming = port.path->ingress(ticks_of_ns(now_), frame, length);
  forward(*port.parent, &port, incoming.frame, incoming.length, incoming.meta);
}

void Fabric::inject(Switch& sw, Port* to, const std::uint8_t* frame, std::uint32_t length) {
  advance(std::max(now_, now_ns()));
  Meta meta;
  parse(frame, length, protocol_, meta);
  if (to != nullptr) return enqueue(*to, frame, length, meta);
  if (is_for_nearest_bridge(frame, length)) return;  // which nothing forwards
  forward(sw, nullptr, frame, length, meta);
}

// By address; unknown and group addresses to all ports. Never back to where the frame came `from`: a port, or
// the controller.
void Fabric::forward(Switch& sw, Port* from, const std::uint8_t* frame, std::uint32_t length,
                     const Meta& meta) {
  if (sw.programmed.active()) return forward_programmed(sw, from, frame, length, meta);
  if (from != nullptr) sw.table.learn(frame + 6, static_cast<std::uint16_t>(from->id), now_);
  const auto known = ForwardingTable::is_group(frame) ? std::nullopt : sw.table.find(frame, now_);
  if (known) {
    Port& egress = *ports_[*known];
    if (&egress != from) enqueue(egress, frame, length, meta);
    return;
  }
  for (Port* egress : sw.ports) {
    if (egress != from) enqueue(*egress, frame, length, meta);
  }
}

void Fabric::forward_programmed(Switch& sw, Port* from, const std::uint8_t* frame, std::uint32_t length,
                                const Meta& meta) {
  const auto known = sw.programmed.addresses.find(ProgrammedForwarding::key_of(frame));
  if (known != sw.programmed.addresses.end()) {
    if (known->second != from) deliver(sw, from, known->second, frame, length, meta);
  } else if (sw.programmed.flood) {
    for (Port* egress : *sw.programmed.flood) {
      if (egress != from) deliver(sw, from, egress, frame, length, meta);
    }
  }
}

void Fabric::deliver(Switch& sw, Port* from, Port* to, const std::uint8_t* frame, std::uint32_t length,
                     const Meta& meta) {
  if (to != nullptr) return enqueue(*to, frame, length, meta);
  tell_controller(sw, from, frame, length);
}

void Fabric::tell_controller(const Switch& sw, const Port* from, const std::uint8_t* frame,
                             std::uint32_t length) {
  if (sw.listeners.packets == 0) return;
  const std::uint64_t number = from == nullptr ? CPU_PORT : from->options.number;
  events_.packet(sw, number, switch_time_us(now_), frame, length);
}

void Fabric::enqueue(Port& port, const std::uint8_t* frame, std::uint32_t length, const Meta& meta) {
  const bool listened = port.parent->listeners.intervals > 0;
  const std::uint64_t intervals = listened ? port.path->intervals() : 0;
  const std::uint64_t threshold = port.options.ecn_threshold_bytes;
  const bool marks = threshold > 0 && port.path->queue_bytes() > threshold && is_ecn_capable(frame, length);
  if (marks) {
    marked_.assign(frame, frame + std::min(length, pool_.snap_bytes()));
    mark_congestion(marked_.data(), length);
    frame = marked_.data();
  }
  if (port.path->interval_due(ticks_of_ns(now_))) close_measurement(port);
  if (port.router) port.router->arrive(now_, frame, length);
  const Admission admission = port.path->enqueue(ticks_of_ns(now_), frame, length, meta);
  if (listened && port.path->intervals() > intervals) events_.interval(port);
  if (admission != Admission::taken) {
    if (admission == Admission::no_memory) ++port.counters.memory_drops;
    return drop(port, frame, length);
  }
  if (marks) {
    ++port.counters.marked_packets;
    log(port, TruthLog::Direction::out, TruthLog::Cause::mark, frame, length);
  }
  note_queue(port);
  if (measures(port.entries)) hold(port);
  serve(port);
  reschedule(port);
}

void Fabric::note_queue(Port& port) {
  const std::uint64_t bytes = port.path->queue_bytes();
  port.queue_statistics.change(now_, bytes);
  if (port.router) port.router->queue_is(now_, bytes);
}

// Before the control step at the interval's end, which takes what is measured as the capacity.
void Fabric::close_measurement(Port& port) {
  port.meter.close();
  port.pairs.interval_began(now_);
  if (measures(port.entries)) port.path->set_measured(ticks_of_ns(now_), port.meter.known_bytes_per_s());
}

// A packet has joined the queue. Alone at a free link it may have to wait for the next, a second sends both
// off.
void Fabric::hold(Port& port) {
  if (port.path->queued() > 1) {
    port.held_until = 0;
  } else if (port.shaper.free_at() < now_ && !port.meter.has_enough() && has_room(port)) {
    const Nanoseconds interval_ns = ns_of_ticks(port.path->interval_ticks());
    port.held_until = now_ + port.pairs.hold_ns(now_, interval_ns, port.meter.known_bytes_per_s());
  }
}

void Fabric::drop(Port& port, const std::uint8_t* frame, std::uint32_t length) {
  ++port.counters.drop_packets;
  port.counters.drop_bytes += length;
  ++port.drop_number;
  lose(port, TruthLog::Direction::out, TruthLog::Cause::queue, frame, length);
  if (port.parent->listeners.drops > 0) {
    events_.drop(port, switch_time_us(now_), frame, length, protocol_);
  }
}

void Fabric::serve(Port& port) {
  while (port.path->queued() > 0 && port.departs_at() <= now_) depart(port);
}

// The packet leaves the queue as its first bit goes onto the wire; it arrives one transmission time and one
// propagation delay later. Whether it arrives whole is settled, and logged, now.
void Fabric::depart(Port& port) {
  Packet* next = port.path->depart(ticks_of_ns(now_));
  note_queue(port);
  if (next == nullptr) return;
  Packet& packet = *next;
  if (port.router) port.router->depart(now_, packet.frame(), packet.length);
  if (port.entries.xcp) port.meter.departure(now_, packet.length, port.shaper.free_at() == now_);
  const Nanoseconds sent = port.shaper.transmit(now_, packet.length);
  ++port.counters.tx_packets;
  port.counters.tx_bytes += packet.length;
  if (port.hazards.on()) return enter_hazards(port, packet, sent);
  packet.arrival = port.out_wire.arrival_of(sent);
  packet.lost = port.out_wire.loses(packet.length);
  if (!packet.lost) {
    captures_.packet(port, TruthLog::Direction::out, now_, packet.frame(), packet.stored, packet.length);
    return;
  }
  ++port.counters.wire_lost_packets;
  lose(port, TruthLog::Direction::out, TruthLog::Cause::wire, packet.frame(), packet.length);
}

// From here on a copy of the packet is under way; what happens to it is settled now as well.
void Fabric::enter_hazards(Port& port, Packet& packet, Nanoseconds sent) {
  packet.arrival = sent;
  packet.lost = true;
  Captures::Causes causes;
  port.hazards.enter(sent, FrameBytes(packet.frame(), packet.frame() + packet.length), port.out_wire,
                     [this, &port, &causes](TruthLog::Cause cause, const FrameBytes& frame) {
                       causes.push_back(cause);
                       note_hazard(port, cause, frame);
                     });
  captures_.packet(port, TruthLog::Direction::out, now_, packet.frame(), packet.stored, packet.length,
                   causes);
}

void Fabric::note_hazard(Port& port, TruthLog::Cause cause, const FrameBytes& frame) {
  const auto length = static_cast<std::uint32_t>(frame.size());
  log(port, TruthLog::Direction::out, cause, frame.data(), length);
  if (cause == TruthLog::Cause::wire) {
    ++port.counters.wire_lost_packets;
  } else if (TruthLog::is_loss(cause)) {
    ++port.counters.hazard_lost_packets;
  }
  const HazardOptions& hazards = port.options.hazards;
  const bool too_long = hazards.mtu_bytes != 0 && ip_bytes(frame.data(), length) > hazards.mtu_bytes;
  if (cause != TruthLog::Cause::blocked || !hazards.icmp || !too_long) return;
  const auto mtu_bytes = static_cast<std::uint32_t>(hazards.mtu_bytes);
  const FrameBytes answer = too_big(frame.data(), length, mtu_bytes);
  if (answer.empty()) return;
  forward(*port.parent, nullptr, answer.data(), static_cast<std::uint32_t>(answer.size()), Meta{});
}

void Fabric::transmit() {
  for (const auto& port : ports_) {
    if (!port->delivers_inside()) transmit(*port);
  }
}

void Fabric::transmit(Port& port) {
  while (port.out.flying() > 0 && port.out.wire_head()->arrival <= now_) {
    const std::size_t flying = port.out.flying();
    std::size_t taken = 0;
    for (auto cursor = port.out.wire_begin(); taken < flying; port.out.advance(cursor), ++taken) {
      Packet* packet = cursor.packet();
      if (packet->arrival > now_ || (port.netdev && port.netdev->burst_full())) break;
      hand_over(port, *packet);
    }
    if (port.netdev) port.netdev->flush();
    while (taken-- > 0) port.out.pop();
  }
  while (port.hazards.next_time() <= now_) {
    const FrameBytes frame = port.hazards.take_next();
    if (!port.netdev) continue;
    if (port.netdev->burst_full()) port.netdev->flush();
    port.netdev->send(frame.data(), static_cast<std::uint32_t>(frame.size()));
    port.netdev->flush();
  }
}

void Fabric::hand_over(Port& port, Packet& packet) {
  if (!port.netdev || packet.lost) return;
  const Nanoseconds late = now_ - packet.arrival;
  port.counters.tx_late_max_ns = std::max(port.counters.tx_late_max_ns, late);
  if (late > LATE_NS) ++port.counters.tx_late_packets;
  port.netdev->send(packet.frame(), packet.length);
}

// A departure needs no wake-up of its own while something is on the wire ahead of it: it is made up for, at
// its own time, when that comes out.
Nanoseconds Fabric::next_time() {
  Nanoseconds next = lldp_.next_time();
  for (const auto& port : ports_) {
    if (port->out.flying() > 0) {
      next = std::min(next, port->out.wire_head()->arrival);
    } else if (port->path->queued() > 0) {
      next = std::min(next, port->departs_at());
    }
    if (port->in.flying() > 0) next = std::min(next, port->in.wire_head()->arrival);
    next = std::min(next, port->hazards.next_time());
  }
  return work_.empty() ? next : std::min(next, work_.begin()->first);
}

// A packet that a link or a queue has lost, but for what hazards do, which may be several things to one.
void Fabric::lose(const Port& port, TruthLog::Direction direction, TruthLog::Cause cause,
                  const std::uint8_t* frame, std::uint32_t length) {
  log(port, direction, cause, frame, length);
  captures_.packet(port, direction, now_, frame, stored(length), length, {cause});
}

void Fabric::log(const Port& port, TruthLog::Direction direction, TruthLog::Cause cause,
                 const std::uint8_t* frame, std::uint32_t length) {
  truth_.record(now_, port.switch_name, port.options.name, direction, cause, frame, length);
}

}  // namespace clarion::emu
