// SPDX-License-Identifier: Apache-2.0
#include "batch.hpp"

#include <functional>
#include <map>

#include "core/data_plane.hpp"
#include "counters.hpp"
#include "json_object.hpp"
#include "options_reader.hpp"
#include "registers.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;
using Step = std::function<void()>;

constexpr std::uint64_t BUCKETS = DEFAULT_BUCKETS;
constexpr std::uint64_t MAX_LIMIT_BYTES = max_of_bits(40);

class Reader {
 public:
  Reader(Fabric& fabric, Switch& sw) : fabric_(fabric), sw_(sw) {}

  Step read(const json& change, const Path& path) {
    JsonObject object(change, path);
    Step step;
    if (change.contains("port")) {
      step = port(object);
    } else if (change.contains("address")) {
      step = address(object);
    } else if (change.contains("flood")) {
      step = flood(object);
    } else if (change.contains("note")) {
      std::string note;
      object.text("note", note);
      step = [this, note] { sw_.note = note; };
    } else {
      bool reset = false;
      object.require("reset");
      object.boolean("reset", reset);
      step = [this, reset] {
        if (reset) this->reset();
      };
    }
    object.refuse_unknown_keys();
    return step;
  }

 private:
  Port& numbered(const JsonObject& object, const std::string& key, std::uint64_t number) const {
    Port* port = sw_.numbered(number);
    if (port == nullptr)
      object.fail(key, FaultCode::not_found, "the switch has no port " + std::to_string(number));
    return *port;
  }

  // Null: the controller's port.
  Port* target(const JsonObject& object, const std::string& key, std::uint64_t number) const {
    Port* port = sw_.numbered(number);
    return port == nullptr && number == CPU_PORT ? nullptr : &numbered(object, key, number);
  }

  static std::uint8_t epoch(JsonObject& object) {
    std::uint64_t epoch = 0;
    object.require("epoch");
    object.integer("epoch", 1, LAST_EPOCH, epoch);
    return static_cast<std::uint8_t>(epoch);
  }

  static std::uint64_t needed(JsonObject& object, const char* key, std::uint64_t min, std::uint64_t max) {
    std::uint64_t value = 0;
    object.require(key);
    object.integer(key, min, max, value);
    return value;
  }

  static XcpEntry xcp(const json& value, const Path& path) {
    JsonObject object(value, path);
    XcpEntry entry;
    XcpConfig& config = entry.config;
    config.enabled = true;
    visit_arguments(
        config, [&object](const char* name, auto& value, std::uint64_t least, std::uint64_t most) {
          value = static_cast<std::remove_reference_t<decltype(value)>>(needed(object, name, least, most));
        });
    entry.epoch = epoch(object);
    object.refuse_unknown_keys();
    if (config.min_interval > config.max_interval)
      object.fail("min_interval", FaultCode::conflict, "must not exceed max_interval");
    return entry;
  }

  // Whether the path of a port has what its controllers are to do.
  static void check_path(const XcpConfig& xcp, const Port& port, const Path& path) {
    if (port.router) throw Fault{path, FaultCode::conflict, ROUTED};
    if (xcp.capacity_bytes_per_s != 0) return;
    if (!port.path->takes_measured()) throw Fault{path / "capacity", FaultCode::unsupported, NOT_MEASURED};
    if (port.options.rate_bps == 0) throw Fault{path / "capacity", FaultCode::conflict, UNMEASURABLE};
  }

  static TagEntry tag(const json& value, const Path& path) {
    JsonObject object(value, path);
    TagEntry entry;
    object.boolean("check", entry.check);
    object.boolean("edge", entry.edge);
    object.boolean("wire", entry.wire);
    entry.epoch = epoch(object);
    object.refuse_unknown_keys();
    return entry;
  }

  // The keys that are there, on top of what changes before this one have made of the port.
  Step port(JsonObject& object) {
    Port& port = numbered(object, "port", needed(object, "port", 0, MAX_PORT_NUMBER));
    std::vector<std::function<void(PortEntries&)>> parts;
    if (const json* v = object.find("xcp")) {
      const auto entry = v->is_null() ? std::nullopt : std::optional(xcp(*v, object.path_of("xcp")));
      if (entry) check_path(entry->config, port, object.path_of("xcp"));
      parts.emplace_back([entry](PortEntries& entries) { entries.xcp = entry; });
    }
    if (const json* v = object.find("tag")) {
      const auto entry = v->is_null() ? std::nullopt : std::optional(tag(*v, object.path_of("tag")));
      parts.emplace_back([entry](PortEntries& entries) { entries.tag = entry; });
    }
    bool stamp = false;
    object.boolean("stamp", stamp);
    if (object.has("stamp")) {
      parts.emplace_back([stamp](PortEntries& entries) { entries.stamp = stamp; });
    }
    if (const json* v = object.find("queue_limit")) {
      std::uint64_t bytes = 0;
      if (!v->is_null()) object.integer("queue_limit", 0, MAX_LIMIT_BYTES, bytes);
      const auto limit = v->is_null() ? std::nullopt : std::optional(bytes);
      parts.emplace_back([limit](PortEntries& entries) { entries.queue_limit_bytes = limit; });
    }
    return [this, &port, parts] {
      PortEntries entries = port.entries;
      for (const auto& part : parts) part(entries);
      fabric_.enter(port, entries);
    };
  }

