// SPDX-License-Identifier: Apache-2.0
// The switch with the FPGA block at its ports, in virtual time: the same commands and statistics as the
// embedded one.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "core/xcp_settings.hpp"
#include "core_path.hpp"
#include "error.hpp"
#include "hls/sim/block_path.hpp"
#include "hls/sim/simulated_port.hpp"
#include "hls/sim/switch_window.hpp"
#include "tests/fabric_test.hpp"

namespace clarion::emu {
namespace {

using Frame = std::vector<std::uint8_t>;

constexpr std::uint32_t FRAME_BYTES = 100;
constexpr std::uint32_t HEADER_AT = 34;  // behind Ethernet and IPv4

// A DATA packet of a flow with an RTT of 100 ms that asks for `wanted` bytes/s.
Frame data_frame(std::uint16_t link_seq, std::int32_t wanted = 0, std::uint32_t length = FRAME_BYTES) {
  Frame bytes = frame(HOST_B, HOST_A, length);
  store_be16(&bytes[12], ETHERTYPE_IPV4);
  bytes[14] = 0x45;
  store_be16(&bytes[16], static_cast<std::uint16_t>(length - 14));
  bytes[23] = DEFAULT_PROTOCOL;
  std::uint8_t* header = &bytes[HEADER_AT];
  header[0] = 6;
  header[OFFSET_LENGTH] = DATA_BYTES;
  header[OFFSET_VERSION_FORMAT] = HEADER_VERSION << 4 | 1;
  store_be32(header + OFFSET_RTT, INITIAL_RTT);
  store_be32(header + OFFSET_X, INITIAL_RTT / 100);
  store_be32(header + OFFSET_DELTA_THROUGHPUT, static_cast<std::uint32_t>(wanted));
  store_be16(header + OFFSET_DATA_TAGS + TAGS_BUCKET, 5);
  store_be16(header + OFFSET_DATA_TAGS + TAGS_LINK_SEQ, link_seq);
  return bytes;
}

constexpr const char* PATH = R"({"switches":[{"name":"s1","ports":[
  {"name":"a","netdev":"a","wire":"declared","tag":{"stamp":true,"check":true}},
  {"name":"b","netdev":"b","rate_bps":8000000,"queue_bytes":3000,"delay_us":1000,
   "xcp":{"enabled":true,"generation":1},"wire":"declared","tag":{"stamp":true,"check":true}}]}]})";

class BlockSwitchTest : public FabricTest {
 protected:
  BlockSwitchTest() : FabricTest(block_path) {}

  void receive_data(Nanoseconds after, std::uint16_t link_seq) {
    receive("s1:a", after, data_frame(link_seq));
  }
  json port(unsigned position) { return command(R"({"cmd":"stats"})")["switches"][0]["ports"][position]; }
};

TEST_F(BlockSwitchTest, FramesPassTheBlockAndTheLink) {
  build(PATH);
  receive_data(0, 0);
  EXPECT_EQ(port(1)["wire_packets"], 1U);
  fabric_->advance(start_ + 2'000'000);
  fabric_->transmit();
  EXPECT_EQ(port(0)["rx_packets"], 1U);
  EXPECT_EQ(port(1)["tx_packets"], 1U);
  EXPECT_EQ(port(1)["tx_bytes"], FRAME_BYTES);
  EXPECT_EQ(port(1)["queue_bytes"], 0U);
}

TEST_F(BlockSwitchTest, ShortFramesArePaddedAsAMacPadsThem) {
  build(PATH);
  receive("s1:a", 0, frame(HOST_B, HOST_A, 42));
  EXPECT_EQ(port(1)["tx_bytes"], 60U);
}

TEST_F(BlockSwitchTest, CountsWhatTheWireLost) {
  build(PATH);
  for (const std::uint16_t number : {0, 1, 4, 5}) receive_data(0, number);
  EXPECT_EQ(port(0)["corrupt_total"], 2);
  EXPECT_EQ(port(0)["malformed"], 0U);
}

