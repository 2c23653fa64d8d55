// SPDX-License-Identifier: Apache-2.0
// Packets through whole switches.
#include "fabric_test.hpp"

namespace clarion::emu {
namespace {

TEST_F(FabricTest, FloodsUntilItHasLearned) {
  build(THREE_PORTS);
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(counters("s1:a").tx_packets, 0U);  // never back to where it came from
  EXPECT_EQ(counters("s1:b").tx_packets, 1U);
  EXPECT_EQ(counters("s1:c").tx_packets, 1U);
  receive("s1:b", 1'000'000, frame(HOST_A, HOST_B, 100));
  EXPECT_EQ(counters("s1:a").tx_packets, 1U);
  EXPECT_EQ(counters("s1:c").tx_packets, 1U);  // A is known to be behind a
  receive("s1:a", 2'000'000, frame(BROADCAST, HOST_A, 100));
  EXPECT_EQ(counters("s1:c").tx_packets, 2U);
  receive("s1:a", 3'000'000, frame(HOST_A, HOST_A, 100));  // to its own side: filtered
  EXPECT_EQ(counters("s1:b").tx_packets, 2U);
}

TEST_F(FabricTest, ShapesQueuesAndDropsTheTail) {
  build(THREE_PORTS);
  // 1000 bytes last 1 ms at 8 Mbit/s. The first goes onto the wire, three fill the queue, the fifth drops.
  for (int i = 0; i < 5; ++i) receive("s1:a", 0, frame(HOST_B, HOST_A, 1000));
  EXPECT_EQ(counters("s1:b").tx_packets, 1U);
  EXPECT_EQ(counters("s1:b").drop_packets, 1U);
  EXPECT_EQ(counters("s1:b").drop_bytes, 1000U);
  EXPECT_EQ(core("s1:b").queue_bytes(), 3000U);
  EXPECT_EQ(fabric_->next_time(), start_);  // port c is unshaped: its copies are due at once
  fabric_->transmit();
  EXPECT_EQ(fabric_->next_time(), start_ + 2'000'000);  // 1 ms on the link, 1 ms under way
  fabric_->advance(start_ + 999'999);
  EXPECT_EQ(counters("s1:b").tx_packets, 1U);
  fabric_->advance(start_ + 1'000'000);
  EXPECT_EQ(counters("s1:b").tx_packets, 2U);
  fabric_->advance(start_ + SECOND_NS);
  EXPECT_EQ(counters("s1:b").tx_packets, 4U);
  // 3000 bytes for 1 ms, 2000 for 1 ms, 1000 for 1 ms.
  EXPECT_EQ(fabric_->find("s1:b")->queue_statistics.byte_us(), 6'000'000U);
}

TEST_F(FabricTest, LateWakeUpKeepsTheSchedule) {
  build(THREE_PORTS);
  receive("s1:a", 0, frame(HOST_B, HOST_A, 1000));
  receive("s1:a", 0, frame(HOST_B, HOST_A, 1000));
  // Nothing ran for 10 ms; the second packet still departed at 1 ms, so at 2 ms the link was free.
  receive("s1:a", 10'000'000, frame(HOST_B, HOST_A, 1000));
  EXPECT_EQ(counters("s1:b").tx_packets, 3U);
  EXPECT_EQ(fabric_->find("s1:b")->shaper.free_at(), start_ + 11'000'000);
  EXPECT_EQ(fabric_->find("s1:b")->queue_statistics.byte_us(), 1'000'000U);
}

TEST_F(FabricTest, RuntsAreCountedAndDropped) {
  build(THREE_PORTS);
  receive("s1:a", 0, std::vector<std::uint8_t>(13));
  EXPECT_EQ(counters("s1:a").rx_runts, 1U);
  EXPECT_EQ(counters("s1:c").tx_packets, 0U);
}

TEST_F(FabricTest, InternalLinksAndIngressDelayAddUp) {
  build(R"({"switches":[
    {"name":"s1","ports":[{"name":"h","netdev":"h","ingress_delay_us":500},
                          {"name":"x","peer":"s2:x","rate_bps":8000000,"delay_us":2000}]},
    {"name":"s2","ports":[{"name":"x","peer":"s1:x"},{"name":"h","netdev":"g"}]}]})");
  receive("s1:h", 0, frame(HOST_B, HOST_A, 1000));
  fabric_->advance(start_ + 3'499'999);  // 0.5 ms in, 1 ms on the link, 2 ms under way
  EXPECT_EQ(counters("s2:h").tx_packets, 0U);
  fabric_->advance(start_ + 3'500'000);
  EXPECT_EQ(counters("s2:h").tx_packets, 1U);
}

TEST_F(FabricTest, AWireBetweenSwitchesLosesWhatItSaysItLost) {
  build(R"({"seed":1,"switches":[
    {"name":"s1","ports":[{"name":"h","netdev":"h"},
                          {"name":"x","peer":"s2:x","loss":{"model":"packet","rate":0.5}}]},
    {"name":"s2","ports":[{"name":"x","peer":"s1:x"},{"name":"h","netdev":"g"}]}]})");
  for (int i = 0; i < 100; ++i) receive("s1:h", i * 1'000'000, frame(HOST_B, HOST_A, 1000));
  fabric_->advance(start_ + SECOND_NS);
  const auto lost = counters("s1:x").wire_lost_packets;
  EXPECT_GT(lost, 20U);
  EXPECT_LT(lost, 80U);
  EXPECT_EQ(counters("s2:h").tx_packets, 100 - lost);
}

