// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/simulated_port.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hls/sim/beats.hpp"

namespace clarion::sim {
namespace {

using block::Beat;
using block::BEAT_BYTES;

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error("the FPGA block in C simulation " + std::string(what) + " within " +
                           std::to_string(SimulatedPort::MAX_CLOCKS) + " clocks");
}

// Up to 64 bytes of a frame that has `left` of them left.
Beat beat_of(const std::uint8_t* bytes, std::uint32_t present, std::uint32_t left) {
  Beat beat;
  put_bytes(beat, bytes, std::min(present, BEAT_BYTES), 0);
  beat.keep = beat.strb = keep_of(left);
  beat.last = left <= BEAT_BYTES;
  return beat;
}

void append(Bytes& bytes, const Beat& beat) {
  append_bytes(bytes, beat, static_cast<unsigned>(__builtin_popcountll(beat.keep.to_uint64())));
}

}  // namespace

void SimulatedPort::clock_ingress(Ticks now) {
  ++clocks_;
  ingress_->step(from_wire_, to_host_, protocol_, ingress_commands_, ingress_replies_, now);
}

void SimulatedPort::clock_egress(Ticks now) {
  ++clocks_;
  egress_->step(from_host_, to_wire_, protocol_, 0, egress_commands_, egress_replies_, grant_replies_, now);
}

// The side-band of OpenNIC: size, source, destination. The block leaves the source as it is.
std::uint32_t SimulatedPort::send(block::Axis& to, const std::uint8_t* frame, std::uint32_t length,
                                  std::uint16_t number) {
  const std::uint32_t padded = std::max(length, block::FRAME_MIN_BYTES);
  for (std::uint32_t at = 0; at < padded; at += BEAT_BYTES) {
    Beat beat = beat_of(frame + std::min(at, length), length > at ? length - at : 0, padded - at);
    beat.user = static_cast<std::uint64_t>(number) << 16 | padded;
    to.write(beat);
  }
  return padded;
}

const Bytes& SimulatedPort::receive(Ticks now, const std::uint8_t* frame, std::uint32_t length) {
  send(from_wire_, frame, length, 0);
  received_.clear();
  for (unsigned clocks = 0; clocks < MAX_CLOCKS; ++clocks) {
    clock_ingress(now);
    if (to_host_.empty()) continue;
    const Beat beat = to_host_.read();
    append(received_, beat);
    if (beat.last) return received_;
  }
  fail("did not pass a frame on");
}

bool SimulatedPort::offer(Ticks now, const std::uint8_t* frame, std::uint32_t length) {
  const QueueWatch& watch = egress_->watch();
  const std::uint64_t decided = watch.decided;
  const std::uint32_t sent = send(from_host_, frame, length, ++number_);
  for (unsigned clocks = 0; watch.decided == decided; ++clocks) {
    if (clocks == MAX_CLOCKS) fail("did not decide on a frame");
    clock_egress(now);
  }
  if (watch.dropped) return false;
  waiting_.push_back({number_, sent});
  waiting_bytes_ += sent;
  return true;
}

const Bytes& SimulatedPort::take(Ticks now) {
  taken_.clear();
  for (unsigned clocks = 0; clocks < MAX_CLOCKS; ++clocks) {
    if (to_wire_.empty()) {
      clock_egress(now);
      continue;
    }
    const Beat beat = to_wire_.read();
    append(taken_, beat);
    if (!beat.last) continue;
    const Waiting next = waiting_.front();
    const auto number = static_cast<std::uint16_t>(beat.user.to_uint64() >> 16);
    if (number != next.number || taken_.size() != next.length) fail("did not send the frame that was next");
    waiting_.pop_front();
    waiting_bytes_ -= next.length;
    return taken_;
  }
  fail("did not send a frame that it had queued");
}

Answer SimulatedPort::ask(Ticks now, const CommandWords& command, bool egress) {
  const UnitStreams streams = egress ? egress_streams(0) : ingress_streams(0);
  block::Command beat = 0;
  for (unsigned i = 0; i < registers::COMMAND_WORDS; ++i) block::put_word(beat, i, command[i]);
  streams.commands->write(beat);
  Answer answer;
  bool last = false;
  const auto collect = [&](ReplyStream* from) {
    while (from != nullptr && !from->empty()) {
      const block::Reply reply = from->read();
      const unsigned first = reply.index.to_uint() * registers::BEAT_WORDS;
      for (unsigned i = 0; i < registers::BEAT_WORDS; ++i)
        answer.words.at(first + i) = block::word_of(reply.data, i);
      answer.status = reply.status.to_uint();
      last |= reply.last;
    }
  };
  for (unsigned clocks = 0; clocks < MAX_CLOCKS; ++clocks) {
    egress ? clock_egress(now) : clock_ingress(now);
    collect(streams.replies);
    collect(streams.grant_replies);
    if (last) return answer;
  }
  fail("did not answer a command");
}

UnitStreams SimulatedPort::ingress_streams(unsigned port) {
  return {false, port, &ingress_commands_, &ingress_replies_, nullptr};
}

UnitStreams SimulatedPort::egress_streams(unsigned port) {
  return {true, port, &egress_commands_, &egress_replies_, &grant_replies_};
}

}  // namespace clarion::sim
