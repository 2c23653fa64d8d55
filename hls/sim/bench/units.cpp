// SPDX-License-Identifier: Apache-2.0
// The block's RTL, compiled to C++ by Verilator, unit by unit: a unit that a test holds is not clocked.
#include "hls/sim/bench/units.hpp"

#include <Vbench_egress.h>
#include <Vbench_ingress.h>
#include <Vbench_registers.h>

#include <cstring>
#include <stdexcept>

#include "hls/functions/packing.hpp"

namespace clarion::sim {
namespace {

constexpr unsigned RESET_CLOCKS = 16;
constexpr unsigned READY_CLOCKS = 64;    // behind a reset; an ingress needs one per bucket, too
constexpr unsigned ANSWER_CLOCKS = 100;  // of the register front end
constexpr unsigned TAKE_UP_CLOCKS = 4;   // from a write to the request that it makes
constexpr unsigned REPLY_BYTES = 66;     // of 528 bits

template <class Rtl>
void put_frames(Rtl& rtl, const Beat* beat) {
  rtl.s_axis_tvalid = beat != nullptr;
  if (beat == nullptr) return;
  std::memcpy(&rtl.s_axis_tdata[0], beat->data, sizeof beat->data);
  rtl.s_axis_tkeep = beat->keep;
  rtl.s_axis_tuser = beat->user;
  rtl.s_axis_tlast = beat->last;
}

template <class Rtl>
Beat beat_of(const Rtl& rtl) {
  Beat beat;
  std::memcpy(beat.data, &rtl.m_axis_tdata[0], sizeof beat.data);
  beat.keep = rtl.m_axis_tkeep;
  beat.user = rtl.m_axis_tuser;
  beat.last = rtl.m_axis_tlast;
  return beat;
}

class RtlUnits : public Units {
 public:
  RtlUnits(Lanes& lanes, bool bump)
      : lanes_(lanes), ports_(static_cast<unsigned>(lanes.size())), bump_(bump) {
    for (unsigned port = 0; port < ports_; ++port) {
      ingress_.push_back(std::make_unique<Vbench_ingress>(&context_));
      egress_.push_back(std::make_unique<Vbench_egress>(&context_));
      power_on(*ingress_.back(), READY_CLOCKS + CLARION_BUCKETS);
      power_on(*egress_.back(), READY_CLOCKS);
    }
    registers_.ports_i = ports_;
    power_on(registers_, 0);
  }
  ~RtlUnits() override {
    for (auto& unit : ingress_) unit->final();
    for (auto& unit : egress_) unit->final();
    registers_.final();
  }

  void step(const Wires& wires, std::uint32_t units_on, bool registers_rest, std::uint32_t clock) override {
    const std::uint32_t on = bump_ ? ~std::uint32_t{0} : units_on;
    const bool with_registers = !registers_rest && is_awake();
    registers_.command_ready_i = registers_.reply_valid_i = 0;
    for (unsigned port = 0; port < ports_; ++port) {
      if (on >> port & 1) drive_ingress(port, wires, registers_rest);
      if (on >> (ports_ + port) & 1) drive_egress(port, wires, registers_rest);
    }
    for (unsigned port = 0; port < ports_; ++port) {
      if (on >> port & 1) finish_ingress(port, clock, with_registers);
      if (on >> (ports_ + port) & 1) finish_egress(port, clock, with_registers);
    }
    registers_.now_i = wires.now;
    if (with_registers) {
      cycle(registers_);
      if (since_write_ < TAKE_UP_CLOCKS) ++since_write_;
    }
    for (unsigned port = 0; port < ports_; ++port) {
      if (on >> port & 1) edge(*ingress_[port]);
      if (on >> (ports_ + port) & 1) edge(*egress_[port]);
    }
  }

  Reading read32(std::uint32_t offset) override {
    registers_.s_axil_araddr = static_cast<std::uint16_t>(offset);
    registers_.s_axil_arvalid = 1;
    for (unsigned clock = 0; clock < ANSWER_CLOCKS; ++clock) {
      settle_registers();
      const bool accepted = registers_.s_axil_arvalid && registers_.s_axil_arready;
      const bool answered = registers_.s_axil_rvalid;
      const Reading reading{registers_.s_axil_rresp == 0, registers_.s_axil_rdata};
      edge(registers_);
      if (accepted) registers_.s_axil_arvalid = 0;
      if (answered) return reading;
    }
    throw std::runtime_error("the registers do not answer a read");
  }

