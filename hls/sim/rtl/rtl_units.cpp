// SPDX-License-Identifier: Apache-2.0
// The block's RTL (rtl_bench.sv), compiled to C++ by Verilator: three ports, each with its own units. The
// decisions of its queues cannot be observed, so there is no log.
#include <Vrtl_bench.h>

#include <cstring>
#include <stdexcept>

#include "hls/sim/beats.hpp"
#include "hls/sim/bench/units.hpp"

namespace clarion::sim {
namespace {

constexpr unsigned PORTS = 3;  // of rtl_bench.sv
constexpr unsigned RESET_CLOCKS = 16;
constexpr unsigned READY_CLOCKS = 200'000;      // until its memories are cleared
constexpr unsigned ANSWER_CLOCKS = 100;         // of the register front end
constexpr std::uint32_t QUIET_CLOCKS = 20'000;  // a jumbo frame through the slow RTL of some tools
constexpr unsigned ALL = (1U << PORTS) - 1;

class RtlUnits : public Units {
 public:
  explicit RtlUnits(Lanes& lanes) : lanes_(lanes) {
    context_.randReset(0);
    power_on();
  }
  ~RtlUnits() override { rtl_.final(); }

  void step(const Wires& wires, std::uint32_t units_on, bool /*registers_rest*/) override {
    rtl_.now = wires.now;
    rtl_.protocol = wires.protocol;
    for (unsigned port = 0; port < PORTS; ++port) set_quad(rtl_.queue_elsewhere, port, wires.elsewhere[port]);
    rtl_.ingress_on = units_on & ALL;
    rtl_.egress_on = units_on >> PORTS & ALL;
    for (unsigned way = 0; way < 2 * PORTS; ++way) offer(way);
    rtl_.eval();
    // Transfers at this edge, of clocked units alone: an ingress takes from the wire and gives to the host,
    // an egress the reverse.
    std::uint32_t taken = rtl_.in_tvalid & rtl_.in_tready;
    std::uint32_t given = rtl_.out_tvalid & rtl_.out_tready;
    for (unsigned port = 0; port < PORTS; ++port) {
      if (!(units_on >> port & 1)) {
        taken &= ~(1U << 2 * port);
        given &= ~(2U << 2 * port);
      }
      if (!(units_on >> (PORTS + port) & 1)) {
        taken &= ~(2U << 2 * port);
        given &= ~(1U << 2 * port);
      }
    }
    for (unsigned way = 0; way < 2 * PORTS; ++way) {
      if (given >> way & 1) out(way).write(beat(way));
      if (taken >> way & 1) take(way);
    }
    edge(rtl_.ingress_on, rtl_.egress_on);
  }

  RegisterFile::Reading read32(std::uint32_t offset) override {
    rtl_.s_axil_araddr = offset;
    rtl_.s_axil_arvalid = 1;
    bool answered = false;
    RegisterFile::Reading reading{false, 0};
    for (unsigned clock = 0; clock < ANSWER_CLOCKS && !answered; ++clock) {
      quiet_eval();
      const bool accepted = rtl_.s_axil_arvalid && rtl_.s_axil_arready;
      answered = rtl_.s_axil_rvalid;
      reading = {rtl_.s_axil_rresp == 0, rtl_.s_axil_rdata};
      edge(0, 0);
      if (accepted) rtl_.s_axil_arvalid = 0;
    }
    if (!answered) throw std::runtime_error("the registers do not answer a read");
    return reading;
  }

  bool write32(std::uint32_t offset, std::uint32_t value) override {
    rtl_.s_axil_awaddr = offset;
    rtl_.s_axil_wdata = value;
    rtl_.s_axil_awvalid = rtl_.s_axil_wvalid = 1;
    for (unsigned clock = 0; clock < ANSWER_CLOCKS; ++clock) {
      quiet_eval();
      const bool address = rtl_.s_axil_awvalid && rtl_.s_axil_awready;
      const bool data = rtl_.s_axil_wvalid && rtl_.s_axil_wready;
      const bool answered = rtl_.s_axil_bvalid;
      const bool done = rtl_.s_axil_bresp == 0;
      edge(0, 0);
      if (address) rtl_.s_axil_awvalid = 0;
      if (data) rtl_.s_axil_wvalid = 0;
      if (answered) return done;
    }
    throw std::runtime_error("the registers do not answer a write");
  }

