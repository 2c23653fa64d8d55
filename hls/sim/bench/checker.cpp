// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/bench/checker.hpp"

#include <algorithm>
#include <cstdio>

namespace clarion::sim {
namespace {

using namespace registers;

constexpr unsigned BYTE_TICKS_LATE = 3;  // clocks from the end of a clock to an answer that has its bytes

void put(std::vector<Words>& answer, unsigned place, std::uint64_t value) {
  answer[place / BEAT_WORDS][place % BEAT_WORDS] = static_cast<std::uint32_t>(value);
}

void put2(std::vector<Words>& answer, unsigned place, std::uint64_t value) {
  put(answer, place, value);
  put(answer, place + 1, value >> 32);
}

std::uint64_t words_of(const Words& words, unsigned low) {
  return std::uint64_t{words[low + 1]} << 32 | words[low];
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  char digits[3];
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 128); ++i) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text + (bytes.size() > 128 ? "..." : "");
}

}  // namespace

Checker::Checker() : bench_(PORTS, true), plane_(std::make_unique<DataPlane<PORTS, BUCKETS>>()) {
  for (unsigned port = 0; port < PORTS; ++port) adopt(port);
}

void Checker::differ(unsigned unit, const std::string& what) const {
  const std::string name = (unit < PORTS ? "ingress " : "egress ") + std::to_string(unit % PORTS);
  throw Difference("clock " + std::to_string(bench_.clocks() - 1) + ", " + name + ": " + what);
}

void Checker::adopt(unsigned port) {
  PortConfig config = egress_[port].config;
  config.tag.check = ingress_[port].tag.check;
  config.tag.edge = ingress_[port].tag.edge;
  config.tag.wire = ingress_[port].tag.wire;
  plane_->adopt(port, config);
}

void Checker::expect(unsigned port, const SentFrame& sent, bool valid) {
  ingress_[port].told.push_back({sent.bytes, sent.user, valid, {}});
}

void Checker::give(unsigned unit, std::uint32_t clock, const Words& command) {
  if (unit < PORTS && command[0] != OP_READ) give(unit, clock, Words{OP_READ});
  bench_.schedule(unit, bench_.clocks() + clock, command);
  given_[unit].push_back({command, false, {}, 0});
}

void Checker::clock() {
  const Ticks before = now_;
  now_ = bench_.wires.now;
  ticks_ = now_ > before ? std::min<std::uint64_t>(now_ - before, UINT32_MAX) : 0;
  bench_.clock();
  take_replies(false);
  for (unsigned port = 0; port < PORTS; ++port) take_events(port);
  take_replies(true);
  bench_.replies.clear();
}

bool Checker::all_out() const {
  for (unsigned port = 0; port < PORTS; ++port) {
    const Ingress& in = ingress_[port];
    if (std::any_of(in.told.begin(), in.told.end(), [](const Frame& frame) { return frame.valid; }))
      return false;
    if (!in.passed.empty() || !egress_[port].waiting.empty() || !egress_[port].leaving.empty()) return false;
  }
  return std::all_of(std::begin(given_), std::end(given_), [](const auto& queue) { return queue.empty(); });
}

void Checker::finish(std::uint32_t most_clocks) {
  for (std::uint32_t i = 0; i < most_clocks; ++i) {
    if (i % 64 == 0 && all_out()) return;
    clock();
  }
  const Ingress& in = ingress_[0];
  differ(0, "not all comes out: " + std::to_string(in.told.size()) + " frames in front of it, " +
                std::to_string(in.passed.size()) + " behind it, " + std::to_string(given_[0].size()) +
                " commands");
}

// --- Ingress ----------------------------------------------------------------------------------------------

