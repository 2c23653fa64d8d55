// SPDX-License-Identifier: Apache-2.0
// What a cloud has, against arrivals made by hand. Its narrowest link takes 1 ms for a packet of 1000 bytes,
// 1,000,000 bytes/s; a packet that finds it empty is 20 ms in it, by clocks that are 7 s apart.
#include <gtest/gtest.h>

#include "router/cloud_meter.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 5000 * MS;
constexpr std::uint32_t PATH_US = 20'000;
constexpr std::uint32_t CLOCKS_US = 7'000'000;

class CloudMeterTest : public testing::Test {
 protected:
  void arrive(std::uint32_t queued_us, double bytes = 1000) {
    meter_.arrive(now_, bytes, static_cast<std::uint32_t>(now_ / 1000) - PATH_US - queued_us + CLOCKS_US);
  }
  // So many packets, each so long after the one before and so long in the queue.
  void packets(int count, Nanoseconds gap, std::uint32_t queued_us) {
    for (int n = 0; n < count; ++n) {
      now_ += gap;
      arrive(queued_us);
    }
  }
  // The first interval: two of its packets have waited one behind the other.
  void find_the_rate() {
    packets(3, 10 * MS, 0);
    packets(1, 1 * MS, 1000);
    packets(1, 69 * MS, 0);
    ASSERT_TRUE(meter_.close(0.1));
  }

  Nanoseconds now_ = START;
  CloudMeter meter_;
};

TEST_F(CloudMeterTest, TheClosestPacketsThatHaveWaitedTellTheRateOfTheNarrowestLink) {
  EXPECT_EQ(meter_.rate_bytes_per_s(), 0);
  find_the_rate();
  EXPECT_NEAR(meter_.rate_bytes_per_s(), 1'000'000, 1e-6);
  EXPECT_NEAR(meter_.available_bytes_per_s(), 1'000'000, 1e-6);
}

TEST_F(CloudMeterTest, TooFewPacketsTellNothing) {
  packets(4, 1 * MS, 1000);
  EXPECT_FALSE(meter_.close(0.1));
  EXPECT_EQ(meter_.available_bytes_per_s(), 0);
  packets(1, 1 * MS, 0);
  EXPECT_TRUE(meter_.close(0.2));
  EXPECT_GT(meter_.available_bytes_per_s(), 0);
}

TEST_F(CloudMeterTest, BeforeAnythingHasWaitedThereMayBeTwiceWhatComes) {
  packets(10, 10 * MS, 0);
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_EQ(meter_.rate_bytes_per_s(), 0);
  EXPECT_NEAR(meter_.available_bytes_per_s(), 200'000, 1e-6);
  find_the_rate();  // then that is it at once
  EXPECT_NEAR(meter_.available_bytes_per_s(), 1'000'000, 1e-6);
}

TEST_F(CloudMeterTest, PacketsThatHaveNotWaitedAreAsFarApartAsTheirSenderHadThem) {
  find_the_rate();
  for (int interval = 0; interval < 10; ++interval) {
    packets(10, 500'000, 60);  // closer than the link could, if it were the one that has been found
    ASSERT_TRUE(meter_.close(0.1));
  }
  EXPECT_NEAR(meter_.rate_bytes_per_s(), 1'000'000, 1e-6);
}

TEST_F(CloudMeterTest, WhereNothingWaitsThereMayBeAnEighthMoreThanComes) {
  find_the_rate();
  packets(120, 1 * MS, 0);
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.available_bytes_per_s(), 1'350'000, 1e-6);
  packets(119, 1 * MS, 0);
  packets(1, 1 * MS, 500);  // one has waited: no more than the rate
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.available_bytes_per_s(), 1'000'000, 1e-6);
}

TEST_F(CloudMeterTest, ALinkThatHasBecomeSlowerIsFoundOutAfterFiveIntervals) {
  find_the_rate();
  const auto slower = [this] {
    packets(9, 2 * MS, 2000);
    packets(1, 2 * MS, 0);
    ASSERT_TRUE(meter_.close(0.1));
  };
  for (int interval = 0; interval < 3; ++interval) slower();
  EXPECT_NEAR(meter_.rate_bytes_per_s(), 1'000'000, 1e-6);
  slower();
  EXPECT_NEAR(meter_.rate_bytes_per_s(), 500'000, 1e-6);
  slower();
  EXPECT_NEAR(meter_.available_bytes_per_s(), 500'000, 1e-6);
}

TEST_F(CloudMeterTest, TheQueueIsWhatAPacketIsLaterThanTheFastest) {
  find_the_rate();
  EXPECT_EQ(meter_.queue_bytes(), 0);
  packets(1, 1 * MS, 5000);
  EXPECT_NEAR(meter_.queue_bytes(), 5000, 1e-6);
  packets(1, 1 * MS, 3000);
  EXPECT_NEAR(meter_.queue_bytes(), 3000, 1e-6);
}

TEST_F(CloudMeterTest, AFullLinkHasNoMoreThanWhatComesOut) {
  find_the_rate();
  packets(40, 2 * MS, 3000);  // 40,000 bytes in 100 ms: others have 600,000 bytes/s
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.available_bytes_per_s(), 400'000, 1e-6);
}

TEST_F(CloudMeterTest, AQueueOfNoMoreThanAPacketIsNoFullLink) {
  find_the_rate();
  packets(40, 2 * MS, 1000);
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.available_bytes_per_s(), 1'000'000, 1e-6);
}

TEST_F(CloudMeterTest, AQueueThatEmptiesMayHaveRoomAgain) {
  find_the_rate();
  packets(40, 2 * MS, 3000);
  ASSERT_TRUE(meter_.close(0.1));
  packets(39, 2 * MS, 3000);
  packets(1, 2 * MS, 0);
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.available_bytes_per_s(), 400'000 + 600'000 / 8, 1e-6);
}

TEST_F(CloudMeterTest, AShortPacketIsInputButNotMeasured) {
  find_the_rate();
  now_ += 100'000;
  meter_.arrive(now_, 60, static_cast<std::uint32_t>(now_ / 1000) - PATH_US + 900 + CLOCKS_US);
  packets(40, 2 * MS, 3000);
  EXPECT_NEAR(meter_.queue_bytes(), 3000, 1e-6);
  ASSERT_TRUE(meter_.close(0.1));
  EXPECT_NEAR(meter_.rate_bytes_per_s(), 1'000'000, 1e-6);
  EXPECT_NEAR(meter_.available_bytes_per_s(), 400'600, 1e-6);
}

TEST_F(CloudMeterTest, APathThatHasBecomeLongerIsNoQueueForEver) {
  find_the_rate();
  packets(100, 90 * MS, 8000);  // 9 s
  EXPECT_NEAR(meter_.queue_bytes(), 8000, 1e-6);
  packets(100, 120 * MS, 8000);  // a period without the shorter path is over
  EXPECT_NEAR(meter_.queue_bytes(), 0, 1e-6);
}

TEST_F(CloudMeterTest, StampsMayPassTheirEnd) {
  // 2^32 us are 4294.967296 s: the stamps wrap in between.
  now_ = Nanoseconds{4'294'967} * MS + 7'020 * MS - 5 * MS;
  packets(20, 1 * MS, 2000);
  packets(1, 1 * MS, 0);
  packets(1, 1 * MS, 2000);
  EXPECT_NEAR(meter_.queue_bytes(), 2000, 1e-6);
}

}  // namespace
}  // namespace clarion::emu