  bool write32(std::uint32_t offset, std::uint32_t value) override {
    registers_.s_axil_awaddr = static_cast<std::uint16_t>(offset);
    registers_.s_axil_wdata = value;
    registers_.s_axil_awvalid = registers_.s_axil_wvalid = 1;
    since_write_ = 0;
    for (unsigned clock = 0; clock < ANSWER_CLOCKS; ++clock) {
      settle_registers();
      const bool address = registers_.s_axil_awvalid && registers_.s_axil_awready;
      const bool data = registers_.s_axil_wvalid && registers_.s_axil_wready;
      const bool answered = registers_.s_axil_bvalid;
      const bool done = registers_.s_axil_bresp == 0;
      edge(registers_);
      if (address) registers_.s_axil_awvalid = 0;
      if (data) registers_.s_axil_wvalid = 0;
      if (answered) return done;
    }
    throw std::runtime_error("the registers do not answer a write");
  }

  bool busy(unsigned unit) const override {
    return since_write_ < TAKE_UP_CLOCKS || (registers_.command_valid_o >> place(unit) & 1);
  }

 private:
  // Where a unit is in what the registers have for three ports.
  unsigned place(unsigned unit) const { return unit < ports_ ? unit : MAX_PORTS + unit - ports_; }
  bool is_awake() const { return since_write_ < TAKE_UP_CLOCKS || registers_.command_valid_o != 0; }

  template <class Rtl>
  static void edge(Rtl& rtl) {
    rtl.clk_i = 1;
    rtl.eval();
  }

  // Before the edge: outputs follow the inputs of this clock.
  template <class Rtl>
  static void settle(Rtl& rtl) {
    rtl.clk_i = 0;
    rtl.eval();
  }

  template <class Rtl>
  static void cycle(Rtl& rtl) {
    settle(rtl);
    edge(rtl);
  }

  template <class Rtl>
  static void power_on(Rtl& rtl, unsigned clocks) {
    rtl.rst_ni = 0;
    for (unsigned clock = 0; clock < RESET_CLOCKS; ++clock) cycle(rtl);
    rtl.rst_ni = 1;
    for (unsigned clock = 0; clock < clocks; ++clock) cycle(rtl);
  }

  // With all units held.
  void settle_registers() {
    registers_.command_ready_i = registers_.reply_valid_i = 0;
    settle(registers_);
  }

  unsigned other(unsigned port) const { return ports_ - 1 - port; }

  // Before the edge, from what is known since the last one.
  void drive_ingress(unsigned port, const Wires& wires, bool registers_rest) {
    Vbench_ingress& unit = *ingress_[port];
    Lane& lane = *lanes_[port];
    offered_[port] = lane.source[0].offer();
    put_frames(unit, offered_[port]);
    unit.m_axis_tready = bump_ ? egress_[other(port)]->s_axis_tready : lane.sink[1].ready();
    drive_command(unit, lane.mail[0], port, registers_rest);
    unit.now_i = wires.now;
    unit.protocol_i = wires.protocol;
    settle(unit);
  }

  void drive_egress(unsigned port, const Wires& wires, bool registers_rest) {
    Vbench_egress& unit = *egress_[port];
    Lane& lane = *lanes_[port];
    const Beat* beat = nullptr;
    if (bump_) {
      const Vbench_ingress& from = *ingress_[other(port)];
      if (from.m_axis_tvalid) passed_ = beat_of(from);
      if (from.m_axis_tvalid) beat = &passed_;
    } else {
      offered_[ports_ + port] = beat = lane.source[1].offer();
    }
    put_frames(unit, beat);
    unit.m_axis_tready = lane.sink[0].ready();
    drive_command(unit, lane.mail[1], MAX_PORTS + port, registers_rest);
    unit.now_i = wires.now;
    unit.protocol_i = wires.protocol;
    unit.queue_elsewhere_i = wires.elsewhere[port];
    settle(unit);
  }

