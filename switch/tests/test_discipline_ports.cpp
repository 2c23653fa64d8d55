// SPDX-License-Identifier: Apache-2.0
// Ports whose queue has a discipline: what it drops on the way out is counted, logged and tagged as what does
// not fit is.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "core/data_plane.hpp"
#include "core/tests/data_frame.hpp"
#include "fabric_test.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr std::size_t FRAME_BYTES = 1000;  // 1 ms at the port's 8 Mbit/s

class DisciplinePorts : public FabricTest {
 public:
  ~DisciplinePorts() override { std::remove(truth_.c_str()); }

 protected:
  void build_with(const std::string& discipline, std::uint64_t queue_bytes = 1'000'000) {
    // Tests run side by side, in processes of their own.
    truth_ = testing::TempDir() + "discipline-truth-" + std::to_string(getpid()) + ".csv";
    const std::string document = R"({"lldp":false,"truth_log":")" + truth_ +
                                 R"(","switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},)" +
                                 R"({"name":"b","netdev":"b","rate_bps":8000000,"queue_bytes":)" +
                                 std::to_string(queue_bytes) + R"(,"tag":{"stamp":true},"discipline":)" +
                                 discipline + "}]}]}";
    build(document.c_str());
  }

  // A DATA packet of a flow, for the far side of port b.
  void send(Nanoseconds after, std::uint16_t bucket, std::uint8_t ecn = 0) {
    const Frame head = data_frame(FRAME_BYTES, {});
    std::vector<std::uint8_t> bytes(FRAME_BYTES);
    std::copy(head.begin(), head.end(), bytes.begin());
    std::copy(std::begin(HOST_B), std::end(HOST_B), bytes.begin());
    std::copy(std::begin(HOST_A), std::end(HOST_A), bytes.begin() + 6);
    bytes[ETHERNET_BYTES + 1] = ecn;
    store_be16(bytes.data() + HEADER_AT + OFFSET_DATA_TAGS, bucket);
    receive("s1:a", after, bytes);
  }

  // Three packets in the time of two, of two flows in turn.
  void overload(Nanoseconds until, std::uint8_t ecn = 0) {
    std::uint16_t bucket = 0;
    for (Nanoseconds t = 0; t < until; t += 2 * MS / 3) send(t, bucket ^= 1, ecn);
    fabric_->advance(start_ + 100 * until);  // all have left
  }

  std::size_t logged(const std::string& cause) {
    fabric_->flush_logs();
    std::ifstream file(truth_);
    std::size_t lines = 0;
    for (std::string line; std::getline(file, line);)
      lines += line.find("," + cause + ",") != std::string::npos;
    return lines;
  }
  SequenceCounters checked() { return fabric_->find("s1:b")->path->telemetry().queue; }

  std::string truth_;
};

