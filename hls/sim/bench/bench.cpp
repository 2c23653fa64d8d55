// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/bench.hpp"

namespace clarion::sim {

Bench::Bench(unsigned ports, bool bump) {
  for (unsigned port = 0; port < ports; ++port) lanes_.push_back(std::make_unique<Lane>());
  units_ = make_units(lanes_, bump);
}

std::size_t Bench::activity() const {
  std::size_t sum = replies.size();
  for (unsigned port = 0; port < ports(); ++port) {
    if (const EventLog* log = units_->log(port)) sum += log->events.size();
    for (const Sink& sink : lanes_[port]->sink) sum += sink.beats;
  }
  return sum;
}

void Bench::clock() {
  const std::size_t before = activity();
  bool stalled = false;
  bool waiting = !scheduled_.empty() || unanswered_ > 0;
  give_commands();
  for (unsigned port = 0; port < ports(); ++port) {
    if (EventLog* log = units_->log(port)) log->clock = clock_;
    for (unsigned host = 0; host < 2; ++host) {
      lanes_[port]->source[host].step(lanes_[port]->in[host], clock_);
      waiting |= !lanes_[port]->source[host].done();
    }
  }
  units_->step(wires, units_on, unanswered_ > 0);
  for (const auto& lane : lanes_) {
    for (unsigned host = 0; host < 2; ++host) stalled |= lane->sink[host].step(lane->out[host], clock_);
  }
  if (unanswered_ > 0) {
    for (unsigned port = 0; port < ports(); ++port) {
      for (unsigned i = 0; i < 3; ++i) take_replies(port, i);
    }
  }
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

void Bench::take_replies(unsigned port, unsigned stream) {
  ReplyStream& from = lanes_[port]->replies[stream];
  while (!from.empty()) {
    const block::Reply reply = from.read();
    const bool egress = stream != 0;
    const auto logged = static_cast<std::uint32_t>(units_->log(port)->events.size());
    replies.push_back({egress ? ports() + port : port, clock_, logged, reply});
    if (reply.last) --unanswered_;
  }
}

// Whether the queue is empty or its sink is closed; true as well without a log.
bool Bench::all_out(unsigned port) const {
  const Sink& sink = lanes_[port]->sink[0];
  const EventLog* log = units_->log(port);
  return log == nullptr || !sink.is_open() || log->joined == sink.ended;
}

bool Bench::settle(std::uint32_t clocks) {
  quiet_ = 0;
  for (std::uint32_t i = 0; i < clocks; ++i) {
    clock();
    if (quiet_ < units_->quiet_clocks()) continue;
    bool out = true;
    for (unsigned port = 0; port < ports(); ++port) out &= all_out(port);
    if (out) return true;
  }
  return false;
}

bool Bench::take_beat(unsigned port) { return lanes_[port]->sink[0].take(lanes_[port]->out[0], clock_); }

}  // namespace clarion::sim
