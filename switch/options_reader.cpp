// SPDX-License-Identifier: Apache-2.0
#include "options_reader.hpp"

#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "discipline_reader.hpp"
#include "json_object.hpp"
#include "programmed_forwarding.hpp"
#include "router_reader.hpp"
#include "xcp_reader.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;

constexpr std::uint64_t MAX_RATE_BPS = 400'000'000'000;
constexpr std::uint64_t MAX_DELAY_US = 60'000'000;
constexpr std::uint64_t MIN_QUEUE_BYTES = 2'048;  // one full frame must fit
constexpr std::size_t MAX_CHASSIS_ID_BYTES = 64;
constexpr std::size_t HOST_BYTES = 32;       // of its name, in a chassis ID
constexpr std::uint64_t MIN_MTU_BYTES = 68;  // RFC 791
constexpr std::uint64_t MAX_MTU_BYTES = 65'535;
constexpr std::uint64_t MAX_DISPLACEMENT = 10'000;
constexpr std::uint64_t MAX_QUEUE_BYTES = std::uint64_t{1} << 31;

LossOptions read_loss(const json& value, const Path& path) {
  JsonObject object(value, path);
  LossOptions loss;
  std::string model;
  object.require("model");
  object.text("model", model);
  if (model == "packet" || model == "bit") {
    loss.model = model == "bit" ? LossOptions::Model::bit : LossOptions::Model::packet;
    object.require("rate");
    object.real("rate", 0, 1, loss.rate);
  } else if (model == "gilbert-elliott") {
    loss.model = LossOptions::Model::gilbert_elliott;
    object.require("p");
    object.require("r");
    object.real("p", 0, 1, loss.p);
    object.real("r", 0, 1, loss.r);
    object.real("good_loss", 0, 1, loss.good_loss);
    object.real("bad_loss", 0, 1, loss.bad_loss);
  } else if (model != "none") {
    object.fail("model", FaultCode::unknown,
                "must be none, packet, bit or gilbert-elliott, not \"" + model + "\"");
  }
  object.refuse_unknown_keys();
  return loss;
}

// Each key replaces what was there under it.
void read_mtu(const json& value, const Path& path, HazardOptions& hazards) {
  JsonObject object(value, path);
  object.require("bytes");
  hazards.icmp = false;
  object.integer("bytes", MIN_MTU_BYTES, MAX_MTU_BYTES, hazards.mtu_bytes);
  object.boolean("icmp", hazards.icmp);
  object.refuse_unknown_keys();
}

void read_policer(const json& value, const Path& path, HazardOptions& hazards) {
  JsonObject object(value, path);
  object.require("rate_bps");
  object.require("burst_bytes");
  object.integer("rate_bps", 8, MAX_RATE_BPS, hazards.police_bps);
  object.integer("burst_bytes", MIN_QUEUE_BYTES, MAX_QUEUE_BYTES, hazards.police_burst_bytes);
  object.refuse_unknown_keys();
}

void read_hidden_queue(const json& value, const Path& path, HazardOptions& hazards) {
  JsonObject object(value, path);
  object.require("rate_bps");
  object.require("bytes");
  object.integer("rate_bps", 8, MAX_RATE_BPS, hazards.queue_bps);
  object.integer("bytes", MIN_QUEUE_BYTES, MAX_QUEUE_BYTES, hazards.queue_bytes);
  object.refuse_unknown_keys();
}

void read_header(const json& value, const Path& path, HazardOptions& hazards) {
  static const std::map<std::string, HazardOptions::Header> ACTIONS = {
      {"keep", HazardOptions::Header::keep},
      {"strip", HazardOptions::Header::strip},
      {"block", HazardOptions::Header::block},
      {"flip", HazardOptions::Header::flip},
  };
  JsonObject object(value, path);
  std::string action;
  object.require("action");
  object.text("action", action);
  const auto known = ACTIONS.find(action);
  if (known == ACTIONS.end()) {
    object.fail("action", FaultCode::unknown, "must be keep, strip, block or flip, not \"" + action + "\"");
  }
  hazards.header = known->second;
  hazards.header_share = 1;
  object.real("share", 0, 1, hazards.header_share);
  object.refuse_unknown_keys();
}

