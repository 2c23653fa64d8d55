// SPDX-License-Identifier: Apache-2.0
// What the user asks for: the configuration as plain structs. Defaults live here and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/xcp_settings.hpp"
#include "error.hpp"
#include "queue/discipline_options.hpp"
#include "router/router_options.hpp"

namespace clarion::emu {

using MacAddress = std::array<std::uint8_t, 6>;

struct LossOptions {
  enum class Model { none, packet, bit, gilbert_elliott };
  Model model = Model::none;
  double rate = 0;       // packet: probability per packet; bit: probability per bit
  double p = 0;          // Gilbert-Elliott: good -> bad, per packet
  double r = 1;          // bad -> good, per packet
  double good_loss = 0;  // loss probability in the good state
  double bad_loss = 1;   // and in the bad state
};

// What is known of the link at a port. `declared`: that it is a bare wire; LLDP may still disprove it.
// `lldp`: what LLDP finds out. `none`: nothing, and LLDP is off at the port.
enum class WireKnowledge { declared, lldp, none };

// What a link does that is not a wire (hazards.hpp). All off.
struct HazardOptions {
  enum class Header { keep, strip, block, flip };

  bool down = false;             // nothing passes
  std::uint64_t mtu_bytes = 0;   // longest IP packet; 0: any
  bool icmp = false;             // and the sender of a longer one is told
  std::uint64_t police_bps = 0;  // 0: no policer
  std::uint64_t police_burst_bytes = 0;
  std::uint64_t queue_bps = 0;    // of a queue inside the link; 0: none
  std::uint64_t queue_bytes = 0;  // its limit
  Header header = Header::keep;   // what a middlebox does to packets with a Clarion header
  double header_share = 1;        // to that share of them
  double ack_loss = 0;            // share of the acknowledgements without data that get lost
  double duplicate = 0;           // share of the packets that arrive twice
  double reorder = 0;             // share of the packets that come late, by
  std::uint64_t reorder_delay_us = 0;
  std::uint64_t reorder_packets = 0;  // or until that many others have passed

  bool on() const {
    return down || mtu_bytes != 0 || police_bps != 0 || queue_bps != 0 || header != Header::keep ||
           ack_loss > 0 || duplicate > 0 || reorder > 0;
  }
};

struct XcpOptions {
  bool enabled = false;
  bool has_capacity = false;  // else it is the port's rate
  XcpSettings settings;       // capacity 0: to be measured

  bool operator!=(const XcpOptions& other) const {
    return enabled != other.enabled || has_capacity != other.has_capacity || settings != other.settings;
  }
};

struct PortOptions {
  Path path;  // in the configuration, for faults
  std::string name;
  std::uint64_t number = 0;  // by which controllers name it
  std::string netdev;        // exactly one of netdev ...
  std::string peer;          // ... and peer ("switch:port" of the same process) is set
  std::uint64_t rate_bps = 0;
  std::uint64_t queue_bytes = 1'000'000;
  DisciplineOptions discipline;  // of the queue
  RouterOptions router;          // beside it
  std::uint64_t delay_us = 0;
  LossOptions loss;
  std::uint64_t ingress_delay_us = 0;
  LossOptions ingress_loss;
  std::uint64_t ecn_threshold_bytes = 0;  // a longer queue marks; 0: it does not
  HazardOptions hazards;
  XcpOptions xcp;
  TagConfig tag;  // its `wire`: declared
  WireKnowledge wire = WireKnowledge::lldp;
};

struct SwitchOptions {
  std::string name;
  std::string chassis_id;  // what LLDP calls it, unlike any other on its links
  std::vector<PortOptions> ports;
  // Names of ports by address: frames for others are dropped. None: the switch learns.
  std::vector<std::pair<MacAddress, std::string>> forwarding;
};

// Captures of the links. The default keeps the headers, whatever their options, of every packet.
struct CaptureOptions {
  std::string directory;  // empty: none
  std::uint64_t frame_bytes = 192;
};

struct Options {
  std::uint64_t seed = 1;
  std::uint8_t protocol = 253;  // IP protocol number of the Clarion header
  std::string truth_log;        // empty: none
  CaptureOptions capture;
  bool lldp = true;
  std::vector<SwitchOptions> switches;
};

}  // namespace clarion::emu
