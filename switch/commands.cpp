// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <nlohmann/json.hpp>

#include "json_object.hpp"
#include "options_reader.hpp"
#include "statistics.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;

std::string set(Fabric& fabric, const json& command) {
  JsonObject object(command, "");
  std::string name;
  object.require("port");
  object.text("port", name);
  Port* port = fabric.find(name);
  if (port == nullptr) object.fail("port", "there is no port '" + name + "'; write switch:port");
  fabric.reconfigure(*port, read_port_changes(command, port->options));
  return R"({"ok":true})";
}

std::string dispatch(Fabric& fabric, const json& command) {
  JsonObject object(command, "");
  std::string name;
  object.require("cmd");
  object.text("cmd", name);
  if (name == "set") return set(fabric, command);
  const bool stats = name == "stats";
  if (!stats && name != "info") object.fail("cmd", "must be stats, info or set, not \"" + name + "\"");
  object.refuse_unknown_keys();
  return stats ? statistics(fabric) : describe(fabric);
}

}  // namespace

std::string execute(Fabric& fabric, const std::string& line) {
  try {
    return dispatch(fabric, json::parse(line));
  } catch (const json::exception&) {
    return R"({"error":"command: not one JSON object on one line"})";
  } catch (const ConfigError& error) {
    return json{{"error", error.what()}}.dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

}  // namespace clarion::emu