void read_reorder(const json& value, const Path& path, HazardOptions& hazards) {
  JsonObject object(value, path);
  object.require("share");
  if (object.has("delay_us") == object.has("packets"))
    object.fail("delay_us", FaultCode::conflict, "exactly one of delay_us and packets is needed");
  hazards.reorder_delay_us = hazards.reorder_packets = 0;
  object.real("share", 0, 1, hazards.reorder);
  object.integer("delay_us", 1, MAX_DELAY_US, hazards.reorder_delay_us);
  object.integer("packets", 1, MAX_DISPLACEMENT, hazards.reorder_packets);
  object.refuse_unknown_keys();
}

void read_hazards(const json& value, const Path& path, HazardOptions& hazards) {
  JsonObject object(value, path);
  object.boolean("down", hazards.down);
  if (const json* v = object.find("mtu")) read_mtu(*v, object.path_of("mtu"), hazards);
  if (const json* v = object.find("policer")) read_policer(*v, object.path_of("policer"), hazards);
  if (const json* v = object.find("header")) read_header(*v, object.path_of("header"), hazards);
  if (const json* v = object.find("queue")) read_hidden_queue(*v, object.path_of("queue"), hazards);
  object.real("ack_loss", 0, 1, hazards.ack_loss);
  if (const json* v = object.find("reorder")) read_reorder(*v, object.path_of("reorder"), hazards);
  object.real("duplicate", 0, 1, hazards.duplicate);
  object.refuse_unknown_keys();
}

void read_tag(const json& value, const Path& path, TagConfig& tag) {
  JsonObject object(value, path);
  object.boolean("stamp", tag.stamp);
  object.boolean("check", tag.check);
  object.boolean("edge", tag.edge);
  object.refuse_unknown_keys();
}

WireKnowledge read_wire(const JsonObject& object, const std::string& name) {
  if (name == "declared") return WireKnowledge::declared;
  if (name == "lldp") return WireKnowledge::lldp;
  if (name != "none") {
    object.fail("wire", FaultCode::unknown, "must be declared, lldp or none, not \"" + name + "\"");
  }
  return WireKnowledge::none;
}

// One explicit law for each port, and none beside one that writes the same bits of the header.
void check_router(const JsonObject& object, const PortOptions& port) {
  if (port.rate_bps == 0 && !object.has("router")) {  // a command, which cannot change the law
    object.fail("rate_bps", FaultCode::conflict,
                "must be at least 8 on a port with router.law: without a rate it has no load");
  }
  if (port.rate_bps == 0) {
    object.fail("router", FaultCode::conflict, "needs a port with rate_bps: without, it has no load");
  }
  if (port.xcp.enabled) throw Fault{object.path_of("xcp") / "enabled", FaultCode::conflict, ROUTED};
  if (port.router.law != RouterOptions::Law::vcp) return;
  if (port.ecn_threshold_bytes != 0) {
    object.fail("ecn_threshold_bytes", FaultCode::conflict, "router.law vcp has the bits that it would mark");
  }
  if (port.discipline.ecn) {
    throw Fault{object.path_of("discipline") / "ecn", FaultCode::conflict,
                "router.law vcp has the bits that it would mark"};
  }
}

// The keys that may also change while the port runs.
void read_settings(JsonObject& object, PortOptions& port) {
  object.integer("rate_bps", 0, MAX_RATE_BPS, port.rate_bps);
  object.integer("queue_bytes", MIN_QUEUE_BYTES, MAX_QUEUE_BYTES, port.queue_bytes);
  object.integer("delay_us", 0, MAX_DELAY_US, port.delay_us);
  if (const json* v = object.find("loss")) port.loss = read_loss(*v, object.path_of("loss"));
  object.integer("ingress_delay_us", 0, MAX_DELAY_US, port.ingress_delay_us);
  if (const json* v = object.find("ingress_loss"))
    port.ingress_loss = read_loss(*v, object.path_of("ingress_loss"));
  object.integer("ecn_threshold_bytes", 0, MAX_QUEUE_BYTES, port.ecn_threshold_bytes);
  if (const json* v = object.find("hazards")) read_hazards(*v, object.path_of("hazards"), port.hazards);
  if (const json* v = object.find("xcp")) read_xcp(*v, object.path_of("xcp"), port.xcp);
  if (const json* v = object.find("tag")) read_tag(*v, object.path_of("tag"), port.tag);
  if (object.find("wire") != nullptr) {
    std::string wire;
    object.text("wire", wire);
    port.wire = read_wire(object, wire);
    port.tag.wire = port.wire == WireKnowledge::declared;
  }
  object.refuse_unknown_keys();
  if (port.rate_bps != 0 && port.rate_bps < 8)
    object.fail("rate_bps", FaultCode::out_of_range, "must be 0 (unshaped) or at least 8");
  if (port.xcp.enabled && !port.xcp.has_capacity && port.rate_bps == 0) {
    throw Fault{object.path_of("xcp") / "capacity_bps", FaultCode::missing,
                "is needed for XCP on a port without rate_bps"};
  }
  if (port.xcp.enabled && port.xcp.has_capacity && port.xcp.settings.capacity_bps == 0 &&
      port.rate_bps == 0) {
    throw Fault{object.path_of("xcp") / "capacity_bps", FaultCode::conflict, UNMEASURABLE};
  }
  const bool delays_incoming =
      port.ingress_delay_us != 0 || port.ingress_loss.model != LossOptions::Model::none;
  if (!port.peer.empty() && delays_incoming) {
    object.fail(port.ingress_delay_us != 0 ? "ingress_delay_us" : "ingress_loss", FaultCode::conflict,
                "is for netdev ports; on an internal link set the peer's delay_us and loss");
  }
  if (port.router.on()) check_router(object, port);
}

