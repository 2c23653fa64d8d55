// SPDX-License-Identifier: Apache-2.0
// LLDP at the ports: what it proves, what disproves, what ends a proof, and frames that are none.
#include <algorithm>
#include <random>

#include "fabric_test.hpp"
#include "lldp.hpp"

namespace clarion::emu {
namespace {

using Bytes = std::vector<std::uint8_t>;

// s1:a is a device's port; s1:b and s2:b are the ends of a link.
constexpr const char* TWO_SWITCHES = R"({"switches":[
  {"name":"s1","chassis_id":"one","ports":[{"name":"a","netdev":"a","tag":{"check":true}},
   {"name":"b","peer":"s2:b","tag":{"stamp":true,"check":true}}]},
  {"name":"s2","chassis_id":"two","ports":[{"name":"b","peer":"s1:b","tag":{"stamp":true,"check":true}}]}]})";

LldpFrame neighbour(const char* chassis, std::uint16_t ttl_s = 4, bool stamps = true) {
  return {{LldpId::LOCAL, chassis}, {LldpId::LOCAL, "p1"}, ttl_s, ClarionPort{stamps, true}};
}

LldpFrame bridge(const char* chassis) { return {{4, chassis}, {3, "xxxxxx"}, 120, std::nullopt}; }

class LldpTest : public FabricTest {
 protected:
  void hear(const LldpFrame& frame, Nanoseconds after = 0) { receive("s1:a", after, compose_lldp(frame)); }
  void wait(Nanoseconds after) { fabric_->advance(start_ + after); }
  json wire(const char* sw = "s1", std::size_t port = 0) {
    return command(std::string(R"({"cmd":"wires","switch":")") + sw + "\"}")["ports"][port];
  }
  std::string judgement(const char* sw = "s1", std::size_t port = 0) { return wire(sw, port)["judgement"]; }
  bool counts(const char* port = "s1:a") { return core(port).core().config.tag.wire; }
};

TEST_F(LldpTest, ABareWireProvesItself) {
  build(TWO_SWITCHES);
  wait(0);
  EXPECT_EQ(judgement("s1", 1), "proven");
  EXPECT_EQ(judgement("s2", 0), "proven");
  EXPECT_TRUE(counts("s1:b") && counts("s2:b"));
  EXPECT_FALSE(counts("s1:a"));  // nobody is heard there
  const json heard = wire("s2")["neighbours"];
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0]["chassis_id"], "one");
  EXPECT_EQ(heard[0]["port_id"], "b");
  EXPECT_TRUE(heard[0]["clarion"] && heard[0]["stamps"] && heard[0]["checks"]);
  EXPECT_EQ(counters("s1:b").tx_packets + counters("s2:b").rx_packets, 0U);  // hellos are not traffic
}

TEST_F(LldpTest, HellosAfterTheFirstAreSpreadOverTheSecond) {
  build(TWO_SWITCHES);
  wait(10 * SECOND_NS);
  Nanoseconds longest = 0;  // between two of the three ports' hellos
  for (Nanoseconds last = start_ + 10 * SECOND_NS; last < start_ + 12 * SECOND_NS;) {
    const Nanoseconds next = fabric_->lldp().next_time();
    longest = std::max(longest, next - last);
    fabric_->advance(last = next);
  }
  EXPECT_LE(longest, SECOND_NS / 3);
  wait(100 * SECOND_NS);
  EXPECT_EQ(judgement("s1", 1), "proven");  // each port says hello once a second, so no neighbour expires
}