// The next frame is judged; false if there is none.
bool Checker::pass_one(unsigned port) {
  Ingress& in = ingress_[port];
  if (in.told.empty()) return false;
  Frame frame = std::move(in.told.front());
  in.told.pop_front();
  if (!frame.valid) {
    ++in.errored;
    ++sums_.errored;
    return true;
  }
  const auto length = static_cast<std::uint32_t>(frame.bytes.size());
  ++in.packets;
  in.bytes += length;
  frame.meta = plane_->ingress(port, 0, frame.bytes.data(), length);
  if (in.tag.check && carries_tags(frame.meta.kind)) in.epochs[frame.meta.bucket % BUCKETS] = in.epoch;
  in.passed.push_back(std::move(frame));
  return true;
}

void Checker::configure_ingress(unsigned port, const Words& command) {
  Ingress& in = ingress_[port];
  in.tag.check = command[INGRESS_CONFIGURE_CHECK] != 0;
  in.tag.edge = command[INGRESS_CONFIGURE_EDGE] != 0;
  in.tag.wire = command[INGRESS_CONFIGURE_WIRE] != 0;
  in.epoch = static_cast<std::uint8_t>(command[INGRESS_CONFIGURE_EPOCH]);
  auto& check = plane_->state(port).wire_check;
  for (unsigned b = 0; b < BUCKETS; ++b) {
    check.set_based(static_cast<std::uint16_t>(b), in.epoch != 0 && in.epochs[b] == in.epoch);
  }
  adopt(port);
}

void Checker::reset_ingress(unsigned port) {
  Ingress& in = ingress_[port];
  in.epochs.fill(0);
  in.packets = in.bytes = in.errored = 0;
  in.malformed = state(port).malformed;
  in.counters = state(port).wire_check.counters();
  configure_ingress(port, Words{});
}

Checker::Answer Checker::ingress_state(unsigned port) const {
  const Ingress& in = ingress_[port];
  const SequenceCounters& counters = state(port).wire_check.counters();
  Answer answer(INGRESS_READ_BEATS);
  put2(answer, INGRESS_READ_RX_PACKETS, in.packets);
  put2(answer, INGRESS_READ_RX_BYTES, in.bytes);
  put2(answer, INGRESS_READ_MALFORMED, state(port).malformed - in.malformed);
  put2(answer, INGRESS_READ_ERRORED, in.errored);
  put2(answer, INGRESS_READ_LOST, counters.lost - in.counters.lost);
  put2(answer, INGRESS_READ_LATE, counters.late - in.counters.late);
  put2(answer, INGRESS_READ_REBASED, counters.rebased - in.counters.rebased);
  put(answer, INGRESS_READ_CHECK, in.tag.check);
  put(answer, INGRESS_READ_EDGE, in.tag.edge);
  put(answer, INGRESS_READ_WIRE, in.tag.wire);
  put(answer, INGRESS_READ_EPOCH, in.epoch);
  return answer;
}

Checker::Answer Checker::ingress_bucket(unsigned port, unsigned bucket) const {
  const auto& check = state(port).wire_check;
  const auto b = static_cast<std::uint16_t>(bucket);
  Answer answer(INGRESS_READ_BUCKET_BEATS);
  put(answer, INGRESS_READ_BUCKET_EXPECTED, check.expected(b));
  put(answer, INGRESS_READ_BUCKET_TOTAL, check.total(b));
  put(answer, INGRESS_READ_BUCKET_EPOCH, ingress_[port].epochs[bucket]);
  put(answer, INGRESS_READ_BUCKET_FAR, check.far(b));
  return answer;
}

// --- Commands ---------------------------------------------------------------------------------------------

