// SPDX-License-Identifier: Apache-2.0
// Shaper, wire, queue statistics, schedule, packet memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "packet_fifo.hpp"
#include "queue_statistics.hpp"
#include "schedule.hpp"
#include "shaper.hpp"
#include "wire.hpp"

namespace clarion::emu {
namespace {

TEST(Shaper, TransmissionTimeOfAFrame) {
  Shaper shaper;
  shaper.set_rate(1'000'000'000);
  EXPECT_EQ(shaper.transmit(5000, 1514), 5000U + 12'112U);  // 1514 * 8 bits at 1 bit/ns
}

TEST(Shaper, FractionsOfANanosecondAreNotLost) {
  Shaper shaper;
  shaper.set_rate(3'000'000'000);  // a 100-byte frame lasts 266.67 ns
  Nanoseconds t = 0;
  for (int i = 0; i < 3'000'000; ++i) t = shaper.transmit(t, 100);
  EXPECT_EQ(t, 800'000'000U);  // 3e6 * 800 bits at 3 bits/ns
}

TEST(Shaper, UnshapedTakesNoTime) {
  Shaper shaper;
  EXPECT_EQ(shaper.transmit(42, 1514), 42U);
}

TEST(Wire, ShorterDelayDoesNotReorder) {
  Wire wire(RandomStream(1, "x"));
  wire.configure(1000, {});
  EXPECT_EQ(wire.arrival_of(0), 1'000'000U);
  wire.set_delay(10);
  EXPECT_EQ(wire.arrival_of(500), 1'000'000U);
  EXPECT_EQ(wire.arrival_of(2'000'000), 2'010'000U);
}

TEST(QueueStatistics, BinsAreContiguousAndNarrow) {
  for (std::size_t bin = 1; bin < QueueStatistics::BINS; ++bin) {
    const std::uint64_t edge = QueueStatistics::lower_edge(bin);
    EXPECT_EQ(QueueStatistics::bin_of(edge), bin);
    EXPECT_EQ(QueueStatistics::bin_of(edge - 1), bin - 1);
  }
  EXPECT_EQ(QueueStatistics::lower_edge(32), 32U);
  EXPECT_EQ(QueueStatistics::lower_edge(33), 34U);  // 16 bins from 32 to 64
  EXPECT_EQ(QueueStatistics::bin_of(~std::uint64_t{0}), QueueStatistics::BINS - 1);
}

TEST(QueueStatistics, IntegralMaximumAndTime) {
  QueueStatistics queue;
  queue.change(1'000'000, 3000);  // from 1 ms on
  queue.change(3'000'000, 500);   // 2 ms of 3000 bytes
  queue.settle(4'000'000);        // 1 ms of 500 bytes
  EXPECT_EQ(queue.byte_us(), 3000U * 2000 + 500U * 1000);
  EXPECT_EQ(queue.max_bytes(), 3000U);
  EXPECT_EQ(queue.time_in_bin_us(QueueStatistics::bin_of(3000)), 2000U);
  EXPECT_EQ(queue.time_in_bin_us(QueueStatistics::bin_of(500)), 1000U);
}

TEST(Schedule, EarliestFirstAndLowerIndexOnATie) {
  Schedule schedule(4);
  EXPECT_EQ(schedule.next_time(), NEVER);
  schedule.set(3, 50);
  schedule.set(1, 70);
  schedule.set(2, 50);
  EXPECT_EQ(schedule.next_port(), 2U);
  schedule.set(2, NEVER);
  EXPECT_EQ(schedule.next_port(), 3U);
  schedule.set(3, 90);
  EXPECT_EQ(schedule.next_port(), 1U);
  EXPECT_EQ(schedule.next_time(), 70U);
  EXPECT_EQ(schedule.time_of(3), 90U);
}

// Against looking at all of them.
TEST(Schedule, AnyChangesInAnyOrder) {
  constexpr std::size_t PORTS = 100;
  Schedule schedule(PORTS);
  std::vector<Nanoseconds> times(PORTS, NEVER);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t port = random() % PORTS;
    times[port] = random() % 10 == 0 ? NEVER : random() % 1000;
    schedule.set(port, times[port]);
    const auto least = std::min_element(times.begin(), times.end());
    ASSERT_EQ(schedule.next_time(), *least);
    ASSERT_EQ(schedule.next_port(), static_cast<std::size_t>(least - times.begin()));
    ASSERT_EQ(schedule.time_of(port), times[port]);
  }
}

std::vector<std::uint8_t> frame_of(std::uint32_t length, int number) {
  return std::vector<std::uint8_t>(length, static_cast<std::uint8_t>(number));
}

// Every mixture of queued and flying packets over many chunks: order and bytes survive.
void expect_order_and_bytes(ChunkPool& pool) {
  PacketFifo fifo(pool);
  int pushed = 0;
  int departed = 0;
  int popped = 0;
  const auto length_of = [](int number) { return 14U + static_cast<std::uint32_t>(number * 37 % 1900); };
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 1 + round % 97; ++i, ++pushed) {
      ASSERT_NE(fifo.push(frame_of(length_of(pushed), pushed).data(), length_of(pushed), Meta{}), nullptr);
    }
    for (int i = 0; i < round % 89 && fifo.queued() > 0; ++i, ++departed) {
      ASSERT_EQ(fifo.queue_head()->length, length_of(departed));
      fifo.depart();
    }
    for (int i = 0; i < round % 83 && fifo.flying() > 0; ++i, ++popped) {
      Packet* packet = fifo.wire_head();
      ASSERT_EQ(packet->length, length_of(popped));
      ASSERT_EQ(packet->frame()[0], static_cast<std::uint8_t>(popped));
      ASSERT_EQ(packet->frame()[packet->stored - 1], static_cast<std::uint8_t>(popped));
      fifo.pop();
    }
    ASSERT_EQ(fifo.queued(), static_cast<std::size_t>(pushed - departed));
    ASSERT_EQ(fifo.flying(), static_cast<std::size_t>(departed - popped));
  }
  ASSERT_GT(pushed - popped, 100);
  while (fifo.queued() > 0) fifo.depart();
  auto cursor = fifo.wire_begin();
  for (std::size_t left = fifo.flying(); left > 0; --left, ++popped, fifo.advance(cursor)) {
    ASSERT_EQ(cursor.packet()->length, length_of(popped));
  }
  EXPECT_EQ(popped, pushed);
}

TEST(PacketFifo, KeepsOrderAndBytesAcrossChunks) {
  ChunkPool pool;
  expect_order_and_bytes(pool);
}

TEST(PacketFifo, KeepsThemAcrossTheSmallChunksOfHeadersToo) {
  ChunkPool pool(ChunkPool::DEFAULT_LIMIT_BYTES, 128);
  expect_order_and_bytes(pool);
}

TEST(PacketFifo, EmptyFifoReusesItsChunkForEver) {
  ChunkPool pool(ChunkPool::SLAB_BYTES);  // one slab
  PacketFifo fifo(pool);
  const auto frame = frame_of(1514, 1);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_NE(fifo.push(frame.data(), 1514, Meta{}), nullptr);
    fifo.depart();
    fifo.pop();
  }
}

TEST(PacketFifo, ReportsTheMemoryLimitAndRecovers) {
  ChunkPool pool(ChunkPool::SLAB_BYTES);
  PacketFifo fifo(pool);
  const auto frame = frame_of(1514, 1);
  int stored = 0;
  while (fifo.push(frame.data(), 1514, Meta{}) != nullptr) ++stored;
  EXPECT_GT(stored, 4000);  // 8 MiB
  while (fifo.queued() > 0) fifo.depart();
  while (fifo.flying() > 0) fifo.pop();
  EXPECT_NE(fifo.push(frame.data(), 1514, Meta{}), nullptr);
}

}  // namespace
}  // namespace clarion::emu
