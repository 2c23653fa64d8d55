// SPDX-License-Identifier: Apache-2.0
// A unit of the block as Verilator's C++ (class V<unit>), with what its ports are connected to: a frame that
// comes in, the frame that goes out, and a mailbox.
#pragma once

#include <verilated.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "core/types.hpp"
#include "hls/sim/wires.hpp"

namespace clarion::sim {

// A frame on its way in, which is padded to the shortest length.
struct IncomingFrame {
  const std::uint8_t* bytes = nullptr;
  std::uint32_t present = 0;  // bytes of it, without padding
  std::uint32_t length = 0;
  std::uint32_t at = 0;
  std::uint16_t number = 0;  // as source in the side-band, which the block leaves as it is

  bool waits() const { return at < length; }
};

struct OutgoingFrame {
  std::vector<std::uint8_t> bytes;
  std::uint16_t number = 0;
  bool ended = false;
};

// Of all models: they unregister with the thread's current one. No threads of its own.
inline VerilatedContext* verilated_context() {
  static const auto context = [] {
    auto made = std::make_unique<VerilatedContext>();
    made->threads(1);
    return made;
  }();
  return context.get();
}

template <class Model>
class VerilatedUnit {
 public:
  explicit VerilatedUnit(std::uint8_t protocol) : model_(verilated_context()) {
    model_.protocol_i = protocol;
    reset();
  }
  ~VerilatedUnit() { model_.final(); }
  VerilatedUnit(const VerilatedUnit&) = delete;
  VerilatedUnit& operator=(const VerilatedUnit&) = delete;

  void set_protocol(std::uint8_t protocol) { model_.protocol_i = protocol; }

  void send(const std::uint8_t* bytes, std::uint32_t length, std::uint16_t number) {
    in_ = IncomingFrame{bytes, length, std::max(length, FRAME_MIN_BYTES), 0, number};
  }
  std::uint32_t sent_length() const { return in_.length; }

  OutgoingFrame& out() { return out_; }
  void begin_out() {
    out_.bytes.clear();
    out_.ended = false;
  }

  // One clock; whether the receiver takes beats. The ports then say what happens next, see units/.
  void clock(Ticks now, bool takes) {
    ++clocks_;
    model_.now_i = now;
    model_.m_axis_tready = takes;
    give_beat();
    give_command();
    model_.clk_i = 1;
    model_.eval();
    if (model_.sends_o) take_beat();
    if (mailbox.command) take_answer();
    model_.clk_i = 0;
    model_.eval();
  }

  const Model& ports() const { return model_; }
  std::uint64_t clocks() const { return clocks_; }

  MailboxWires mailbox;

 private:
  static constexpr unsigned RESET_CLOCKS = 4;

  void reset() {
    for (unsigned i = 0; i < RESET_CLOCKS; ++i) clock(0, false);
    model_.rst_ni = 1;
  }

  void give_beat() {
    model_.s_axis_tvalid = in_.waits();
    if (!in_.waits()) return;
    const std::uint32_t left = in_.length - in_.at;
    const std::uint32_t present =
        in_.present > in_.at ? std::min(in_.present - in_.at, BEAT_BYTES) : std::uint32_t{0};
    std::uint8_t beat[BEAT_BYTES] = {};
    std::memcpy(beat, in_.bytes + std::min(in_.at, in_.present), present);
    std::memcpy(&model_.s_axis_tdata[0], beat, BEAT_BYTES);
    model_.s_axis_tkeep = keep_of(left);
    model_.s_axis_tlast = left <= BEAT_BYTES;
    model_.s_axis_tuser =
        std::uint64_t{in_.number} << 16 | in_.length;  // OpenNIC's: size, source, destination
    in_.at += BEAT_BYTES;
  }

  void take_beat() {
    const auto* data = reinterpret_cast<const std::uint8_t*>(&model_.m_axis_tdata[0]);
    out_.bytes.insert(out_.bytes.end(), data, data + __builtin_popcountll(model_.m_axis_tkeep));
    out_.number = static_cast<std::uint16_t>(model_.m_axis_tuser >> 16);
    out_.ended = model_.m_axis_tlast;
  }

  void give_command() {
    model_.command_valid_i = mailbox.command.has_value();
    if (mailbox.command) std::memcpy(&model_.command_i[0], mailbox.command->data(), sizeof(CommandWords));
  }

  void take_answer() {
    mailbox.taken = model_.command_ready_o;
    if (model_.reply_valid_o) mailbox.reply = reply_of(&model_.reply_o[0]);
  }

  Model model_;
  std::uint64_t clocks_ = 0;
  IncomingFrame in_;
  OutgoingFrame out_;
};

}  // namespace clarion::sim
