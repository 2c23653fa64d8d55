// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "batch.hpp"
#include "core/data_plane.hpp"
#include "json_object.hpp"
#include "options_reader.hpp"
#include "statistics.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;

constexpr const char* OK = R"({"ok":true})";
constexpr std::uint64_t MAX_CELLS = DEFAULT_BUCKETS;  // of one reply
constexpr std::uint64_t MAX_TIME_US = std::uint64_t{1} << 53;
constexpr std::uint64_t MAX_DOWN_US = 60'000'000;
constexpr int MAX_DEPTH = 16;  // a message that quotes a value recurses into it

struct Request {
  Fabric& fabric;
  const json& command;
  Subscription& subscription;
};

Switch& named_switch(JsonObject& object, Fabric& fabric) {
  std::string name;
  object.require("switch");
  object.text("switch", name);
  Switch* sw = fabric.find_switch(name);
  if (sw == nullptr) object.fail("switch", FaultCode::not_found, "there is no switch '" + name + "'");
  return *sw;
}

// When a command is to be carried out; 0: at once.
Nanoseconds time_of(JsonObject& object) {
  std::uint64_t at_us = 0;
  object.integer("at_us", 0, MAX_TIME_US, at_us);
  return at_us * 1000;
}

std::string set(const Request& request, JsonObject& object) {
  std::string name;
  object.require("port");
  object.text("port", name);
  Port* port = request.fabric.find(name);
  if (port == nullptr)
    object.fail("port", FaultCode::not_found, "there is no port '" + name + "'; write switch:port");
  const PortOptions changed = read_port_changes(request.command, port->options);
  const Nanoseconds time = time_of(object);
  if (time <= request.fabric.now()) {
    request.fabric.reconfigure(*port, changed);
  } else {
    request.fabric.at(time, [&fabric = request.fabric, port, command = request.command] {
      fabric.reconfigure(*port, read_port_changes(command, port->options));
    });
  }
  return OK;
}

std::string restart(const Request& request, JsonObject& object) {
  Switch& sw = named_switch(object, request.fabric);
  std::uint64_t down_us = 0;
  object.integer("down_us", 0, MAX_DOWN_US, down_us);
  const Nanoseconds time = time_of(object);
  object.refuse_unknown_keys();
  const auto work = [&fabric = request.fabric, &sw, down_us] { fabric.restart(sw, down_us * 1000); };
  if (time <= request.fabric.now()) {
    work();
  } else {
    request.fabric.at(time, work);
  }
  return OK;
}

std::string stats(const Request& request, JsonObject& object) {
  object.refuse_unknown_keys();
  return statistics(request.fabric);
}

std::string info(const Request& request, JsonObject& object) {
  object.refuse_unknown_keys();
  return describe(request.fabric);
}

std::string batch(const Request& request, JsonObject& object) {
  Switch& sw = named_switch(object, request.fabric);
  object.require("changes");
  const json& changes = *object.find("changes");
  object.refuse_unknown_keys();
  apply_batch(request.fabric, sw, changes);
  return OK;
}

std::string entries(const Request& request, JsonObject& object) {
  const Switch& sw = named_switch(object, request.fabric);
  object.refuse_unknown_keys();
  return entries_of(sw).dump();
}

std::string registers(const Request& request, JsonObject& object) {
  const Switch& sw = named_switch(object, request.fabric);
  std::string name;
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  object.require("register");
  object.text("register", name);
  object.integer("first", 0, (MAX_PORT_NUMBER + std::uint64_t{1}) * DEFAULT_BUCKETS - 1, first);
  object.integer("count", 1, MAX_CELLS, count);
  object.refuse_unknown_keys();
  for (Port* port : sw.ports) port->queue_statistics.settle(request.fabric.now());
  return read_registers(sw, name, first, count).dump();
}

std::string counters(const Request& request, JsonObject& object) {
  const Switch& sw = named_switch(object, request.fabric);
  object.refuse_unknown_keys();
  return counters_of(sw).dump();
}

