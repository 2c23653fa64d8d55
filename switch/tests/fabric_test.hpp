// SPDX-License-Identifier: Apache-2.0
// Switches in virtual time, without devices and without sleeping.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "core_path.hpp"
#include "error.hpp"
#include "fabric.hpp"
#include "options_reader.hpp"

namespace clarion::emu {

using nlohmann::json;

inline constexpr std::uint8_t HOST_A[] = {2, 0, 0, 0, 0, 0xa};
inline constexpr std::uint8_t HOST_B[] = {2, 0, 0, 0, 0, 0xb};
inline constexpr std::uint8_t BROADCAST[] = {255, 255, 255, 255, 255, 255};

inline std::vector<std::uint8_t> frame(const std::uint8_t* to, const std::uint8_t* from, std::size_t length) {
  std::vector<std::uint8_t> bytes(length);
  std::copy(to, to + 6, bytes.begin());
  std::copy(from, from + 6, bytes.begin() + 6);
  return bytes;
}

class FabricTest : public testing::Test {
 protected:
  explicit FabricTest(PathFactory make_path = core_path) : make_path_(std::move(make_path)) {}

  void build(const char* document) {
    fabric_ = std::make_unique<Fabric>(read_options(json::parse(document)), make_path_, Surroundings{false});
  }

  void receive(const char* port, Nanoseconds after, const std::vector<std::uint8_t>& bytes) {
    fabric_->receive(*fabric_->find(port), start_ + after, bytes.data(),
                     static_cast<std::uint32_t>(bytes.size()));
  }
  CorePath& core(const char* port) { return static_cast<CorePath&>(*fabric_->find(port)->path); }
  const PortCounters& counters(const char* port) { return fabric_->find(port)->counters; }
  json command(const std::string& line) { return json::parse(execute(*fabric_, line, subscription_)); }

  // What a command is refused for: "code path: reason"; "accepted" if it is not.
  std::string refusal(const std::string& line) {
    const json reply = command(line);
    if (!reply.contains("fault")) return "accepted";
    EXPECT_EQ(reply["ok"], false);
    const json& fault = reply["fault"];
    Path path;
    for (const json& step : fault["path"]) {
      path = step.is_string() ? path / step.get<std::string>() : path / step.get<std::size_t>();
    }
    return fault["code"].get<std::string>() + " " + path.text() + ": " + fault["reason"].get<std::string>();
  }

  PathFactory make_path_;
  std::unique_ptr<Fabric> fabric_;
  Subscription subscription_;
  Nanoseconds start_ = now_ns() + 10 * SECOND_NS;
};

inline constexpr const char* THREE_PORTS = R"({"lldp":false,"switches":[{"name":"s1","ports":[
  {"name":"a","netdev":"a"},{"name":"b","netdev":"b","rate_bps":8000000,"queue_bytes":3000,"delay_us":1000},
  {"name":"c","netdev":"c"}]}]})";

}  // namespace clarion::emu
