// SPDX-License-Identifier: Apache-2.0
// Links that are not wires.
#include <map>

#include "fabric_test.hpp"
#include "frames.hpp"
#include "hazards.hpp"

namespace clarion::emu {
namespace {

using Cause = TruthLog::Cause;
constexpr Nanoseconds MS = 1'000'000;

class HazardsTest : public testing::Test {
 protected:
  HazardsTest() { wire_.configure(1000, {}); }

  void enter(Nanoseconds time, FrameBytes frame) {
    hazards_.enter(time, std::move(frame), wire_, [this](Cause cause, const FrameBytes&) { ++seen_[cause]; });
  }
  // Packets of 1000 bytes whose last byte is their number.
  void enter_numbered(Nanoseconds time, std::uint8_t number) {
    auto tcp = tcp_segment(946);
    tcp.back() = number;
    enter(time, ipv4_frame(6, tcp));
  }
  // Time in us and number of everything that comes out.
  std::vector<std::pair<Nanoseconds, int>> all() {
    std::vector<std::pair<Nanoseconds, int>> out;
    while (hazards_.next_time() != NEVER) {
      const Nanoseconds time = hazards_.next_time();
      out.emplace_back(time / 1000, hazards_.take_next().back());
    }
    return out;
  }

  HazardOptions options_;
  Hazards hazards_{RandomStream(1, "x"), 253};
  Wire wire_{RandomStream(1, "w")};
  std::map<Cause, int> seen_;
};

using Arrivals = std::vector<std::pair<Nanoseconds, int>>;

TEST_F(HazardsTest, OffByDefaultAndDownStopsAll) {
  EXPECT_FALSE(hazards_.on());
  options_.down = true;
  hazards_.configure(options_);
  EXPECT_TRUE(hazards_.on());
  enter_numbered(0, 1);
  EXPECT_EQ(seen_[Cause::outage], 1);
  EXPECT_EQ(all(), Arrivals());
}

TEST_F(HazardsTest, AQueueOfItsOwnShapesAndDropsTheTail) {
  options_.queue_bps = 8'000'000;  // 1000 bytes last 1 ms
  options_.queue_bytes = 2000;
  hazards_.configure(options_);
  for (std::uint8_t i = 0; i < 4; ++i) enter_numbered(0, i);  // one sent, two wait, one is too many
  enter_numbered(MS, 4);                                      // one has left
  EXPECT_EQ(seen_[Cause::queue], 1);
  EXPECT_EQ(all(), (Arrivals{{2000, 0}, {3000, 1}, {4000, 2}, {5000, 4}}));
}

TEST_F(HazardsTest, APolicerHasABurstAndNoQueue) {
  options_.police_bps = 8'000'000;
  options_.police_burst_bytes = 2500;
  hazards_.configure(options_);
  for (std::uint8_t i = 0; i < 3; ++i) enter_numbered(10 * MS, i);  // 500 bytes of tokens stay
  enter_numbered(10 * MS + 400'000, 3);                             // 900
  enter_numbered(10 * MS + 500'000, 4);                             // 1000
  EXPECT_EQ(seen_[Cause::policer], 2);
  EXPECT_EQ(all(), (Arrivals{{11'000, 0}, {11'000, 1}, {11'500, 4}}));
}

TEST_F(HazardsTest, LongPacketsAreBlocked) {
  options_.mtu_bytes = 985;
  hazards_.configure(options_);
  enter_numbered(0, 1);  // 986 bytes of IP
  enter(0, ipv4_frame(6, tcp_segment(945)));
  EXPECT_EQ(seen_[Cause::blocked], 1);
  EXPECT_EQ(all().size(), 1U);
}

TEST_F(HazardsTest, LatePacketsByTime) {
  options_.reorder = 1;
  options_.reorder_delay_us = 500;
  hazards_.configure(options_);
  enter_numbered(0, 1);
  options_.reorder = 0;
  hazards_.configure(options_);
  enter_numbered(100'000, 2);
  EXPECT_EQ(seen_[Cause::displaced], 1);
  EXPECT_EQ(all(), (Arrivals{{1100, 2}, {1500, 1}}));
}

TEST_F(HazardsTest, LatePacketsByNumber) {
  options_.reorder = 1;
  options_.reorder_packets = 2;
  hazards_.configure(options_);
  enter_numbered(0, 1);
  options_.reorder = 0;
  hazards_.configure(options_);
  for (std::uint8_t i = 2; i < 5; ++i) enter_numbered(i * MS, i);
  EXPECT_EQ(all(), (Arrivals{{3000, 2}, {4000, 3}, {4000, 1}, {5000, 4}}));
}

TEST_F(HazardsTest, ADisplacedPacketWaitsAtMostAFifthOfASecond) {
  options_.reorder = 1;
  options_.reorder_packets = 1;
  hazards_.configure(options_);
  enter_numbered(0, 1);
  options_.reorder = 0;
  hazards_.configure(options_);
  enter_numbered(300 * MS, 2);
  EXPECT_EQ(all(), (Arrivals{{201'000, 1}, {301'000, 2}}));
}

TEST_F(HazardsTest, DuplicatesFollowAtOnce) {
  options_.duplicate = 1;
  hazards_.configure(options_);
  enter_numbered(0, 1);
  EXPECT_EQ(seen_[Cause::duplicate], 1);
  EXPECT_EQ(all(), (Arrivals{{1000, 1}, {1000, 1}}));
}

TEST_F(HazardsTest, OnlyAcknowledgementsAreLost) {
  options_.ack_loss = 1;
  hazards_.configure(options_);
  enter_numbered(0, 1);
  auto ack = tcp_segment(0);
  ack[13] = 0x10;
  enter(0, ipv4_frame(6, ack));
  EXPECT_EQ(seen_[Cause::wire], 1);
  EXPECT_EQ(all().size(), 1U);
}

TEST_F(HazardsTest, HeadersAreStrippedBlockedOrChangedAndOthersLeftAlone) {
  options_.header = HazardOptions::Header::strip;
  hazards_.configure(options_);
  enter(0, tagged_frame(100));
  enter_numbered(0, 1);
  EXPECT_EQ(seen_[Cause::stripped], 1);
  EXPECT_EQ(hazards_.take_next().size(), ipv4_frame(6, tcp_segment(100)).size());
  hazards_.take_next();
  options_.header = HazardOptions::Header::block;
  hazards_.configure(options_);
  enter(MS, tagged_frame(100));
  EXPECT_EQ(seen_[Cause::blocked], 1);
  EXPECT_EQ(hazards_.next_time(), NEVER);
  options_.header = HazardOptions::Header::flip;
  hazards_.configure(options_);
  const auto whole = tagged_frame(100);
  for (int i = 0; i < 100; ++i) {
    enter(2 * MS, whole);
    const auto changed = hazards_.take_next();
    ASSERT_EQ(changed.size(), whole.size());
    int bits = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      const unsigned difference = static_cast<unsigned>(changed[at] ^ whole[at]);
      EXPECT_TRUE(difference == 0 || (at >= 34 && at < 50));  // inside of the TAG header
      bits += __builtin_popcount(difference);
    }
    EXPECT_EQ(bits, 1);
  }
  EXPECT_EQ(seen_[Cause::flipped], 100);
}

TEST_F(HazardsTest, TheSameSeedMeetsTheSameFate) {
  const auto run = [] {
    HazardOptions options;
    options.reorder = options.duplicate = 0.3;
    options.reorder_delay_us = 5000;
    Hazards hazards(RandomStream(7, "s1:x:hazards"), 253);
    Wire wire(RandomStream(7, "s1:x:out"));
    hazards.configure(options);
    for (std::uint8_t i = 0; i < 100; ++i) {
      auto tcp = tcp_segment(10);
      tcp.back() = i;
      hazards.enter(i * MS, ipv4_frame(6, tcp), wire, [](Cause, const FrameBytes&) {});
    }
    std::vector<int> order;
    while (hazards.next_time() != NEVER) order.push_back(hazards.take_next().back());
    return order;
  };
  const auto first = run();
  EXPECT_GT(first.size(), 110U);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_EQ(run(), first);
}

constexpr const char* TWO_SWITCHES = R"({"lldp":false,"switches":[
  {"name":"s1","ports":[{"name":"h","netdev":"h"},
                        {"name":"x","peer":"s2:x","rate_bps":8000000,"queue_bytes":4000,"delay_us":2000}]},
  {"name":"s2","ports":[{"name":"x","peer":"s1:x"},{"name":"h","netdev":"g"}]}]})";

class HostileFabric : public FabricTest {
 protected:
  std::vector<std::uint8_t> packet(std::uint8_t service) {
    auto made = ipv4_frame(6, tcp_segment(946));
    std::copy_n(HOST_B, 6, made.begin());
    std::copy_n(HOST_A, 6, made.begin() + 6);
    made[15] = service;
    return made;
  }
  std::string at(const char* rest, Nanoseconds after) {
    return std::string(rest) + R"(,"at_us":)" + std::to_string((start_ + after) / 1000) + "}";
  }
};

TEST_F(HostileFabric, AQueueAboveItsThresholdMarksWhatIsCapable) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:x","ecn_threshold_bytes":1500})");
  // One is sent at once, two fill the queue beyond the threshold, two are marked, the last does not fit.
  for (int i = 0; i < 6; ++i) receive("s1:h", 0, packet(2));
  EXPECT_EQ(counters("s1:x").marked_packets, 2U);
  EXPECT_EQ(counters("s1:x").drop_packets, 1U);
  fabric_->advance(start_ + SECOND_NS);
  EXPECT_EQ(counters("s2:h").tx_packets, 5U);
  for (int i = 0; i < 5; ++i) receive("s1:h", 2 * SECOND_NS, packet(0));
  EXPECT_EQ(counters("s1:x").marked_packets, 2U);  // not capable: not marked
}

TEST_F(HostileFabric, HazardsAreAPartOfTheLink) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:x","hazards":{"queue":{"rate_bps":4000000,"bytes":2048}}})");
  for (int i = 0; i < 5; ++i) receive("s1:h", 0, packet(0));
  fabric_->advance(start_ + SECOND_NS);
  EXPECT_EQ(counters("s1:x").drop_packets, 0U);
  EXPECT_EQ(counters("s1:x").tx_packets, 5U);
  EXPECT_EQ(counters("s2:h").tx_packets, 5U);  // 2 ms each, one a ms: at most two wait
  EXPECT_EQ(counters("s1:x").hazard_lost_packets, 0U);
  command(R"({"cmd":"set","port":"s1:x","hazards":{"queue":{"rate_bps":1000000,"bytes":2048}}})");
  for (int i = 0; i < 5; ++i) receive("s1:h", 2 * SECOND_NS, packet(0));
  fabric_->advance(start_ + 3 * SECOND_NS);
  EXPECT_EQ(counters("s1:x").hazard_lost_packets, 2U);  // 8 ms each: the first is sent, two wait
  EXPECT_EQ(counters("s2:h").tx_packets, 8U);
}

TEST_F(HostileFabric, ChangesComeAtTheirTime) {
  build(TWO_SWITCHES);
  EXPECT_EQ(command(at(R"({"cmd":"set","port":"s1:x","hazards":{"down":true})", 5 * MS))["ok"], true);
  EXPECT_EQ(command(at(R"({"cmd":"set","port":"s1:x","hazards":{"down":false})", 10 * MS))["ok"], true);
  EXPECT_EQ(refusal(at(R"({"cmd":"set","port":"s1:x","delay_us":-1)", 5 * MS)),
            "out_of_range delay_us: must be a whole number from 0 to 60000000, not -1");
  EXPECT_EQ(fabric_->next_time(), start_ / 1000 * 1000 + 5 * MS);
  for (const Nanoseconds after : {4 * MS, 6 * MS, 11 * MS}) receive("s1:h", after, packet(0));
  fabric_->advance(start_ + SECOND_NS);
  EXPECT_EQ(counters("s2:h").tx_packets, 2U);
  EXPECT_EQ(counters("s1:x").hazard_lost_packets, 1U);
  // What is past is done at once.
  command(at(R"({"cmd":"set","port":"s1:x","delay_us":7)", 0));
  EXPECT_EQ(fabric_->find("s1:x")->options.delay_us, 7U);
}

TEST_F(HostileFabric, ARestartLosesQueueNumbersAndWhatComesMeanwhile) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:x","tag":{"stamp":true,"check":true}})");
  auto tagged = tagged_frame(946);
  std::copy_n(HOST_B, 6, tagged.begin());
  std::copy_n(HOST_A, 6, tagged.begin() + 6);
  for (int i = 0; i < 3; ++i) receive("s1:h", 0, tagged);
  EXPECT_EQ(core("s1:x").core().link_stamp.next(777), 1U);
  EXPECT_EQ(core("s1:x").queued(), 2U);
  EXPECT_EQ(command(R"({"cmd":"restart","switch":"s1","down_us":1000})")["ok"], true);
  EXPECT_EQ(core("s1:x").queued(), 0U);
  EXPECT_EQ(core("s1:x").core().link_stamp.next(777), 0U);
  EXPECT_TRUE(core("s1:x").core().config.tag.stamp);  // the entries are back
  EXPECT_EQ(counters("s1:x").hazard_lost_packets, 2U);
  receive("s1:h", MS - 1, tagged);
  EXPECT_EQ(counters("s1:h").ingress_lost_packets, 1U);
  receive("s1:h", MS, tagged);
  fabric_->advance(start_ + SECOND_NS);
  EXPECT_EQ(counters("s2:h").tx_packets, 2U);
}

TEST_F(HostileFabric, TheSenderOfALongPacketIsTold) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:x","hazards":{"mtu":{"bytes":576,"icmp":true}}})");
  receive("s1:h", 0, packet(0));
  EXPECT_EQ(counters("s1:h").tx_packets, 1U);
  EXPECT_EQ(counters("s1:h").tx_bytes, 14U + 20 + 8 + 548);
  command(R"({"cmd":"set","port":"s1:x","hazards":{"mtu":{"bytes":576}}})");
  receive("s1:h", SECOND_NS, packet(0));
  EXPECT_EQ(counters("s1:h").tx_packets, 1U);  // a black hole
  EXPECT_EQ(counters("s1:x").hazard_lost_packets, 2U);
}

}  // namespace
}  // namespace clarion::emu
