// SPDX-License-Identifier: Apache-2.0
// The block in C simulation, built of given parts: separate units per port, or a bump in the wire.
#pragma once

#include "hls/block/bump.hpp"
#include "hls/sim/bench/units.hpp"

namespace clarion::sim {

struct WatchedParts : block::Hardware {
  using Watch = EventLog;
};

template <class Parts>
class BlockUnits : public Units {
 public:
  BlockUnits(Lanes& lanes, bool bump) : lanes_(lanes), registers_(facts(lanes), streams(lanes)) {
    if (bump) {
      bump_ = std::make_unique<block::Bump<Parts>>();
      return;
    }
    for (std::size_t port = 0; port < lanes.size(); ++port) ports_.push_back(std::make_unique<PortUnits>());
  }

  void step(const Wires& wires, std::uint32_t units_on, bool registers_rest) override {
    if (bump_)
      bump_->step(bump_port(*lanes_[0]), bump_port(*lanes_[1]), wires.protocol, wires.now);
    else
      step_ports(wires, units_on);
    if (registers_rest) return;
    registers_.set_now(wires.now);
    registers_.step();
  }

  RegisterFile::Reading read32(std::uint32_t offset) override { return registers_.read32(offset); }
  bool write32(std::uint32_t offset, std::uint32_t value) override {
    return registers_.write32(offset, value);
  }

  EventLog* log(unsigned port) override {
    if (!bump_) return &ports_[port]->egress.watch();
    return port == 0 ? &bump_->watch_a() : &bump_->watch_b();
  }

 private:
  struct PortUnits {
    block::Ingress<Parts> ingress;
    block::Egress<Parts> egress;
  };

  static block::BumpPort bump_port(Lane& lane) {
    return {lane.in[0],       lane.out[0],     lane.commands[0], lane.replies[0],
            lane.commands[1], lane.replies[1], lane.replies[2]};
  }

  static BlockFacts facts(const Lanes& lanes) {
    BlockFacts facts;
    facts.ports = static_cast<unsigned>(lanes.size());
    facts.buckets = block::BUCKETS;
    facts.queue_beats = block::QUEUE_BEATS;
    return facts;
  }

  static std::vector<UnitStreams> streams(Lanes& lanes) {
    std::vector<UnitStreams> units;
    unsigned port = 0;
    for (auto& lane : lanes) units.push_back({false, port++, &lane->commands[0], &lane->replies[0], nullptr});
    port = 0;
    for (auto& lane : lanes) {
      units.push_back({true, port++, &lane->commands[1], &lane->replies[1], &lane->replies[2]});
    }
    return units;
  }

  void step_ports(const Wires& wires, std::uint32_t units_on) {
    const std::size_t ports = ports_.size();
    for (std::size_t port = 0; port < ports; ++port) {
      Lane& lane = *lanes_[port];
      if (units_on >> port & 1) {
        ports_[port]->ingress.step(lane.in[0], lane.out[1], wires.protocol, lane.commands[0], lane.replies[0],
                                   wires.now);
      }
      if (units_on >> (ports + port) & 1) {
        ports_[port]->egress.step(lane.in[1], lane.out[0], wires.protocol, wires.elsewhere[port],
                                  lane.commands[1], lane.replies[1], lane.replies[2], wires.now);
      }
    }
  }

  Lanes& lanes_;
  std::vector<std::unique_ptr<PortUnits>> ports_;
  std::unique_ptr<block::Bump<Parts>> bump_;
  RegisterFile registers_;
};

}  // namespace clarion::sim