TEST_F(BlockSwitchTest, TheBlocksDropsAreCountedAndLogged) {
  const std::string log = testing::TempDir() + "clarion-block-truth-" + std::to_string(getpid());
  json document = json::parse(PATH);
  document["truth_log"] = log;
  build(document.dump().c_str());
  // One is on the wire, 30 of 100 bytes fit into the queue.
  for (std::uint16_t number = 0; number < 60; ++number) receive_data(0, number);
  const std::uint64_t drops = port(1)["drop_packets"];
  EXPECT_EQ(drops, 60U - 30 - 1);
  EXPECT_EQ(port(1)["drop_bytes"], drops * FRAME_BYTES);
  EXPECT_EQ(port(1)["queue_packets"], 59U - drops);
  EXPECT_EQ(port(1)["queue_bytes"], (59U - drops) * FRAME_BYTES);
  fabric_->flush_logs();
  std::ifstream lines(log);
  std::string line;
  std::getline(lines, line);
  std::uint64_t logged = 0;
  while (std::getline(lines, line)) {
    EXPECT_NE(line.find(",s1,b,out,queue,100,"), std::string::npos) << line;
    ++logged;
  }
  EXPECT_EQ(logged, drops);
  fabric_->advance(start_ + SECOND_NS);
  receive_data(SECOND_NS, 60);
  EXPECT_EQ(port(1)["congest_total"], drops);  // the block found them by its numbers
  EXPECT_EQ(port(1)["queue_packets"], 0U);
  std::remove(log.c_str());
}

TEST_F(BlockSwitchTest, XcpRunsInTheBlock) {
  build(PATH);
  for (unsigned i = 0; i < 200; ++i) {
    receive("s1:a", i * 10'000'000ULL, data_frame(static_cast<std::uint16_t>(i), 1'000'000));
  }
  const json xcp = port(1)["xcp"];
  EXPECT_GE(xcp["intervals"], 15U);
  EXPECT_NEAR(xcp["avg_rtt_us"].get<double>(), 100'000, 1);
  EXPECT_NEAR(xcp["phi_bytes_per_s"].get<double>(), 0.4 * (1'000'000 - 10'000), 1'000);
  EXPECT_EQ(port(0)["xcp"]["intervals"], 0U);
}

TEST_F(BlockSwitchTest, RateAndTagsChangeWhileItRuns) {
  build(PATH);
  EXPECT_EQ(command(R"({"cmd":"set","port":"s1:a","tag":{"check":false}})")["ok"], true);
  for (const std::uint16_t number : {0, 9}) receive_data(0, number);
  EXPECT_EQ(port(0)["corrupt_total"], 0);
  EXPECT_EQ(command(R"({"cmd":"set","port":"s1:a","tag":{"check":true}})")["ok"], true);
  for (const std::uint16_t number : {100, 103}) receive_data(10'000'000, number);  // a new base
  EXPECT_EQ(port(0)["corrupt_total"], 2);
  EXPECT_EQ(port(0)["rebased"], 0U);
}

TEST_F(BlockSwitchTest, AControllersEntriesReachTheBlock) {
  build(PATH);
  EXPECT_EQ(command(R"({"cmd":"batch","switch":"s1","changes":[{"port":2,"queue_limit":0},
                        {"address":2199023255563,"to":2},{"flood":[1]}]})")["ok"],
            true);
  receive_data(0, 0);
  EXPECT_EQ(port(1)["drop_packets"], 1U);
}

TEST_F(BlockSwitchTest, RefusesWhatOnlyTheEmbeddedSwitchHas) {
  build(PATH);
  const std::string reason =
      "hls-sim has none here; the block's are in its register window: clarion nic --bar FILE";
  EXPECT_EQ(refusal(R"({"cmd":"registers","switch":"s1","register":"avg_rtt"})"),
            "unsupported register: " + reason);
  EXPECT_EQ(refusal(R"({"cmd":"batch","switch":"s1","changes":[{"reset":true}]})"),
            "unsupported reset: hls-sim does not offer it here; `clarion nic` resets the block's units");
  receive_data(0, 0);
  EXPECT_EQ(port(1)["tx_packets"], 1U);
}

// --- The register window ---------------------------------------------------------------------------------

class WindowTest : public BlockSwitchTest {
 protected:
  void SetUp() override {
    build(PATH);
    window_ = std::make_unique<sim::SwitchWindow>(*fabric_, *fabric_->switches()[0], path_);
    file_.open(path_, std::ios::in | std::ios::out | std::ios::binary);
  }
  std::uint32_t load(std::uint32_t offset) {
    std::uint32_t value = 0;
    file_.seekg(offset);
    file_.read(reinterpret_cast<char*>(&value), sizeof(value));
    return value;
  }
  void store(std::uint32_t offset, std::uint32_t value) {
    file_.seekp(offset);
    file_.write(reinterpret_cast<const char*>(&value), sizeof(value));
    file_.flush();
  }
  // Status of a command of which some words are given.
  std::uint32_t run(std::uint32_t block, const std::vector<std::uint32_t>& words) {
    for (std::uint32_t i = 0; i < words.size(); ++i)
      store(block + registers::AT_MAILBOX_COMMAND + 4 * i, words[i]);
    store(block + registers::AT_MAILBOX_REQUEST, ++request_);
    window_->poll();
    EXPECT_EQ(load(block + registers::AT_MAILBOX_DONE), request_);
    return load(block + registers::AT_MAILBOX_STATUS);
  }
  std::uint32_t reply(std::uint32_t block, unsigned place) {
    return load(block + registers::AT_MAILBOX_REPLY + 4 * place);
  }
  static std::uint32_t ingress(unsigned port) { return (1 + port) * registers::STRIDE_BYTES; }
  static std::uint32_t egress(unsigned port) { return (3 + port) * registers::STRIDE_BYTES; }

