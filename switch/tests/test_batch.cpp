// SPDX-License-Identifier: Apache-2.0
// What a controller's agent asks of a switch: batches, registers, counters, reports.
#include <nlohmann/json.hpp>

#include "fabric_test.hpp"

namespace clarion::emu {
namespace {

constexpr const char* XCP =
    R"({"capacity":1000000,"alpha":26214,"beta":14811,"gamma":6554,"min_interval":268435,)"
    R"("max_interval":268435,"generation":1,"epoch":)";
constexpr std::uint64_t HOST_B_NUMBER = 0x02000000000b;

class BatchTest : public FabricTest {
 protected:
  static std::string batch_of(const std::string& changes) {
    return R"({"cmd":"batch","switch":"s1","changes":)" + changes + "}";
  }
  json batch(const std::string& changes) { return command(batch_of(changes)); }
  json entries() { return command(R"({"cmd":"entries","switch":"s1"})"); }
  std::uint64_t cell(const std::string& array, std::uint64_t index) {
    return command(R"({"cmd":"registers","switch":"s1","register":")" + array + R"(","first":)" +
                   std::to_string(index) + "}")["values"][0];
  }
  static std::string xcp(int epoch) {
    return R"([{"port":2,"xcp":)" + std::string(XCP) + std::to_string(epoch) + "}}]";
  }
  // A DATA packet to B: Ethernet, IPv4, the Clarion header with a bucket of 5, some payload.
  static std::vector<std::uint8_t> tagged(std::uint16_t link_seq, std::uint32_t rtt = 0,
                                          std::uint32_t x = 0) {
    std::vector<std::uint8_t> bytes = frame(HOST_B, HOST_A, 200);
    const std::uint8_t ip[] = {0x08, 0x00, 0x45, 0, 0, 186, 0, 0, 0x40, 0, 64, 253,  0,
                               0,    10,   0,    0, 1, 10,  0, 0, 2,    6, 32, 0x11, 0};
    std::copy(std::begin(ip), std::end(ip), bytes.begin() + 12);
    bytes[34 + OFFSET_DATA_TAGS + 1] = 5;
    bytes[34 + OFFSET_DATA_TAGS + 2] = static_cast<std::uint8_t>(link_seq >> 8);
    bytes[34 + OFFSET_DATA_TAGS + 3] = static_cast<std::uint8_t>(link_seq);
    store_be32(&bytes[34 + OFFSET_RTT], rtt);
    store_be32(&bytes[34 + OFFSET_X], x);
    return bytes;
  }
};

TEST_F(BatchTest, HappensWholeOrNotAtAll) {
  build(THREE_PORTS);
  const json before = entries();
  const std::pair<const char*, const char*> refusals[] = {
      {R"([{"port":2,"stamp":true},{"port":9,"stamp":true}])",
       "not_found changes[1].port: the switch has no port 9"},
      {R"([{"port":2,"stamp":true},{"port":2,"queue_limit":-1}])",
       "out_of_range changes[1].queue_limit: must be a whole number from 0 to 1099511627775, not -1"},
      {R"([{"port":2,"tag":{"check":true,"epoch":0}}])",
       "out_of_range changes[0].tag.epoch: must be a whole number from 1 to 255, not 0"},
      {R"([{"address":1,"to":2},{"address":281474976710656,"to":2}])",
       "out_of_range changes[1].address: must be a whole number from 0 to 281474976710655, not "
       "281474976710656"},
      {R"([{"flood":[1,2]},{"flood":[7]}])", "not_found changes[1].flood: the switch has no port 7"},
      {R"([{"port":2,"stamp":true},{"register":"avg_rtt","index":2,"value":1}])",
       "missing changes[1].reset: is missing"},
      {R"([{"port":2,"stamp":true,"x":1}])",
       "unknown changes[0].x: unknown key; known here: port, xcp, tag, stamp, queue_limit"},
      {R"([{}])", "missing changes[0].reset: is missing"},
      {R"({})", "invalid changes: must be an array"},
  };
  for (const auto& [changes, message] : refusals) {
    EXPECT_EQ(refusal(batch_of(changes)), message);
    EXPECT_EQ(entries(), before) << changes;
  }
  EXPECT_EQ(batch(R"([{"port":2,"stamp":true},{"port":2,"queue_limit":5000},{"note":"n"},{"flood":[1,63]}])"),
            json::parse(R"({"ok":true})"));
  EXPECT_EQ(entries()["ports"][1]["stamp"], true);
  EXPECT_EQ(entries()["ports"][1]["queue_limit"], 5000);
  EXPECT_EQ(entries()["note"], "n");
  EXPECT_EQ(entries()["flood"], json::parse("[1,63]"));
}

TEST_F(BatchTest, ARefusalIsData) {
  build(THREE_PORTS);
  EXPECT_EQ(batch(R"([{"port":2,"stamp":true},{"port":2,"tag":{"check":true,"epoch":256}}])"), json::parse(R"(
      {"ok": false, "fault": {"path": ["changes", 1, "tag", "epoch"], "code": "out_of_range",
                              "reason": "must be a whole number from 1 to 255, not 256"}})"));
}

TEST_F(BatchTest, AnotherEpochStartsTheControllersTheSameOneDoesNot) {
  build(THREE_PORTS);
  batch(xcp(1));
  EXPECT_EQ(cell("xcp_epoch", 2), 0U);  // they start with a packet
  for (int i = 0; i < 4; ++i) receive("s1:a", i * 1'100'000, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(cell("xcp_epoch", 2), 1U);
  EXPECT_EQ(cell("intervals", 2), 3U);
  batch(R"([{"port":2,"xcp":null}])");
  batch(xcp(1));
  receive("s1:a", 6'000'000, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(cell("intervals", 2), 4U);
  batch(xcp(2));
  batch(xcp(1));  // back before any packet saw it
  receive("s1:a", 8'000'000, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(cell("intervals", 2), 5U);
  batch(xcp(2));
  receive("s1:a", 10'000'000, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(cell("xcp_epoch", 2), 2U);
  EXPECT_EQ(cell("intervals", 2), 0U);
}

TEST_F(BatchTest, AnotherEpochMakesTheCheckForgetNumbersNotTotals) {
  build(THREE_PORTS);
  const std::uint64_t slot = 1 * 4096 + 5;  // port a is number 1
  const auto check = [](int epoch) {
    return R"([{"port":1,"tag":{"check":true,"wire":true,"epoch":)" + std::to_string(epoch) + "}}]";
  };
  batch(check(7));
  receive("s1:a", 0, tagged(10));
  receive("s1:a", 0, tagged(13));  // two are missing
  EXPECT_EQ(cell("wire_slots", slot), (7ULL << 32 | 14 << 16 | 2));
  EXPECT_EQ(cell("wire_lost", 1), 2U);
  batch(check(8));
  EXPECT_EQ(cell("wire_slots", slot), (7ULL << 32 | 14 << 16 | 2));  // until its next packet
  batch(check(7));
  receive("s1:a", 0, tagged(15));  // the slot is of this epoch still: one more
  EXPECT_EQ(cell("wire_lost", 1), 3U);
  batch(check(8));
  receive("s1:a", 0, tagged(100));
  EXPECT_EQ(cell("wire_slots", slot), (8ULL << 32 | 101 << 16 | 3));
  EXPECT_EQ(cell("wire_lost", 1), 3U);
  batch(check(9));
  receive("s1:a", 0, tagged(1000));
  receive("s1:a", 0, tagged(500));  // 501 behind: late, and the first of a row
  EXPECT_EQ(cell("wire_slots", slot), (1ULL << 40 | 9ULL << 32 | 1001 << 16 | 2));
}

TEST_F(BatchTest, RegistersAreTheCoresState) {
  build(THREE_PORTS);
  batch(xcp(1));
  batch(R"([{"port":2,"stamp":true}])");
  receive("s1:a", 0, tagged(0));
  receive("s1:a", 0, tagged(1));
  EXPECT_EQ(cell("input", 2), 400U);
  EXPECT_EQ(cell("queue_numbers", 2 * 4096 + 5), 2U);
  EXPECT_EQ(cell("link_numbers", 2 * 4096 + 5), 1U);  // the other one waits
  EXPECT_EQ(cell("accepted_bytes", 2) - cell("left_bytes", 2), 200U);
  EXPECT_EQ(cell("input", 3), 0U);
  EXPECT_EQ(cell("input", 40), 0U);  // there is no such port
}

TEST_F(BatchTest, RegistersOfTheControllersAreTheCoresState) {
  build(THREE_PORTS);
  batch(xcp(1));
  constexpr std::uint32_t RTT = TICKS_PER_SECOND / 1000;
  for (unsigned i = 0; i < 5; ++i) receive("s1:a", i * 1'100'000, tagged(0, RTT, 1000 + i));
  const CorePort& port = core("s1:b").core();
  const Shares& pools = port.departure.left();
  EXPECT_EQ(cell("intervals", 2), 4U);
  EXPECT_EQ(cell("sum_x", 2), 1004U);
  EXPECT_NEAR(cell("avg_rtt", 2), RTT, 100);
  EXPECT_EQ(cell("avg_rtt", 2), port.interval.report().avg_rtt);
  EXPECT_EQ(cell("interval_start", 2), port.interval.start());
  EXPECT_EQ(cell("window_start", 2), port.queue.window_start());
  EXPECT_EQ(cell("sum_x_rtt", 2), port.arrival.sums().sum_x_rtt);
  EXPECT_GT(pools.pos, 0U);
  EXPECT_EQ(cell("pos", 2), pools.pos);
  EXPECT_EQ(cell("neg", 2), pools.neg);
  EXPECT_EQ(cell("cp", 2), pools.cp.mantissa);
  EXPECT_EQ(cell("cp_shift", 2), pools.cp.shift);
  EXPECT_EQ(cell("cn", 2), pools.cn.mantissa);
  EXPECT_EQ(cell("cn_shift", 2), pools.cn.shift);
  EXPECT_EQ(cell("carry", 2), port.departure.carry_q8());
  EXPECT_EQ(cell("credit", 2), port.credit);
  EXPECT_EQ(cell("fair", 2), port.departure.gains().fair.mantissa);
  EXPECT_EQ(cell("lift_shift", 2), port.departure.gains().lift.shift);
  EXPECT_EQ(cell("growth", 2), port.departure.gains().growth.mantissa);
  EXPECT_EQ(cell("bank", 2), port.departure.bank_q8());
  EXPECT_EQ(cell("own_sum_x", 2), port.departure.sums().sum_x);
  EXPECT_EQ(cell("max_rtt", 2), port.departure.sums().max_rtt);
  EXPECT_EQ(refusal(R"({"cmd":"registers","switch":"s1","register":"none"})"),
            "not_found register: there is no register 'none'");
}

TEST_F(BatchTest, CountersStartFromZeroAtAResetAndTheStatisticsGoOn) {
  build(THREE_PORTS);
  const auto tx = [this] { return command(R"({"cmd":"counters","switch":"s1"})")["counters"]["tx"][2]; };
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(tx(), json::parse("[3,1,100]"));
  batch(R"([{"reset":true}])");
  EXPECT_EQ(tx(), json::parse("[3,0,0]"));
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(tx(), json::parse("[3,1,100]"));
  EXPECT_EQ(counters("s1:c").tx_packets, 2U);
}

TEST_F(BatchTest, ForwardsAsProgrammedAndPuntsToTheController) {
  build(THREE_PORTS);
  command(R"({"cmd":"subscribe","packets":["s1"]})");
  batch(R"([{"address":)" + std::to_string(HOST_B_NUMBER) + R"(,"to":3},{"flood":[1,2,63]}])");
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(counters("s1:b").tx_packets, 0U);
  EXPECT_EQ(counters("s1:c").tx_packets, 1U);
  receive("s1:c", 0, frame(HOST_B, HOST_A, 100));  // to its own side
  EXPECT_EQ(counters("s1:c").tx_packets, 1U);
  receive("s1:a", 0, frame(BROADCAST, HOST_A, 14));
  EXPECT_EQ(counters("s1:a").tx_packets, 0U);
  EXPECT_EQ(counters("s1:b").tx_packets, 1U);
  const json event = json::parse(fabric_->events().lines())["packet"];
  EXPECT_EQ(event[0], "s1");
  EXPECT_EQ(event[1], 1);                                 // port a
  EXPECT_LE(event[2].get<std::uint64_t>(), 11'000'000U);  // us since the switch started, 10 s before
  EXPECT_GE(event[2].get<std::uint64_t>(), 9'000'000U);
  EXPECT_EQ(event[3], "ffffffffffff02000000000a0000");
  batch(R"([{"flood":null}])");
  receive("s1:a", 0, frame(HOST_A, HOST_A, 100));  // without an entry: dropped
  EXPECT_EQ(fabric_->find("s1:b")->out.queued(), 0U);
  batch(R"([{"address":)" + std::to_string(HOST_B_NUMBER) + R"(,"to":null}])");
  receive("s1:a", 1'000'000, frame(HOST_B, HOST_A, 100));  // nothing is programmed: it learns
  EXPECT_EQ(counters("s1:b").tx_packets, 2U);
}

TEST_F(BatchTest, InjectedFramesAreForwarded) {
  build(THREE_PORTS);
  EXPECT_EQ(command(R"({"cmd":"inject","switch":"s1","frame":"ffffffffffff02000000000a0000"})")["ok"], true);
  for (const char* port : {"s1:a", "s1:b", "s1:c"}) EXPECT_EQ(counters(port).tx_packets, 1U);
  EXPECT_EQ(refusal(R"({"cmd":"inject","switch":"s1","frame":"ffff"})"),
            "out_of_range frame: must have from 14 to 1940 bytes");
  EXPECT_EQ(refusal(R"({"cmd":"inject","switch":"s1","frame":"fg"})"),
            "invalid frame: must be hexadecimal digits, two a byte");
}

TEST_F(BatchTest, ReportsIntervalsAndDropsToWhoAsks) {
  build(THREE_PORTS);
  batch(xcp(1));
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  receive("s1:a", 1'100'000, frame(HOST_B, HOST_A, 100));
  EXPECT_TRUE(fabric_->events().empty());  // no listener
  command(R"({"cmd":"subscribe","intervals":["s1"],"drops":["s1"]})");
  receive("s1:a", 2'200'000, frame(HOST_B, HOST_A, 100));
  const json interval = json::parse(fabric_->events().lines())["interval"];
  ASSERT_EQ(interval.size(), 20U);
  EXPECT_EQ(interval[0], "s1");
  EXPECT_EQ(interval[1], 2);       // port
  EXPECT_EQ(interval[2], 2);       // intervals
  EXPECT_EQ(interval[3], 295279);  // 1.1 ms in ticks
  EXPECT_EQ(interval[5], 100);     // input
  fabric_->events().clear();
  for (int i = 0; i < 5; ++i) receive("s1:a", 2'200'000, tagged(0));
  batch(R"([{"port":2,"queue_limit":0}])");
  receive("s1:a", 2'200'000, tagged(0));
  const json drop = json::parse(fabric_->events().lines())["drop"];
  ASSERT_EQ(drop.size(), 12U);
  EXPECT_EQ(drop[2], 2);
  EXPECT_EQ(drop[3], 200);
  EXPECT_EQ(drop[4], "00000000000000000000ffff0a000001");
  EXPECT_EQ(drop[6], 6);
  EXPECT_EQ(drop[9], 1);   // DATA
  EXPECT_EQ(drop[10], 5);  // bucket
  EXPECT_EQ(drop[11], 1);
  fabric_->events().clear();
  command(R"({"cmd":"subscribe"})");
  receive("s1:a", 2'200'000, tagged(0));
  EXPECT_TRUE(fabric_->events().empty());
}

TEST_F(BatchTest, DropReportsAreLimitedAndTheirNumbersTell) {
  build(THREE_PORTS);
  command(R"({"cmd":"subscribe","drops":["s1"]})");
  batch(R"([{"port":2,"queue_limit":0}])");
  for (int i = 0; i < 20'000; ++i) receive("s1:a", 0, tagged(0));
  EXPECT_EQ(fabric_->events().count(), EventLog::DROPS_PER_SECOND);
  fabric_->events().clear();
  receive("s1:a", SECOND_NS, tagged(0));
  EXPECT_EQ(json::parse(fabric_->events().lines())["drop"][11], 20'001);
}

TEST_F(BatchTest, ReportsThatDoNotFitAreCounted) {
  build(THREE_PORTS);
  command(R"({"cmd":"subscribe","packets":["s1"]})");
  batch(R"([{"flood":[63]}])");
  for (int i = 0; i < 2'000; ++i) receive("s1:a", 0, tagged(0));  // 400 digits and more each
  EXPECT_EQ(fabric_->events().count() + fabric_->events().lost(), 2'000U);
  for (int i = 0; i < 2'000; ++i) receive("s1:a", 0, tagged(0));
  EXPECT_GT(fabric_->events().lost(), 0U);
  EXPECT_LE(fabric_->events().lines().size(), EventLog::CAPACITY_BYTES + 4096);
}

TEST_F(BatchTest, ResetLeavesNumbersAndTotals) {
  build(THREE_PORTS);
  batch(R"([{"port":1,"tag":{"check":true,"wire":true,"epoch":1}},{"port":2,"stamp":true},{"flood":[1,2,3]},)"
        R"({"note":"n"}])");
  receive("s1:a", 0, tagged(10));
  receive("s1:a", 0, tagged(12));
  batch(R"([{"reset":true}])");
  EXPECT_EQ(entries()["note"], "");
  EXPECT_EQ(entries()["flood"], nullptr);
  EXPECT_EQ(entries()["ports"][0]["tag"], nullptr);
  EXPECT_EQ(entries()["ports"][1]["stamp"], false);
  EXPECT_EQ(cell("wire_lost", 1), 1U);
  EXPECT_EQ(cell("wire_slots", 4096 + 5), (13ULL << 16 | 1));  // no base, total kept
  EXPECT_EQ(cell("queue_numbers", 2 * 4096 + 5), 2U);
}

TEST_F(BatchTest, DepthIsLimited) {
  build(THREE_PORTS);
  const std::size_t depth = 500'000;  // of a line that fits
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  for (const char* key : {"register", "count"}) {
    const std::string line =
        R"({"cmd":"registers","switch":"s1",")" + std::string(key) + R"(":)" + nested + "}";
    EXPECT_EQ(refusal(line), "invalid : the command is nested too deeply");
  }
}

TEST_F(BatchTest, SetAndEntriesAreOne) {
  build(THREE_PORTS);
  command(R"({"cmd":"set","port":"s1:b","xcp":{"enabled":true},"tag":{"check":true}})");
  EXPECT_EQ(entries()["ports"][1]["xcp"]["capacity"], 1'000'000);  // the rate
  EXPECT_EQ(entries()["ports"][1]["xcp"]["epoch"], 1);
  EXPECT_EQ(entries()["ports"][1]["tag"]["epoch"], 1);
  command(R"({"cmd":"set","port":"s1:b","rate_bps":16000000})");
  EXPECT_EQ(entries()["ports"][1]["xcp"]["capacity"], 2'000'000);  // follows it
  batch(xcp(1));
  command(R"({"cmd":"set","port":"s1:b","rate_bps":32000000})");
  EXPECT_EQ(entries()["ports"][1]["xcp"]["capacity"], 1'000'000);  // a controller's does not
}

TEST_F(BatchTest, FreshEpochsGoRoundWithoutZero) {
  build(THREE_PORTS);
  command(R"({"cmd":"set","port":"s1:b","xcp":{"enabled":true},"tag":{"check":true}})");
  batch(xcp(255));
  batch(R"([{"port":2,"tag":{"check":true,"epoch":255}}])");
  receive("s1:a", 0, frame(HOST_B, HOST_A, 100));
  EXPECT_EQ(cell("xcp_epoch", 2), 255U);
  command(R"({"cmd":"set","port":"s1:b","xcp":{"enabled":false},"tag":{"check":false}})");
  command(R"({"cmd":"set","port":"s1:b","xcp":{"enabled":true},"tag":{"check":true}})");
  EXPECT_EQ(entries()["ports"][1]["xcp"]["epoch"], 1);
  EXPECT_EQ(entries()["ports"][1]["tag"]["epoch"], 1);
}

}  // namespace
}  // namespace clarion::emu
