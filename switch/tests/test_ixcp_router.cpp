// SPDX-License-Identifier: Apache-2.0
// The router of iXCP: which packets are a link's own, what its header says afterwards, and a port that has
// it. A link of 8 Mbit/s, 1,000,000 bytes/s; flows of 500,000 bytes/s in packets of 1000 bytes, and a round
// trip of 125 ms, which ticks hold exactly: an interval at START, which lasts 100 ms, has 50 packets of each.
#include "core/tests/data_frame.hpp"
#include "fabric_test.hpp"
#include "router/ixcp.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;
constexpr std::uint32_t BYTES = 1000;
constexpr std::uint8_t PROTOCOL = 253;
constexpr std::int32_t MUCH = 1'000'000'000;

clarion::Frame frame_of(std::uint8_t hops_before, std::uint8_t field, std::int32_t wanted) {
  clarion::Frame frame = data_frame(BYTES, {0.125, 1000.0 / 500'000, wanted, field});
  frame[HEADER_AT + OFFSET_FLAGS] = static_cast<std::uint8_t>(hops_before << FLAGS_HOP_SHIFT);
  return frame;
}

struct Left {
  std::int32_t granted;
  int field;
  int hops;
};

class IxcpRouterTest : public testing::Test {
 protected:
  void arrive(Nanoseconds now, int packets, std::uint8_t hops_before, std::uint8_t field) {
    const clarion::Frame frame = frame_of(hops_before, field, MUCH);
    for (int n = 0; n < packets; ++n) router_.arrive(now, frame.data(), BYTES);
  }
  Left leave(std::uint8_t hops_before, std::uint8_t field, std::int32_t wanted) {
    clarion::Frame frame = frame_of(hops_before, field, wanted);
    router_.depart(START + 100 * MS, frame.data(), BYTES);
    const std::uint8_t flags = frame[HEADER_AT + OFFSET_FLAGS];
    EXPECT_EQ(load_be32(frame.data() + HEADER_AT + OFFSET_RTT) & RTT_MASK, ticks_of(0.125));
    return {granted_bytes_per_s(frame), field_of(frame), (flags & FLAGS_HOP_MASK) >> FLAGS_HOP_SHIFT};
  }
  double reported(std::size_t which) { return router_.report()[which].second; }

  IxcpRouter router_{XcpGains{}, PROTOCOL, 8'000'000};
};

TEST_F(IxcpRouterTest, AFlowIsOwnIfThisHopIsNamedOrNoneIs) {
  arrive(START, 20, 1, 2);  // the second hop, by both
  arrive(START, 10, 1, 0);
  arrive(START, 15, 1, 1);
  arrive(START, 5, 1, 3);
  arrive(START + 100 * MS, 1, 1, 2);
  EXPECT_NEAR(reported(0), 1, 1e-5);    // all 50 packets are one flow's worth
  EXPECT_NEAR(reported(1), 0.6, 1e-5);  // of which 30 are own
}

TEST_F(IxcpRouterTest, WithoutARoundTripNothingIsOwn) {
  const clarion::Frame frame = data_frame(BYTES, {0, 0, 0, 0});
  const clarion::Frame plain = plain_frame(BYTES);
  for (int n = 0; n < 25; ++n) router_.arrive(START, frame.data(), BYTES);
  for (int n = 0; n < 25; ++n) router_.arrive(START, plain.data(), BYTES);
  arrive(START + 100 * MS, 1, 0, 0);
  EXPECT_EQ(reported(0), 0);
  EXPECT_EQ(reported(1), 0);
}

// Both flows together fill the link, one of them is own: 50,000 changes hands, a tenth of its rate. Each of
// its packets is given and charged 1000; what a packet of the other is offered comes to nothing, too.
class OnAFullLink : public IxcpRouterTest {
 protected:
  void SetUp() override {
    arrive(START, 50, 1, 2);
    arrive(START, 50, 1, 3);
    arrive(START + 100 * MS, 1, 1, 2);
  }
};

TEST_F(OnAFullLink, TheHopThatLowersNamesItself) {
  const Left left = leave(1, 0, MUCH);
  EXPECT_NEAR(left.granted, 0, 2);
  EXPECT_EQ(left.field, 2);
  EXPECT_EQ(left.hops, 2);
}

TEST_F(OnAFullLink, ButNotBeforeALaterOneThatIsNamed) {
  EXPECT_EQ(leave(1, 3, MUCH).field, 3);
  EXPECT_NEAR(leave(1, 3, MUCH).granted, 0, 2);
  EXPECT_EQ(leave(1, 1, MUCH).field, 2);
}

TEST_F(OnAFullLink, AHopThatIsNamedAndDoesNotLowerIsNotTheBottleneck) {
  const Left left = leave(1, 2, -300);
  EXPECT_EQ(left.granted, -300);
  EXPECT_EQ(left.field, 0);
  EXPECT_EQ(leave(1, 1, -300).field, 1);
  EXPECT_EQ(leave(1, 3, -300).field, 3);
}

TEST_F(OnAFullLink, WhatAnotherHopHoldsBackTakesNothingFromThePools) {
  // An earlier hop those of field 1, a later one those of field 3. 45 own packets leave a tenth of both
  // pools, 5000: a flow that is twice as fast is still given 500 for its packet, and charged 1000.
  for (int n = 0; n < 200; ++n) leave(1, 1, -300);
  for (int n = 0; n < 200; ++n) leave(1, 3, -300);
  for (int n = 0; n < 200; ++n) leave(1, 3, MUCH);
  for (int n = 0; n < 45; ++n) EXPECT_NEAR(leave(1, 2, MUCH).granted, 0, 2);
  clarion::Frame fast = data_frame(BYTES, {0.125, 1000.0 / 1'000'000, MUCH, 2});
  fast[HEADER_AT + OFFSET_FLAGS] = 1 << FLAGS_HOP_SHIFT;
  router_.depart(START + 100 * MS, fast.data(), BYTES);
  EXPECT_NEAR(granted_bytes_per_s(fast), -500, 2);
}

TEST_F(IxcpRouterTest, WhatIsNotPaidDoublesAFlowAtMost) {
  // A quarter of the link, by half a flow: 0.4 * 750,000 over 25 packets. 1000 bytes per 125 ms are 8000.
  arrive(START, 25, 1, 2);
  arrive(START + 100 * MS, 1, 1, 2);
  EXPECT_NEAR(leave(1, 3, MUCH).granted, 8000, 1);
  EXPECT_NEAR(leave(1, 2, MUCH).granted, 12'000, 1);
}

TEST_F(IxcpRouterTest, ChangesAreForOwnFlowsAlone) {
  // 75 % load: 0.4 * 250,000 are added, over the 50 packets of the own flow 2000 each.
  arrive(START, 25, 1, 3);
  arrive(START, 50, 1, 2);
  arrive(START + 100 * MS, 1, 1, 2);
  EXPECT_NEAR(leave(1, 2, MUCH).granted, 2000, 1);
  EXPECT_EQ(leave(1, 3, 1999).granted, 1999);
}

TEST_F(IxcpRouterTest, FractionsOfAByteAreNotLost) {
  // 99 % load: 0.4 * 10,000 are added, over 99 packets 40.4 each; what is shuffled adds up to nothing.
  arrive(START, 99, 1, 2);
  arrive(START + 100 * MS, 1, 1, 2);
  double sum = 0;
  for (int n = 0; n < 99; ++n) sum += leave(1, 2, MUCH).granted;
  EXPECT_NEAR(sum, 0.4 * 10'000, 1);
}

TEST_F(IxcpRouterTest, ARateThatChangesCountsFromTheIntervalThatEndsNext) {
  arrive(START, 50, 1, 2);
  router_.set_rate(START + 50 * MS, 4'000'000);  // which those 500,000 bytes/s fill
  arrive(START + 100 * MS, 1, 1, 2);
  EXPECT_NEAR(leave(1, 2, MUCH).granted, 0, 2);
}

TEST_F(IxcpRouterTest, ARestartForgets) {
  arrive(START, 50, 1, 2);
  arrive(START + 100 * MS, 1, 1, 2);
  router_.restart(START + 100 * MS);
  EXPECT_EQ(reported(0), 0);
  EXPECT_EQ(leave(1, 2, MUCH).granted, 0);
}

TEST(IxcpGains, GammaIsThePartThatChangesHands) {
  XcpGains gains;
  gains.gamma = 0.5;
  IxcpRouter router(gains, PROTOCOL, 8'000'000);
  const clarion::Frame slow = frame_of(0, 0, MUCH);
  for (int n = 0; n < 100; ++n) router.arrive(START, slow.data(), BYTES);
  router.arrive(START + 100 * MS, slow.data(), BYTES);
  // 500,000 change hands: of a packet 5000 given and taken, of one of a flow twice as fast 2500 given.
  clarion::Frame fast = data_frame(BYTES, {0.125, 1000.0 / 1'000'000, MUCH, 0});
  router.depart(START + 100 * MS, fast.data(), BYTES);
  EXPECT_NEAR(granted_bytes_per_s(fast), -2500, 2);
}

class IxcpPorts : public FabricTest {};

TEST_F(IxcpPorts, AnswerInTheHeaderOfTheFabricsProtocol) {
  build(R"({"lldp":false,"protocol":200,"switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},
    {"name":"b","netdev":"b","rate_bps":8000000,"router":{"law":"ixcp","gamma":0.2}}]}]})");
  start_ = fabric_->now();
  struct Sink final : FrameSink {
    void take(Nanoseconds, const std::uint8_t* frame, std::uint32_t, std::uint32_t) override {
      hops.push_back((frame[HEADER_AT + OFFSET_FLAGS] & FLAGS_HOP_MASK) >> FLAGS_HOP_SHIFT);
      granted.push_back(static_cast<std::int32_t>(load_be32(frame + HEADER_AT + OFFSET_DELTA_THROUGHPUT)));
    }
    std::vector<int> hops;
    std::vector<std::int32_t> granted;
  } sink;
  fabric_->find("s1:b")->sink = &sink;
  const clarion::Frame head = frame_of(0, 0, MUCH);
  std::vector<std::uint8_t> frame(head.begin(), head.end());
  std::copy(std::begin(HOST_B), std::end(HOST_B), frame.begin());
  std::copy(std::begin(HOST_A), std::end(HOST_A), frame.begin() + 6);
  frame.resize(BYTES);
  frame[ETHERNET_BYTES + 9] = 200;
  for (int n = 0; n <= 50; ++n) receive("s1:a", static_cast<Nanoseconds>(n) * 2 * MS, frame);
  fabric_->advance(start_ + 200 * MS);
  ASSERT_EQ(sink.granted.size(), 51U);
  EXPECT_EQ(sink.granted[49], 0);  // no interval has ended
  EXPECT_NEAR(sink.granted[50], 0.4 * 500'000 * 0.002 / 0.1, 2);
  EXPECT_EQ(sink.hops, std::vector<int>(51, 1));
  const json router = command(R"({"cmd":"stats"})")["switches"][0]["ports"][1]["router"];
  EXPECT_EQ(router["law"], "ixcp");
  EXPECT_NEAR(router["own_flows"].get<double>(), 1, 1e-5);
}

}  // namespace
}  // namespace clarion::emu
