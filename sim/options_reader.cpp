// SPDX-License-Identifier: Apache-2.0
#include "switch/options_reader.hpp"

#include <cstdio>
#include <fstream>
#include <map>

#include "hosts/datagrams.hpp"
#include "laws/laws.hpp"
#include "options.hpp"
#include "switch/json_object.hpp"

namespace clarion::sim {
namespace {

using emu::Fault;
using emu::FaultCode;
using emu::JsonObject;
using emu::Path;
using nlohmann::json;

constexpr std::uint64_t MAX_TIME_US = std::uint64_t{1} << 44;  // half a year
constexpr std::uint64_t MAX_BYTES = std::uint64_t{1} << 53;
constexpr std::uint64_t MAX_MSS_BYTES = 9000;
constexpr std::uint64_t MAX_PACING_PERCENT = 1000;  // as of net.ipv4.tcp_pacing_ss_ratio
constexpr std::uint64_t MAX_UDP_BPS = 400'000'000'000;
constexpr std::uint64_t SLOWEST_QUICK_START_BPS = 80'000;  // that the option can say

std::uint32_t read_ip(JsonObject& object) {
  std::string text;
  object.require("address");
  object.text("address", text);
  unsigned a = 0, b = 0, c = 0, d = 0;
  const int found = std::sscanf(text.c_str(), "%3u.%3u.%3u.%3u", &a, &b, &c, &d);
  if (found != 4 || a > 255 || b > 255 || c > 255 || d > 255) {
    object.fail("address", FaultCode::invalid, "must be an IPv4 address, not \"" + text + "\"");
  }
  return a << 24 | b << 16 | c << 8 | d;
}

MacAddress read_mac(JsonObject& object) {
  std::string text;
  object.require("mac");
  object.text("mac", text);
  const auto mac = emu::parse_mac(text);
  if (!mac) object.fail("mac", FaultCode::invalid, "must be a MAC address, not \"" + text + "\"");
  return *mac;
}

void read_device(const json& value, const Path& path, DeviceSettings& device) {
  JsonObject object(value, path);
  for (const char* key : {"rate_bps", "burst_bytes", "limit_bytes"}) object.require(key);
  object.integer("rate_bps", 8, MAX_UDP_BPS, device.rate_bps);
  object.integer("burst_bytes", 1, MAX_BYTES, device.burst_bytes);
  object.integer("limit_bytes", 1, MAX_BYTES, device.limit_bytes);
  object.refuse_unknown_keys();
}

HostOptions read_host(const json& value, const Path& path) {
  JsonObject object(value, path);
  HostOptions host;
  object.require("name");
  object.text("name", host.name);
  object.require("port");
  object.text("port", host.port);
  host.address.ip = read_ip(object);
  host.address.mac = read_mac(object);
  object.boolean("shim", host.shim.attached);
  object.boolean("tags", host.shim.tags);
  object.boolean("wire", host.shim.wire_is_bare);
  if (const json* device = object.find("device")) read_device(*device, path / "device", host.device);
  object.refuse_unknown_keys();
  return host;
}

std::size_t host_index(JsonObject& object, const std::string& key,
                       const std::map<std::string, std::size_t>& hosts) {
  std::string name;
  object.require(key);
  object.text(key, name);
  const auto found = hosts.find(name);
  if (found == hosts.end()) object.fail(key, FaultCode::not_found, "there is no host \"" + name + "\"");
  return found->second;
}

std::uint16_t read_port(JsonObject& object, const std::string& key) {
  std::uint64_t port = 0;
  object.require(key);
  object.integer(key, 1, 65535, port);
  return static_cast<std::uint16_t>(port);
}

void read_params(const json& value, const Path& path, FlowOptions& flow) {
  JsonObject object(value, path);
  cc_params params = default_params();
  for (const auto& [name, given] : value.items()) {
    const auto number = JsonObject::whole(given);
    if (!number || *number > UINT32_MAX || !set_param(params, name, static_cast<std::uint32_t>(*number))) {
      object.fail(name, FaultCode::invalid, "is no parameter of a law, or not in its range");
    }
    flow.params[name] = static_cast<std::uint32_t>(*number);
  }
}

void read_bursts(const json& value, const Path& path, FlowOptions& flow) {
  if (!value.is_array()) throw Fault{path, FaultCode::invalid, "must be a list"};
  for (std::size_t i = 0; i < value.size(); ++i) {
    JsonObject object(value[i], path / i);
    BurstOptions burst;
    object.require("begin_us");
    object.require("end_us");
    object.integer("begin_us", flow.bursts.empty() ? 0 : flow.bursts.back().end_us, MAX_TIME_US,
                   burst.begin_us);
    object.integer("end_us", burst.begin_us, MAX_TIME_US, burst.end_us);
    object.refuse_unknown_keys();
    flow.bursts.push_back(burst);
  }
}

void read_udp(const json& value, const Path& path, FlowOptions& flow) {
  JsonObject object(value, path);
  std::uint64_t packet_bytes = 0;
  object.require("rate_bps");
  object.require("packet_bytes");
  object.integer("rate_bps", 1, MAX_UDP_BPS, flow.udp_bps);
  object.integer("packet_bytes", DatagramSource::UDP_AND_IP_BYTES, MAX_MSS_BYTES, packet_bytes);
  object.refuse_unknown_keys();
  flow.udp_packet_bytes = static_cast<std::uint32_t>(packet_bytes);
}

FlowOptions read_flow(const json& value, const Path& path, const std::map<std::string, std::size_t>& hosts) {
  JsonObject object(value, path);
  FlowOptions flow;
  flow.sender = host_index(object, "sender", hosts);
  flow.receiver = host_index(object, "receiver", hosts);
  flow.source_port = read_port(object, "sport");
  flow.destination_port = read_port(object, "dport");
  if (const json* udp = object.find("udp")) {
    read_udp(*udp, path / "udp", flow);
  } else {
    object.require("law");
  }
  object.text("law", flow.law);
  if (flow.udp_bps == 0 && !is_law(flow.law))
    object.fail("law", FaultCode::unknown, "\"" + flow.law + "\": there is no such law here");
  if (const json* params = object.find("params")) read_params(*params, path / "params", flow);
  object.boolean("sack", flow.sack);
  object.integer("quick_start_bps", SLOWEST_QUICK_START_BPS, MAX_UDP_BPS, flow.quick_start_bps);
  if (flow.quick_start_bps != 0 && !slow_starts(flow.law)) {
    object.fail("quick_start_bps", FaultCode::conflict,
                "is for laws that leave their beginning to TCP, not for " + flow.law);
  }
  object.boolean("xcp_ttl", flow.xcp_ttl);
  object.integer("start_us", 0, MAX_TIME_US, flow.start_us);
  object.integer("stop_us", 0, MAX_TIME_US, flow.stop_us);
  object.integer("size_bytes", 1, MAX_BYTES, flow.size_bytes);
  if (const json* bursts = object.find("bursts")) read_bursts(*bursts, path / "bursts", flow);
  object.refuse_unknown_keys();
  return flow;
}

ChangeOptions read_change(const json& value, const Path& path) {
  JsonObject object(value, path);
  ChangeOptions change;
  object.require("at_us");
  object.integer("at_us", 0, MAX_TIME_US, change.at_us);
  object.require("command");
  if (const json* command = object.find("command")) change.command = command->dump();
  object.refuse_unknown_keys();
  return change;
}

template <class Read>
void read_list(JsonObject& object, const std::string& key, Read read) {
  const json* list = object.find(key);
  if (list == nullptr) return;
  if (!list->is_array()) object.fail(key, FaultCode::invalid, "must be a list");
  for (std::size_t i = 0; i < list->size(); ++i) read((*list)[i], object.path_of(key) / i);
}

SimulationOptions read_simulation(const json& document) {
  JsonObject object(document, Path());
  SimulationOptions options;
  object.require("network");
  options.network = emu::read_options(*object.find("network"));
  std::map<std::string, std::size_t> hosts;
  read_list(object, "hosts", [&](const json& value, const Path& path) {
    options.hosts.push_back(read_host(value, path));
    hosts[options.hosts.back().name] = options.hosts.size() - 1;
  });
  read_list(object, "flows", [&](const json& value, const Path& path) {
    options.flows.push_back(read_flow(value, path, hosts));
  });
  read_list(object, "changes", [&](const json& value, const Path& path) {
    options.changes.push_back(read_change(value, path));
  });
  std::uint64_t mss_bytes = options.mss_bytes;
  std::uint64_t pacing_percent = options.pacing_percent;
  object.require("duration_us");
  object.integer("duration_us", 1, MAX_TIME_US, options.duration_us);
  object.integer("measure_from_us", 0, options.duration_us, options.measure_from_us);
  object.integer("drain_us", 0, MAX_TIME_US, options.drain_us);
  object.integer("lead_us", 0, MAX_TIME_US, options.lead_us);
  object.integer("sample_us", 1000, MAX_TIME_US, options.sample_us);
  object.integer("buffer_bytes", 4096, std::uint64_t{1} << 40, options.buffer_bytes);
  object.integer("mss_bytes", 64, MAX_MSS_BYTES, mss_bytes);
  object.integer("pacing_percent", 1, MAX_PACING_PERCENT, pacing_percent);
  options.pacing_percent = static_cast<std::uint32_t>(pacing_percent);
  options.mss_bytes = static_cast<std::uint32_t>(mss_bytes);
  object.boolean("ecn", options.ecn);
  object.refuse_unknown_keys();
  return options;
}

}  // namespace

SimulationOptions read_simulation_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Fault{path, FaultCode::not_found, "cannot be read"};
  json document;
  try {
    document = json::parse(file);
  } catch (const json::parse_error& error) {
    throw Fault{path, FaultCode::invalid, error.what()};
  }
  return read_simulation(document);
}

}  // namespace clarion::sim