void Checker::take_replies(bool of_egress) {
  for (const TimedReply& timed : bench_.replies) {
    if ((timed.unit >= PORTS) != of_egress) continue;
    if (given_[timed.unit].empty()) differ(timed.unit, "an answer to nothing");
    Given& given = given_[timed.unit].front();
    if (!given.begun) begin(timed.unit, given, timed.reply);
    const unsigned beat = given.beats++;
    const bool last = given.beats == given.expected.size();
    if (timed.reply.index != beat || timed.reply.last != last || timed.reply.status != STATUS_OK) {
      differ(timed.unit, "answer to operation " + std::to_string(given.command[0]) + ": beat " +
                             std::to_string(timed.reply.index) + ", status " +
                             std::to_string(timed.reply.status));
    }
    for (unsigned word = 0; word < BEAT_WORDS; ++word) {
      const std::uint32_t got = timed.reply.words[word], wanted = given.expected[beat][word];
      if (got == wanted) continue;
      differ(timed.unit, "answer to operation " + std::to_string(given.command[0]) + ", place " +
                             std::to_string(beat * BEAT_WORDS + word) + " of the register map: " +
                             std::to_string(got) + " instead of " + std::to_string(wanted));
    }
    if (last) given_[timed.unit].pop_front();
  }
}

// The unit has carried out a command, and its answer begins.
void Checker::begin(unsigned unit, Given& given, const ReplyBeat& reply) {
  const unsigned port = unit % PORTS;
  const bool egress = unit >= PORTS;
  const Words& command = given.command;
  given.begun = true;
  given.expected.assign(1, Words{});
  ++sums_.answers;
  switch (command[0]) {
    case OP_CONFIGURE:
      return egress ? configure_egress(port, command) : configure_ingress(port, command);
    case OP_RESET:
      return egress ? reset_egress(port) : reset_ingress(port);
    case OP_READ_BUCKET:
      given.expected = egress ? egress_bucket(port, command[1]) : ingress_bucket(port, command[1]);
      return;
    default:
      break;
  }
  if (egress) {
    Egress& out = egress_[port];
    const std::uint64_t more = words_of(reply.words, EGRESS_READ_OVERFLOW) - out.overflow;
    if (more <= out.over_both) {
      out.overflow += more;
      out.over_both -= more;
    }
    given.expected = egress_state(port);
    return;
  }
  const std::uint64_t seen =
      words_of(reply.words, INGRESS_READ_RX_PACKETS) + words_of(reply.words, INGRESS_READ_ERRORED);
  while (ingress_[port].packets + ingress_[port].errored < seen && pass_one(port)) {
  }
  given.expected = ingress_state(port);
}

// --- Egress -----------------------------------------------------------------------------------------------

void Checker::configure_egress(unsigned port, const Words& command) {
  Egress& out = egress_[port];
  out.config.xcp.enabled = command[EGRESS_CONFIGURE_XCP] != 0;
  out.config.xcp.capacity_bytes_per_s = words_of(command, EGRESS_CONFIGURE_CAPACITY);
  out.config.xcp.alpha_q16 = command[EGRESS_CONFIGURE_ALPHA];
  out.config.xcp.beta_q16 = command[EGRESS_CONFIGURE_BETA];
  out.config.xcp.gamma_q16 = command[EGRESS_CONFIGURE_GAMMA];
  out.config.xcp.min_interval = command[EGRESS_CONFIGURE_MIN_INTERVAL];
  out.config.xcp.max_interval = command[EGRESS_CONFIGURE_MAX_INTERVAL];
  out.config.xcp.generation = command[EGRESS_CONFIGURE_GENERATION];
  out.config.tag.stamp = command[EGRESS_CONFIGURE_STAMP] != 0;
  out.epoch = static_cast<std::uint8_t>(command[EGRESS_CONFIGURE_EPOCH]);
  out.limit = words_of(command, EGRESS_CONFIGURE_QUEUE_LIMIT);
  adopt(port);
}

void Checker::reset_egress(unsigned port) {
  Egress& out = egress_[port];
  out.config = PortConfig{};
  out.epoch = out.running_epoch = 0;
  out.limit = QUEUE_MAX;
  out.sent_packets = out.sent_bytes = out.drop_packets = out.drop_bytes = out.overflow = out.over_both = 0;
  out.byte_ticks_reset = out.byte_ticks[BYTE_TICKS_LATE];
  auto& state = plane_->state(port);
  out.counters = state.queue_check.counters();
  state.xcp_begins = false;
  state.arrival.take();
  state.queue.restart();
  state.interval.restart();
  state.credit = CREDIT_MAX;
  state.departure.restart();
  adopt(port);
}

