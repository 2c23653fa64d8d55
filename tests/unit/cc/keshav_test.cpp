// SPDX-License-Identifier: Apache-2.0
// Keshav's flow control by packet pairs against numbers that follow from lambda = mu + (B - x) / RTT.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/keshav.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// Packets of 1000 bytes, served every 100 us (10^7 bytes/s), on a path of 100 ms: it holds 1000 of them. B
// is 8.
class Keshav : public testing::Test {
 protected:
  Keshav() {
    params_.keshav_setpoint_packets = 8;
    keshav_init(&k_);
  }
  void ack(__s64 rtt_us, __u64 after_us, __u32 packets = 1) {
    tcp_.now_us += after_us;
    stack_ack ack{};
    ack.rtt_us = rtt_us;
    ack.acked_packets = packets;
    keshav_on_ack(&k_, &params_, &tcp_, &ack);
  }
  // The ACKs of a train; what is in flight when the last comes.
  void train(__u32 in_flight, __u64 service_us = 100, __s64 rtt_us = 100'000) {
    tcp_.in_flight = in_flight;
    ack(rtt_us, 50'000, 2);
    ack(rtt_us + static_cast<__s64>(2 * service_us), 2 * service_us, 2);
    ASSERT_TRUE(k_.pair.bytes_per_s);
  }
  __u64 rate() const { return tcp_.pacing_bytes_per_s; }
  cc_params params_ = kDefaults;
  keshav k_{};
  cc_stack tcp_ = tcp_of(10);
};

TEST_F(Keshav, BeforeThereIsAPairNothingChanges) {
  tcp_.pacing_bytes_per_s = 12345;
  ack(100'000, 1000);
  EXPECT_EQ(tcp_.cwnd, 10U);
  EXPECT_EQ(rate(), 12345U);
}

// The last round trip is 100.2 ms. (mu RTT + B - x) / RTT: (1002000 + 8000 - x) / 0.1002
TEST_F(Keshav, SendsAtTheRateOfServiceWhenTheSetpointIsQueued) {
  train(1008);
  EXPECT_EQ(k_.mu_bytes_per_s, 10'000'000U);
  EXPECT_EQ(rate(), 10'000'000U);
}

TEST_F(Keshav, SendsMoreWhereLessIsQueuedAndLessWhereMoreIs) {
  train(1000);
  EXPECT_EQ(rate(), 10'079'840U);  // 1010000 / 0.1002
  train(500);
  EXPECT_EQ(rate(), 10'079'840U);  // a queue is not less than empty
  train(1100);
  EXPECT_EQ(rate(), 9'081'836U);  // (1010000 - 100000) / 0.1002
}

TEST_F(Keshav, SendsATrainPerRoundTripAtLeast) {
  train(5000);
  EXPECT_EQ(rate(), 39'920U);  // 4000 / 0.1002
}

// 1000 on the path, 1002 in a round trip, 8, and one for what is cut off.
TEST_F(Keshav, TheWindowIsWhatBringsTheRateToNothing) {
  train(1000);
  EXPECT_EQ(tcp_.cwnd, 2011U);
  tcp_.cwnd_clamp = 100;
  train(1000);
  EXPECT_EQ(tcp_.cwnd, 100U);
  keshav_init(&k_);
  tcp_.cwnd_clamp = 1U << 30;
  params_.keshav_setpoint_packets = 1;
  train(1, 1'000'000);  // a packet per second, and a path of 0.1 s: 1000 x (0.1 + 2.1) / 1000 + 1 + 1
  EXPECT_EQ(tcp_.cwnd, 4U);
}

TEST_F(Keshav, TheSetpointIsAParameter) {
  params_.keshav_setpoint_packets = 100;
  train(1100);
  EXPECT_EQ(rate(), 10'000'000U);
  EXPECT_EQ(tcp_.cwnd, 2103U);
}

TEST_F(Keshav, FollowsTheRateOfServiceByAnEighthPerPair) {
  train(1000);
  train(1000, 200);
  EXPECT_EQ(k_.mu_bytes_per_s, 9'375'000U);  // 7/8 x 10^7 + 1/8 x 5 x 10^6
  params_.keshav_new_q16 = 65536;
  train(1000, 200);
  EXPECT_EQ(k_.mu_bytes_per_s, 5'000'000U);
}

TEST_F(Keshav, ATimeoutHalvesWhatItBelieves) {
  train(1000);
  keshav_on_timeout(&k_);
  EXPECT_EQ(k_.mu_bytes_per_s, 5'000'000U);
}

TEST_F(Keshav, TheSocketsLimitOfTheRateHolds) {
  tcp_.max_pacing_bytes_per_s = 1'000'000;
  train(1000);
  EXPECT_EQ(rate(), 1'000'000U);
}

}  // namespace