void check_discipline(const JsonObject& object, const PortOptions& port) {
  if (port.rate_bps == 0) {
    object.fail("discipline", FaultCode::conflict, "needs a port with rate_bps: without, no packet waits");
  }
  if (port.ecn_threshold_bytes != 0) {
    object.fail("ecn_threshold_bytes", FaultCode::conflict,
                "is for drop-tail; a discipline marks with \"ecn\": true");
  }
}

PortOptions read_port(const json& value, const Path& path, std::uint64_t position) {
  JsonObject object(value, path);
  PortOptions port;
  port.path = path;
  port.number = position;
  object.require("name");
  object.text("name", port.name);
  object.integer("number", 0, MAX_PORT_NUMBER - 1, port.number);
  object.text("netdev", port.netdev);
  object.text("peer", port.peer);
  if (port.netdev.empty() == port.peer.empty())
    object.fail("netdev", FaultCode::conflict, "exactly one of netdev and peer is needed");
  if (port.netdev.size() >= IFNAMSIZ)
    object.fail("netdev", FaultCode::invalid, "a device name has at most 15 characters");
  if (const json* v = object.find("discipline")) port.discipline = read_discipline(*v, path / "discipline");
  if (const json* v = object.find("router")) port.router = read_router(*v, path / "router");
  read_settings(object, port);
  if (port.discipline.name != DisciplineOptions::Name::drop_tail) check_discipline(object, port);
  return port;
}

void refuse_separators(const std::string& name, const Path& path) {
  if (name.find_first_of(":,\"\n\r") != std::string::npos) {
    throw Fault{path / "name", FaultCode::invalid, "must not contain ':', ',', quotes or line breaks"};
  }
}

const json& non_empty_array(JsonObject& object, const std::string& key) {
  object.require(key);
  const json& value = *object.find(key);
  if (!value.is_array() || value.empty()) object.fail(key, FaultCode::invalid, "must be a non-empty array");
  return value;
}

// Unlike that of any other switch near: host, network namespace, name. The same after a restart, so that
// neighbours do not take the switch for two.
std::string own_chassis_id(const std::string& name) {
  char host[HOST_BYTES] = "host";
  gethostname(host, sizeof host - 1);
  struct stat space{};
  stat("/proc/self/ns/net", &space);
  return (std::string(host) + "-" + std::to_string(space.st_ino) + "/" + name)
      .substr(0, MAX_CHASSIS_ID_BYTES);
}

void read_forwarding(const json& value, const Path& path, const std::set<std::string>& ports,
                     SwitchOptions& sw) {
  const JsonObject object(value, path);
  for (const auto& [address, port] : value.items()) {
    const auto mac = parse_mac(address);
    if (!mac) object.fail(address, FaultCode::invalid, "must be an address such as 02:00:00:00:00:01");
    if (!port.is_string() || ports.count(port.get<std::string>()) == 0) {
      object.fail(address, FaultCode::not_found,
                  "must be the name of a port of this switch, not " + port.dump());
    }
    sw.forwarding.emplace_back(*mac, port.get<std::string>());
  }
}

