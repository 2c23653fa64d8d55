// SPDX-License-Identifier: Apache-2.0
// CoDel against RFC 8289, and the CoDel queues of FQ-CoDel against RFC 8290.
#include "discipline_test.hpp"
#include "queue/codel.hpp"
#include "queue/fq_codel.hpp"

namespace clarion::emu {
namespace {

class CodelTest : public DisciplineTest {
 protected:
  // Each millisecond from `from` to `to` a packet leaves; packets wait for `waited`, and there are always
  // more.
  std::vector<Nanoseconds> drops(CodelDiscipline& queue, Nanoseconds from, Nanoseconds to, Nanoseconds waited,
                                 EcnField ecn = EcnField::not_capable) {
    std::vector<Nanoseconds> times_ms;
    for (Nanoseconds now = from; now <= to; now += MS) {
      while (queue.packets() < 10) queue.enqueue(now, packet(0, now - waited, 1000, ecn));
      const std::size_t before = dropped.size() + marked.size();
      queue.dequeue(now);
      if (dropped.size() + marked.size() > before) times_ms.push_back(now / MS);
    }
    return times_ms;
  }
};

TEST_F(CodelTest, DropsAfterAnIntervalAboveTheTargetAndThenFasterAndFaster) {
  CodelDiscipline queue({}, false, *this);
  queue.set_limit(1'000'000);
  // Above from 1000 ms on; from 1100 ms on drops: the next ones 100, 100/sqrt(2), 100/sqrt(3), ... ms later,
  // so at 1200, 1270.7, 1328.4, 1378.4, 1423.2 ms.
  EXPECT_EQ(drops(queue, 1000 * MS, 1430 * MS, 20 * MS),
            (std::vector<Nanoseconds>{1100, 1200, 1271, 1329, 1379, 1424}));
}

TEST_F(CodelTest, AnIntervalThatIsNotWhollyAboveTheTargetDropsNothing) {
  CodelDiscipline queue({}, false, *this);
  queue.set_limit(1'000'000);
  EXPECT_TRUE(drops(queue, 1000 * MS, 1090 * MS, 6 * MS).empty());
  for (int i = 0; i < 10; ++i)
    queue.dequeue(1091 * MS);  // empty: what follows has waited no longer than that
  EXPECT_TRUE(drops(queue, 1092 * MS, 1190 * MS, 6 * MS).empty());
}

TEST_F(CodelTest, AQueueOfOnePacketIsNotTooLong) {
  CodelDiscipline queue({}, false, *this);
  queue.set_limit(1'000'000);
  for (Nanoseconds now = 1000 * MS; now < 2000 * MS; now += MS) {
    queue.enqueue(now, packet(1, now - 50 * MS, 1514));
    if (queue.packets() < 2) continue;  // one stays
    ASSERT_NE(queue.dequeue(now), nullptr);
  }
  EXPECT_TRUE(dropped.empty());
}

TEST_F(CodelTest, ResumesAtTheRateAtWhichItStopped) {
  CodelDiscipline queue({}, false, *this);
  queue.set_limit(1'000'000);
  drops(queue, 1000 * MS, 1430 * MS, 20 * MS);  // six drops, the next was due at 1463.9 ms
  while (queue.packets() > 0) queue.dequeue(1431 * MS);
  dropped.clear();
  // Again above from 1440 ms on: at 1540 with count = 6 - 1 = 5 the next is due 100/sqrt(5) = 44.7 ms later.
  EXPECT_EQ(drops(queue, 1440 * MS, 1590 * MS, 20 * MS), (std::vector<Nanoseconds>{1540, 1585}));
}

TEST_F(CodelTest, MarksInsteadOfDroppingWherePacketsAreCapable) {
  CodelDiscipline queue({}, true, *this);
  queue.set_limit(1'000'000);
  EXPECT_EQ(drops(queue, 1000 * MS, 1210 * MS, 20 * MS, EcnField::ect0),
            (std::vector<Nanoseconds>{1100, 1200}));
  EXPECT_TRUE(dropped.empty());
  EXPECT_EQ(marked.size(), 2U);
}

TEST_F(CodelTest, WhatDoesNotFitIsDropped) {
  CodelDiscipline queue({}, true, *this);
  queue.set_limit(2500);
  for (std::uint16_t i = 1; i <= 3; ++i) queue.enqueue(MS, packet(i, MS, 1000, EcnField::ect0));
  EXPECT_EQ(dropped, (std::vector<std::uint16_t>{3}));
  EXPECT_EQ(queue.bytes(), 2000U);
}

// Flows are numbered by the hundreds of a packet's number.
class FqCodelTest : public DisciplineTest {
 protected:
  FqCodelTest() : queue_({}, false, [](const Waiting& each) { return each.meta.bucket / 100U; }, *this) {
    queue_.set_limit(1'000'000);
  }
  std::vector<std::uint16_t> sent(std::size_t count, Nanoseconds now = MS) {
    std::vector<std::uint16_t> numbers;
    while (count-- > 0) numbers.push_back(number(queue_.dequeue(now)));
    return numbers;
  }
  FqCodelDiscipline queue_;
};

TEST_F(FqCodelTest, AFlowThatHasJustBegunGoesFirst) {
  for (std::uint16_t i = 100; i < 105; ++i) queue_.enqueue(MS, packet(i, MS, 1500));
  EXPECT_EQ(sent(2),
            (std::vector<std::uint16_t>{100, 101}));  // the quantum of 1514 bytes and what exceeds it
  queue_.enqueue(MS, packet(200, MS, 100));
  EXPECT_EQ(sent(3), (std::vector<std::uint16_t>{200, 102, 103}));
}

TEST_F(FqCodelTest, ServesBytesNotPackets) {
  for (std::uint16_t i = 0; i < 100; ++i) {
    if (i < 20) queue_.enqueue(MS, packet(static_cast<std::uint16_t>(100 + i), MS, 1500));
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(200 + i), MS, 300));
  }
  std::int64_t bytes[2] = {};
  for (int i = 0; i < 90; ++i) {
    const Waiting* next = queue_.dequeue(MS);
    bytes[number(next) >= 200 ? 1 : 0] += next->length;
  }
  EXPECT_LE(std::abs(bytes[0] - bytes[1]), 2 * 1514);
}