std::string inject(const Request& request, JsonObject& object) {
  Switch& sw = named_switch(object, request.fabric);
  std::string text;
  std::uint64_t number = 0;
  object.require("frame");
  object.text("frame", text);
  object.integer("port", 0, MAX_PORT_NUMBER, number);
  object.refuse_unknown_keys();
  Port* to = object.has("port") ? sw.numbered(number) : nullptr;
  if (object.has("port") && to == nullptr)
    object.fail("port", FaultCode::not_found, "the switch has no port " + std::to_string(number));
  if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    object.fail("frame", FaultCode::invalid, "must be hexadecimal digits, two a byte");
  }
  std::string frame;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    frame.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  if (frame.size() < ETHERNET_BYTES || frame.size() > Netdev::MAX_FRAME_BYTES) {
    object.fail("frame", FaultCode::out_of_range,
                "must have from 14 to " + std::to_string(Netdev::MAX_FRAME_BYTES) + " bytes");
  }
  request.fabric.inject(sw, to, reinterpret_cast<const std::uint8_t*>(frame.data()),
                        static_cast<std::uint32_t>(frame.size()));
  return OK;
}

void listen(JsonObject& object, Fabric& fabric, const char* key, std::uint32_t Listeners::* count,
            std::vector<std::uint32_t*>& counts) {
  const json* names = object.find(key);
  if (names == nullptr) return;
  if (!names->is_array()) object.fail(key, FaultCode::invalid, "must be an array of names of switches");
  for (const json& name : *names) {
    Switch* sw = name.is_string() ? fabric.find_switch(name.get<std::string>()) : nullptr;
    if (sw == nullptr) object.fail(key, FaultCode::not_found, "there is no switch " + name.dump());
    counts.push_back(&(sw->listeners.*count));
  }
}

std::string subscribe(const Request& request, JsonObject& object) {
  std::vector<std::uint32_t*> counts;
  listen(object, request.fabric, "intervals", &Listeners::intervals, counts);
  listen(object, request.fabric, "drops", &Listeners::drops, counts);
  listen(object, request.fabric, "packets", &Listeners::packets, counts);
  object.refuse_unknown_keys();
  request.subscription.replace(std::move(counts));
  return OK;
}

std::string wires(const Request& request, JsonObject& object) {
  const Switch& sw = named_switch(object, request.fabric);
  object.refuse_unknown_keys();
  return wires_of(request.fabric, sw);
}

const std::map<std::string, std::string (*)(const Request&, JsonObject&)> COMMANDS = {
    {"stats", stats},         {"info", info},           {"set", set},           {"batch", batch},
    {"entries", entries},     {"registers", registers}, {"counters", counters}, {"inject", inject},
    {"subscribe", subscribe}, {"restart", restart},     {"wires", wires},
};

std::string refusal(const Fault& fault) {
  json path = json::array();
  for (const Path::Step& step : fault.path.steps()) {
    std::visit([&path](const auto& each) { path.push_back(each); }, step);
  }
  const json reply = {
      {"ok", false},
      {"fault", {{"path", std::move(path)}, {"code", name_of(fault.code)}, {"reason", fault.reason}}}};
  return reply.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse(const std::string& line) {
  return json::parse(line, [](int depth, json::parse_event_t, json&) {
    if (depth > MAX_DEPTH) throw Fault{Path(), FaultCode::invalid, "the command is nested too deeply"};
    return true;
  });
}

std::string dispatch(const Request& request) {
  JsonObject object(request.command, Path());
  std::string name;
  object.require("cmd");
  object.text("cmd", name);
  const auto command = COMMANDS.find(name);
  if (command == COMMANDS.end()) {
    std::string known;
    for (const auto& [each, unused] : COMMANDS) known += (known.empty() ? "" : ", ") + each;
    object.fail("cmd", FaultCode::unknown, "must be one of " + known + ", not \"" + name + "\"");
  }
  return command->second(request, object);
}

}  // namespace

std::string execute(Fabric& fabric, const std::string& line, Subscription& subscription) {
  try {
    return dispatch({fabric, parse(line), subscription});
  } catch (const json::exception&) {
    return refusal({Path(), FaultCode::invalid, "not one JSON object on one line"});
  } catch (const Fault& fault) {
    return refusal(fault);
  }
}

}  // namespace clarion::emu