TEST_F(LldpTest, TheProofEndsWhenTheHelloStaysAway) {
  build(TWO_SWITCHES);
  wait(0);
  command(R"({"cmd":"set","port":"s2:b","loss":{"model":"packet","rate":1}})");
  wait(2'900'000'000);  // the last hello was sent up to a second before
  EXPECT_EQ(judgement("s1", 1), "proven");
  EXPECT_TRUE(counts("s1:b"));
  wait(4'100'000'000);
  EXPECT_EQ(judgement("s1", 1), "unproven");
  EXPECT_FALSE(counts("s1:b"));
  EXPECT_EQ(judgement("s2", 0), "proven");  // the other direction lives
}

TEST_F(LldpTest, AnOutageOfTheLinkEndsItToo) {
  build(TWO_SWITCHES);
  wait(0);
  command(R"({"cmd":"set","port":"s2:b","hazards":{"down":true}})");
  wait(4'100'000'000);
  EXPECT_EQ(judgement("s1", 1), "unproven");
  command(R"({"cmd":"set","port":"s2:b","hazards":{"down":false}})");
  wait(5'200'000'000);
  EXPECT_EQ(judgement("s1", 1), "proven");
}

TEST_F(LldpTest, ARestartForgetsAndProvesAnew) {
  build(TWO_SWITCHES);
  wait(0);
  command(R"({"cmd":"restart","switch":"s2","down_us":6000000})");
  EXPECT_EQ(judgement("s2", 0), "unproven");
  wait(5'000'000'000);
  EXPECT_EQ(judgement("s2", 0), "unproven");  // down, it hears nothing
  EXPECT_EQ(judgement("s1", 1), "unproven");  // and says nothing
  wait(7'100'000'000);
  EXPECT_EQ(judgement("s2", 0), "proven");
  EXPECT_EQ(judgement("s1", 1), "proven");
}

TEST_F(LldpTest, AGoodbyeEndsItAtOnce) {
  build(TWO_SWITCHES);
  hear(neighbour("x"));
  EXPECT_TRUE(counts());
  hear(neighbour("x", 0), 1000);
  EXPECT_EQ(judgement(), "unproven");
  EXPECT_FALSE(counts());
  hear(neighbour("y", 0), 2000);  // of nobody known
  EXPECT_EQ(judgement(), "unproven");
}

TEST_F(LldpTest, ANeighbourThatDoesNotNumberBeatsTheDeclaration) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:a","wire":"declared"})");
  hear(neighbour("x", 4, false));
  EXPECT_EQ(judgement(), "unnumbered");
  EXPECT_FALSE(counts());
  EXPECT_EQ(wire()["conflict"], true);
  hear(neighbour("x", 4, true), 1000);
  EXPECT_EQ(judgement(), "proven");
  EXPECT_TRUE(counts());
}

TEST_F(LldpTest, TwoNeighboursDisproveUntilOneFallsSilent) {
  build(TWO_SWITCHES);
  hear(neighbour("x", 10));
  hear(neighbour("y", 2), 1000);
  EXPECT_EQ(judgement(), "disproved");
  EXPECT_FALSE(counts());
  EXPECT_EQ(wire()["until_us"], wire()["neighbours"][1]["until_us"]);
  wait(2'100'000'000);
  EXPECT_EQ(judgement(), "proven");
  EXPECT_TRUE(counts());
}

TEST_F(LldpTest, AnOrdinaryBridgeBeatsTheDeclaration) {
  build(TWO_SWITCHES);
  command(R"({"cmd":"set","port":"s1:a","wire":"declared"})");
  EXPECT_TRUE(counts());
  EXPECT_EQ(wire()["conflict"], false);
  hear(bridge("\x02\x03\x04\x05\x06\xff"));
  EXPECT_EQ(judgement(), "disproved");
  EXPECT_FALSE(counts());
  EXPECT_TRUE(wire()["conflict"] && wire()["declared"] && !wire()["effective"]);
  EXPECT_EQ(wire()["neighbours"][0]["chassis_id"], "02:03:04:05:06:ff");
  EXPECT_EQ(wire()["neighbours"][0]["clarion"], false);
}

TEST_F(LldpTest, AControllersDeclarationIsJudgedToo) {
  build(TWO_SWITCHES);
  const std::string entry =
      R"({"cmd":"batch","switch":"s1","changes":[{"port":1,"tag":{"check":true,"wire":true,"epoch":3}}]})";
  command(entry);
  EXPECT_TRUE(counts());
  hear(bridge("aaaaaa"));
  command(entry);
  EXPECT_FALSE(counts());
  EXPECT_EQ(command(R"({"cmd":"entries","switch":"s1"})")["ports"][0]["tag"]["wire"], true);  // as written
}

TEST_F(LldpTest, APortCanBeLeftOut) {
  build(TWO_SWITCHES);
  hear(neighbour("x"));
  EXPECT_TRUE(counts());
  command(R"({"cmd":"set","port":"s1:a","wire":"none"})");
  EXPECT_FALSE(counts());
  hear(neighbour("x"), 1000);
  EXPECT_EQ(wire()["neighbours"], json::array());
  command(R"({"cmd":"set","port":"s1:b","wire":"none"})");
  wait(5'000'000'000);
  EXPECT_EQ(judgement("s2", 0), "unproven");  // it does not speak either
}

TEST_F(LldpTest, ManyNeighboursAreCapped) {
  build(TWO_SWITCHES);
  for (unsigned i = 0; i < 100; ++i) hear(neighbour(std::to_string(i).c_str()), i);
  EXPECT_EQ(wire()["neighbours"].size(), Neighbours::MAX);
  EXPECT_EQ(judgement(), "disproved");
}

TEST_F(LldpTest, ReceivedFramesGoToTheControllerAlone) {
  build(THREE_PORTS);
  command(R"({"cmd":"subscribe","packets":["s1"]})");
  command(R"({"cmd":"batch","switch":"s1","changes":[{"address":1652522221582,"to":2},{"flood":[1,2,3]}]})");
  const Bytes frame = compose_lldp(bridge("aaaaaa"));
  receive("s1:a", 0, frame);
  Bytes other = frame;
  other[12] = 0x88;
  other[13] = 0xf7;  // another protocol between neighbours
  receive("s1:c", 0, other);
  for (const char* port : {"s1:a", "s1:b", "s1:c"}) EXPECT_EQ(counters(port).tx_packets, 0U) << port;
  const std::string lines = fabric_->events().lines();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_EQ(json::parse(lines.substr(0, lines.find('\n')))["packet"][1], 1);
}

TEST_F(LldpTest, AControllerSendsThroughOnePort) {
  build(THREE_PORTS);
  const std::string frame = "0180c200000e02000000000188cc" + std::string(92, '0');
  command(R"({"cmd":"inject","switch":"s1","port":3,"frame":")" + frame + "\"}");
  EXPECT_EQ(counters("s1:c").tx_packets, 1U);
  command(R"({"cmd":"inject","switch":"s1","frame":")" + frame + "\"}");  // nothing forwards it
  EXPECT_EQ(counters("s1:a").tx_packets + counters("s1:c").tx_packets, 1U);
  EXPECT_EQ(refusal(R"({"cmd":"inject","switch":"s1","port":9,"frame":")" + frame + "\"}"),
            "not_found port: the switch has no port 9");
}

TEST_F(LldpTest, LossesOfDataAreTheSameWithAndWithoutHellos) {
  std::vector<std::uint64_t> lost;
  for (const char* lldp : {"true", "false"}) {
    const std::string document =
        std::string(R"({"seed":7,"lldp":)") + lldp + R"(,"switches":[{"name":"s1","ports":[
      {"name":"a","netdev":"a"},{"name":"b","netdev":"b","loss":{"model":"packet","rate":0.3}}]}]})";
    build(document.c_str());
    for (unsigned i = 0; i < 1000; ++i) receive("s1:a", i * 10'000'000, frame(HOST_B, HOST_A, 100));
    lost.push_back(counters("s1:b").wire_lost_packets);
  }
  EXPECT_EQ(lost[0], lost[1]);
  EXPECT_GT(lost[0], 250U);
}