  std::uint32_t quiet_clocks() const override { return QUIET_CLOCKS; }
  EventLog* log(unsigned) override { return nullptr; }

 private:
  // A port's words lie side by side; 64 bits of them.
  template <class Wide>
  static void set_quad(Wide& wide, unsigned place, std::uint64_t value) {
    wide[2 * place] = static_cast<std::uint32_t>(value);
    wide[2 * place + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  template <class Wide>
  static std::uint64_t quad(Wide& wide, unsigned place) {
    return std::uint64_t{wide[2 * place + 1]} << 32 | wide[2 * place];
  }

  // Streams of frames by way: even ones at a wire, odd ones at the host.
  block::Axis& in(unsigned way) { return lanes_[way / 2]->in[way % 2]; }
  block::Axis& out(unsigned way) { return lanes_[way / 2]->out[way % 2]; }

  void power_on() {
    rtl_.aresetn = 0;
    for (unsigned clock = 0; clock < RESET_CLOCKS; ++clock) edge(ALL, ALL);
    rtl_.aresetn = 1;
    for (unsigned clock = 0; clock < READY_CLOCKS; ++clock) {
      edge(ALL, ALL);
      if (rtl_.in_tready == (1U << 2 * PORTS) - 1) return;
    }
    throw std::invalid_argument("the units take nothing after a reset");
  }

  // Settles the logic with the units' clocks off, for register accesses.
  void quiet_eval() {
    rtl_.ingress_on = rtl_.egress_on = 0;
    rtl_.eval();
  }

  void edge(unsigned ingress, unsigned egress) {
    rtl_.aclk = 1;
    rtl_.ingress_clk = ingress;
    rtl_.egress_clk = egress;
    rtl_.eval();
    rtl_.aclk = rtl_.ingress_clk = rtl_.egress_clk = 0;
    rtl_.eval();
  }

  void offer(unsigned way) {
    const std::uint32_t bit = 1U << way;
    if (!waiting_[way] && !in(way).empty()) {
      const block::Beat beat = in(way).read();
      in(way).write(beat);  // stays in the stream until taken, so that its source sees back-pressure
      std::vector<std::uint8_t> bytes;
      append_bytes(bytes, beat, block::BEAT_BYTES);
      std::memcpy(&rtl_.in_tdata[16 * way], bytes.data(), bytes.size());
      set_quad(rtl_.in_tkeep, way, beat.keep.to_uint64());
      set_quad(rtl_.in_tuser, way, beat.user.to_uint64());
      rtl_.in_tlast = (rtl_.in_tlast & ~bit) | (beat.last == 1 ? bit : 0);
      waiting_[way] = true;
    }
    rtl_.in_tvalid = (rtl_.in_tvalid & ~bit) | (waiting_[way] ? bit : 0);
    rtl_.out_tready = (rtl_.out_tready & ~bit) | (out(way).full() ? 0 : bit);
  }

  void take(unsigned way) {
    in(way).read();
    waiting_[way] = false;
  }

  block::Beat beat(unsigned way) {
    block::Beat beat;
    put_bytes(beat, reinterpret_cast<const std::uint8_t*>(&rtl_.out_tdata[16 * way]), block::BEAT_BYTES, 0);
    beat.keep = beat.strb = quad(rtl_.out_tkeep, way);
    beat.user = quad(rtl_.out_tuser, way);
    beat.last = rtl_.out_tlast >> way & 1;
    return beat;
  }

  Lanes& lanes_;
  VerilatedContext context_;
  Vrtl_bench rtl_{&context_};
  bool waiting_[2 * PORTS] = {};  // a beat is offered to the RTL
};

}  // namespace

std::unique_ptr<Units> make_units(Lanes& lanes, bool bump) {
  if (bump || lanes.size() != PORTS) throw std::invalid_argument("the RTL has three ports and no bump");
  return std::make_unique<RtlUnits>(lanes);
}

}  // namespace clarion::sim
