// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/simulated_port.hpp"

#include <Vegress.h>
#include <Vingress.h>

#include <stdexcept>
#include <string>

#include "hls/sim/verilated_unit.hpp"

namespace clarion::sim {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error("the FPGA block in simulation " + std::string(what) + " within " +
                           std::to_string(SimulatedPort::MAX_CLOCKS) + " clocks");
}

enum class Decision { none, joins, drops };

// Of watch_t in clarion_block_pkg.sv.
Decision decision_of(const Vegress& model) {
  constexpr unsigned JOINS_BIT = 42 - 32;
  constexpr unsigned DROPS_BIT = 43 - 32;
  const std::uint32_t word = model.watch_o[1];
  if (word >> DROPS_BIT & 1) return Decision::drops;
  return word >> JOINS_BIT & 1 ? Decision::joins : Decision::none;
}

// Clocks a unit until it has answered.
template <class Clock>
Answer answer_to(MailboxWires& mailbox, const CommandWords& command, Clock clock) {
  Answer answer;
  mailbox.command = command;
  for (unsigned clocks = 0; clocks < SimulatedPort::MAX_CLOCKS; ++clocks) {
    clock();
    if (!mailbox.reply) continue;
    const ReplyBeat& beat = *mailbox.reply;
    std::copy(beat.words.begin(), beat.words.end(),
              answer.words.begin() + beat.index * registers::BEAT_WORDS);
    answer.status = beat.status;
    if (mailbox.taken) mailbox.command.reset();
    mailbox.reply.reset();
    if (!mailbox.command) return answer;
  }
  fail("did not answer a command");
}

}  // namespace

const unsigned SimulatedPort::BUCKETS = CLARION_BUCKETS;
const unsigned SimulatedPort::QUEUE_BEATS = CLARION_QUEUE_BEATS;

struct SimulatedPort::Units {
  explicit Units(std::uint8_t protocol) : ingress(protocol), egress(protocol) {}

  void clock_ingress(Ticks now) {
    ingress.clock(now, true, [](const Vingress&) {});
  }
  // Returns what is decided in this clock.
  Decision clock_egress(Ticks now, bool takes) {
    Decision decision = Decision::none;
    egress.clock(now, takes, [&decision](const Vegress& model) { decision = decision_of(model); });
    return decision;
  }

  VerilatedUnit<Vingress> ingress;
  VerilatedUnit<Vegress> egress;
};

SimulatedPort::SimulatedPort(std::uint8_t protocol) : units_(std::make_unique<Units>(protocol)) {
  ask_ingress(0, CommandWords{registers::OP_READ});  // it answers when it has cleared its memory
}

SimulatedPort::~SimulatedPort() = default;

void SimulatedPort::set_protocol(std::uint8_t protocol) {
  units_->ingress.set_protocol(protocol);
  units_->egress.set_protocol(protocol);
}

std::uint64_t SimulatedPort::clocks() const { return units_->ingress.clocks() + units_->egress.clocks(); }

void SimulatedPort::clock_ingress(Ticks now) { units_->clock_ingress(now); }

void SimulatedPort::clock_egress(Ticks now) { units_->clock_egress(now, false); }

const Bytes& SimulatedPort::receive(Ticks now, const std::uint8_t* frame, std::uint32_t length) {
  auto& unit = units_->ingress;
  unit.send(frame, length, 0);
  unit.begin_out();
  for (unsigned clocks = 0; clocks < MAX_CLOCKS; ++clocks) {
    units_->clock_ingress(now);
    if (unit.out().ended) return unit.out().bytes;
  }
  fail("did not pass a frame on");
}

bool SimulatedPort::offer(Ticks now, const std::uint8_t* frame, std::uint32_t length) {
  auto& unit = units_->egress;
  unit.send(frame, length, ++number_);
  Decision decision = Decision::none;
  for (unsigned clocks = 0; decision == Decision::none; ++clocks) {
    if (clocks == MAX_CLOCKS) fail("did not decide on a frame");
    decision = units_->clock_egress(now, false);
  }
  if (decision == Decision::drops) return false;
  waiting_.push_back({number_, unit.sent_length()});
  waiting_bytes_ += unit.sent_length();
  return true;
}

const Bytes& SimulatedPort::take(Ticks now) {
  OutgoingFrame& out = units_->egress.out();
  units_->egress.begin_out();
  for (unsigned clocks = 0; !out.ended; ++clocks) {
    if (clocks == MAX_CLOCKS) fail("did not send a frame that it had queued");
    units_->clock_egress(now, true);
  }
  const Waiting next = waiting_.front();
  if (out.number != next.number || out.bytes.size() != next.length)
    throw std::runtime_error("the FPGA block in simulation sent another frame than the one that was next");
  waiting_.pop_front();
  waiting_bytes_ -= next.length;
  return out.bytes;
}

Answer SimulatedPort::ask_ingress(Ticks now, const CommandWords& command) {
  return answer_to(units_->ingress.mailbox, command, [this, now] { units_->clock_ingress(now); });
}

Answer SimulatedPort::ask_egress(Ticks now, const CommandWords& command) {
  return answer_to(units_->egress.mailbox, command, [this, now] { units_->clock_egress(now, false); });
}

WindowUnit SimulatedPort::ingress_unit(unsigned port) { return {false, port, &units_->ingress.mailbox}; }

WindowUnit SimulatedPort::egress_unit(unsigned port) { return {true, port, &units_->egress.mailbox}; }

}  // namespace clarion::sim