TEST(LldpFrame, ComesBackAsItWas) {
  for (const bool stamps : {false, true}) {
    LldpFrame frame = neighbour("chassis/1", 300, stamps);
    const Bytes bytes = compose_lldp(frame);
    EXPECT_GE(bytes.size(), 60U);
    EXPECT_TRUE(is_for_nearest_bridge(bytes.data(), static_cast<std::uint32_t>(bytes.size())));
    const auto found = parse_lldp(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    ASSERT_TRUE(found && found->clarion);
    EXPECT_TRUE(found->chassis == frame.chassis && found->port == frame.port);
    EXPECT_EQ(found->ttl_s, 300);
    EXPECT_EQ(found->clarion->stamps, stamps);
  }
}

TEST(LldpFrame, HasTheBytesOfTheDocument) {
  const Bytes bytes = compose_lldp(neighbour("ab"));
  const Bytes body = {0x02, 3, 7,    'a', 'b',  0x04, 3,    7, 'p', '1', 0x06, 2,
                      0,    4, 0xfe, 6,   0x0a, 0xc1, 0xa7, 1, 1,   3,   0,    0};
  EXPECT_EQ(Bytes(bytes.begin() + 14, bytes.begin() + 14 + static_cast<std::ptrdiff_t>(body.size())), body);
  EXPECT_EQ(bytes[12] << 8 | bytes[13], 0x88cc);
}

Bytes lldpdu(const Bytes& tlvs) {
  Bytes frame = compose_lldp(neighbour("x"));
  frame.resize(14);
  frame.insert(frame.end(), tlvs.begin(), tlvs.end());
  return frame;
}

bool legal(const Bytes& frame) {
  const Bytes exact(frame);  // of exactly its size, for a sanitiser
  return parse_lldp(exact.data(), static_cast<std::uint32_t>(exact.size())).has_value();
}

TEST(LldpFrame, AnythingLegalIsTaken) {
  const Bytes start = {2, 2, 4, 1, 4, 2, 3, 1, 6, 3, 0, 9, 99};  // a longer TTL's rest is skipped
  EXPECT_TRUE(legal(lldpdu(start)));                             // without an end
  Bytes unknown = start;
  unknown.insert(unknown.end(), {8, 0, 0xfe, 3, 1, 2, 3, 0xfe, 4, 0x0a, 0xc1, 0xa7, 1, 0, 0, 77, 77, 77});
  EXPECT_TRUE(legal(lldpdu(unknown)));
  const auto found = parse_lldp(lldpdu(unknown).data(), static_cast<std::uint32_t>(14 + unknown.size()));
  EXPECT_FALSE(found->clarion);  // ours is cut short
}

TEST(LldpFrame, WhatIsMalformedIsNone) {
  const Bytes malformed[] = {
      {},
      {2},
      {2, 2, 4},                                               // cut short
      {4, 2, 3, 1, 2, 2, 4, 1, 6, 2, 0, 9, 0, 0},              // port before chassis
      {2, 1, 4, 4, 2, 3, 1, 6, 2, 0, 9, 0, 0},                 // an ID without a value
      {2, 2, 4, 1, 4, 2, 3, 1, 0, 0},                          // without a TTL
      {2, 2, 4, 1, 4, 2, 3, 1, 6, 1, 0, 0, 0},                 // a TTL of one byte
      {2, 2, 4, 1, 4, 2, 3, 1, 6, 2, 0, 9, 8, 9, 1},           // longer than the frame
      {2, 2, 4, 1, 4, 2, 3, 1, 6, 2, 0, 9, 6, 2, 0, 9, 0, 0},  // two TTLs
      {2, 2, 4, 1, 4, 2, 3, 1, 6, 2, 0, 9, 0, 1, 5},           // an end with a value
      {2, 2, 4, 1, 4, 2, 3, 1, 6, 2, 0, 9, 8},                 // half of a head
  };
  for (const Bytes& tlvs : malformed) EXPECT_FALSE(legal(lldpdu(tlvs))) << tlvs.size();
}

TEST_F(LldpTest, RandomFramesDoNoHarm) {
  build(TWO_SWITCHES);
  std::mt19937 random(1);
  const Bytes good = compose_lldp(neighbour("chassis"));
  for (unsigned i = 0; i < 20'000; ++i) {
    Bytes frame = good;
    for (unsigned n = random() % 4; n > 0; --n)
      frame[14 + random() % 46] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) frame.resize(14 + random() % 47);
    if (random() % 8 == 0) {
      for (std::size_t at = 14; at < frame.size(); ++at) frame[at] = static_cast<std::uint8_t>(random());
    }
    receive("s1:a", i * 1000, frame);
  }
  EXPECT_LE(wire()["neighbours"].size(), Neighbours::MAX);
  EXPECT_TRUE(command(R"({"cmd":"stats"})").contains("switches"));
}

}  // namespace
}  // namespace clarion::emu