SwitchOptions read_switch(const json& value, const Path& path) {
  JsonObject object(value, path);
  SwitchOptions sw;
  object.require("name");
  object.text("name", sw.name);
  refuse_separators(sw.name, path);
  sw.chassis_id = own_chassis_id(sw.name);
  object.text("chassis_id", sw.chassis_id);
  if (sw.chassis_id.empty() || sw.chassis_id.size() > MAX_CHASSIS_ID_BYTES)
    object.fail("chassis_id", FaultCode::out_of_range, "must have from 1 to 64 bytes");
  const json& ports = non_empty_array(object, "ports");
  const json* forwarding = object.find("forwarding");
  object.refuse_unknown_keys();
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sw.ports.push_back(read_port(ports[i], path / "ports" / i, i + 1));
    const PortOptions& port = sw.ports.back();
    refuse_separators(port.name, port.path);
    if (!names.insert(port.name).second)
      throw Fault{port.path / "name", FaultCode::already_exists, "is used twice in this switch"};
    if (!numbers.insert(port.number).second) {
      throw Fault{port.path / "number", FaultCode::already_exists,
                  std::to_string(port.number) +
                      " is used twice in this switch; without `number` it is the position from 1"};
    }
  }
  if (forwarding != nullptr) read_forwarding(*forwarding, path / "forwarding", names, sw);
  return sw;
}

// Every netdev once; the two ends of an internal link name each other.
void check_links(const Options& options) {
  std::map<std::string, const PortOptions*> ports;
  std::set<std::string> netdevs;
  for (const SwitchOptions& sw : options.switches) {
    for (const PortOptions& port : sw.ports) {
      ports[sw.name + ":" + port.name] = &port;
      if (!port.netdev.empty() && !netdevs.insert(port.netdev).second) {
        throw Fault{port.path / "netdev", FaultCode::already_exists, "'" + port.netdev + "' is used twice"};
      }
    }
  }
  for (const auto& [name, port] : ports) {
    if (port->peer.empty()) continue;
    const auto peer = ports.find(port->peer);
    if (peer == ports.end()) {
      throw Fault{port->path / "peer", FaultCode::not_found, "there is no port '" + port->peer + "'"};
    }
    if (peer->second->peer != name || peer->second == port) {
      throw Fault{port->path / "peer", FaultCode::conflict,
                  "'" + port->peer + "' must have \"peer\": \"" + name + "\""};
    }
  }
}

}  // namespace

std::optional<MacAddress> parse_mac(const std::string& text) {
  MacAddress mac{};
  unsigned byte[6] = {};
  char end = 0;
  const int found = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%c", &byte[0], &byte[1], &byte[2],
                                &byte[3], &byte[4], &byte[5], &end);
  if (found != 6) return std::nullopt;
  for (std::size_t i = 0; i < mac.size(); ++i) mac[i] = static_cast<std::uint8_t>(byte[i]);
  return mac;
}

void read_capture(JsonObject& document, CaptureOptions& capture) {
  const json* value = document.find("capture");
  if (value == nullptr) return;
  JsonObject object(*value, document.path_of("capture"));
  object.require("directory");
  object.text("directory", capture.directory);
  object.integer("frame_bytes", 64, 65535, capture.frame_bytes);
  object.refuse_unknown_keys();
}

Options read_options(const json& document) {
  JsonObject object(document, Path());
  Options options;
  std::uint64_t protocol = options.protocol;
  object.integer("seed", 0, std::numeric_limits<std::uint64_t>::max(), options.seed);
  object.integer("protocol", 0, 255, protocol);
  options.protocol = static_cast<std::uint8_t>(protocol);
  object.text("truth_log", options.truth_log);
  read_capture(object, options.capture);
  object.boolean("lldp", options.lldp);
  const json& switches = non_empty_array(object, "switches");
  object.refuse_unknown_keys();
  std::set<std::string> names;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const Path path = Path("switches") / i;
    options.switches.push_back(read_switch(switches[i], path));
    if (!names.insert(options.switches.back().name).second)
      throw Fault{path / "name", FaultCode::already_exists, "is used twice"};
  }
  check_links(options);
  return options;
}

Options read_options_file(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw Fault{"--config", FaultCode::not_found, "cannot read " + path + ": " + std::strerror(errno)};
  json document;
  try {
    document = json::parse(file);
  } catch (const json::parse_error& error) {
    throw Fault{path, FaultCode::invalid, "not JSON, see byte " + std::to_string(error.byte)};
  } catch (const json::exception&) {
    throw Fault{path, FaultCode::invalid, "not JSON: a number is out of range"};
  }
  return read_options(document);
}

PortOptions read_port_changes(const json& command, const PortOptions& current) {
  JsonObject object(command, Path());
  object.find("cmd");
  object.find("port");
  object.find("at_us");
  PortOptions port = current;
  read_settings(object, port);
  return port;
}

}  // namespace clarion::emu