TEST_F(FqCodelTest, AFlowKeepsItsOrder) {
  for (std::uint16_t i = 0; i < 5; ++i) {
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(100 + i), MS, 900));
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(200 + i), MS, 700));
  }
  std::vector<std::uint16_t> first;
  for (const std::uint16_t each : sent(10)) {
    if (each < 200) first.push_back(each);
  }
  EXPECT_EQ(first, (std::vector<std::uint16_t>{100, 101, 102, 103, 104}));
}

// RFC 8290, 4.2: an empty new queue goes to the old ones, or a flow that sends one packet at a time would
// always be first.
TEST_F(FqCodelTest, AFlowOfSinglePacketsTakesTurnsWithTheOthers) {
  for (std::uint16_t i = 0; i < 9; ++i)
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(100 + i), MS, 1514));
  std::vector<std::uint16_t> order = sent(1);
  for (std::uint16_t i = 0; i < 4; ++i) {
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(200 + i), MS, 1514));
    for (const std::uint16_t each : sent(2)) order.push_back(each);
  }
  EXPECT_EQ(order, (std::vector<std::uint16_t>{100, 200, 101, 201, 102, 202, 103, 203, 104}));
}

TEST_F(FqCodelTest, WhatDoesNotFitIsTakenFromTheHeadOfTheLongestFlow) {
  queue_.set_limit(10'000);
  queue_.enqueue(MS, packet(200, MS, 1000));
  for (std::uint16_t i = 0; i < 9; ++i)
    queue_.enqueue(MS, packet(static_cast<std::uint16_t>(100 + i), MS, 1000));
  EXPECT_TRUE(dropped.empty());
  queue_.enqueue(MS, packet(201, MS, 1000));  // 9 packets of the first flow, 5 of them are half and more
  EXPECT_EQ(dropped, (std::vector<std::uint16_t>{100, 101, 102, 103, 104}));
  EXPECT_EQ(queue_.bytes(), 6000U);
  EXPECT_EQ(queue_.packets(), 6U);
}

TEST_F(FqCodelTest, OnlyTheFlowThatWaitsTooLongLosesPackets) {
  for (Nanoseconds now = 1000 * MS; now < 1300 * MS; now += MS) {
    queue_.enqueue(now, packet(100, now - 20 * MS));
    queue_.enqueue(now, packet(101, now - 20 * MS));
    queue_.enqueue(now, packet(200, now));
    queue_.dequeue(now);
    queue_.dequeue(now);
  }
  ASSERT_FALSE(dropped.empty());
  for (const std::uint16_t each : dropped) EXPECT_LT(each, 200);
}

}  // namespace
}  // namespace clarion::emu
