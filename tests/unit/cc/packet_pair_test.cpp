// SPDX-License-Identifier: Apache-2.0
// Packet pairs: which ACKs are one, and what it says.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/packet_pair.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class PacketPair : public testing::Test {
 protected:
  PacketPair() {
    packet_pair_init(&pair_);
    EXPECT_FALSE(ack(100'000, 5000));  // there is none before it
  }
  bool ack(__s64 rtt_us, __u64 after_us, __u32 packets = 1) {
    tcp_.now_us += after_us;
    return packet_pair_on_acked(&pair_, &tcp_, packets, rtt_us) != 0;
  }
  packet_pair pair_{};
  cc_stack tcp_ = tcp_of(10);  // packets of 1000 bytes
};

TEST_F(PacketPair, TwoSentAtOnceTellTheRateByTheTimeBetweenTheirAcks) {
  EXPECT_TRUE(ack(100'080, 80));
  EXPECT_EQ(pair_.bytes_per_s, 12'500'000U);  // 1000 bytes in 80 us
  EXPECT_EQ(pair_.sum_us, 200'080U);
}

TEST_F(PacketPair, AnAckForSeveralEndsATrain) {
  EXPECT_TRUE(ack(100'400, 400, 2));
  EXPECT_EQ(pair_.bytes_per_s, 5'000'000U);
  EXPECT_TRUE(ack(100'500, 100));  // of the same train
  EXPECT_EQ(pair_.bytes_per_s, 10'000'000U);
}

TEST_F(PacketPair, ThoseSentApartByMoreThanAQuarterOfTheGapAreNone) {
  EXPECT_FALSE(ack(99'980, 80));   // sent 100 us after it
  EXPECT_FALSE(ack(100'039, 80));  // 21
  EXPECT_FALSE(ack(100'120, 80));  // before it: the order was changed
  EXPECT_TRUE(ack(100'180, 80));   // 20
}

TEST_F(PacketPair, NeitherIsAnAckWithoutARoundTripOrPacketsOrTime) {
  EXPECT_FALSE(ack(-1, 80));
  EXPECT_FALSE(ack(100'080, 80));  // nor the one after it
  EXPECT_FALSE(ack(100'080, 0));
  EXPECT_FALSE(ack(100'160, 80, 0));
  EXPECT_TRUE(ack(100'240, 80));
}

TEST_F(PacketPair, LongRoundTripsDoNotOverflow) {
  EXPECT_FALSE(ack(0xffff'f000, 0));
  EXPECT_TRUE(ack(0xffff'f3e8, 1000));
  EXPECT_EQ(pair_.sum_us, ~0U);
}

}  // namespace