  const std::string path_ = testing::TempDir() + "clarion-window-" + std::to_string(getpid());
  std::unique_ptr<sim::SwitchWindow> window_;
  std::fstream file_;
  std::uint32_t request_ = 0;
};

TEST_F(WindowTest, CountersMoveAsTrafficFlows) {
  receive_data(0, 0);
  EXPECT_EQ(run(egress(1), {registers::OP_READ}), registers::STATUS_OK);
  EXPECT_EQ(reply(egress(1), registers::EGRESS_READ_TX_PACKETS), 1U);
  EXPECT_EQ(reply(egress(1), registers::EGRESS_READ_XCP), 1U);
  EXPECT_EQ(reply(egress(1), registers::EGRESS_READ_QUEUE_LIMIT), 3000U);
  EXPECT_EQ(run(ingress(0), {registers::OP_READ}), registers::STATUS_OK);
  EXPECT_EQ(reply(ingress(0), registers::INGRESS_READ_RX_BYTES), FRAME_BYTES);
  EXPECT_EQ(run(egress(0), {registers::OP_READ}), registers::STATUS_OK);
  EXPECT_EQ(reply(egress(0), registers::EGRESS_READ_TX_PACKETS), 0U);
}

TEST_F(WindowTest, WhatSoftwareSetsTakesEffectAndStays) {
  EXPECT_EQ(run(egress(1),
                {registers::OP_CONFIGURE, 1, 1, 9, 1'000'000, 0, 65536, 0, 0, 268435, 268435456, 1, 50, 0}),
            registers::STATUS_OK);
  receive_data(0, 0);
  EXPECT_EQ(port(1)["drop_packets"], 1U);  // 100 bytes do not fit into 50
  EXPECT_EQ(command(R"({"cmd":"set","port":"s1:b","rate_bps":4000000,"xcp":{"capacity_bps":8000000}})")["ok"],
            true);
  EXPECT_EQ(run(egress(1), {registers::OP_READ}), registers::STATUS_OK);
  EXPECT_EQ(reply(egress(1), registers::EGRESS_READ_ALPHA), 65536U);
}

TEST_F(WindowTest, RefusesWhatTheBlockRefuses) {
  EXPECT_EQ(run(egress(1), {registers::OP_CONFIGURE, 1, 1, 0}), registers::STATUS_OUT_OF_RANGE);
  EXPECT_EQ(run(ingress(1), {99}), registers::STATUS_UNKNOWN_OPERATION);
}

TEST_F(WindowTest, TheProtocolIsThatOfTheRegister) {
  store(registers::AT_CLARION_PROTOCOL, 252);
  window_->poll();
  for (const std::uint16_t number : {0, 9}) receive_data(0, number);
  EXPECT_EQ(port(0)["corrupt_total"], 0);  // no Clarion packets any more
}

TEST_F(BlockSwitchTest, AWindowHasRoomForSevenPorts) {
  json document = {{"switches", {{{"name", "s1"}, {"ports", json::array()}}}}};
  for (unsigned i = 0; i < 8; ++i) {
    const std::string name = "p" + std::to_string(i);
    document["switches"][0]["ports"].push_back({{"name", name}, {"netdev", name}});
  }
  build(document.dump().c_str());
  try {
    sim::SwitchWindow window(*fabric_, *fabric_->switches()[0], "/no/such/place");
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(sentence(fault), "--bar: switch 's1' has 8 ports; a register window has room for 7");
    EXPECT_EQ(fault.code, FaultCode::unsupported);
  }
}

