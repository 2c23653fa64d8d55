// SPDX-License-Identifier: Apache-2.0
// DualPI2 against RFC 9332, appendix A.
#include "discipline_test.hpp"
#include "queue/dual_pi2.hpp"

namespace clarion::emu {
namespace {

class DualPi2Test : public DisciplineTest {
 protected:
  DualPi2Test() : queue_({}, true, *this) { queue_.set_limit(1'000'000); }

  Waiting* low(std::uint16_t number, Nanoseconds since) {
    return packet(number, since, 1000, EcnField::ect1);
  }

  // The head of the classic queue is always `waited` old; updates are due every 15 ms.
  void hold(Nanoseconds from, Nanoseconds to, Nanoseconds waited, EcnField ecn = EcnField::not_capable) {
    for (Nanoseconds now = from; now <= to; now += MS) {
      while (queue_.packets() > 0) queue_.dequeue(now);
      for (int i = 0; i < 3; ++i) queue_.enqueue(now, packet(9, now - waited + MS, 1000, ecn));
    }
  }
  DualPi2Discipline queue_;
};

TEST_F(DualPi2Test, TheControllerFollowsTheDelayOfTheHead) {
  queue_.enqueue(1000 * MS, packet(1, 1000 * MS));
  queue_.enqueue(1015 * MS, packet(2, 1015 * MS));
  // The first has waited 15 ms, the target: 0.15 * 0 + 3 * 0.015.
  EXPECT_NEAR(queue_.base_probability(), 0.045, 1e-12);
  queue_.enqueue(1030 * MS, packet(3, 1030 * MS));
  // 30 ms: + 0.15 * 0.015 + 3 * 0.015.
  EXPECT_NEAR(queue_.base_probability(), 0.045 + 0.04725, 1e-12);
  EXPECT_NEAR(queue_.classic_probability(), 0.09225 * 0.09225, 1e-12);
  EXPECT_NEAR(queue_.coupled_probability(), 2 * 0.09225, 1e-12);
}

TEST_F(DualPi2Test, TheLowLatencyQueueGoesFirstUpToFifteenSixteenths) {
  for (std::uint16_t i = 0; i < 40; ++i) {
    queue_.enqueue(MS, packet(i, MS));
    queue_.enqueue(MS, low(static_cast<std::uint16_t>(100 + i), MS));
  }
  int classic = 0;
  for (int i = 0; i < 32; ++i) classic += number(queue_.dequeue(MS)) < 100 ? 1 : 0;
  EXPECT_EQ(classic, 2);
}

TEST_F(DualPi2Test, ItsOwnMarksBeginAtTheStepAndAreAllAboveTheRamp) {
  queue_.enqueue(MS, low(1, MS));
  queue_.dequeue(MS + 799'000);
  EXPECT_TRUE(marked.empty());
  for (std::uint16_t i = 2; i < 6; ++i) queue_.enqueue(2 * MS, low(i, 2 * MS));
  for (int i = 0; i < 4; ++i) queue_.dequeue(2 * MS + 1'000'000);  // half way up the ramp: every second
  EXPECT_EQ(marked, (std::vector<std::uint16_t>{4}));              // 0.5, 1.0, 1.5 > 1
  marked.clear();
  for (std::uint16_t i = 6; i < 9; ++i) queue_.enqueue(4 * MS, low(i, 4 * MS));
  for (int i = 0; i < 3; ++i) queue_.dequeue(4 * MS + 1'200'000);
  EXPECT_EQ(marked, (std::vector<std::uint16_t>{6, 7, 8}));
}

TEST_F(DualPi2Test, AClassicQueueMarksTheOtherToo) {
  hold(1000 * MS, 1100 * MS, 30 * MS);
  const double coupled = queue_.coupled_probability();
  ASSERT_GT(coupled, 0.05);
  ASSERT_LT(coupled, 1);
  while (queue_.packets() > 0) queue_.dequeue(1100 * MS);
  marked.clear();
  for (std::uint16_t i = 0; i < 1000; ++i) {
    queue_.enqueue(1100 * MS, low(i, 1100 * MS));
    queue_.dequeue(1100 * MS);  // has not waited
  }
  EXPECT_NEAR(static_cast<double>(marked.size()), 1000 * coupled, 2);
}

TEST_F(DualPi2Test, AClassicPacketIsDroppedOrMarkedWithTheSquare) {
  hold(1000 * MS, 1100 * MS, 30 * MS);
  const double classic = queue_.classic_probability();
  while (queue_.packets() > 0) queue_.dequeue(1100 * MS);
  dropped.clear();
  for (std::uint16_t i = 0; i < 1000; ++i) {
    queue_.enqueue(1100 * MS, packet(i, 1100 * MS));
    queue_.dequeue(1100 * MS);
  }
  EXPECT_NEAR(static_cast<double>(dropped.size()), 1000 * classic, 2);
  dropped.clear();
  for (std::uint16_t i = 0; i < 1000; ++i) {
    queue_.enqueue(1100 * MS, packet(i, 1100 * MS, 1000, EcnField::ect0));
    queue_.dequeue(1100 * MS);
  }
  EXPECT_TRUE(dropped.empty());
}

TEST_F(DualPi2Test, UnderOverloadCapablePacketsAreDropped) {
  hold(1000 * MS, 4000 * MS, 200 * MS, EcnField::ect0);
  ASSERT_EQ(queue_.coupled_probability(), 1);
  ASSERT_GE(queue_.classic_probability(), 0.25);  // p_Cmax = 1/k^2
  dropped.clear();
  for (std::uint16_t i = 0; i < 100; ++i) queue_.enqueue(4000 * MS, low(i, 4000 * MS));
  while (queue_.packets() > 0) queue_.dequeue(4000 * MS);
  EXPECT_GE(dropped.size(), 25U);
}

TEST_F(DualPi2Test, WithoutEcnThereIsOneQueue) {
  DualPi2Discipline plain({}, false, *this);
  plain.set_limit(1'000'000);
  plain.enqueue(MS, packet(1, MS));
  plain.enqueue(MS, low(2, MS));
  EXPECT_EQ(number(plain.dequeue(MS)), 1);
  EXPECT_EQ(number(plain.dequeue(MS)), 2);
}

}  // namespace
}  // namespace clarion::emu