TEST_F(FabricTest, SetIsAllOrNothing) {
  build(THREE_PORTS);
  EXPECT_EQ(refusal(R"({"cmd":"set","port":"s1:b","rate_bps":16000000,"queue_bytes":1})"),
            "out_of_range queue_bytes: must be a whole number from 2048 to 2147483648, not 1");
  EXPECT_EQ(fabric_->find("s1:b")->options.rate_bps, 8'000'000U);
  EXPECT_EQ(command(R"({"cmd":"set","port":"s1:b","rate_bps":16000000,"xcp":{"enabled":true}})")["ok"], true);
  EXPECT_EQ(fabric_->find("s1:b")->options.rate_bps, 16'000'000U);
  EXPECT_EQ(core("s1:b").core().config.xcp.capacity_bytes_per_s, 2'000'000U);
}

TEST_F(FabricTest, CommandsAreRefusedWithTheReason) {
  build(THREE_PORTS);
  const std::pair<const char*, const char*> refusals[] = {
      {"hello", "invalid : not one JSON object on one line"},
      {"[]", "invalid : must be an object"},
      {"{}", "missing cmd: is missing"},
      {R"({"cmd":"stop"})",
       "unknown cmd: must be one of batch, counters, entries, info, inject, registers, restart, set, stats, "
       "subscribe, wires, not "
       "\"stop\""},
      {R"({"cmd":"stats","x":1})", "unknown x: unknown key; known here: cmd"},
      {R"({"cmd":"set","port":"s9:b"})", "not_found port: there is no port 's9:b'; write switch:port"},
      {R"({"cmd":"set","port":"s1:b","name":"z"})",
       "unknown name: unknown key; known here: cmd, port, at_us, rate_bps, queue_bytes, delay_us, loss, "
       "ingress_delay_us, "
       "ingress_loss, ecn_threshold_bytes, hazards, xcp, tag, wire"},
      {R"({"cmd":"restart","switch":"s9"})", "not_found switch: there is no switch 's9'"},
  };
  for (const auto& [line, message] : refusals) EXPECT_EQ(refusal(line), message);
}

TEST_F(FabricTest, InfoGivesTheHistogramEdges) {
  build(THREE_PORTS);
  const json info = command(R"({"cmd":"info"})");
  EXPECT_EQ(info["clock"], "monotonic");
  EXPECT_EQ(info["queue_hist_lower_edges_bytes"].size(), QueueStatistics::BINS);
}

}  // namespace
}  // namespace clarion::emu
