// SPDX-License-Identifier: Apache-2.0
// PIE against RFC 8033 and RED against Floyd and Jacobson (1993).
#include "discipline_test.hpp"
#include "queue/pie.hpp"
#include "queue/red.hpp"

namespace clarion::emu {
namespace {

class PieTest : public DisciplineTest {
 protected:
  PieTest() : pie_({}, true, RandomStream(1), *this) { pie_.set_limit(300'000); }

  // Offers what is missing to `packets`, as if it had waited already.
  void fill(Nanoseconds now, std::size_t packets, Nanoseconds waited = 0,
            EcnField ecn = EcnField::not_capable) {
    for (std::size_t missing = packets - std::min(packets, pie_.packets()); missing > 0; --missing) {
      pie_.enqueue(now, packet(0, now - waited, 1000, ecn));
    }
  }
  PieDiscipline pie_;
};

TEST_F(PieTest, WakesAtAThirdOfTheLimit) {
  fill(MS, 99);
  EXPECT_FALSE(pie_.is_active());
  fill(MS, 100);
  EXPECT_TRUE(pie_.is_active());
  EXPECT_EQ(pie_.burst_left(), 150 * MS);
}

TEST_F(PieTest, TheProbabilityMovesInStepsThatFollowItsSize) {
  fill(1000 * MS, 100);
  pie_.dequeue(1014 * MS);
  EXPECT_EQ(pie_.probability(), 0);
  // Waited 14 ms: at 1015 ms (0.125 (0.014 - 0.015) + 1.25 (0.014 - 0)) / 2048 = 8.484e-6.
  pie_.dequeue(1029 * MS);
  EXPECT_NEAR(pie_.probability(), 8.4839e-6, 1e-9);
  // Waited 29 ms; p below 1e-5: at 1030 ms + (0.125 * 0.014 + 1.25 * 0.015) / 512 = 4.004e-5.
  pie_.dequeue(1044 * MS);
  EXPECT_NEAR(pie_.probability(), 8.4839e-6 + 4.0039e-5, 1e-9);
  // 44 ms; p below 1e-4: + (0.125 * 0.029 + 1.25 * 0.015) / 128 = 1.748e-4.
  pie_.dequeue(1059 * MS);
  EXPECT_NEAR(pie_.probability(), 4.8523e-5 + 1.74805e-4, 1e-9);
}

TEST_F(PieTest, ABurstPassesAndAStandingQueueDoesNot) {
  Nanoseconds now = 1000 * MS;
  fill(now, 100);
  for (; now < 1140 * MS; now += MS) {  // the burst allowance is 150 ms
    pie_.dequeue(now);
    pie_.enqueue(now, packet(1, now - 99 * MS));
  }
  EXPECT_TRUE(dropped.empty());
  for (; now < 6000 * MS; now += MS) {
    pie_.dequeue(now);
    fill(now, 100, 99 * MS);
  }
  EXPECT_FALSE(dropped.empty());
  // Above 10 % it grows by 2 % an update at most: 5 s have 333 updates.
  EXPECT_GT(pie_.probability(), 0.1);
}

TEST_F(PieTest, MarksUpToTenPercentAndDropsAbove) {
  Nanoseconds now = 1000 * MS;
  fill(now, 100, 0, EcnField::ect0);
  while (pie_.probability() < 0.1) {
    pie_.dequeue(now);
    fill(now, 100, 20 * MS, EcnField::ect0);
    now += MS;
  }
  EXPECT_TRUE(dropped.empty());
  EXPECT_FALSE(marked.empty());
  for (int i = 0; i < 2000; ++i, now += MS) {
    pie_.dequeue(now);
    fill(now, 100, 20 * MS, EcnField::ect0);
  }
  EXPECT_FALSE(dropped.empty());
}

TEST_F(PieTest, SleepsWhenTheQueueHasBeenEmpty) {
  fill(1000 * MS, 100);
  while (pie_.packets() > 0) pie_.dequeue(1001 * MS);
  for (Nanoseconds now = 1002 * MS; now < 3000 * MS; now += 15 * MS) pie_.dequeue(now);
  EXPECT_FALSE(pie_.is_active());
}

class RedTest : public DisciplineTest {
 protected:
  static RedSettings settings(double weight) {
    RedSettings settings;
    settings.min_bytes = 10'000;
    settings.max_bytes = 30'000;
    settings.weight = weight;
    return settings;
  }
};

TEST_F(RedTest, TheAverageFollowsTheQueue) {
  RedDiscipline red(settings(0.5), false, RandomStream(1), 8'000'000, *this);
  red.set_limit(1'000'000);
  red.enqueue(MS, packet(1, MS));  // meets an empty queue
  EXPECT_EQ(red.average_bytes(), 0);
  red.enqueue(MS, packet(2, MS));  // meets 1000 bytes
  EXPECT_EQ(red.average_bytes(), 500);
  red.enqueue(MS, packet(3, MS));
  EXPECT_EQ(red.average_bytes(), 1250);
}

TEST_F(RedTest, WhileTheLinkIsIdleTheAverageDecays) {
  RedDiscipline red(settings(0.5), false, RandomStream(1), 8'000'000, *this);
  red.set_limit(1'000'000);
  for (std::uint16_t i = 0; i < 3; ++i) red.enqueue(MS, packet(i, MS));
  for (int i = 0; i < 3; ++i) red.dequeue(2 * MS);
  red.enqueue(3 * MS, packet(4, 3 * MS));  // 1 ms at 8 Mbit/s: two packets of 500 bytes, 1250 / 4
  EXPECT_EQ(red.average_bytes(), 312.5);
}

TEST_F(RedTest, BetweenTheThresholdsEveryTwentiethOnAverageAtHalfWay) {
  RedDiscipline red(settings(1), false, RandomStream(7), 8'000'000, *this);
  red.set_limit(1'000'000);
  for (std::uint16_t i = 0; i < 20; ++i) red.enqueue(MS, packet(i, MS));
  const std::size_t before = dropped.size();
  int arrived = 0;
  for (; arrived < 20'000; ++arrived) {
    if (red.bytes() < 20'000) {
      red.enqueue(MS, packet(0, MS));
    } else {
      red.enqueue(MS, packet(0, MS));
      red.dequeue(MS);
    }
  }
  // p = 0.1 * (20000 - 10000) / 20000 = 0.05; with method 2 the distance is uniform up to 1/p: 10.5 on
  // average.
  EXPECT_NEAR(static_cast<double>(arrived) / static_cast<double>(dropped.size() - before), 10.5, 1.0);
}

TEST_F(RedTest, BelowTheLowerThresholdNothingAndAboveTheUpperEverything) {
  RedDiscipline red(settings(1), true, RandomStream(1), 8'000'000, *this);
  red.set_limit(1'000'000);
  for (std::uint16_t i = 0; i < 10; ++i) red.enqueue(MS, packet(i, MS));
  EXPECT_TRUE(dropped.empty());
  while (red.bytes() < 30'000) red.enqueue(MS, packet(0, MS));
  dropped.clear();
  for (std::uint16_t i = 0; i < 10; ++i) red.enqueue(MS, packet(i, MS, 1000, EcnField::ect0));
  EXPECT_EQ(dropped.size(), 10U);  // capable or not
}

TEST_F(RedTest, GentlyTheProbabilityGoesOnRising) {
  RedSettings gentle = settings(1);
  gentle.gentle = true;
  RedDiscipline red(gentle, false, RandomStream(3), 8'000'000, *this);
  red.set_limit(1'000'000);
  while (red.bytes() < 40'000)
    red.enqueue(MS, packet(0, MS));  // a third of the way to twice the upper threshold
  dropped.clear();
  for (int i = 0; i < 1000; ++i) {
    red.enqueue(MS, packet(0, MS));
    if (red.bytes() > 40'000) red.dequeue(MS);
  }
  // p = 0.1 + 0.9 / 3 = 0.4: the next is hit with 0.4 / (1 - 0.4) = 2/3, else the one behind it: 1.33 on
  // average.
  EXPECT_NEAR(static_cast<double>(dropped.size()), 750, 40);
}

}  // namespace
}  // namespace clarion::emu