Checker::Answer Checker::egress_state(unsigned port) const {
  const Egress& out = egress_[port];
  const auto& state = this->state(port);
  const SequenceCounters& counters = state.queue_check.counters();
  const IntervalReport& report = state.interval.report();
  const Shares left = state.departure.left();
  const MaxMinGains& gains = state.departure.gains();
  const OwnSums& own = state.departure.sums();
  const XcpConfig& xcp = out.config.xcp;
  Answer answer(EGRESS_READ_BEATS);
  put2(answer, EGRESS_READ_TX_PACKETS, out.sent_packets);
  put2(answer, EGRESS_READ_TX_BYTES, out.sent_bytes);
  put2(answer, EGRESS_READ_DROP_PACKETS, out.drop_packets);
  put2(answer, EGRESS_READ_DROP_BYTES, out.drop_bytes);
  put2(answer, EGRESS_READ_OVERFLOW, out.overflow);
  put2(answer, EGRESS_READ_QUEUE_BYTES, out.queue_bytes);
  put2(answer, EGRESS_READ_QUEUE_BYTE_TICKS, out.byte_ticks[BYTE_TICKS_LATE] - out.byte_ticks_reset);
  put2(answer, EGRESS_READ_QUEUE_LOST, counters.lost - out.counters.lost);
  put2(answer, EGRESS_READ_QUEUE_LATE, counters.late - out.counters.late);
  put2(answer, EGRESS_READ_QUEUE_REBASED, counters.rebased - out.counters.rebased);
  put2(answer, EGRESS_READ_INPUT, state.arrival.sums().input);
  put2(answer, EGRESS_READ_SUM_X, state.arrival.sums().sum_x);
  put2(answer, EGRESS_READ_SUM_X_RTT, state.arrival.sums().sum_x_rtt);
  put2(answer, EGRESS_READ_PERSISTENT_QUEUE, state.queue.persistent_bytes());
  put2(answer, EGRESS_READ_LEAST_QUEUE, state.queue.minimum_bytes());
  put2(answer, EGRESS_READ_INTERVALS, report.intervals);
  put2(answer, EGRESS_READ_RATE, report.rate_q8);
  put2(answer, EGRESS_READ_PHI, static_cast<std::uint64_t>(report.phi_q8));
  put2(answer, EGRESS_READ_INTERVAL_START, state.interval.start());
  put2(answer, EGRESS_READ_WINDOW_START, state.queue.window_start());
  put2(answer, EGRESS_READ_INTERVAL_INPUT, report.sums.input);
  put2(answer, EGRESS_READ_INTERVAL_SUM_X, report.sums.sum_x);
  put2(answer, EGRESS_READ_INTERVAL_SUM_X_RTT, report.sums.sum_x_rtt);
  put(answer, EGRESS_READ_AVG_RTT, report.avg_rtt);
  put(answer, EGRESS_READ_ELAPSED, report.elapsed);
  put2(answer, EGRESS_READ_INTERVAL_QUEUE, report.queue_bytes);
  put2(answer, EGRESS_READ_INTERVAL_POS, report.shares.pos);
  put2(answer, EGRESS_READ_INTERVAL_NEG, report.shares.neg);
  put(answer, EGRESS_READ_INTERVAL_CP, report.shares.cp.mantissa);
  put(answer, EGRESS_READ_INTERVAL_CP_SHIFT, report.shares.cp.shift);
  put(answer, EGRESS_READ_INTERVAL_CN, report.shares.cn.mantissa);
  put(answer, EGRESS_READ_INTERVAL_CN_SHIFT, report.shares.cn.shift);
  put(answer, EGRESS_READ_INTERVAL_STARTED, state.interval.started());
  put(answer, EGRESS_READ_WINDOW_STARTED, state.queue.started());
  put(answer, EGRESS_READ_XCP, xcp.enabled);
  put(answer, EGRESS_READ_STAMP, out.config.tag.stamp);
  put(answer, EGRESS_READ_EPOCH, out.epoch);
  put2(answer, EGRESS_READ_CAPACITY, xcp.capacity_bytes_per_s);
  put(answer, EGRESS_READ_ALPHA, xcp.alpha_q16);
  put(answer, EGRESS_READ_BETA, xcp.beta_q16);
  put(answer, EGRESS_READ_GAMMA, xcp.gamma_q16);
  put(answer, EGRESS_READ_MIN_INTERVAL, xcp.min_interval);
  put(answer, EGRESS_READ_MAX_INTERVAL, xcp.max_interval);
  put(answer, EGRESS_READ_GENERATION, xcp.generation);
  put2(answer, EGRESS_READ_QUEUE_LIMIT, out.limit);
  put(answer, EGRESS_READ_RUNNING_EPOCH, out.running_epoch);
  put2(answer, EGRESS_READ_POS, left.pos);
  put2(answer, EGRESS_READ_NEG, left.neg);
  put(answer, EGRESS_READ_CP, left.cp.mantissa);
  put(answer, EGRESS_READ_CP_SHIFT, left.cp.shift);
  put(answer, EGRESS_READ_CN, left.cn.mantissa);
  put(answer, EGRESS_READ_CN_SHIFT, left.cn.shift);
  put(answer, EGRESS_READ_CARRY, state.departure.carry_q8());
  put2(answer, EGRESS_READ_BANK, state.departure.bank_q8());
  put(answer, EGRESS_READ_CREDIT, state.credit);
  put(answer, EGRESS_READ_FAIR, gains.fair.mantissa);
  put(answer, EGRESS_READ_FAIR_SHIFT, gains.fair.shift);
  put(answer, EGRESS_READ_LIFT, gains.lift.mantissa);
  put(answer, EGRESS_READ_LIFT_SHIFT, gains.lift.shift);
  put(answer, EGRESS_READ_GROWTH, gains.growth.mantissa);
  put(answer, EGRESS_READ_GROWTH_SHIFT, gains.growth.shift);
  put2(answer, EGRESS_READ_OWN_INPUT, own.input);
  put2(answer, EGRESS_READ_OWN_SUM_X, own.sum_x);
  put2(answer, EGRESS_READ_POOR_SUM_X, own.sum_x_poor);
  put2(answer, EGRESS_READ_LIMITED, static_cast<std::uint64_t>(own.limited));
  put(answer, EGRESS_READ_MAX_RTT, own.max_rtt);
  return answer;
}