TEST_F(DisciplinePorts, DropsAtTheHeadAreCongestion) {
  for (const char* name : {"codel", "fq-codel", "pie", "red", "dual-pi2"}) {
    build_with(std::string(R"({"name":")") + name + R"("})",
               name[0] == 'p' || name[0] == 'r' ? 60'000 : 1'000'000);
    overload(2000 * MS);
    const std::uint64_t drops = counters("s1:b").drop_packets;
    EXPECT_GT(drops, 5U) << name;
    EXPECT_EQ(logged("queue"), drops) << name;
    EXPECT_EQ(checked().late, 0U) << name;  // flows keep their order
    // A drop shows when the next packet of its flow leaves, so that of the last one of each may not.
    EXPECT_GE(checked().lost + 2, drops) << name;
    EXPECT_LE(checked().lost, drops) << name;
    EXPECT_EQ(counters("s1:b").tx_packets + drops, counters("s1:a").rx_packets) << name;
    EXPECT_EQ(fabric_->find("s1:b")->path->queue_bytes(), 0U) << name;
  }
}

TEST_F(DisciplinePorts, MarksAreLoggedOnce) {
  build_with(R"({"name":"codel","ecn":true})");
  overload(1000 * MS, 2);
  EXPECT_EQ(counters("s1:b").drop_packets, 0U);
  EXPECT_GT(counters("s1:b").marked_packets, 5U);
  EXPECT_EQ(logged("mark"), counters("s1:b").marked_packets);
}

// Another switch behind the queue, which counts what its wire lost.
class CheckedDisciplines : public DisciplinePorts {
 protected:
  void build_checked(const std::string& discipline) {
    const std::string document =
        R"({"lldp":false,"switches":[{"name":"s1","ports":[{"name":"a","netdev":"a"},)"
        R"({"name":"b","peer":"s2:a","rate_bps":8000000,"queue_bytes":1000000,"tag":{"stamp":true},)"
        R"("discipline":)" +
        discipline +
        R"(}]},{"name":"s2","ports":[{"name":"b","netdev":"b"},)"
        R"({"name":"a","peer":"s1:b","wire":"declared","tag":{"check":true}}]}]})";
    build(document.c_str());
  }

  void expect_only_drops() {
    fabric_->advance(start_ + 100'000 * MS);  // all have left
    const std::uint64_t drops = counters("s1:b").drop_packets;
    EXPECT_EQ(counters("s1:b").tx_packets + drops, counters("s1:a").rx_packets);
    EXPECT_EQ(checked().late, 0U);  // no drop was counted that was none, not even for a while
    EXPECT_LE(checked().lost, drops);
    const SequenceCounters wire = fabric_->find("s2:a")->path->telemetry().wire;
    EXPECT_EQ(wire.lost, 0U);
    EXPECT_EQ(wire.late, 0U);
    EXPECT_EQ(wire.rebased, 0U);
  }
};

// A number for the wire is given as a packet leaves, so that the order in which queues let go does not show.
TEST_F(CheckedDisciplines, PacketsThatOvertakeThoseOfOtherQueuesAreNoLosses) {
  constexpr std::uint8_t ECT1 = 1, ECT0 = 2;
  build_checked(R"({"name":"dual-pi2","ecn":true})");
  for (Nanoseconds t = 0; t < 500 * MS; t += MS) {
    send(t, 1, ECT0);                         // waits
    if (t % (5 * MS) == 0) send(t, 2, ECT1);  // goes first
  }
  expect_only_drops();
}

TEST_F(CheckedDisciplines, APacketThatCameMarkedStaysBehindThoseOfItsSender) {
  constexpr std::uint8_t ECT0 = 2, MARKED = 3;
  build_checked(R"({"name":"dual-pi2","ecn":true})");
  for (Nanoseconds t = 0; t < 500 * MS; t += MS / 2) send(t, 1, t % (10 * MS) == 0 && t != 0 ? MARKED : ECT0);
  expect_only_drops();
}

TEST_F(CheckedDisciplines, FlowsThatShareNumbersShareAQueue) {
  build_checked(R"({"name":"fq-codel"})");
  for (Nanoseconds t = 0; t < 500 * MS; t += MS) {
    send(t, 1);
    if (t % (5 * MS) == 0) send(t, 1 + DEFAULT_BUCKETS);
    if (t % (7 * MS) == 0) send(t, 2);  // overtakes them
  }
  expect_only_drops();
}

TEST_F(DisciplinePorts, ARestartForgetsTheDiscipline) {
  build_with(R"({"name":"pie"})", 60'000);
  overload(2000 * MS);
  command(R"({"cmd":"restart","switch":"s1"})");
  EXPECT_EQ(fabric_->find("s1:b")->path->queued(), 0U);
  const std::uint64_t drops = counters("s1:b").drop_packets;
  start_ = fabric_->now();
  for (Nanoseconds t = 0; t < 100 * MS; t += MS) send(t, 1);  // no more than leaves
  EXPECT_EQ(counters("s1:b").drop_packets, drops);
}

TEST_F(DisciplinePorts, BadSettingsAreNamed) {
  const std::pair<const char*, const char*> refusals[] = {
      {R"({"name":"cake"})",
       "discipline.name: must be drop-tail, codel, fq-codel, pie, red or dual-pi2, not \"cake\""},
      {R"({"target_us":5})", "discipline.name: is missing"},
      {R"({"name":"codel","limit":5})",
       "discipline.limit: unknown key; known here: name, ecn, target_us, interval_us"},
      {R"({"name":"codel","target_us":0})",
       "discipline.target_us: must be a whole number from 1 to 60000000, not 0"},
      {R"({"name":"red","min_bytes":9000,"max_bytes":9000})",
       "discipline.max_bytes: must be above min_bytes"},
  };
  for (const auto& [discipline, message] : refusals) {
    try {
      build_with(discipline);
      ADD_FAILURE() << discipline;
    } catch (const Fault& fault) {
      EXPECT_EQ(sentence(fault), std::string("switches[0].ports[1].") + message);
    }
  }
}

}  // namespace
}  // namespace clarion::emu
