// SPDX-License-Identifier: Apache-2.0
// The router of VCP against loads worked out by hand, and ports that have it. 8 Mbit/s and intervals of 200
// ms: at a target of 0.98 an interval carries 196,000 bytes.
#include "checksum.hpp"
#include "core/header.hpp"
#include "fabric_test.hpp"
#include "frame_edit.hpp"
#include "frames.hpp"
#include "router/vcp.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
using Code = VcpRouter::Code;

std::vector<std::uint8_t> frame_with(Code code) {
  auto frame = ipv4_frame(6, tcp_segment(100));
  frame[15] = static_cast<std::uint8_t>(0xb8 | static_cast<int>(code));  // beside a DSCP
  store_be16(frame.data() + 24, static_cast<std::uint16_t>(~internet_sum(frame.data() + 14, 20)));
  return frame;
}

class VcpRouterTest : public testing::Test {
 protected:
  // The field of a packet that came as `code` and leaves at `now`.
  Code sent(Nanoseconds now, Code code) {
    auto frame = frame_with(code);
    router_.depart(now, frame.data(), static_cast<std::uint32_t>(frame.size()));
    EXPECT_EQ(frame[15] >> 2, 0xb8 >> 2);
    EXPECT_EQ(internet_sum(frame.data() + 14, 20), 0xffff);
    return static_cast<Code>(frame[15] & 3);
  }

  static constexpr Nanoseconds START = 5000 * MS;
  VcpRouter router_{VcpSettings{}, START, 8'000'000};
};

