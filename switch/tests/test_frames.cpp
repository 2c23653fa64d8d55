// SPDX-License-Identifier: Apache-2.0
// Forwarding table, frame repair and the flow identity of lost packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "flow_id.hpp"
#include "forwarding_table.hpp"
#include "frame_repair.hpp"
#include "frames.hpp"

namespace clarion::emu {
namespace {

using Mac = std::array<std::uint8_t, 6>;

Mac mac_of(std::uint32_t number) {
  return {2,
          0,
          static_cast<std::uint8_t>(number >> 24),
          static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8),
          static_cast<std::uint8_t>(number)};
}

TEST(ForwardingTable, LearnsMovesAndAges) {
  auto table = std::make_unique<ForwardingTable>();
  EXPECT_FALSE(table->find(mac_of(1).data(), 0));
  table->learn(mac_of(1).data(), 3, SECOND_NS);
  EXPECT_EQ(table->find(mac_of(1).data(), SECOND_NS), 3);
  table->learn(mac_of(1).data(), 4, 2 * SECOND_NS);
  EXPECT_EQ(table->find(mac_of(1).data(), 302 * SECOND_NS), 4);
  EXPECT_FALSE(table->find(mac_of(1).data(), 302 * SECOND_NS + 1));
}

TEST(ForwardingTable, GroupAddressesAreNotLearned) {
  auto table = std::make_unique<ForwardingTable>();
  const Mac group = {1, 0, 0x5e, 0, 0, 1};
  table->learn(group.data(), 3, 1);
  EXPECT_FALSE(table->find(group.data(), 1));
}

TEST(ForwardingTable, OverfullStillKnowsTheNewest) {
  auto table = std::make_unique<ForwardingTable>();
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    table->learn(mac_of(i).data(), static_cast<std::uint16_t>(i % 8), i + 1);
    ASSERT_EQ(table->find(mac_of(i).data(), i + 1), i % 8);
  }
}

TEST(FrameRepair, CompletesAPartialChecksum) {
  // RFC 1071 section 3: 0001 f203 f4f5 f6f7 sums to ddf2; the field at offset 0 holds the pseudo header's
  // sum.
  std::vector<std::uint8_t> frame = {0xff, 0xff, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  complete_checksum(frame.data(), 10, 2, 0);
  EXPECT_EQ(load_be16(frame.data() + 2), 0x220d);  // ~ddf2
  EXPECT_EQ(frame[0], 0xff);
}

TEST(FrameRepair, OddLengthAndZeroResult) {
  std::vector<std::uint8_t> frame = {0x00, 0x00, 0xff, 0xff};
  complete_checksum(frame.data(), 4, 0, 0);
  EXPECT_EQ(load_be16(frame.data()), 0xffff);
  frame = {0x00, 0x00, 0x12};
  complete_checksum(frame.data(), 3, 0, 0);
  EXPECT_EQ(load_be16(frame.data()), 0xedff);  // ~1200
}

TEST(FrameRepair, OffsetsOutsideTheFrameTouchNothing) {
  std::vector<std::uint8_t> frame(20, 0xab);
  const auto before = frame;
  complete_checksum(frame.data(), 20, 21, 0);
  complete_checksum(frame.data(), 20, 14, 5);
  complete_checksum(frame.data(), 20, 65535, 65535);
  EXPECT_EQ(frame, before);
}

TEST(FrameRepair, VlanTagGoesBehindTheAddresses) {
  std::vector<std::uint8_t> room(4 + 18);
  for (int i = 0; i < 18; ++i) room[static_cast<std::size_t>(4 + i)] = static_cast<std::uint8_t>(i);
  const std::uint8_t* frame = insert_vlan_tag(room.data() + 4, 0x8100, 0x2005);
  EXPECT_EQ(frame, room.data());
  EXPECT_EQ(frame[11], 11);
  EXPECT_EQ(load_be16(frame + 12), 0x8100);
  EXPECT_EQ(load_be16(frame + 14), 0x2005);
  EXPECT_EQ(frame[16], 12);
}

TEST(FlowId, PlainTcp) {
  const auto frame = ipv4_frame(6, tcp_segment(100));
  const FlowId flow = identify_flow(frame.data(), static_cast<std::uint32_t>(frame.size()), 253);
  EXPECT_EQ(flow.protocol, 6);
  EXPECT_EQ(flow.format, 0);
  EXPECT_EQ(flow.source_port, 40000);
  EXPECT_EQ(flow.destination_port, 5001);
  EXPECT_EQ(flow.tcp_sequence, 0x01020304U);
  EXPECT_EQ(flow.payload_bytes, 100U);
}

TEST(FlowId, TcpBehindATagHeader) {
  const auto frame = tagged_frame(10);
  const FlowId flow = identify_flow(frame.data(), static_cast<std::uint32_t>(frame.size()), 253);
  EXPECT_EQ(flow.protocol, 6);
  EXPECT_EQ(flow.format, 3);
  EXPECT_EQ(flow.bucket, 777);
  EXPECT_EQ(flow.source_port, 40000);
  EXPECT_EQ(flow.payload_bytes, 10U);
}

TEST(FlowId, EveryTruncationIsSafe) {
  const auto whole = ipv4_frame(6, tcp_segment(0));
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const FlowId flow = identify_flow(cut.data(), static_cast<std::uint32_t>(length), 253);
    EXPECT_EQ(flow.source_port != 0, length == whole.size());
  }
}

}  // namespace
}  // namespace clarion::emu
