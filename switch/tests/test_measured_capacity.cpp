// SPDX-License-Identifier: Apache-2.0
// Ports that measure what their link carries, in virtual time.
#include "fabric_test.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds US = 1000;
constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds INTERVAL = 101 * MS;  // with an arrival at its end, beyond the core's 100 ms

// From port a to port b, of 8 Mbit/s: 1000 bytes take 1 ms.
std::string document(const std::string& xcp, std::uint64_t queue_bytes = 100'000) {
  return R"({"lldp":false,"switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},
    {"name":"b","netdev":"b","rate_bps":8000000,"queue_bytes":)" +
         std::to_string(queue_bytes) + R"(,"xcp":)" + xcp + "}]}]}";
}

constexpr const char* MEASURED = R"({"enabled":true,"capacity_bps":"measured"})";
constexpr const char* CONFIGURED = R"({"enabled":true,"capacity_bps":40000000})";

class MeasuredCapacityTest : public FabricTest {
 protected:
  void build_port(const char* xcp) { build(document(xcp).c_str()); }
  void send(Nanoseconds after) { receive("s1:a", after, frame(HOST_B, HOST_A, 1000)); }
  void send_together(Nanoseconds after, int count) {
    for (int i = 0; i < count; ++i) send(after);
  }
  // Packets that do not meet: one every `gap`.
  void send_evenly(Nanoseconds from, Nanoseconds to, Nanoseconds gap) {
    for (Nanoseconds at = from; at < to; at += gap) send(at);
  }
  Port& port() { return *fabric_->find("s1:b"); }
  std::uint64_t capacity() { return core("s1:b").core().config.xcp.capacity_bytes_per_s; }
  std::uint64_t measured() { return port().meter.measured_bytes_per_s(); }
};

TEST_F(MeasuredCapacityTest, IsWhatLeavesWhilePacketsWait) {
  build_port(MEASURED);
  send_together(0, 5);
  send(INTERVAL);
  EXPECT_EQ(capacity(), 1'000'000U);
  EXPECT_EQ(measured(), 1'000'000U);
}