TEST_F(VcpRouterTest, TheLoadIsTheInputOfAnIntervalOverWhatTheTargetCarries) {
  router_.arrive(START, nullptr, 49'000);
  router_.arrive(START + 199 * MS, nullptr, 49'000);
  EXPECT_EQ(router_.load(), 0);  // the interval is not over
  router_.arrive(START + 200 * MS, nullptr, 98'000);
  EXPECT_DOUBLE_EQ(router_.load(), 0.5);  // 98,000 / 196,000
  EXPECT_EQ(router_.code(), Code::low);
  router_.queue_is(START + 400 * MS, 0);
  EXPECT_DOUBLE_EQ(router_.load(), 0.5);
  router_.queue_is(START + 600 * MS, 0);  // nothing has come
  EXPECT_EQ(router_.load(), 0);
}

TEST_F(VcpRouterTest, HalfOfTheStandingQueueCounts) {
  // 40,000 bytes from 100 ms on: of the twenty looks at 10, 20, ... 200 ms those after 100 ms see them: ten.
  // The mean is 20,000, a quarter of it is the first standing queue.
  router_.queue_is(START + 100 * MS, 40'000);
  router_.queue_is(START + 200 * MS, 40'000);
  EXPECT_DOUBLE_EQ(router_.standing_bytes(), 5'000);
  EXPECT_DOUBLE_EQ(router_.load(), 0.5 * 5'000 / 196'000);
  // Twenty more looks at 40,000: 5,000 + (40,000 - 5,000) / 4.
  router_.queue_is(START + 400 * MS, 40'000);
  EXPECT_DOUBLE_EQ(router_.standing_bytes(), 13'750);
}

TEST_F(VcpRouterTest, CodesChangeAtFourFifthsAndAtTheWhole) {
  const struct {
    std::uint32_t bytes;
    Code code;
  } cases[] = {{156'799, Code::low}, {156'800, Code::high}, {195'999, Code::high}, {196'000, Code::overload}};
  Nanoseconds now = START;
  for (const auto& each : cases) {
    router_.arrive(now, nullptr, each.bytes);
    now += 200 * MS;
    router_.queue_is(now, 0);
    EXPECT_EQ(router_.code(), each.code) << each.bytes;
  }
}

TEST_F(VcpRouterTest, ACodeIsOnlyRaisedAndOtherPacketsAreLeftAlone) {
  EXPECT_EQ(sent(START, Code::low), Code::low);
  router_.arrive(START, nullptr, 170'000);
  EXPECT_EQ(sent(START + 200 * MS, Code::low), Code::high);
  EXPECT_EQ(sent(START + 200 * MS, Code::high), Code::high);
  EXPECT_EQ(sent(START + 200 * MS, Code::overload), Code::overload);
  EXPECT_EQ(sent(START + 200 * MS, Code::none), Code::none);
  router_.arrive(START + 200 * MS, nullptr, 250'000);
  EXPECT_EQ(sent(START + 400 * MS, Code::low), Code::overload);
  EXPECT_EQ(sent(START + 400 * MS, Code::high), Code::overload);
  EXPECT_EQ(sent(START + 400 * MS, Code::none), Code::none);
}

TEST_F(VcpRouterTest, WhatIsNoIpIsLeftAlone) {
  router_.arrive(START, nullptr, 250'000);
  auto frame = frame_with(Code::low);
  frame[12] = 0x88;
  const auto before = frame;
  router_.depart(START + 200 * MS, frame.data(), static_cast<std::uint32_t>(frame.size()));
  router_.depart(START + 200 * MS, frame.data(), 14);
  EXPECT_EQ(frame, before);
}

TEST_F(VcpRouterTest, ARateThatChangesChangesTheLoadFromTheIntervalThatEndsNext) {
  router_.arrive(START, nullptr, 98'000);
  router_.set_rate(START + 100 * MS, 4'000'000);
  router_.queue_is(START + 200 * MS, 0);
  EXPECT_DOUBLE_EQ(router_.load(), 1.0);
}

TEST_F(VcpRouterTest, AfterALongPauseIntervalsGoOnWhereTheyWere) {
  router_.arrive(START, nullptr, 250'000);
  router_.queue_is(START + 100 * MS, 10'000);
  router_.queue_is(START + 150 * MS, 0);
  const Nanoseconds later = START + 86'400'000 * MS + 50 * MS;  // a day: 432,000 intervals, and a quarter
  router_.arrive(later, nullptr, 98'000);
  EXPECT_NEAR(router_.load(), 0, 1e-9);
  EXPECT_NEAR(router_.standing_bytes(), 0, 1e-9);
  router_.queue_is(later + 149 * MS, 0);
  EXPECT_NEAR(router_.load(), 0, 1e-9);
  router_.queue_is(later + 150 * MS, 0);
  EXPECT_DOUBLE_EQ(router_.load(), 0.5);
}

TEST_F(VcpRouterTest, ARestartForgetsTheLoad) {
  router_.arrive(START, nullptr, 250'000);
  router_.queue_is(START + 100 * MS, 10'000);
  router_.queue_is(START + 250 * MS, 10'000);
  EXPECT_EQ(router_.code(), Code::overload);
  router_.restart(START + 300 * MS);
  EXPECT_EQ(router_.code(), Code::low);
  router_.arrive(START + 499 * MS, nullptr, 1000);
  EXPECT_EQ(router_.load(), 0);
  router_.queue_is(START + 500 * MS, 0);  // 200 ms after it
  EXPECT_DOUBLE_EQ(router_.load(), 1000.0 / 196'000);
}

TEST(VcpRouterSettings, EachHasItsEffect) {
  VcpSettings settings;
  settings.interval_ns = 100 * MS;
  settings.sample_ns = 50 * MS;
  settings.queue_gain = 1;
  settings.queue_weight = 1;
  settings.target = 0.5;
  VcpRouter router(settings, 0, 8'000'000);
  router.arrive(0, nullptr, 10'000);
  router.queue_is(60 * MS, 20'000);  // of the looks at 50 and 100 ms the second sees it
  router.queue_is(100 * MS, 0);
  EXPECT_DOUBLE_EQ(router.standing_bytes(), 10'000);
  EXPECT_DOUBLE_EQ(router.load(), (10'000 + 10'000) / 50'000.0);
}

// Through a switch: frames of 1000 bytes that come at port a leave by port b.
class RouterPorts : public FabricTest {
 protected:
  void build_with(const std::string& more) {
    const std::string document =
        R"({"lldp":false,"switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},)"
        R"({"name":"b","netdev":"b","rate_bps":8000000)" +
        more + "}]}]}";
    build(document.c_str());
    start_ = fabric_->now();
    fabric_->find("s1:b")->sink = &sink_;
  }

  std::vector<std::uint8_t> data(Code code) {
    auto bytes = ipv4_frame(6, tcp_segment(946));
    std::copy(std::begin(HOST_B), std::end(HOST_B), bytes.begin());
    std::copy(std::begin(HOST_A), std::end(HOST_A), bytes.begin() + 6);
    bytes[15] = static_cast<std::uint8_t>(code);
    return bytes;
  }
  // `packets` from `from` on, one each 10 ms.
  void send(Nanoseconds from, int packets, Code code) {
    for (int i = 0; i < packets; ++i)
      receive("s1:a", from + static_cast<Nanoseconds>(i) * 10 * MS, data(code));
  }
  double statistic(const char* key) {
    return command(R"({"cmd":"stats"})")["switches"][0]["ports"][1]["router"][key].get<double>();
  }

  struct Sink final : FrameSink {
    void take(Nanoseconds, const std::uint8_t* frame, std::uint32_t, std::uint32_t) override {
      codes.push_back(frame[15] & 3);
    }
    std::vector<int> codes;
  } sink_;
};

TEST_F(RouterPorts, APortMeasuresWhatComesToItAndMarksWhatLeaves) {
  build_with(R"(,"router":{"law":"vcp"})");
  // 20 packets, 20,000 bytes of 196,000 in the first interval; then 9 each 10 ms, which it carries: 180,000.
  send(0, 20, Code::low);
  fabric_->advance(start_ + 200 * MS);
  sink_.codes.clear();
  for (int i = 0; i < 20; ++i) {
    for (int n = 0; n < 9; ++n) {
      receive("s1:a", 200 * MS + static_cast<Nanoseconds>(i) * 10 * MS + static_cast<Nanoseconds>(n) * MS,
              data(Code::low));
    }
  }
  fabric_->advance(start_ + 400 * MS - 1);
  EXPECT_EQ(sink_.codes, std::vector<int>(180, 1));
  EXPECT_DOUBLE_EQ(statistic("load"), 20'000.0 / 196'000);
  sink_.codes.clear();
  receive("s1:a", 400 * MS, data(Code::low));
  receive("s1:a", 401 * MS, data(Code::none));
  fabric_->advance(start_ + 500 * MS);
  EXPECT_EQ(sink_.codes, (std::vector<int>{2, 0}));
  EXPECT_DOUBLE_EQ(statistic("load"), 180'000.0 / 196'000);
}

TEST_F(RouterPorts, WhatTheQueueDropsIsLoadAndWhatWaitsIsSampled) {
  build_with(
      R"(,"queue_bytes":5000,"router":{"law":"vcp","interval_us":10000,"sample_us":1000,"queue_weight":1})");
  for (int n = 0; n < 20; ++n) receive("s1:a", 0, data(Code::low));  // one leaves, five wait, 14 are lost
  EXPECT_EQ(counters("s1:b").drop_packets, 14U);
  fabric_->advance(start_ + 20 * MS);
  receive("s1:a", 20 * MS, data(Code::low));
  // The looks at 1, ... 10 ms come before what leaves at that time: 5, 4, 3, 2, 1 packets and nothing: 1500
  // on average. But of the load this shows only in the first interval, of 9800 bytes: the second had nothing.
  EXPECT_DOUBLE_EQ(statistic("standing_queue_bytes"), 0);
  EXPECT_DOUBLE_EQ(statistic("load"), 0);
  fabric_->advance(start_ + 100 * MS);
  build_with(
      R"(,"queue_bytes":5000,"router":{"law":"vcp","interval_us":10000,"sample_us":1000,"queue_weight":1})");
  for (int n = 0; n < 20; ++n) receive("s1:a", 0, data(Code::low));
  receive("s1:a", 10 * MS, data(Code::low));
  EXPECT_DOUBLE_EQ(statistic("standing_queue_bytes"), 1500);
  EXPECT_DOUBLE_EQ(statistic("load"), (20'000 + 750) / 9800.0);
}

TEST_F(RouterPorts, ASwitchThatStartsAgainHasForgotten) {
  build_with(R"(,"router":{"law":"vcp"})");
  for (int n = 0; n < 250; ++n) receive("s1:a", 0, data(Code::low));
  receive("s1:a", 200 * MS, data(Code::low));
  EXPECT_GT(statistic("load"), 1);
  command(R"({"cmd":"restart","switch":"s1"})");
  EXPECT_EQ(statistic("load"), 0);
}

TEST_F(RouterPorts, ItsRateFollowsThePort) {
  build_with(R"(,"router":{"law":"vcp"})");
  send(0, 20, Code::low);
  command(R"({"cmd":"set","port":"s1:b","rate_bps":1000000})");
  receive("s1:a", 200 * MS, data(Code::low));
  EXPECT_DOUBLE_EQ(statistic("load"), 20'000.0 / 24'500);  // of 1 Mbit/s
}

TEST_F(RouterPorts, XcpCannotBeSwitchedOnBesideIt) {
  build_with(R"(,"router":{"law":"vcp"})");
  const char* why = "a port has one explicit law, and router.law is set; leave one of them out";
  EXPECT_EQ(refusal(R"({"cmd":"set","port":"s1:b","xcp":{"enabled":true}})"),
            std::string("conflict xcp.enabled: ") + why);
  const std::string entry = R"({"port":2,"xcp":{"capacity":1000000,"alpha":1,"beta":1,"gamma":1,)"
                            R"("min_interval":1,"max_interval":2,"generation":2,"epoch":1}})";
  EXPECT_EQ(refusal(R"({"cmd":"batch","switch":"s1","changes":[)" + entry + "]}"),
            std::string("conflict changes[0].xcp: ") + why);
  EXPECT_EQ(refusal(R"({"cmd":"set","port":"s1:b","rate_bps":0})"),
            "conflict rate_bps: must be at least 8 on a port with router.law: without a rate it has no load");
  EXPECT_EQ(refusal(R"({"cmd":"set","port":"s1:b","ecn_threshold_bytes":5000})"),
            "conflict ecn_threshold_bytes: router.law vcp has the bits that it would mark");
  EXPECT_EQ(refusal(R"({"cmd":"set","port":"s1:b","router":{"law":"vcp"}})").substr(0, 16),
            "unknown router: ");
}

TEST(RouterOptions, RefusalsNameTheFieldAndTheFix) {
  const struct {
    const char* port;
    const char* message;
  } cases[] = {
      {R"({"router":{"law":"rcp9"}})",
       "router.law: must be vcp, quick-start, ixcp, p-xcp, jetmax, maxnet or xcp-i, not \"rcp9\""},
      {R"({"router":{}})", "router.law: is missing"},
      {R"({"router":"vcp"})", "router: must be an object"},
      {R"({"router":{"law":"vcp","share":1}})",
       "router.share: unknown key; known here: law, interval_us, sample_us, queue_gain, queue_weight, "
       "target"},
      {R"({"router":{"law":"vcp","target":1.5}})",
       "router.target: must be a number from 0.1 to 1.0, not 1.5"},
      {R"({"router":{"law":"vcp","interval_us":10}})",
       "router.interval_us: must be a whole number from 1000 to 60000000, not 10"},
      {R"({"router":{"law":"vcp","interval_us":5000}})",
       "router.sample_us: must be at most interval_us, 5000"},
      {R"({"router":{"law":"vcp","queue_weight":0}})",
       "router.queue_weight: must be a number from 0.001 to 1.0, not 0"},
      {R"({"router":{"law":"vcp","queue_gain":-1}})",
       "router.queue_gain: must be a number from 0.0 to 10.0, not -1"},
      {R"({"router":{"law":"jetmax","share":1}})",
       "router.share: unknown key; known here: law, interval_us, target"},
      {R"({"router":{"law":"maxnet","interval_us":20000,"max_rtt_us":10000}})",
       "router.interval_us: must be at most max_rtt_us, 10000"},
      {R"({"router":{"law":"quick-start","share":1.1}})",
       "router.share: must be a number from 0.0 to 1.0, not 1.1"},
      {R"({"router":{"law":"quick-start","target":1}})",
       "router.target: unknown key; known here: law, aware, interval_us, share"},
      {R"({"router":{"law":"ixcp","gamma":1.5}})", "router.gamma: must be a number from 0.0 to 1.0, not 1.5"},
      {R"({"router":{"law":"ixcp","share":1}})", "router.share: unknown key; known here: law, gamma"},
      {R"({"router":{"law":"p-xcp","gamma":0.1}})", "router.gamma: unknown key; known here: law"},
      {R"({"router":{"law":"ixcp"},"ecn_threshold_bytes":3000})", "accepted"},
      {R"({"router":{"law":"quick-start"},"xcp":{"enabled":true}})",
       "xcp.enabled: a port has one explicit law, and router.law is set; leave one of them out"},
      {R"({"router":{"law":"quick-start"},"ecn_threshold_bytes":3000})", "accepted"},
      {R"({"router":{"law":"vcp"},"rate_bps":0})",
       "router: needs a port with rate_bps: without, it has no load"},
      {R"({"router":{"law":"vcp"},"xcp":{"enabled":true}})",
       "xcp.enabled: a port has one explicit law, and router.law is set; leave one of them out"},
      {R"({"router":{"law":"vcp"},"ecn_threshold_bytes":3000})",
       "ecn_threshold_bytes: router.law vcp has the bits that it would mark"},
      {R"({"router":{"law":"vcp"},"discipline":{"name":"red","ecn":true}})",
       "discipline.ecn: router.law vcp has the bits that it would mark"},
      {R"({"router":{"law":"vcp"},"discipline":{"name":"red"}})", "accepted"},
  };
  for (const auto& each : cases) {
    json document = json::parse(
        R"({"switches":[{"name":"s1","ports":[{"name":"p1","netdev":"d1","rate_bps":1000000}]}]})");
    document["switches"][0]["ports"][0].update(json::parse(each.port));
    std::string said = "accepted";
    try {
      read_options(document);
    } catch (const Fault& fault) {
      said = sentence(fault);
    }
    const std::string place = said == "accepted" ? "" : "switches[0].ports[0].";
    EXPECT_EQ(said, place + each.message);
  }
}

}  // namespace
}  // namespace clarion::emu
