// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/bench.hpp"

#include "hls/block/bump.hpp"

namespace clarion::sim {

struct Bench::Lane {
  block::Axis in[2] = {block::Axis{"from_wire", 1}, block::Axis{"from_host", 1}};
  block::Axis out[2] = {block::Axis{"to_wire", 1}, block::Axis{"to_host", 1}};
  CommandStream commands[2] = {CommandStream{"ingress commands", 2}, CommandStream{"egress commands", 2}};
  ReplyStream replies[3] = {ReplyStream{"ingress replies", 8}, ReplyStream{"egress replies", 8},
                            ReplyStream{"grant replies", 8}};
  Source source[2];
  Sink sink[2];
  std::unique_ptr<block::Ingress> ingress;
  std::unique_ptr<block::Egress<EventLog>> egress;
};

struct Bench::Bump {
  block::BumpPort port(Lane& lane) {
    return {lane.in[0],       lane.out[0],     lane.commands[0], lane.replies[0],
            lane.commands[1], lane.replies[1], lane.replies[2]};
  }

  block::Bump<EventLog> block;
};

Bench::Bench(unsigned ports, bool bump) {
  for (unsigned port = 0; port < ports; ++port) {
    auto lane = std::make_unique<Lane>();
    if (!bump) {
      lane->ingress = std::make_unique<block::Ingress>();
      lane->egress = std::make_unique<block::Egress<EventLog>>();
    }
    lanes_.push_back(std::move(lane));
  }
  if (bump) bump_ = std::make_unique<Bump>();
  std::vector<UnitStreams> units;
  for (unsigned port = 0; port < ports; ++port) {
    units.push_back({false, port, &lanes_[port]->commands[0], &lanes_[port]->replies[0], nullptr});
  }
  for (unsigned port = 0; port < ports; ++port) {
    Lane& lane = *lanes_[port];
    units.push_back({true, port, &lane.commands[1], &lane.replies[1], &lane.replies[2]});
  }
  BlockFacts facts;
  facts.ports = ports;
  facts.buckets = block::BUCKETS;
  facts.queue_beats = block::QUEUE_BEATS;
  registers_ = std::make_unique<RegisterFile>(facts, units);
}

Bench::~Bench() = default;

Source& Bench::source(unsigned port, bool host) { return lanes_[port]->source[host]; }

Sink& Bench::sink(unsigned port, bool host) { return lanes_[port]->sink[host]; }

EventLog& Bench::log(unsigned port) {
  if (!bump_) return lanes_[port]->egress->watch();
  return port == 0 ? bump_->block.watch_a() : bump_->block.watch_b();
}

void Bench::step_units() {
  if (bump_) {
    bump_->block.step(bump_->port(*lanes_[0]), bump_->port(*lanes_[1]), wires.protocol, wires.now);
    return;
  }
  for (unsigned port = 0; port < ports(); ++port) {
    Lane& lane = *lanes_[port];
    if (units_on >> port & 1) {
      lane.ingress->step(lane.in[0], lane.out[1], wires.protocol, lane.commands[0], lane.replies[0],
                         wires.now);
    }
    if (units_on >> (ports() + port) & 1) {
      lane.egress->step(lane.in[1], lane.out[0], wires.protocol, wires.elsewhere[port], lane.commands[1],
                        lane.replies[1], lane.replies[2], wires.now);
    }
  }
}

std::size_t Bench::activity() const {
  std::size_t sum = replies.size();
  for (unsigned port = 0; port < ports(); ++port) {
    const Lane& lane = *lanes_[port];
    sum += const_cast<Bench*>(this)->log(port).events.size();
    for (const Sink& sink : lane.sink) sum += sink.beats;
  }
  return sum;
}

void Bench::clock() {
  const std::size_t before = activity();
  bool stalled = false;
  bool waiting = !scheduled_.empty() || unanswered_ > 0;
  give_commands();
  for (unsigned port = 0; port < ports(); ++port) {
    log(port).clock = clock_;
    for (unsigned host = 0; host < 2; ++host) {
      lanes_[port]->source[host].step(lanes_[port]->in[host], clock_);
      waiting |= !lanes_[port]->source[host].done();
    }
  }
  step_units();
  for (const auto& lane : lanes_) {
    for (unsigned host = 0; host < 2; ++host) stalled |= lane->sink[host].step(lane->out[host], clock_);
  }
  answer();
  wires.now += wires.now_step;
  ++clock_;
  if (waiting || activity() != before)
    quiet_ = 0;
  else if (!stalled)
    ++quiet_;
}

void Bench::schedule(unsigned unit, std::uint32_t clock, const block::Command& command) {
  scheduled_.push_back({unit, clock, command});
}

void Bench::give_commands() {
  while (!scheduled_.empty() && scheduled_.front().clock <= clock_) {
    const Scheduled& next = scheduled_.front();
    CommandStream& to = lanes_[next.unit % ports()]->commands[next.unit / ports()];
    if (to.full()) return;
    to.write(next.command);
    ++unanswered_;
    scheduled_.pop_front();
  }
}

void Bench::answer() {
  if (unanswered_ == 0) {
    registers_->set_now(wires.now);
    registers_->step();
    return;
  }
  for (unsigned port = 0; port < ports(); ++port) {
    for (unsigned i = 0; i < 3; ++i) take_replies(port, i);
  }
}

void Bench::take_replies(unsigned port, unsigned stream) {
  ReplyStream& from = lanes_[port]->replies[stream];
  while (!from.empty()) {
    const block::Reply reply = from.read();
    const bool egress = stream != 0;
    replies.push_back(
        {egress ? ports() + port : port, clock_, static_cast<std::uint32_t>(log(port).events.size()), reply});
    if (reply.last) --unanswered_;
  }
}

// Nothing is left in the queue; or nobody takes it.
bool Bench::all_out(unsigned port) {
  const Sink& sink = lanes_[port]->sink[0];
  return !sink.is_open() || log(port).joined == sink.ended;
}

bool Bench::settle(std::uint32_t clocks) {
  quiet_ = 0;
  for (std::uint32_t i = 0; i < clocks; ++i) {
    clock();
    if (quiet_ < kQuietClocks) continue;
    bool out = true;
    for (unsigned port = 0; port < ports(); ++port) out &= all_out(port);
    if (out) return true;
  }
  return false;
}

bool Bench::take_beat(unsigned port) { return lanes_[port]->sink[0].take(lanes_[port]->out[0], clock_); }

}  // namespace clarion::sim