TEST_F(BlockSwitchTest, ACapacityThatIsToBeMeasuredIsRefused) {
  const auto document = [](const char* capacity) {
    return R"({"lldp":false,"switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},{"name":"b","netdev":"b",
      "rate_bps":8000000,"xcp":{"enabled":true,"generation":1,"capacity_bps":)" +
           std::string(capacity) + "}}]}]}";
  };
  const std::string reason = "\"measured\": the FPGA block measures none; give it in bit/s";
  try {
    build(document("\"measured\"").c_str());
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(sentence(fault), "switches[0].ports[1].xcp.capacity_bps: " + reason);
    EXPECT_EQ(fault.code, FaultCode::unsupported);
  }
  build(document("8000000").c_str());
  EXPECT_EQ(
      refusal(R"({"cmd":"batch","switch":"s1","changes":[{"port":2,"xcp":{"capacity":0,"alpha":26214,)"
              R"("beta":14811,"gamma":6554,"min_interval":268435,"max_interval":26843546,"generation":1,)"
              R"("epoch":1}}]})"),
      "unsupported changes[0].xcp.capacity: " + reason);
}

// --- Against the embedded core ---------------------------------------------------------------------------

void expect_same(const IntervalReport& got, const IntervalReport& expected) {
  EXPECT_EQ(got.intervals, expected.intervals);
  EXPECT_EQ(got.avg_rtt, expected.avg_rtt);
  EXPECT_EQ(got.elapsed, expected.elapsed);
  EXPECT_EQ(got.sums.input, expected.sums.input);
  EXPECT_EQ(got.sums.sum_x, expected.sums.sum_x);
  EXPECT_EQ(got.sums.sum_x_rtt, expected.sums.sum_x_rtt);
  EXPECT_EQ(got.queue_bytes, expected.queue_bytes);
  EXPECT_EQ(got.rate_q8, expected.rate_q8);
  EXPECT_EQ(got.phi_q8, expected.phi_q8);
  EXPECT_EQ(got.shares.pos, expected.shares.pos);
  EXPECT_EQ(got.shares.neg, expected.shares.neg);
  EXPECT_EQ(got.shares.cp.mantissa, expected.shares.cp.mantissa);
  EXPECT_EQ(got.shares.cp.shift, expected.shares.cp.shift);
  EXPECT_EQ(got.shares.cn.mantissa, expected.shares.cn.mantissa);
  EXPECT_EQ(got.shares.cn.shift, expected.shares.cn.shift);
}

class BlockPathTest : public testing::TestWithParam<unsigned> {};

// With a wire that takes each packet at once, both do the same to every byte.
TEST_P(BlockPathTest, DoesWhatTheCoreDoes) {
  ChunkPool pool;
  PacketFifo core_out(pool);
  PacketFifo block_out(pool);
  const auto core = std::make_unique<CorePath>(core_out, DEFAULT_PROTOCOL);
  BlockPath block(block_out, DEFAULT_PROTOCOL);
  PortEntries entries;
  entries.xcp = XcpEntry{xcp_config(10'000'000, 0.4, 0.226, 0.1, 1'000, 1'000'000, GetParam()), 1};
  entries.tag = TagEntry{true, false, true, 1};
  entries.stamp = true;
  core->enter(entries, 100'000);
  block.enter(entries, 100'000);
  std::mt19937 random(1);
  std::uint16_t number = 0;
  for (unsigned i = 0; i < 2'000; ++i) {
    const Ticks now = 5'000'000 + i * 100'000ULL;
    if (random() % 50 == 0) ++number;  // lost
    const Frame sent = data_frame(number++, static_cast<std::int32_t>(random()), 66 + random() % 1'400);
    const auto length = static_cast<std::uint32_t>(sent.size());
    const Incoming at_core = core->ingress(now, sent.data(), length);
    const Incoming at_block = block.ingress(now, sent.data(), length);
    ASSERT_EQ(core->enqueue(now, at_core.frame, at_core.length, at_core.meta), Admission::taken);
    ASSERT_EQ(block.enqueue(now, at_block.frame, at_block.length, at_block.meta), Admission::taken);
    Packet* expected = core->depart(now);
    Packet* got = block.depart(now);
    ASSERT_EQ(Frame(got->frame(), got->frame() + got->length),
              Frame(expected->frame(), expected->frame() + expected->length))
        << i;
    core_out.pop();
    block_out.pop();
  }
  EXPECT_GT(core->intervals(), 5U);
  EXPECT_EQ(block.intervals(), core->intervals());
  expect_same(block.telemetry().interval, core->telemetry().interval);
  EXPECT_EQ(block.telemetry().wire.lost, core->telemetry().wire.lost);
  EXPECT_GT(core->telemetry().wire.lost, 10U);
}

INSTANTIATE_TEST_SUITE_P(Generations, BlockPathTest, testing::Values(1U, 2U));

}  // namespace
}  // namespace clarion::emu
