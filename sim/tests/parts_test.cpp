// SPDX-License-Identifier: Apache-2.0
// The parts of the sender by themselves: round trips and timeouts, the least round trip, delivery rates,
// proportional reduction.
#include <gtest/gtest.h>

#include "sim/tcp/delivery_rate.hpp"
#include "sim/tcp/prr.hpp"
#include "sim/tcp/rtt_estimator.hpp"

namespace clarion::sim {
namespace {

TEST(RttEstimator, TheFirstSampleAndLinuxsLeastVariance) {
  RttEstimator rtt;
  EXPECT_EQ(rtt.rto_us(), 1'000'000U);  // RFC 6298, 2.1
  rtt.sample(100'000, 0, 10);
  EXPECT_EQ(rtt.srtt_us(), 100'000U);
  // 4 * RTT/2 = 200 ms (2.2), which is also the least that Linux adds.
  EXPECT_EQ(rtt.rto_us(), 300'000U);
}

TEST(RttEstimator, FollowsWithAnEighthAndAQuarter) {
  RttEstimator rtt;
  rtt.sample(800'000, 0, 10);
  EXPECT_EQ(rtt.rto_us(), 2'400'000U);  // 800 + 4 * 400
  rtt.sample(1'600'000, 5, 10);
  EXPECT_EQ(rtt.srtt_us(), 900'000U);  // 800 + 800/8
  // RTTVAR = 3/4 * 400 + 1/4 * 800 = 500 ms: 900 + 4 * 500.
  EXPECT_EQ(rtt.rto_us(), 2'900'000U);
}

TEST(RttEstimator, TheVarianceFallsOncePerRoundTripOnly) {
  RttEstimator rtt;
  rtt.sample(800'000, 0, 10);
  rtt.sample(800'000, 5, 20);
  EXPECT_EQ(rtt.rto_us(), 2'400'000U);  // within the first round trip
  rtt.sample(800'000, 11, 30);
  // Its largest deviation was that of the first sample: nothing falls yet. The round trip after it saw 200 ms
  // at most, and a quarter of the distance goes: 1600 - (1600 - 200) / 4 = 1250.
  EXPECT_EQ(rtt.rto_us(), 2'400'000U);
  rtt.sample(800'000, 31, 40);
  EXPECT_LT(rtt.rto_us(), 2'400'000U);
}

TEST(RttEstimator, TimeoutsDoubleUpToTwoMinutes) {
  RttEstimator rtt;
  rtt.sample(100'000, 0, 1);
  for (int i = 0; i < 8; ++i) rtt.back_off();
  EXPECT_EQ(rtt.rto_us(), 76'800'000U);  // 0.3 s * 2^8
  rtt.back_off();
  EXPECT_EQ(rtt.rto_us(), 120'000'000U);
}

TEST(WindowedMinimum, ForgetsWhatIsOlderThanItsWindow) {
  WindowedMinimum least;
  least.update(100, 0, 10);
  EXPECT_EQ(least.update(100, 60, 20), 10U);
  EXPECT_EQ(least.update(100, 90, 15), 10U);
  EXPECT_EQ(least.update(100, 101, 30), 15U);
}

TEST(Prr, SendsInProportionThenGrowsUpToTheThreshold) {
  Prr prr;  // RFC 6937, 3: from 20 to 10, one for every two
  prr.begin(20);
  std::uint32_t in_flight = 19;  // one is lost
  std::uint32_t sent = 0;
  for (int ack = 0; ack < 18; ++ack) {
    --in_flight;
    const std::uint32_t window = prr.window(10, in_flight, 1, false);
    while (in_flight < window) {
      ++in_flight;
      ++sent;
      prr.note_sent(1);
    }
  }
  EXPECT_EQ(sent, 9U);
  EXPECT_EQ(in_flight, 10U);
}

TEST(Prr, BelowTheThresholdAsMuchAsIsDeliveredAndOneMore) {
  Prr prr;
  prr.begin(20);
  prr.note_sent(1);
  EXPECT_EQ(prr.window(10, 4, 2, false), 6U);  // conservation
  prr.note_sent(2);
  EXPECT_EQ(prr.window(10, 4, 2, true), 7U);   // slow start while nothing more is lost
  EXPECT_EQ(prr.window(10, 9, 5, true), 10U);  // never beyond
}

TEST(DeliveryRate, CountsPacketsOverTheLongerOfSendingAndAcknowledging) {
  DeliveryRate rate;
  Segment first, second;
  first.sent_us = 1000;
  rate.stamp(first, 0, 0, 0);
  second.sent_us = 1500;
  rate.stamp(second, 1, 1, 0);
  RateSample sample;
  rate.count(2, false);
  rate.note(0, first, sample);
  rate.note(1, second, sample);
  rate.finish(sample, 3000, 2, 0, 0, 100);
  // Sent within 0.5 ms, acknowledged within 2 ms.
  EXPECT_EQ(sample.delivered, 2);
  EXPECT_EQ(sample.interval_us, 2000);
}

TEST(DeliveryRate, KnowsWhatWasInFlightWithThePacketAndWhatHasBeenLostOrMarkedSince) {
  DeliveryRate rate;
  Segment first, segment;
  first.sent_us = segment.sent_us = 1000;
  rate.stamp(first, 0, 0, 0);
  rate.count(5, true);
  rate.stamp(segment, 7, 6, 2);  // six were in flight, two lost so far
  EXPECT_EQ(segment.stamp.in_flight, 7U);
  RateSample sample;
  rate.count(3, true);
  rate.count(4, false);
  rate.note(0, segment, sample);
  rate.finish(sample, 2000, 7, 1, 5, 100);
  EXPECT_EQ(sample.sent_in_flight, 7U);
  EXPECT_EQ(sample.lost, 3U);  // one of them by this ACK
  EXPECT_EQ(sample.losses, 1U);
  EXPECT_EQ(sample.delivered, 7);
  EXPECT_EQ(sample.delivered_ce, 3U);
}

TEST(DeliveryRate, AnIntervalBelowTheLeastRoundTripSaysNothing) {
  DeliveryRate rate;
  Segment segment;
  segment.sent_us = 1000;
  rate.stamp(segment, 0, 0, 0);
  RateSample sample;
  rate.count(1, false);
  rate.note(0, segment, sample);
  rate.finish(sample, 1050, 1, 0, 0, 100);
  EXPECT_EQ(sample.interval_us, -1);
}

TEST(DeliveryRate, AnApplicationLimitsUntilWhatWasInFlightIsDelivered) {
  DeliveryRate rate;
  rate.mark_app_limited(2);
  Segment segment;
  segment.sent_us = 1000;
  rate.stamp(segment, 0, 0, 0);
  EXPECT_TRUE(segment.was_app_limited);
  RateSample sample;
  rate.count(3, false);
  rate.finish(sample, 2000, 3, 0, 0, 100);
  EXPECT_FALSE(rate.is_app_limited());
}

}  // namespace
}  // namespace clarion::sim
