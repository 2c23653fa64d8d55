// SPDX-License-Identifier: Apache-2.0
// The meter on gaps that were worked out by hand, at its bounds, and behind shapers of any rate.
#include <gtest/gtest.h>

#include <cmath>

#include "capacity_meter.hpp"
#include "pair_former.hpp"
#include "random.hpp"
#include "shaper.hpp"

namespace clarion::emu {
namespace {

constexpr Nanoseconds US = 1000;
constexpr Nanoseconds MS = 1'000'000;

TEST(CapacityMeter, BytesOverTheTimeThatTheyTook) {
  CapacityMeter meter;
  meter.departure(10 * MS, 1000, false);
  meter.departure(11 * MS, 500, true);          // 1000 bytes took 1 ms
  meter.departure(11'500 * US, 9999, true);     // 500 bytes took 0.5 ms
  meter.departure(50 * MS, 100, false);         // whatever those 9999 took, the link was idle after them
  meter.departure(50'100 * US, 200, true);      // 100 bytes took 0.1 ms
  meter.departure(50'400 * US, 1500, true);     // 200 bytes took 0.3 ms
  EXPECT_EQ(meter.measured_bytes_per_s(), 0U);  // before the interval ends
  meter.close();
  EXPECT_EQ(meter.measured_bytes_per_s(), 947'368U);  // 1800 bytes in 1.9 ms: 947368.4
  EXPECT_EQ(meter.known_bytes_per_s(), 947'368U);
}

TEST(CapacityMeter, AnIntervalWithoutPacketsThatWaitedHasNone) {
  CapacityMeter meter;
  for (Nanoseconds i = 0; i < 5; ++i) meter.departure(MS + i * MS, 1000, i > 0);
  meter.close();
  EXPECT_EQ(meter.measured_bytes_per_s(), 1'000'000U);
  for (Nanoseconds i = 0; i < 100; ++i) meter.departure(SECOND_NS + i * MS, 1000, false);
  meter.close();
  EXPECT_EQ(meter.measured_bytes_per_s(), 0U);
  EXPECT_EQ(meter.known_bytes_per_s(), 1'000'000U);  // the last one stays known
}

TEST(CapacityMeter, FewGapsWaitForMore) {
  CapacityMeter meter;
  for (Nanoseconds i = 0; i < 4; ++i) meter.departure(MS + i * MS, 1000, i > 0);  // three gaps
  EXPECT_FALSE(meter.has_enough());
  meter.close();
  EXPECT_EQ(meter.measured_bytes_per_s(), 0U);
  meter.departure(SECOND_NS, 1000, false);
  meter.departure(SECOND_NS + 2 * MS, 1000, true);
  EXPECT_TRUE(meter.has_enough());
  meter.close();
  EXPECT_EQ(meter.measured_bytes_per_s(), 800'000U);  // 4000 bytes in 5 ms
}

TEST(CapacityMeter, WhatTakesNoTimeIsNoGap) {
  CapacityMeter meter;
  meter.departure(MS, 1000, true);  // the first has none before it
  for (int i = 0; i < 100; ++i) meter.departure(MS, 1000, true);
  EXPECT_FALSE(meter.has_enough());
  meter.close();
  EXPECT_EQ(meter.known_bytes_per_s(), 0U);
}

TEST(CapacityMeter, StaysWithinWhatAReportHolds) {
  CapacityMeter fast;
  for (Nanoseconds i = 1; i < 1000; ++i) fast.departure(i, 0xffffffff, true);
  fast.close();
  EXPECT_EQ(fast.measured_bytes_per_s(), CapacityMeter::MOST_BYTES_PER_S);
  CapacityMeter slow;
  for (Nanoseconds i = 1; i < 6; ++i) slow.departure(i * (NEVER / 8), 1, true);
  slow.close();
  EXPECT_EQ(slow.measured_bytes_per_s(), 1U);  // 0 is for nothing measured
}

TEST(CapacityMeter, AnyRateBehindAShaper) {
  RandomStream random(7, "meter");
  for (int run = 0; run < 2000; ++run) {
    // 1 kbit/s to 100 Gbit/s, evenly over the decades.
    const auto rate_bps = static_cast<std::uint64_t>(1000 * std::pow(10, 8 * random.uniform()));
    Shaper shaper;
    shaper.set_rate(rate_bps);
    CapacityMeter meter;
    Nanoseconds now = SECOND_NS;
    for (int i = 0; i < 200; ++i) {
      // Some find the link free, after a while; the others wait for it.
      if (random.uniform() < 0.3)
        now = shaper.free_at() + 1 + static_cast<Nanoseconds>(1e6 * random.uniform());
      const auto length_bytes = static_cast<std::uint32_t>(60 + 1454 * random.uniform());
      meter.departure(now, length_bytes, now == shaper.free_at());
      now = shaper.transmit(now, length_bytes);
    }
    meter.close();
    const double bytes_per_s = static_cast<double>(rate_bps) / 8;
    // Each gap is cut to whole nanoseconds; the shortest that counts takes some 60 ns at 100 Gbit/s on
    // average.
    EXPECT_NEAR(static_cast<double>(meter.measured_bytes_per_s()), bytes_per_s, 0.01 * bytes_per_s + 1);
  }
}

TEST(PairFormer, HoldsTwoFramesTimeInTheSecondHalfOfAnInterval) {
  PairFormer pairs;
  pairs.interval_began(SECOND_NS);
  EXPECT_EQ(pairs.hold_ns(SECOND_NS + 49 * MS, 100 * MS, 12'500'000), 0U);
  EXPECT_EQ(pairs.hold_ns(SECOND_NS + 50 * MS, 100 * MS, 12'500'000), 242'240U);   // 3028 bytes at 100 Mbit/s
  EXPECT_EQ(pairs.hold_ns(SECOND_NS + 50 * MS, 100 * MS, 125'000), 12'500U * US);  // an eighth at most
}

TEST(PairFormer, HoldsAtOnceWhereNothingIsKnown) {
  PairFormer pairs;
  pairs.interval_began(SECOND_NS);
  EXPECT_EQ(pairs.hold_ns(SECOND_NS, 64 * MS, 0), MS);
}

TEST(PairFormer, HoldsAFewPacketsPerInterval) {
  PairFormer pairs;
  for (int interval = 1; interval <= 3; ++interval) {
    const Nanoseconds began = interval * SECOND_NS;
    pairs.interval_began(began);
    for (std::uint32_t i = 0; i < PairFormer::MOST_HOLDS; ++i) {
      EXPECT_GT(pairs.hold_ns(began + 60 * MS, 100 * MS, 1'000'000), 0U);
    }
    EXPECT_EQ(pairs.hold_ns(began + 60 * MS, 100 * MS, 1'000'000), 0U);
  }
}

}  // namespace
}  // namespace clarion::emu
