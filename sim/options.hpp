// SPDX-License-Identifier: Apache-2.0
// What is to be simulated, as plain structs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hosts/device.hpp"
#include "hosts/shim.hpp"
#include "switch/options.hpp"

namespace clarion::sim {

struct HostOptions {
  std::string name;
  std::string port;  // "switch:port"
  Address address;
  ShimSettings shim;
  DeviceSettings device;
};

// A time in which an application writes, of those in which it does so in turns.
struct BurstOptions {
  std::uint64_t begin_us = 0;
  std::uint64_t end_us = 0;
};

struct FlowOptions {
  std::size_t sender = 0;  // hosts, by index
  std::size_t receiver = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::string law;
  std::map<std::string, std::uint32_t> params;
  bool sack = true;
  std::uint64_t quick_start_bps = 0;  // asked of routers (RFC 4782); 0: nothing
  bool xcp_ttl = false;               // its data has the option of XCP-i
  std::uint64_t start_us = 0;
  std::uint64_t stop_us = ~std::uint64_t{0};
  std::uint64_t size_bytes = ~std::uint64_t{0};  // ~0: without end
  std::vector<BurstOptions> bursts;              // empty: it writes from start to stop
  std::uint64_t udp_bps = 0;                     // of IP packets; 0: TCP
  std::uint32_t udp_packet_bytes = 0;
};

struct ChangeOptions {
  std::uint64_t at_us = 0;
  std::string command;  // of the switch's control language
};

struct SimulationOptions {
  emu::Options network;
  std::vector<HostOptions> hosts;
  std::vector<FlowOptions> flows;
  std::vector<ChangeOptions> changes;
  std::uint64_t lead_us = 0;  // so long before its first data a flow connects; the run begins so much earlier
  std::uint64_t duration_us = 0;
  std::uint64_t measure_from_us = 0;
  std::uint64_t drain_us = 0;  // at most so long after `duration_us` what is under way may still arrive
  std::uint64_t sample_us = 100'000;
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30;  // of each receiver
  std::uint32_t mss_bytes = 1448;
  std::uint32_t pacing_percent = 0;  // of the window per round trip, of the kernel's senders; 0: Linux's own
  bool ecn = false;
};

// Throws emu::Fault.
SimulationOptions read_simulation_file(const std::string& path);

}  // namespace clarion::sim