  Step address(JsonObject& object) {
    const std::uint64_t key = needed(object, "address", 0, max_of_bits(48));
    object.require("to");
    if (object.find("to")->is_null()) return [this, key] { sw_.programmed.addresses.erase(key); };
    Port* to = target(object, "to", needed(object, "to", 0, MAX_PORT_NUMBER));
    return [this, key, to] { sw_.programmed.addresses[key] = to; };
  }

  Step flood(JsonObject& object) {
    const json& value = *object.find("flood");
    if (value.is_null()) return [this] { sw_.programmed.flood.reset(); };
    if (!value.is_array())
      object.fail("flood", FaultCode::invalid, "must be an array of port numbers or null");
    std::vector<Port*> ports;
    for (const json& number : value) {
      if (!number.is_number_unsigned())
        object.fail("flood", FaultCode::invalid, "must be an array of port numbers or null");
      ports.push_back(target(object, "flood", number.get<std::uint64_t>()));
    }
    return [this, ports] { sw_.programmed.flood = ports; };
  }

  // As after start without a configuration of XCP and tags; numbers and loss totals go on.
  void reset() {
    sw_.programmed = ProgrammedForwarding{};
    sw_.note.clear();
    for (Port* port : sw_.ports) {
      fabric_.enter(*port, PortEntries{});
      port->path->forget();
      reset_counters(*port);
    }
  }

  Fabric& fabric_;
  Switch& sw_;
};

json number_of(const Port* port) { return port == nullptr ? CPU_PORT : port->options.number; }

json port_entries(const Port& port) {
  const PortEntries& entries = port.entries;
  json out = {{"port", port.options.number}, {"name", port.options.name}, {"xcp", nullptr}, {"tag", nullptr},
              {"stamp", entries.stamp},      {"queue_limit", nullptr}};
  if (entries.xcp) {
    json& xcp = out["xcp"] = json::object();
    visit_arguments(entries.xcp->config, [&xcp](const char* name, auto value, std::uint64_t, std::uint64_t) {
      xcp[name] = value;
    });
    xcp["epoch"] = entries.xcp->epoch;
  }
  if (entries.tag) {
    out["tag"] = {{"check", entries.tag->check},
                  {"edge", entries.tag->edge},
                  {"wire", entries.tag->wire},
                  {"epoch", entries.tag->epoch}};
  }
  if (entries.queue_limit_bytes) out["queue_limit"] = *entries.queue_limit_bytes;
  return out;
}

}  // namespace

void apply_batch(Fabric& fabric, Switch& sw, const json& changes) {
  if (!changes.is_array()) throw Fault{"changes", FaultCode::invalid, "must be an array"};
  Reader reader(fabric, sw);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    steps.push_back(reader.read(changes[i], Path("changes") / i));
  }
  for (const Step& step : steps) step();
}

json entries_of(const Switch& sw) {
  json ports = json::array();
  for (const Port* port : sw.ports) ports.push_back(port_entries(*port));
  json addresses = json::array();
  for (const auto& [address, port] : sw.programmed.addresses) {
    addresses.push_back({address, number_of(port)});
  }
  json flood = nullptr;
  if (sw.programmed.flood) {
    flood = json::array();
    for (const Port* port : *sw.programmed.flood) flood.push_back(number_of(port));
  }
  return {{"switch", sw.name},
          {"note", sw.note},
          {"ports", std::move(ports)},
          {"flood", flood},
          {"addresses", addresses}};
}

json read_registers(const Switch& sw, const std::string& name, std::uint64_t first, std::uint64_t count) {
  const RegisterArray* array = sw.ports.front()->path->find_register(name);
  if (array == nullptr) throw Fault{"register", FaultCode::not_found, "there is no register '" + name + "'"};
  const std::uint64_t cells = array->per_bucket ? BUCKETS : 1;
  json::array_t values;
  const Port* port = nullptr;
  for (std::uint64_t index = first; index < first + count; ++index) {
    if (index == first || index % cells == 0) port = sw.numbered(index / cells);
    values.push_back(port == nullptr ? 0 : array->read(*port, static_cast<std::uint16_t>(index % cells)));
  }
  return {{"values", std::move(values)}};
}

json counters_of(const Switch& sw) {
  json out = json::object();
  for (std::size_t array = 0; array < COUNTER_ARRAYS; ++array) {
    json cells = json::array();
    for (const Port* port : sw.ports) {
      const CounterValue value = read_counter(*port, array);
      cells.push_back({port->options.number, value.packets, value.bytes});
    }
    out[COUNTERS[array].name] = std::move(cells);
  }
  return {{"counters", std::move(out)}};
}

}  // namespace clarion::emu
