// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/block_path.hpp"

#include <stdexcept>
#include <string>

#include "error.hpp"
#include "hls/sim/simulated_port.hpp"
#include "hls/sim/xcp_command.hpp"

namespace clarion::emu {
namespace {

using sim::Answer;
using sim::CommandWords;
using namespace registers;

void put_wide(CommandWords& command, unsigned word, std::uint64_t value) {
  command[word] = static_cast<std::uint32_t>(value);
  command[word + 1] = static_cast<std::uint32_t>(value >> 32);
}

CommandWords operation(unsigned code) { return CommandWords{code}; }

void expect_ok(const Answer& answer) {
  if (answer.status == STATUS_OK) return;
  throw std::runtime_error("the FPGA block in simulation refused a command with status " +
                           std::to_string(answer.status));
}

}  // namespace

BlockPath::BlockPath(PacketFifo& out, std::uint8_t protocol)
    : out_(out), block_(std::make_unique<sim::SimulatedPort>(protocol)) {}

BlockPath::~BlockPath() = default;

void BlockPath::enter(const PortEntries& entries, std::uint64_t queue_limit_bytes) {
  configure_ingress(entries);
  configure_egress(entries, queue_limit_bytes);
}

void BlockPath::configure_ingress(const PortEntries& entries) {
  CommandWords command = operation(OP_CONFIGURE);
  if (entries.tag) {
    command[INGRESS_CONFIGURE_CHECK] = entries.tag->check;
    command[INGRESS_CONFIGURE_EDGE] = entries.tag->edge;
    command[INGRESS_CONFIGURE_WIRE] = entries.tag->wire;
    command[INGRESS_CONFIGURE_EPOCH] = entries.tag->epoch;
    check_epoch_ = entries.tag->epoch;
  }
  if (command == ingress_command_) return;
  ingress_command_ = command;
  expect_ok(block_->ask_ingress(now_, command));
}

void BlockPath::configure_egress(const PortEntries& entries, std::uint64_t queue_limit_bytes) {
  CommandWords command = operation(OP_CONFIGURE);
  const XcpConfig xcp = entries.xcp ? entries.xcp->config : XcpConfig{};
  if (entries.xcp) xcp_epoch_ = entries.xcp->epoch;
  command[EGRESS_CONFIGURE_XCP] = entries.xcp.has_value();
  command[EGRESS_CONFIGURE_STAMP] = entries.stamp;
  command[EGRESS_CONFIGURE_EPOCH] = xcp_epoch_;
  sim::put_xcp(xcp, [&command](unsigned word, unsigned bits, std::uint64_t value) {
    if (bits > 32) {
      put_wide(command, word, value);
    } else {
      command[word] = static_cast<std::uint32_t>(value);
    }
  });
  put_wide(command, EGRESS_CONFIGURE_QUEUE_LIMIT, queue_limit_bytes);
  if (command == egress_command_) return;
  egress_command_ = command;
  expect_ok(block_->ask_egress(now_, command));
}

void BlockPath::forget() {
  throw Fault{"reset", FaultCode::unsupported,
              "hls-sim does not offer it here; `clarion nic` resets the block's units"};
}

void BlockPath::restart() {
  throw Fault{"restart", FaultCode::unsupported, "hls-sim starts no switch again; use clarion-switch"};
}

const RegisterArray* BlockPath::find_register(const std::string& /*name*/) const {
  throw Fault{"register", FaultCode::unsupported,
              "hls-sim has none here; the block's are in its register window: clarion nic --bar FILE"};
}

std::size_t BlockPath::queued() const { return block_->waiting(); }

std::uint64_t BlockPath::queue_bytes() const { return block_->waiting_bytes(); }

Incoming BlockPath::ingress(Ticks now, const std::uint8_t* frame, std::uint32_t length) {
  now_ = now;
  const sim::Bytes& passed = block_->receive(now, frame, length);
  return {passed.data(), static_cast<std::uint32_t>(passed.size()), Meta{}};
}

Admission BlockPath::enqueue(Ticks now, const std::uint8_t* frame, std::uint32_t length, const Meta&) {
  now_ = now;
  return block_->offer(now, frame, length) ? Admission::taken : Admission::dropped;
}

Packet* BlockPath::depart(Ticks now) {
  now_ = now;
  const sim::Bytes& frame = block_->take(now);
  Packet* packet = out_.push(frame.data(), static_cast<std::uint32_t>(frame.size()), Meta{});
  if (packet == nullptr) throw std::runtime_error("packet memory for the wires is full");
  out_.depart();
  return packet;
}

PortTelemetry BlockPath::telemetry() const {
  const Answer in = block_->ask_ingress(now_, operation(OP_READ));
  const Answer out = block_->ask_egress(now_, operation(OP_READ));
  expect_ok(in);
  expect_ok(out);
  PortTelemetry telemetry;
  telemetry.malformed = in.wide(INGRESS_READ_MALFORMED);
  telemetry.wire = {in.wide(INGRESS_READ_LOST), in.wide(INGRESS_READ_LATE), in.wide(INGRESS_READ_REBASED)};
  telemetry.queue = {out.wide(EGRESS_READ_QUEUE_LOST), out.wide(EGRESS_READ_QUEUE_LATE),
                     out.wide(EGRESS_READ_QUEUE_REBASED)};
  IntervalReport& interval = telemetry.interval;
  interval.intervals = out.wide(EGRESS_READ_INTERVALS);
  interval.avg_rtt = out.at(EGRESS_READ_AVG_RTT);
  interval.elapsed = out.at(EGRESS_READ_ELAPSED);
  interval.sums = {out.wide(EGRESS_READ_INTERVAL_INPUT), out.wide(EGRESS_READ_INTERVAL_SUM_X),
                   out.wide(EGRESS_READ_INTERVAL_SUM_X_RTT)};
  interval.queue_bytes = out.wide(EGRESS_READ_INTERVAL_QUEUE);
  interval.rate_q8 = out.wide(EGRESS_READ_RATE);
  interval.phi_q8 = static_cast<std::int64_t>(out.wide(EGRESS_READ_PHI));
  interval.shares.pos = out.wide(EGRESS_READ_INTERVAL_POS);
  interval.shares.neg = out.wide(EGRESS_READ_INTERVAL_NEG);
  interval.shares.cp.mantissa = out.at(EGRESS_READ_INTERVAL_CP);
  interval.shares.cp.shift = static_cast<std::uint8_t>(out.at(EGRESS_READ_INTERVAL_CP_SHIFT));
  interval.shares.cn.mantissa = out.at(EGRESS_READ_INTERVAL_CN);
  interval.shares.cn.shift = static_cast<std::uint8_t>(out.at(EGRESS_READ_INTERVAL_CN_SHIFT));
  return telemetry;
}

}  // namespace clarion::emu
