// SPDX-License-Identifier: Apache-2.0
// What the options reader refuses, with the message, and what it accepts.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "options_reader.hpp"

namespace clarion::emu {
namespace {

using nlohmann::json;

json minimal() {
  return json::parse(R"({"switches":[{"name":"s1","ports":[{"name":"p1","netdev":"d1"},
                                                           {"name":"p2","netdev":"d2"}]}]})");
}

std::string error_of(const json& document) {
  try {
    read_options(document);
  } catch (const Fault& fault) {
    return sentence(fault);
  }
  return "accepted";
}

TEST(Options, MinimalHasTheDocumentedDefaults) {
  const Options options = read_options(minimal());
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.protocol, 253);
  const PortOptions& port = options.switches.at(0).ports.at(1);
  EXPECT_EQ(port.rate_bps, 0U);
  EXPECT_EQ(port.queue_bytes, 1'000'000U);
  EXPECT_FALSE(port.xcp.enabled);
  EXPECT_FALSE(port.tag.stamp || port.tag.check || port.tag.edge || port.tag.wire);
  EXPECT_EQ(port.wire, WireKnowledge::lldp);
}

TEST(Options, ReadsEveryKey) {
  json document = minimal();
  document["seed"] = 9;
  document["protocol"] = 254;
  document["switches"][0]["ports"][0].update(json::parse(R"({
    "rate_bps": 1e8, "queue_bytes": 7125000, "delay_us": 275000, "loss": {"model": "bit", "rate": 1e-7},
    "ingress_delay_us": 10, "ingress_loss": {"model": "gilbert-elliott", "p": 0.1, "r": 0.5, "bad_loss": 0.9},
    "xcp": {"enabled": true, "capacity_bps": 99000000, "alpha": 0.3, "max_interval_us": 2000000},
    "tag": {"stamp": true, "check": true, "edge": true}, "wire": "declared"})"));
  const Options options = read_options(document);
  const PortOptions& port = options.switches[0].ports[0];
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.protocol, 254);
  EXPECT_EQ(port.rate_bps, 100'000'000U);
  EXPECT_EQ(port.loss.model, LossOptions::Model::bit);
  EXPECT_EQ(port.ingress_loss.bad_loss, 0.9);
  EXPECT_EQ(port.ingress_loss.good_loss, 0);
  EXPECT_EQ(port.xcp.settings.capacity_bps, 99'000'000U);
  EXPECT_DOUBLE_EQ(port.xcp.settings.beta, 0.09 * std::sqrt(2.0));  // it follows alpha
  EXPECT_TRUE(port.tag.stamp && port.tag.check && port.tag.edge && port.tag.wire);
}

struct Refusal {
  const char* pointer;
  const char* value;
  const char* message;
};