TEST_F(MeasuredCapacityTest, FollowsARateThatNobodyTold) {
  build_port(MEASURED);
  send_together(0, 5);
  send(INTERVAL);
  port().shaper.set_rate(16'000'000);
  send_together(150 * MS, 6);
  send(2 * INTERVAL);
  EXPECT_EQ(capacity(), 2'000'000U);
  port().shaper.set_rate(4'000'000);
  send_together(250 * MS, 6);
  send(3 * INTERVAL);
  EXPECT_EQ(capacity(), 500'000U);
}

TEST_F(MeasuredCapacityTest, IsWhatComesInUntilSomethingIsKnown) {
  build_port(MEASURED);
  send_evenly(0, INTERVAL, 24 * MS);  // too far apart for a pair; none at 100 ms, where a tick decides
  send(INTERVAL);
  EXPECT_EQ(measured(), 0U);
  EXPECT_EQ(capacity(), 49'504U);  // 5000 bytes in 101 ms
  EXPECT_NEAR(core("s1:b").core().interval.report().phi_q8, 0,
              256);  // nothing handed out, nothing taken back
}

TEST_F(MeasuredCapacityTest, PairsAreFormedWhereNoPacketWaits) {
  build_port(MEASURED);
  send_together(0, 5);
  send_evenly(INTERVAL, 2 * INTERVAL, 2'600 * US);  // 38 % of the link
  port().shaper.set_rate(16'000'000);
  send_evenly(2 * INTERVAL, 3 * INTERVAL, 2'600 * US);
  send(3 * INTERVAL);
  EXPECT_EQ(measured(), 2'000'000U);
  EXPECT_EQ(capacity(), 2'000'000U);
}

TEST_F(MeasuredCapacityTest, APacketIsHeldForTwoFramesAtMost) {
  build_port(MEASURED);
  send_together(0, 5);
  send(INTERVAL);
  fabric_->advance(start_ + 140 * MS);
  fabric_->transmit();
  const auto sent = counters("s1:b").tx_packets;
  send(160 * MS);  // in the second half of the interval
  EXPECT_EQ(counters("s1:b").tx_packets, sent);
  EXPECT_EQ(fabric_->next_time(), start_ + 160 * MS + 3'028 * US);
  fabric_->advance(start_ + 160 * MS + 3'028 * US);
  EXPECT_EQ(counters("s1:b").tx_packets, sent + 1);
  fabric_->advance(start_ + 180 * MS);
  send(180 * MS);
  send(180 * MS + 500 * US);  // the next one sends both off: 1 ms of the first, then the second
  EXPECT_EQ(counters("s1:b").tx_packets, sent + 2);
  EXPECT_EQ(port().shaper.free_at(), start_ + 181'500 * US);
}

TEST_F(MeasuredCapacityTest, FewPacketsAreHeld) {
  build_port(MEASURED);
  send_together(0, 5);
  fabric_->advance(start_ + 100 * MS);
  std::uint64_t held = 0;
  for (Nanoseconds at = 100 * MS; at < 200 * MS; at += 4 * MS) {  // beyond the 3 ms that one is held
    send(at);
    if (port().path->queued() == 1) ++held;
  }
  EXPECT_EQ(held, PairFormer::MOST_HOLDS);
}

TEST_F(MeasuredCapacityTest, NoPacketIsLostForAMeasurement) {
  build(document(MEASURED, 2'048).c_str());  // room for one of them, not for two
  for (Nanoseconds at = 0; at < 500 * MS; at += 1'200 * US) {
    receive("s1:a", at, frame(HOST_B, HOST_A, 1100));
  }
  EXPECT_EQ(counters("s1:b").drop_packets, 0U);
  EXPECT_EQ(port().held_until, 0U);
}

TEST_F(MeasuredCapacityTest, AHeldPacketIsLostInARestartLikeAnyOther) {
  build_port(MEASURED);
  send(0);
  EXPECT_EQ(port().path->queued(), 1U);
  fabric_->restart(*port().parent, 0);
  EXPECT_EQ(port().path->queued(), 0U);
  EXPECT_EQ(port().held_until, 0U);
  EXPECT_EQ(counters("s1:b").hazard_lost_packets, 1U);
}

TEST_F(MeasuredCapacityTest, AHeldPacketLeavesWhenNothingIsMeasuredAnyMore) {
  build_port(MEASURED);
  send(0);
  EXPECT_EQ(port().path->queued(), 1U);
  EXPECT_GT(fabric_->next_time(), start_);
  fabric_->enter(port(), PortEntries{});
  EXPECT_LE(fabric_->next_time(), start_);
  fabric_->advance(start_);
  EXPECT_EQ(port().path->queued(), 0U);
}

TEST_F(MeasuredCapacityTest, FewGapsDoNotWaitForEver) {
  build_port(MEASURED);
  send_together(0, 3);  // two gaps
  for (int i = 1; i <= 20; ++i) send(i * INTERVAL);
  port().shaper.set_rate(16'000'000);
  send_together(20 * INTERVAL + 10 * MS, 6);
  send(21 * INTERVAL);
  EXPECT_EQ(measured(), 2'000'000U);
}

// A configured capacity is measured in passing, for the reports; nothing else happens.
TEST_F(MeasuredCapacityTest, AConfiguredPortHandsOutWhatItWasTold) {
  build_port(CONFIGURED);
  send_together(0, 5);
  send(INTERVAL);
  EXPECT_EQ(measured(), 1'000'000U);
  EXPECT_EQ(capacity(), 5'000'000U);
}

TEST_F(MeasuredCapacityTest, AConfiguredPortSendsEveryPacketWhenAPlainOneDoes) {
  RandomStream random(11, "arrivals");
  std::vector<Nanoseconds> arrivals;
  Nanoseconds at = 0;
  for (int i = 0; i < 3000; ++i) arrivals.push_back(at += static_cast<Nanoseconds>(3e6 * random.uniform()));
  std::vector<std::vector<Nanoseconds>> free_at;
  for (const char* xcp : {R"({"enabled":false})", CONFIGURED}) {
    build_port(xcp);
    free_at.emplace_back();
    for (const Nanoseconds arrival : arrivals) {
      send(arrival);
      free_at.back().push_back(port().shaper.free_at() - start_);
    }
  }
  EXPECT_EQ(free_at[0], free_at[1]);
}

TEST_F(MeasuredCapacityTest, TheReportAndTheStatisticsHaveIt) {
  build_port(MEASURED);
  command(R"({"cmd":"subscribe","intervals":["s1"]})");
  send_together(0, 5);
  send(INTERVAL);
  const json interval = json::parse(fabric_->events().lines())["interval"];
  ASSERT_EQ(interval.size(), 20U);
  EXPECT_EQ(interval[19], 1'000'000);
  EXPECT_EQ(command(R"({"cmd":"stats"})")["switches"][0]["ports"][1]["xcp"]["measured_bps"], 8'000'000);
  fabric_->events().clear();
  send(2 * INTERVAL);  // nothing waited
  EXPECT_EQ(json::parse(fabric_->events().lines())["interval"][19], 0);
}

TEST_F(MeasuredCapacityTest, CanBeSetWhileThePortRuns) {
  build_port(CONFIGURED);
  send_together(0, 5);
  const auto measure = R"({"cmd":"set","port":"s1:b","xcp":{"capacity_bps":"measured"}})";
  EXPECT_EQ(command(measure)["ok"], true);
  send(INTERVAL);
  EXPECT_EQ(capacity(), 1'000'000U);
  command(R"({"cmd":"set","port":"s1:b","xcp":{"capacity_bps":24000000}})");
  send_together(2 * INTERVAL, 5);
  EXPECT_EQ(capacity(), 3'000'000U);
}

TEST_F(MeasuredCapacityTest, WhatAControllerWritesIsZero) {
  build_port(CONFIGURED);
  const auto entry = [](const char* port) {
    return R"({"cmd":"batch","switch":"s1","changes":[{"port":)" + std::string(port) +
           R"(,"xcp":{"capacity":0,"alpha":26214,"beta":14811,"gamma":6554,"min_interval":268435,)" +
           R"("max_interval":26843546,"generation":1,"epoch":1}}]})";
  };
  EXPECT_EQ(command(entry("2"))["ok"], true);
  send_together(0, 5);
  send(INTERVAL);
  EXPECT_EQ(capacity(), 1'000'000U);
  EXPECT_EQ(command(R"({"cmd":"entries","switch":"s1"})")["ports"][1]["xcp"]["capacity"], 0);
  EXPECT_EQ(refusal(entry("1")),
            "conflict changes[0].xcp.capacity: \"measured\": nothing ever waits at a port without rate_bps; "
            "give that, or the capacity in bit/s");
  EXPECT_EQ(
      refusal(R"({"cmd":"set","port":"s1:b","rate_bps":0})"),
      "conflict switches[0].ports[1].rate_bps: \"measured\": nothing ever waits at a port without rate_bps; "
      "give that, or the capacity in bit/s");
}

}  // namespace
}  // namespace clarion::emu
