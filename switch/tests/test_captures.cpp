// SPDX-License-Identifier: Apache-2.0
// What the captures of links hold, read back block by block.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fabric_test.hpp"
#include "frames.hpp"

namespace clarion::emu {
namespace {

struct Captured {
  std::uint32_t interface;
  std::uint64_t time_ns;
  std::uint32_t stored;
  std::uint32_t length;
  std::string comment;
};

// The enhanced packet blocks of a file, whose other blocks are counted.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    while (at_ < bytes_.size()) block();
  }

  std::vector<Captured> packets;
  std::size_t interfaces = 0;

 private:
  std::uint32_t word(std::size_t at) const {
    std::uint32_t value = 0;
    EXPECT_LE(at + sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  void block() {
    const std::uint32_t type = word(at_);
    const std::uint32_t length = word(at_ + 4);
    ASSERT_EQ(length % 4, 0U);
    ASSERT_EQ(word(at_ + length - 4), length);
    if (type == 1) ++interfaces;
    if (type == 6) packets.push_back(packet(length));
    at_ += length;
  }

  Captured packet(std::uint32_t length) const {
    const std::uint64_t time_ns = (std::uint64_t{word(at_ + 12)} << 32) | word(at_ + 16);
    Captured found{word(at_ + 8), time_ns, word(at_ + 20), word(at_ + 24), ""};
    const std::size_t options = at_ + 28 + ((found.stored + 3) & ~3U);
    if (options < at_ + length - 4) {
      EXPECT_EQ(word(options) & 0xffff, 1U);
      found.comment = bytes_.substr(options + 4, word(options) >> 16);
    }
    return found;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

class CapturesTest : public FabricTest {
 protected:
  CapturesTest()
      : directory_(std::filesystem::temp_directory_path() /
                   (std::string("captures-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
                    "-" + std::to_string(getpid()))) {}
  ~CapturesTest() override { std::filesystem::remove_all(directory_); }

  void build_captured(json document) {
    document["capture"]["directory"] = directory_.string();
    build(document.dump().c_str());
  }

  Reader captured(const char* name) {
    fabric_->flush_logs();
    return Reader(directory_ / name);
  }

  std::filesystem::path directory_;
};

json two_switches() {
  return json::parse(R"({"lldp":false,"switches":[
    {"name":"s1","ports":[{"name":"host","netdev":"h1"},{"name":"link","peer":"s2:link","delay_us":1000}]},
    {"name":"s2","ports":[{"name":"link","peer":"s1:link"},
                          {"name":"host","netdev":"h2","rate_bps":8000000,"queue_bytes":3000}]}]})");
}

TEST_F(CapturesTest, EachLinkHasAFileWithAnInterfaceForEachDirection) {
  build_captured(two_switches());
  receive("s1:host", 0, frame(HOST_B, HOST_A, 500));
  fabric_->advance(start_ + SECOND_NS);
  for (const char* name : {"s1.host.pcapng", "s1.link--s2.link.pcapng", "s2.host.pcapng"}) {
    const Reader found = captured(name);
    EXPECT_EQ(found.interfaces, 2U) << name;
    ASSERT_EQ(found.packets.size(), 1U) << name;
    EXPECT_EQ(found.packets[0].stored, 192U) << name;
    EXPECT_EQ(found.packets[0].length, 500U) << name;
    EXPECT_EQ(found.packets[0].comment, "") << name;
  }
  EXPECT_EQ(captured("s1.host.pcapng").packets[0].interface, 1U);  // from the device
  EXPECT_EQ(captured("s1.link--s2.link.pcapng").packets[0].interface, 0U);
  EXPECT_EQ(captured("s1.host.pcapng").packets[0].time_ns, start_);
  EXPECT_EQ(captured("s2.host.pcapng").packets[0].time_ns, start_ + 1'000'000);
}

TEST_F(CapturesTest, WhatIsLostSaysOfWhat) {
  json document = two_switches();
  document["switches"][0]["ports"][1]["loss"] = {{"model", "packet"}, {"rate", 1}};
  build_captured(document);
  receive("s1:host", 0, frame(HOST_B, HOST_A, 500));
  fabric_->advance(start_ + SECOND_NS);
  const Reader link = captured("s1.link--s2.link.pcapng");
  ASSERT_EQ(link.packets.size(), 1U);
  EXPECT_EQ(link.packets[0].comment, "lost: wire");
  EXPECT_EQ(captured("s2.host.pcapng").packets.size(), 0U);
}

TEST_F(CapturesTest, WhatAQueueDropsIsThereWithItsCause) {
  build_captured(two_switches());
  for (int i = 0; i < 6; ++i) receive("s1:host", 0, frame(HOST_B, HOST_A, 1000));
  fabric_->advance(start_ + SECOND_NS);
  std::size_t dropped = 0;
  const Reader host = captured("s2.host.pcapng");
  for (const Captured& packet : host.packets) dropped += packet.comment == "lost: queue";
  EXPECT_EQ(host.packets.size(), 6U);
  EXPECT_EQ(dropped, 2U);  // one is being sent, three wait
}

TEST_F(CapturesTest, SeveralThingsThatHappenToAPacketAreOneComment) {
  json document = two_switches();
  document["switches"][0]["ports"][1]["hazards"] = {{"header", {{"action", "strip"}}}};
  document["switches"][0]["ports"][1]["loss"] = {{"model", "packet"}, {"rate", 1}};
  build_captured(document);
  auto tagged = tagged_frame(100);
  std::copy(HOST_B, HOST_B + 6, tagged.begin());
  std::copy(HOST_A, HOST_A + 6, tagged.begin() + 6);
  receive("s1:host", 0, tagged);
  fabric_->advance(start_ + SECOND_NS);
  const Reader link = captured("s1.link--s2.link.pcapng");
  ASSERT_EQ(link.packets.size(), 1U);
  EXPECT_EQ(link.packets[0].comment, "changed: stripped, lost: wire");
}

TEST_F(CapturesTest, ADirectoryThatCannotBeMadeIsAFaultOfItsField) {
  json document = two_switches();
  document["capture"]["directory"] = "/dev/null/captures";
  try {
    build(document.dump().c_str());
    FAIL() << "was accepted";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.path.text(), "capture.directory");
  }
}

TEST_F(CapturesTest, OfAFrameAtLeastTheHeadersAreKept) {
  json document = two_switches();
  document["capture"]["frame_bytes"] = 63;
  try {
    build_captured(document);
    FAIL() << "was accepted";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.path.text(), "capture.frame_bytes");
  }
}

}  // namespace
}  // namespace clarion::emu