Checker::Answer Checker::egress_bucket(unsigned port, unsigned bucket) const {
  const auto& state = this->state(port);
  const auto b = static_cast<std::uint16_t>(bucket);
  Answer answer(EGRESS_READ_BUCKET_BEATS);
  put(answer, EGRESS_READ_BUCKET_QUEUE_NEXT, state.queue_stamp.next(b));
  put(answer, EGRESS_READ_BUCKET_QUEUE_EXPECTED, state.queue_check.expected(b));
  put(answer, EGRESS_READ_BUCKET_QUEUE_TOTAL, state.queue_check.total(b));
  put(answer, EGRESS_READ_BUCKET_QUEUE_EPOCH, state.queue_check.based(b));
  put(answer, EGRESS_READ_BUCKET_LINK_NEXT, state.link_stamp.next(b));
  put(answer, EGRESS_READ_BUCKET_QUEUE_FAR, state.queue_check.far(b));
  return answer;
}

void Checker::take_events(unsigned port) {
  auto& events = bench_.log(port).events;
  std::size_t i = 0;
  for (; i < events.size() && events[i].kind == QueueEvent::Kind::sent; ++i) send(port);
  wait(port);
  for (; i < events.size(); ++i) {
    events[i].kind == QueueEvent::Kind::leaves ? leave(port, events[i]) : join(port, events[i]);
  }
  events.clear();
}

