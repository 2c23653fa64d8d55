// SPDX-License-Identifier: Apache-2.0
#include "router_reader.hpp"

#include <map>
#include <string>

#include "json_object.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;
using Law = RouterOptions::Law;

constexpr std::uint64_t MIN_INTERVAL_US = 1'000;
constexpr std::uint64_t MAX_INTERVAL_US = 60'000'000;
constexpr std::uint64_t MIN_SAMPLE_US = 100;

void time_us(JsonObject& object, const std::string& key, std::uint64_t least_us, Nanoseconds& out_ns) {
  std::uint64_t us = out_ns / 1000;
  object.integer(key, least_us, MAX_INTERVAL_US, us);
  out_ns = us * 1000;
}

void read_vcp(JsonObject& object, VcpSettings& vcp) {
  time_us(object, "interval_us", MIN_INTERVAL_US, vcp.interval_ns);
  time_us(object, "sample_us", MIN_SAMPLE_US, vcp.sample_ns);
  object.real("queue_gain", 0, 10, vcp.queue_gain);
  object.real("queue_weight", 0.001, 1, vcp.queue_weight);
  object.real("target", 0.1, 1, vcp.target);
  if (vcp.sample_ns > vcp.interval_ns) {
    object.fail("sample_us", FaultCode::conflict,
                "must be at most interval_us, " + std::to_string(vcp.interval_ns / 1000));
  }
}

void read_quick_start(JsonObject& object, QuickStartSettings& quick_start) {
  object.boolean("aware", quick_start.aware);
  time_us(object, "interval_us", MIN_INTERVAL_US, quick_start.interval_ns);
  object.real("share", 0, 1, quick_start.share);
}

void read_ixcp(JsonObject& object, XcpGains& ixcp) { object.real("gamma", 0, 1, ixcp.gamma); }

void read_jetmax(JsonObject& object, JetmaxSettings& jetmax) {
  time_us(object, "interval_us", MIN_INTERVAL_US, jetmax.interval_ns);
  object.real("target", 0.1, 1, jetmax.target);
}

void read_maxnet(JsonObject& object, MaxnetSettings& maxnet) {
  time_us(object, "interval_us", MIN_INTERVAL_US, maxnet.interval_ns);
  time_us(object, "max_rtt_us", MIN_INTERVAL_US, maxnet.max_rtt_ns);
  object.real("target", 0.1, 1, maxnet.target);
  if (maxnet.interval_ns > maxnet.max_rtt_ns) {
    object.fail("interval_us", FaultCode::conflict,
                "must be at most max_rtt_us, " + std::to_string(maxnet.max_rtt_ns / 1000));
  }
}

}  // namespace

RouterOptions read_router(const json& value, const Path& path) {
  static const std::map<std::string, Law> LAWS = {
      {"vcp", Law::vcp},     {"quick-start", Law::quick_start}, {"ixcp", Law::ixcp},
      {"p-xcp", Law::p_xcp}, {"jetmax", Law::jetmax},           {"maxnet", Law::maxnet},
      {"xcp-i", Law::xcp_i},
  };
  JsonObject object(value, path);
  RouterOptions router;
  std::string law;
  object.require("law");
  object.text("law", law);
  const auto known = LAWS.find(law);
  if (known == LAWS.end())
    object.fail("law", FaultCode::unknown,
                "must be vcp, quick-start, ixcp, p-xcp, jetmax, maxnet or xcp-i, not \"" + law + "\"");
  router.law = known->second;
  if (router.law == Law::vcp) read_vcp(object, router.vcp);
  if (router.law == Law::quick_start) read_quick_start(object, router.quick_start);
  if (router.law == Law::ixcp) read_ixcp(object, router.ixcp);
  if (router.law == Law::jetmax) read_jetmax(object, router.jetmax);
  if (router.law == Law::maxnet) read_maxnet(object, router.maxnet);
  if (router.law == Law::xcp_i) object.boolean("aware", router.xcp_i.aware);
  object.refuse_unknown_keys();
  return router;
}

}  // namespace clarion::emu