  // A command beside the registers, or else of theirs.
  template <class Rtl>
  void drive_command(Rtl& unit, MailboxWires& mail, unsigned at, bool registers_rest) {
    const bool of_registers = !mail.command && !registers_rest;
    mail.reply.reset();
    mail.taken = false;
    unit.reply_ready_i = 1;
    unit.command_valid_i = mail.command.has_value();
    if (mail.command) {
      std::memcpy(&unit.command_i[0], mail.command->data(), sizeof *mail.command);
    } else if (of_registers && (registers_.command_valid_o >> at & 1)) {
      unit.command_valid_i = 1;
      std::memcpy(&unit.command_i[0], &registers_.command_o[at * registers::COMMAND_WORDS], sizeof(Words));
    }
  }

  template <class Rtl>
  void finish_command(const Rtl& unit, MailboxWires& mail, unsigned at, bool with_registers) {
    if (!unit.reply_valid_o) return;
    if (mail.command) {
      mail.reply = reply_of(&unit.reply_o[0]);
      mail.taken = unit.command_ready_o;
    } else if (with_registers) {
      registers_.reply_valid_i |= 1U << at;
      registers_.command_ready_i |= unit.command_ready_o << at;
      std::memcpy(reinterpret_cast<char*>(&registers_.reply_i[0]) + at * REPLY_BYTES, &unit.reply_o[0],
                  REPLY_BYTES);
    }
  }

  // What goes over at the edge that comes.
  void finish_ingress(unsigned port, std::uint32_t clock, bool with_registers) {
    const Vbench_ingress& unit = *ingress_[port];
    Lane& lane = *lanes_[port];
    if (offered_[port] != nullptr) lane.source[0].answer(unit.s_axis_tready, clock);
    if (!bump_ && unit.m_axis_tvalid && unit.m_axis_tready) lane.sink[1].take(beat_of(unit), clock);
    finish_command(unit, lane.mail[0], port, with_registers);
  }

  void finish_egress(unsigned port, std::uint32_t clock, bool with_registers) {
    const Vbench_egress& unit = *egress_[port];
    Lane& lane = *lanes_[port];
    if (!bump_ && offered_[ports_ + port] != nullptr) lane.source[1].answer(unit.s_axis_tready, clock);
    if (unit.m_axis_tvalid && unit.m_axis_tready) {
      lane.sink[0].take(beat_of(unit), clock);
      if (unit.m_axis_tlast)
        lane.log.add({QueueEvent::Kind::sent, clock, 0, lane.sink[0].frames.back().bytes.size()});
    }
    finish_command(unit, lane.mail[1], MAX_PORTS + port, with_registers);
    watch(unit, lane.log, clock);
  }

  // clarion_block_pkg::watch_t: {now, waiting_bytes[40:0], drops, joins, left_bytes[40:0], leaves}.
  static void watch(const Vbench_egress& unit, EventLog& log, std::uint32_t clock) {
    using Kind = QueueEvent::Kind;
    using block::packed::bits_at;
    const std::uint32_t* seen = &unit.watch_o[0];
    if (bits_at<0, 1>(seen)) log.add({Kind::leaves, clock, 0, bits_at<1, 41>(seen)});
    const bool drops = bits_at<43, 1>(seen);
    if (!drops && !bits_at<42, 1>(seen)) return;
    log.add({drops ? Kind::drops : Kind::joins, clock, bits_at<85, 64>(seen), bits_at<44, 41>(seen)});
  }

  Lanes& lanes_;
  const unsigned ports_;
  const bool bump_;
  VerilatedContext context_;
  std::vector<std::unique_ptr<Vbench_ingress>> ingress_;
  std::vector<std::unique_ptr<Vbench_egress>> egress_;
  Vbench_registers registers_{&context_};
  unsigned since_write_ = TAKE_UP_CLOCKS;
  const Beat* offered_[2 * MAX_PORTS] = {};  // in this clock, by unit
  Beat passed_ = {};
};

}  // namespace

unsigned buckets() { return CLARION_BUCKETS; }
unsigned queue_beats() { return CLARION_QUEUE_BEATS; }

std::unique_ptr<Units> make_units(Lanes& lanes, bool bump) { return std::make_unique<RtlUnits>(lanes, bump); }

}  // namespace clarion::sim
