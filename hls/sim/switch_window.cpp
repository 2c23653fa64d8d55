// SPDX-License-Identifier: Apache-2.0
#include "hls/sim/switch_window.hpp"

#include "core/host_units.hpp"
#include "error.hpp"
#include "hls/sim/block_path.hpp"

namespace clarion::sim {
namespace {

// All ingress units come first, then all egress units.
std::vector<WindowUnit> units_of(const emu::Switch& sw) {
  std::vector<WindowUnit> units;
  for (unsigned port = 0; port < sw.ports.size(); ++port) {
    units.push_back(emu::block_of(*sw.ports[port]).ingress_unit(port));
  }
  for (unsigned port = 0; port < sw.ports.size(); ++port) {
    units.push_back(emu::block_of(*sw.ports[port]).egress_unit(port));
  }
  return units;
}

void check_size(const emu::Switch& sw) {
  const std::size_t most = RegisterFile::MAX_UNITS / 2;
  if (sw.ports.size() <= most) return;
  throw emu::Fault{"--bar", emu::FaultCode::unsupported,
                   "switch '" + sw.name + "' has " + std::to_string(sw.ports.size()) +
                       " ports; a register window has room for " + std::to_string(most)};
}

}  // namespace

SwitchWindow::SwitchWindow(const emu::Fabric& fabric, const emu::Switch& sw, const std::string& path)
    : fabric_(fabric), switch_(sw) {
  check_size(sw);
  BlockFacts facts;
  facts.ports = static_cast<unsigned>(sw.ports.size());
  facts.buckets = SimulatedPort::BUCKETS;
  facts.queue_beats = SimulatedPort::QUEUE_BEATS;
  registers_ = std::make_unique<RegisterFile>(facts, units_of(sw));
  server_ = std::make_unique<BarServer>(path, *registers_, [this](std::size_t unit) { clock_unit(unit); });
}

void SwitchWindow::clock_unit(std::size_t unit) {
  const std::size_t ports = switch_.ports.size();
  const Ticks now = ticks_of_ns(fabric_.now());
  SimulatedPort& port = emu::block_of(*switch_.ports[unit % ports]);
  if (unit < ports)
    port.clock_ingress(now);
  else
    port.clock_egress(now);
}

void SwitchWindow::poll() {
  registers_->set_now(ticks_of_ns(fabric_.now()));
  if (!server_->poll()) return;
  for (emu::Port* port : switch_.ports) emu::block_of(*port).set_protocol(registers_->protocol());
}

}  // namespace clarion::sim