TEST(Options, RefusalsNameTheFieldAndTheFix) {
  const Refusal refusals[] = {
      {"/seed", "-1", "seed: must be a whole number from 0 to 18446744073709551615, not -1"},
      {"/protocol", "256", "protocol: must be a whole number from 0 to 255, not 256"},
      {"/speed", "1", "speed: unknown key; known here: seed, protocol, truth_log, capture, lldp, switches"},
      {"/switches", "[]", "switches: must be a non-empty array"},
      {"/switches/0/name", "\"a:b\"", "switches[0].name: must not contain ':', ',', quotes or line breaks"},
      {"/switches/0/ports/1/name", "\"p1\"", "switches[0].ports[1].name: is used twice in this switch"},
      {"/switches/0/ports/1/number", "1",
       "switches[0].ports[1].number: 1 is used twice in this switch; without `number` it is the position "
       "from 1"},
      {"/switches/0/ports/1/number", "63",
       "switches[0].ports[1].number: must be a whole number from 0 to 62, not 63"},
      {"/switches/0/ports/1/netdev", "\"d1\"", "switches[0].ports[1].netdev: 'd1' is used twice"},
      {"/switches/0/ports/1/netdev", "\"device-name-too-long\"",
       "switches[0].ports[1].netdev: a device name has at most 15 characters"},
      {"/switches/0/ports/1/peer", "\"s1:p1\"",
       "switches[0].ports[1].netdev: exactly one of netdev and peer is needed"},
      {"/switches/0/ports/1/rate_bps", "\"fast\"",
       "switches[0].ports[1].rate_bps: must be a whole number from 0 to 400000000000, not \"fast\""},
      {"/switches/0/ports/1/rate_bps", "7",
       "switches[0].ports[1].rate_bps: must be 0 (unshaped) or at least 8"},
      {"/switches/0/ports/1/rate_bps", "1.5",
       "switches[0].ports[1].rate_bps: must be a whole number from 0 to 400000000000, not 1.5"},
      {"/switches/0/ports/1/queue_bytes", "100",
       "switches[0].ports[1].queue_bytes: must be a whole number from 2048 to 2147483648, not 100"},
      {"/switches/0/ports/1/loss", "{\"model\":\"gauss\"}",
       "switches[0].ports[1].loss.model: must be none, packet, bit or gilbert-elliott, not \"gauss\""},
      {"/switches/0/ports/1/loss", "{\"model\":\"packet\"}", "switches[0].ports[1].loss.rate: is missing"},
      {"/switches/0/ports/1/loss", "{\"model\":\"packet\",\"rate\":1.5}",
       "switches[0].ports[1].loss.rate: must be a number from 0.0 to 1.0, not 1.5"},
      {"/switches/0/ports/1/loss", "{\"model\":\"none\",\"rate\":0.1}",
       "switches[0].ports[1].loss.rate: unknown key; known here: model"},
      {"/switches/0/ports/1/xcp", "{\"enabled\":true}",
       "switches[0].ports[1].xcp.capacity_bps: is needed for XCP on a port without rate_bps"},
      {"/switches/0/ports/1/xcp", "{\"enabled\":true,\"capacity_bps\":\"measured\"}",
       "switches[0].ports[1].xcp.capacity_bps: \"measured\": nothing ever waits at a port without rate_bps; "
       "give "
       "that, or the capacity in bit/s"},
      {"/switches/0/ports/1/xcp", "{\"capacity_bps\":\"mesured\"}",
       "switches[0].ports[1].xcp.capacity_bps: \"mesured\": use a whole number of bit/s from 8 to "
       "2199023255551, "
       "or \"measured\""},
      {"/switches/0/ports/1/xcp", "{\"capacity_bps\":0}",
       "switches[0].ports[1].xcp.capacity_bps: 0: use a whole number of bit/s from 8 to 2199023255551, or "
       "\"measured\""},
      {"/switches/0/ports/1/xcp", "{\"alpha\":4}",
       "switches[0].ports[1].xcp.alpha: 4: must be above 0 and below 0.5553 (pi/(4*sqrt 2)), or the control "
       "loop is not stable; with allow_unstable from 0 to 3.99998"},
      {"/switches/0/ports/1/xcp", "{\"min_interval_us\":2000000}",
       "switches[0].ports[1].xcp.min_interval_us: 2000000: must be at most max_interval_us, 1000000"},
      {"/switches/0/ports/1/hazards", "{\"mtu\":{\"bytes\":60}}",
       "switches[0].ports[1].hazards.mtu.bytes: must be a whole number from 68 to 65535, not 60"},
      {"/switches/0/ports/1/hazards", "{\"policer\":{\"rate_bps\":1000000}}",
       "switches[0].ports[1].hazards.policer.burst_bytes: is missing"},
      {"/switches/0/ports/1/hazards", "{\"header\":{\"action\":\"eat\"}}",
       "switches[0].ports[1].hazards.header.action: must be keep, strip, block or flip, not \"eat\""},
      {"/switches/0/ports/1/hazards", "{\"reorder\":{\"share\":0.1}}",
       "switches[0].ports[1].hazards.reorder.delay_us: exactly one of delay_us and packets is needed"},
      {"/switches/0/ports/1/hazards", "{\"ack_loss\":2}",
       "switches[0].ports[1].hazards.ack_loss: must be a number from 0.0 to 1.0, not 2"},
      {"/switches/0/ports/1/ecn_threshold_bytes", "-1",
       "switches[0].ports[1].ecn_threshold_bytes: must be a whole number from 0 to 2147483648, not -1"},
      {"/switches/0/ports/1/tag", "{\"stamp\":1}",
       "switches[0].ports[1].tag.stamp: must be true or false, not 1"},
  };
  for (const Refusal& refusal : refusals) {
    json document = minimal();
    document[json::json_pointer(refusal.pointer)] = json::parse(refusal.value);
    EXPECT_EQ(error_of(document), refusal.message);
  }
  EXPECT_EQ(error_of(json::parse("[]")), "document: must be an object");
}

json linked(const char* peer_of_first, const char* peer_of_second) {
  return {{"switches",
           {{{"name", "s1"}, {"ports", {{{"name", "p1"}, {"peer", peer_of_first}}}}},
            {{"name", "s2"}, {"ports", {{{"name", "p1"}, {"peer", peer_of_second}}}}}}}};
}

TEST(Options, InternalLinksNameEachOther) {
  EXPECT_EQ(error_of(linked("s2:p1", "s1:p1")), "accepted");
  EXPECT_EQ(error_of(linked("s3:p1", "s1:p1")), "switches[0].ports[0].peer: there is no port 's3:p1'");
  EXPECT_EQ(error_of(linked("s1:p1", "s1:p1")),
            "switches[0].ports[0].peer: 's1:p1' must have \"peer\": \"s1:p1\"");
  json document = linked("s2:p1", "s1:p1");
  document["switches"][0]["ports"][0]["ingress_delay_us"] = 5;
  EXPECT_EQ(error_of(document),
            "switches[0].ports[0].ingress_delay_us: is for netdev ports; on an internal link set the peer's "
            "delay_us and loss");
}

}  // namespace
}  // namespace clarion::emu
