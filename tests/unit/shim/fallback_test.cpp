// SPDX-License-Identifier: Apache-2.0
// Headers that do not get through are given up for as long as they do not.
#include "fallback.h"

#include <gtest/gtest.h>

namespace {

constexpr __u32 kFull = 1448;

class Passage : public ::testing::Test {
 protected:
  // A new segment, and one that is sent again. True: with header.
  bool send(__u32 seq, __u32 una, __u32 payload_bytes = kFull) {
    passage_packet packet{seq, payload_bytes, una, now_us_, false};
    return passage_allows(&flow_, &packet);
  }
  bool send_again(__u32 seq, __u32 una, __u32 payload_bytes = kFull) {
    passage_packet packet{seq, payload_bytes, una, now_us_, true};
    return passage_allows(&flow_, &packet);
  }
  // An echo has come: headers have passed both ways.
  void hear() { flow_.echo.nr_echoes = 1; }
  // A flow whose headers are dropped: the first segment got through without one.
  void fall_back() {
    EXPECT_TRUE(send(1000, 1000));
    EXPECT_FALSE(send_again(1000, 1000));
  }

  flow flow_{};
  __u32 now_us_ = 0xffffff00;  // about to wrap
};

TEST_F(Passage, OrdinaryPacketsHaveHeaders) {
  for (__u32 i = 0; i < 10; i++) EXPECT_TRUE(send(i * kFull, i * kFull));
}

TEST_F(Passage, BeforeAnyEchoTheFirstSegmentSentAgainGoesPlain) {
  fall_back();
  EXPECT_TRUE(send(1000 + kFull, 1000));  // it is only a try
  EXPECT_EQ(flow_.id.plain, 0);
}

TEST_F(Passage, OnceHeadersHaveComeThroughTheSecondTimeoutIsNeeded) {
  hear();
  EXPECT_TRUE(send_again(1000, 1000));  // a fast retransmission
  passage_note_timeout(&flow_, 1000);
  EXPECT_TRUE(send_again(1000, 1000));
  passage_note_timeout(&flow_, 1000);
  EXPECT_FALSE(send_again(1000, 1000));
}

TEST_F(Passage, TimeoutsOfOtherSegmentsDoNotAddUp) {
  hear();
  for (__u32 una = 1000; una < 10000; una += kFull) {
    passage_note_timeout(&flow_, una);
    EXPECT_TRUE(send_again(una, una));
  }
}

TEST_F(Passage, AfterThePlainSegmentIsThroughOnePacketProbesAndTheOthersGoPlain) {
  fall_back();
  EXPECT_TRUE(send(1000 + kFull, 1000 + kFull));  // the probe
  EXPECT_EQ(flow_.id.plain, 1);
  EXPECT_FALSE(send(1000 + 2 * kFull, 1000 + kFull));
  EXPECT_FALSE(send(1000 + 3 * kFull, 1000 + kFull));
  EXPECT_TRUE(send(1000 + 4 * kFull, 1000 + 2 * kFull));  // the probe is through
  EXPECT_EQ(flow_.id.plain, 0);
  EXPECT_EQ(flow_.id.plain_fallbacks, 0);
}

TEST_F(Passage, AShortPacketProvesNothingAboutLongOnes) {
  fall_back();
  EXPECT_FALSE(send(1000 + kFull, 1000 + kFull, 100));
  EXPECT_TRUE(send(1100 + kFull, 1000 + kFull));
}

TEST_F(Passage, AFailedProbeIsTriedAgainAfterTwiceTheTime) {
  fall_back();
  __u32 una = 1000 + kFull;
  for (int probe = 1; probe < FALLBACKS_MAX; probe++) {
    EXPECT_TRUE(send(una, una)) << probe;
    EXPECT_FALSE(send_again(una, una));
    EXPECT_EQ(flow_.id.plain_fallbacks, probe);
    una += kFull;
    now_us_ += (PROBE_WAIT_US << (probe - 1)) - 1;
    EXPECT_FALSE(send(una, una)) << probe;
    now_us_ += 1;
  }
  EXPECT_TRUE(send(una, una));
  EXPECT_FALSE(send_again(una, una));
  now_us_ += 1 << 30;
  EXPECT_FALSE(send(una + kFull, una + kFull));  // plain for good
}

TEST_F(Passage, ADeviceThatRefusesHeadersIsNoticedWithoutATimeout) {
  passage_packet packet{1000, kFull, 1000, now_us_, false};
  for (int tries = 0; tries < REFUSALS_BEFORE_PLAIN; tries++) {
    passage_note_try(&flow_, &packet);
    EXPECT_TRUE(passage_allows(&flow_, &packet));
  }
  passage_note_try(&flow_, &packet);
  EXPECT_FALSE(passage_allows(&flow_, &packet));
}

}  // namespace
