// SPDX-License-Identifier: Apache-2.0
// The stages of XCP on their own: saturation, both ends of the range of use, configuration from people's
// units. tests/conformance/vectors has the rules one by one.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>

#include "core/queue_tracker.hpp"
#include "core/xcp_arrival.hpp"
#include "core/xcp_departure.hpp"
#include "core/xcp_interval.hpp"
#include "core/xcp_settings.hpp"

namespace clarion {
namespace {

Meta data_packet(std::uint32_t x, std::uint32_t rtt, std::int32_t wish = INT32_MAX) {
  Meta meta;
  meta.kind = Kind::data;
  meta.x = x;
  meta.rtt = rtt;
  meta.delta_throughput = wish;
  return meta;
}

TEST(XcpArrival, SumXSaturatesAt48Bits) {
  // 65536 * (2^32 - 1) = 2^48 - 2^16; the next packet would pass 2^48 - 1.
  XcpArrival arrival;
  const Meta meta = data_packet(UINT32_MAX, 1);
  for (unsigned i = 0; i < 65536; ++i) arrival.step(meta, 1500, TICKS_PER_SECOND);
  EXPECT_EQ(arrival.sums().sum_x, (1ull << 48) - (1ull << 16));
  arrival.step(meta, 1500, TICKS_PER_SECOND);
  EXPECT_EQ(arrival.sums().sum_x, (1ull << 48) - 1);
}

TEST(XcpArrival, InputSaturatesAt48Bits) {
  XcpArrival arrival;
  for (unsigned i = 0; i < 65536; ++i) arrival.step(Meta{}, UINT32_MAX, TICKS_PER_SECOND);
  arrival.step(Meta{}, UINT32_MAX, TICKS_PER_SECOND);
  EXPECT_EQ(arrival.sums().input, (1ull << 48) - 1);
  EXPECT_EQ(arrival.sums().sum_x, 0u);
}

TEST(XcpArrival, TakeStartsFromZero) {
  XcpArrival arrival;
  arrival.step(data_packet(256, 3), 100, TICKS_PER_SECOND);
  const IntervalSums sums = arrival.take();
  EXPECT_EQ(sums.input, 100u);
  EXPECT_EQ(sums.sum_x, 256u);
  EXPECT_EQ(sums.sum_x_rtt, 3u);
  EXPECT_EQ(arrival.sums().input + arrival.sums().sum_x + arrival.sums().sum_x_rtt, 0u);
}

// One second at capacity with equal flows of this RTT: everything adds up as the formulas say.
struct FullLink {
  std::uint64_t capacity_bps;
  double rtt_s;
  unsigned packets;  // of 1250 bytes, in one interval of one RTT
};

void PrintTo(const FullLink& link, std::ostream* out) {
  *out << static_cast<double>(link.capacity_bps) / 1e6 << " Mbit/s x " << link.rtt_s * 1e3 << " ms";
}

class XcpAtCapacity : public testing::TestWithParam<FullLink> {};

TEST_P(XcpAtCapacity, SharesAddUpToTheChurn) {
  const auto [capacity_bps, rtt_s, packets] = GetParam();
  const XcpConfig config = xcp_config(capacity_bps, 0.4, 0.226, 0.1, 1, 16'000'000);
  const auto rtt = static_cast<std::uint32_t>(rtt_s * TICKS_PER_SECOND);
  const std::uint32_t x = 10 * (rtt / packets);  // ten flows, each of a tenth of the rate
  XcpArrival arrival;
  XcpInterval interval;
  XcpDeparture departure;
  EXPECT_FALSE(interval.ended(0, config));
  for (unsigned i = 0; i < packets; ++i) arrival.step(data_packet(x, rtt), 1250, config.max_interval);
  departure.refill(interval.step(rtt, config, arrival.take(), 0));

  // At capacity phi is near 0 and gamma = 0.1 of the rate changes hands in both directions.
  const double churn = static_cast<double>(capacity_bps) / 80;
  const IntervalReport& report = interval.report();
  EXPECT_NEAR(report.avg_rtt, rtt, rtt / 16384.0 + 1);
  EXPECT_NEAR(bytes_per_s(static_cast<std::int64_t>(report.rate_q8)), churn * 10, churn * 10 / 16384);
  EXPECT_NEAR(bytes_per_s(static_cast<std::int64_t>(report.shares.pos)), churn, churn / 1000);
  EXPECT_NEAR(bytes_per_s(static_cast<std::int64_t>(report.shares.neg)), churn, churn / 1000);

  std::int64_t granted = 0;
  for (unsigned i = 0; i < packets; ++i) granted += departure.step(data_packet(x, rtt), 1250);
  const auto paid = static_cast<std::int64_t>(report.shares.pos - departure.left().pos) -
                    static_cast<std::int64_t>(report.shares.neg - departure.left().neg);
  EXPECT_EQ(granted * 256 + departure.carry_q8(), paid);  // to the last 1/256 byte/s
  EXPECT_LT(static_cast<double>(departure.left().pos), static_cast<double>(report.shares.pos) / 5000 + 256);
  EXPECT_LT(static_cast<double>(departure.left().neg), static_cast<double>(report.shares.neg) / 5000 + 256);
}

INSTANTIATE_TEST_SUITE_P(Range, XcpAtCapacity,
                         testing::Values(FullLink{1'000'000, 0.010, 1}, FullLink{1'000'000, 1.0, 100},
                                         FullLink{100'000'000, 0.5, 5000},
                                         FullLink{100'000'000'000, 0.001, 10'000},
                                         FullLink{100'000'000'000, 1.0, 10'000'000}));

TEST(QueueTracker, StartsAtZeroUntilAWindowHasEnded) {
  QueueTracker queue;
  queue.arrival(100, 7000, 50);
  EXPECT_EQ(queue.persistent_bytes(), 0u);
  queue.arrival(149, 6000, 50);
  EXPECT_EQ(queue.persistent_bytes(), 0u);
  queue.arrival(150, 6500, 50);
  EXPECT_EQ(queue.persistent_bytes(), 6000u);
}

TEST(QueueTracker, SaturatesAt40Bits) {
  QueueTracker queue;
  queue.arrival(0, UINT64_MAX, 1);
  queue.arrival(1, UINT64_MAX, 1);
  EXPECT_EQ(queue.persistent_bytes(), (1ull << 40) - 1);
}

TEST(XcpSettings, CoefficientsRoundAndStopAtTheirLimits) {
  const auto q16_of = [](double alpha) { return xcp_config(8, alpha).alpha_q16; };
  EXPECT_EQ(q16_of(0.4), 26214u);    // 26214.4
  EXPECT_EQ(q16_of(0.226), 14811u);  // 14811.1
  EXPECT_EQ(q16_of(0.1), 6554u);     // 6553.6
  EXPECT_EQ(q16_of(-1), 0u);
  EXPECT_EQ(q16_of(4.0), 262143u);
  EXPECT_EQ(q16_of(std::nan("")), 0u);
}

TEST(XcpSettings, Time) {
  EXPECT_EQ(ticks_of_us(1'000'000), 1u << 28);
  EXPECT_EQ(ticks_of_us(1000), 268435u);                        // 268435.456
  EXPECT_EQ(ticks_of_us(100'000), 26843545u);                   // 26843545.6
  EXPECT_EQ(ticks_of_us(1'000'000'000'000), 268435456000000u);  // 11 days
  EXPECT_EQ(ticks_of_ns(1'000'000'000), 1u << 28);
  EXPECT_EQ(ticks_of_ns(4), 1u);  // 1.07
  const XcpConfig config = xcp_config(8, 0.4, 0.226, 0.1, 0, UINT64_MAX);
  EXPECT_EQ(config.min_interval, 1u);
  EXPECT_EQ(config.max_interval, UINT32_MAX);
}

TEST(XcpSettings, DefaultsAreThoseOfTheCore) {
  const XcpConfig config = xcp_config(100'000'000, 0.4, 0.226, 0.1, 1000, 1'000'000);
  EXPECT_EQ(config.capacity_bytes_per_s, 12'500'000u);
  EXPECT_EQ(config.alpha_q16, DEFAULT_ALPHA_Q16);
  EXPECT_EQ(config.beta_q16, DEFAULT_BETA_Q16);
  EXPECT_EQ(config.gamma_q16, DEFAULT_GAMMA_Q16);
  EXPECT_EQ(config.min_interval, DEFAULT_MIN_INTERVAL);
  EXPECT_EQ(config.max_interval, DEFAULT_MAX_INTERVAL);
}

}  // namespace
}  // namespace clarion
