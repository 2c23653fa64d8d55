// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/bench.hpp"

namespace clarion::sim {
namespace {

// Clocks without activity at the interfaces after which the units count as at rest: an interval may be
// ending, or an invalid frame be on its way into nothing.
constexpr std::uint32_t QUIET_CLOCKS = 600;

}  // namespace

Bench::Bench(unsigned ports, bool bump) : scheduled_(2 * ports) {
  for (unsigned port = 0; port < ports; ++port) lanes_.push_back(std::make_unique<Lane>());
  units_ = make_units(lanes_, bump);
}

std::uint64_t Bench::activity() const {
  std::uint64_t sum = replies.size();
  for (const auto& lane : lanes_) {
    sum += lane->log.events.size() + lane->sink[0].beats + lane->sink[1].beats;
  }
  return sum;
}

// Whether something is yet to come, or has happened in this clock.
bool Bench::moves() {
  const std::uint64_t before = activity_;
  activity_ = activity();
  if (unanswered_ > 0 || activity_ != before) return true;
  for (const auto& lane : lanes_) {
    if (!lane->source[0].done() || !lane->source[1].done()) return true;
  }
  return false;
}

bool Bench::stalled() const {
  for (const auto& lane : lanes_) {
    if (lane->sink[0].holds_back() || lane->sink[1].holds_back()) return true;
  }
  return false;
}

void Bench::clock() {
  for (const auto& lane : lanes_) {
    for (Sink& sink : lane->sink) sink.rest();
  }
  const bool registers_rest = unanswered_ > 0;
  if (registers_rest) give_commands();
  units_->step(wires, units_on, registers_rest, clock_);
  if (registers_rest) take_replies();
  wires.now += wires.now_step;
  ++clock_;
}

void Bench::schedule(unsigned unit, std::uint32_t clock, const Words& command) {
  scheduled_[unit].push_back({clock, command});
  ++unanswered_;
}

void Bench::give_commands() {
  for (unsigned unit = 0; unit < scheduled_.size(); ++unit) {
    const auto& queue = scheduled_[unit];
    const bool given = !queue.empty() && queue.front().clock <= clock_;
    mail(unit).command = given ? std::optional(queue.front().command) : std::nullopt;
  }
}

void Bench::take_replies() {
  for (unsigned unit = 0; unit < scheduled_.size(); ++unit) {
    MailboxWires& mail = this->mail(unit);
    if (mail.reply) replies.push_back({unit, clock_, *mail.reply});
    mail.reply.reset();
    if (!mail.taken) continue;
    mail.taken = false;
    mail.command.reset();
    scheduled_[unit].pop_front();
    --unanswered_;
  }
}

// Whether each queue is empty, or its sink closed.
bool Bench::all_out() const {
  for (const auto& lane : lanes_) {
    const Sink& sink = lane->sink[0];
    if (sink.is_open() && lane->log.joined != sink.ended) return false;
  }
  return true;
}

bool Bench::settle(std::uint32_t clocks) {
  quiet_ = 0;
  for (std::uint32_t i = 0; i < clocks; ++i) {
    clock();
    quiet_ = moves() ? 0 : quiet_ + !stalled();
    if (quiet_ >= QUIET_CLOCKS && all_out()) return true;
  }
  return false;
}

}  // namespace clarion::sim
