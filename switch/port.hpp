// SPDX-License-Identifier: Apache-2.0
// One port of one switch: its options, its half of the links, its path through the data plane, its counters.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "capacity_meter.hpp"
#include "captures.hpp"
#include "clock.hpp"
#include "hazards.hpp"
#include "loss_model.hpp"
#include "neighbours.hpp"
#include "netdev.hpp"
#include "options.hpp"
#include "packet_fifo.hpp"
#include "pair_former.hpp"
#include "port_entries.hpp"
#include "port_path.hpp"
#include "queue_statistics.hpp"
#include "router/router_law.hpp"
#include "shaper.hpp"
#include "wire.hpp"

namespace clarion::emu {

struct PortCounters {
  std::uint64_t tx_packets = 0;  // left the queue, whether or not the wire lost them later
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_packets = 0;  // reached the switch
  std::uint64_t rx_bytes = 0;
  std::uint64_t drop_packets = 0;  // by the queue
  std::uint64_t drop_bytes = 0;
  std::uint64_t memory_drops = 0;  // part of drop_packets: the packet memory was at its limit
  std::uint64_t wire_lost_packets = 0;
  std::uint64_t hazard_lost_packets = 0;  // on the outgoing wire, but not corrupted
  std::uint64_t marked_packets = 0;       // by the queue
  std::uint64_t ingress_lost_packets = 0;
  std::uint64_t tx_late_packets = 0;  // handed to the netdev more than 1 ms after their time
  Nanoseconds tx_late_max_ns = 0;
  std::uint64_t rx_runts = 0;  // shorter than an Ethernet header: dropped
};

// A cell of a counter array.
struct CounterValue {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};
constexpr std::size_t COUNTER_ARRAYS = 8;

struct Switch;

// Takes the frames that leave by a port; of each, `stored` bytes are there.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void take(Nanoseconds now, const std::uint8_t* frame, std::uint32_t stored,
                    std::uint32_t length) = 0;
};

// In the order in which packets need it: of hundreds of ports each packet meets two that the caches have
// lost.
struct Port {
  Port(PortOptions port_options, std::size_t port_id, std::string name_of_switch, ChunkPool& pool,
       std::uint64_t seed, std::uint8_t protocol, const PathFactory& make_path)
      : id(port_id),
        out(pool),
        in(pool),
        path(make_path(out, protocol)),
        out_wire(RandomStream(seed, name_of_switch + ":" + port_options.name + ":out")),
        in_wire(RandomStream(seed, name_of_switch + ":" + port_options.name + ":in")),
        hazards(RandomStream(seed, name_of_switch + ":" + port_options.name + ":hazards"), protocol),
        hello_out(RandomStream(seed, name_of_switch + ":" + port_options.name + ":hello-out")),
        hello_in(RandomStream(seed, name_of_switch + ":" + port_options.name + ":hello-in")),
        options(std::move(port_options)),
        switch_name(std::move(name_of_switch)) {}

  std::size_t id;  // position in the fabric
  Switch* parent = nullptr;
  Port* peer = nullptr;  // internal link; or
  std::unique_ptr<Netdev> netdev;
  FrameSink* sink = nullptr;  // or what stands for a device

  // Whether what has come out of the wire is handed on at its time, not when the process wakes up.
  bool delivers_inside() const { return peer != nullptr || sink != nullptr; }

  Nanoseconds held_until = 0;  // a packet waits at a free link for the next one, at most until then
  Shaper shaper;

  // When the next packet of the queue, if there is one, goes onto the link.
  Nanoseconds departs_at() const { return std::max(shaper.free_at(), held_until); }

  PacketFifo out;  // outgoing wire, and the queue if that is in the switch's memory
  PacketFifo in;   // incoming wire, only where the options delay what comes in
  std::unique_ptr<PortPath> path;
  Wire out_wire;
  Wire in_wire;
  Hazards hazards;  // of the outgoing wire
  PortCounters counters;
  PortEntries entries;  // what the path is configured with
  CapacityMeter meter;  // of ports with XCP
  PairFormer pairs;     // of ports whose capacity is measured
  QueueStatistics queue_statistics;
  std::unique_ptr<RouterLaw> router;  // null: none

  Neighbours neighbours;
  LossModel hello_out;  // the wires' losses, for LLDP
  LossModel hello_in;

  CaptureEnd capture;
  PortOptions options;
  std::string switch_name;
  std::uint32_t drop_number = 0;                                 // of the last drop by the queue
  std::array<CounterValue, COUNTER_ARRAYS> counters_at_reset{};  // which ours count on from
};

}  // namespace clarion::emu