// A clock has passed.
void Checker::wait(unsigned port) {
  auto& sums = egress_[port].byte_ticks;
  for (unsigned i = BYTE_TICKS_LATE; i > 0; --i) sums[i] = sums[i - 1];
  sums[0] += egress_[port].queue_bytes * ticks_;
}

void Checker::join(unsigned port, const QueueEvent& event) {
  Ingress& in = ingress_[PORTS - 1 - port];
  Egress& out = egress_[port];
  while (in.passed.empty()) {
    if (!pass_one(PORTS - 1 - port)) differ(PORTS + port, "a packet joins that has not come");
  }
  Frame frame = std::move(in.passed.front());
  in.passed.pop_front();
  const auto length = static_cast<std::uint32_t>(frame.bytes.size());
  const bool dropped = event.kind == QueueEvent::Kind::drops;
  const bool within = out.queue_bytes + length <= out.limit;
  if (event.queue_bytes != out.queue_bytes + bench_.wires.elsewhere[port]) {
    differ(PORTS + port, std::to_string(event.queue_bytes) + " bytes wait at a join instead of " +
                             std::to_string(out.queue_bytes));
  }
  if (event.now > now_) differ(PORTS + port, "a packet joins before it has arrived");
  if (!dropped && !within) differ(PORTS + port, "a packet joins beyond the limit");
  auto& state = plane_->state(port);
  if (out.config.xcp.enabled && out.running_epoch != out.epoch) {
    state.xcp_begins = true;
    out.running_epoch = out.epoch;
  }
  const std::uint64_t intervals = state.interval.report().intervals;
  plane_->enqueue(port, event.now, event.queue_bytes, length, frame.meta);
  sums_.intervals += state.interval.report().intervals > intervals;
  if (dropped) {
    ++sums_.drops;
    ++out.drop_packets;
    out.drop_bytes += length;
    sums_.overflows += within;
    ++(within ? out.overflow : out.over_both);
    return;
  }
  out.queue_bytes += length;
  out.waiting.push_back(std::move(frame));
}

void Checker::leave(unsigned port, const QueueEvent& event) {
  Egress& out = egress_[port];
  if (out.waiting.empty()) differ(PORTS + port, "a packet leaves that does not wait");
  Frame frame = std::move(out.waiting.front());
  out.waiting.pop_front();
  const auto length = static_cast<std::uint32_t>(frame.bytes.size());
  if (event.queue_bytes != out.queue_bytes - length + bench_.wires.elsewhere[port]) {
    differ(PORTS + port, std::to_string(event.queue_bytes) + " bytes wait behind a packet that leaves");
  }
  plane_->dequeue(port, now_, event.queue_bytes, frame.bytes.data(), length, frame.meta);
  ++out.sent_packets;
  out.sent_bytes += length;
  out.leaving.push_back(std::move(frame));
}

void Checker::send(unsigned port) {
  Egress& out = egress_[port];
  Sink& sink = bench_.sink(port, false);
  if (out.leaving.empty()) differ(PORTS + port, "a frame is sent that has not left");
  const std::vector<std::uint8_t>& wanted = out.leaving.front().bytes;
  const ReceivedFrame& got = sink.frames.front();
  if (got.bytes != wanted) {
    differ(PORTS + port, "frame " + std::to_string(sums_.packets) + "\n  " + hex(got.bytes) +
                             "\ninstead of\n  " + hex(wanted));
  }
  if (got.damaged || got.user != out.leaving.front().user)
    differ(PORTS + port, "a frame with gaps, or TUSER");
  out.queue_bytes -= wanted.size();
  ++sums_.packets;
  sums_.beats += (wanted.size() + BEAT_BYTES - 1) / BEAT_BYTES;
  sink.frames.pop_front();
  out.leaving.pop_front();
}

}  // namespace clarion::sim
