// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cc/judgement.h"
#include "testing.hpp"

namespace {

using clarion::testing::kDefaults;
using clarion::testing::ordinary_ack;
using clarion::testing::packets_q16;

cc_window window_of(__u64 packets) {
  cc_window w{};
  w.cwnd_q16 = packets_q16(packets);
  w.ssthresh_q16 = ~0ULL;
  return w;
}

TEST(Window, ReducesToNoLessThanOnePacketAndNeverUpwards) {
  cc_window w = window_of(10);
  window_reduce(&w, packets_q16(4));
  EXPECT_EQ(w.cwnd_q16, packets_q16(4));
  EXPECT_EQ(w.ssthresh_q16, packets_q16(4));
  EXPECT_EQ(w.undo_q16, packets_q16(10));
  window_reduce(&w, packets_q16(8));
  EXPECT_EQ(w.cwnd_q16, packets_q16(4));
  window_reduce(&w, 0);
  EXPECT_EQ(w.cwnd_q16, packets_q16(1));
}

TEST(Window, RestoreUndoesACollapse) {
  cc_window w = window_of(300);
  window_collapse(&w, packets_q16(150));
  EXPECT_EQ(w.cwnd_q16, packets_q16(1));
  EXPECT_EQ(w.ssthresh_q16, packets_q16(150));
  window_restore(&w);
  EXPECT_EQ(w.cwnd_q16, packets_q16(300));
  EXPECT_EQ(w.ssthresh_q16, packets_q16(300));  // no slow start above it
}

TEST(Window, RenoDoublesBelowSsthreshAndAddsOnePerWindowAboveIt) {
  cc_window w = window_of(10);
  window_grow_reno(&w, &kDefaults, 10);
  EXPECT_EQ(w.cwnd_q16, packets_q16(20));
  w.ssthresh_q16 = packets_q16(24);
  window_grow_reno(&w, &kDefaults, 20);  // 40, but not beyond ssthresh
  EXPECT_EQ(w.cwnd_q16, packets_q16(24));
  window_grow_reno(&w, &kDefaults, 24);  // one whole window acknowledged
  EXPECT_EQ(w.cwnd_q16, packets_q16(25));
  window_grow_reno(&w, &kDefaults, 1);  // 65536 / 25 = 2621
  EXPECT_EQ(w.cwnd_q16, packets_q16(25) + 2621);
}

TEST(Window, SlowStartEndsWhereAQueueBegins) {
  cc_window w = window_of(100);
  w.late_samples = WINDOW_LATE_SAMPLES - 1;
  window_grow_reno(&w, &kDefaults, 10);
  EXPECT_EQ(w.cwnd_q16, packets_q16(110));
  w.late_samples = WINDOW_LATE_SAMPLES;
  window_grow_reno(&w, &kDefaults, 110);
  EXPECT_EQ(w.ssthresh_q16, packets_q16(110));
  EXPECT_EQ(w.cwnd_q16, packets_q16(111));
}

TEST(Window, StopsAtTheLargestWindow) {
  cc_params p = kDefaults;
  p.max_window_packets = 100;
  cc_window w = window_of(90);
  window_grow_double(&w, &p, 90);
  EXPECT_EQ(w.cwnd_q16, packets_q16(100));
}

TEST(Window, RateIsOneWindowPerRoundTrip) {
  cc_sample s = ordinary_ack();
  EXPECT_EQ(window_rate(packets_q16(100), 1448, &s), 1448000u);  // 100 * 1448 / 0.1 s
  EXPECT_EQ(window_rate(packets_q16(3) / 2, 1448, &s), 21720u);  // 1.5 * 1448 / 0.1 s
  s.srtt_us = 0;
  EXPECT_EQ(window_rate(packets_q16(100), 1448, &s), CC_NO_RATE);
}

TEST(Window, RateOfTheLargestWindowFits) {
  cc_sample s = ordinary_ack();
  s.srtt_us = 1;
  EXPECT_EQ(window_rate(packets_q16(1 << 24), 9000, &s), 150994944000000000u);  // 2^24 * 9000 * 10^6
}

TEST(Window, PacesWithTheFractionAndRoundsTheWindowUp) {
  cc_sample s = ordinary_ack();
  cc_window w = window_of(10);
  w.cwnd_q16 += 1;
  cc_control c = window_control(&w, &kDefaults, &s, 105);
  EXPECT_EQ(c.cwnd_packets, 11u);
  EXPECT_EQ(c.bytes_per_s, 152040u);  // 105 % of 10 * 1448 / 0.1 s
}

TEST(Window, TooFastForTimersIsAckClockedInSmallBursts) {
  // 2000 packets in 100 ms: one per 50 us, closer than the 80 us of pacing_min_gap_us.
  cc_sample s = ordinary_ack();
  s.in_flight_packets = 1000;
  s.acked_packets = 2;
  cc_window w = window_of(2000);
  cc_control c = window_control(&w, &kDefaults, &s, 105);
  EXPECT_FALSE(c.is_paced);
  EXPECT_EQ(c.bytes_per_s, 30408000u);  // 105 % of 2000 * 1448 / 0.1 s: for TCP's small queues
  EXPECT_EQ(c.cwnd_packets, 1068u);     // in flight 1000 + twice the 2 acknowledged + 64
  s.in_flight_packets = 1995;
  EXPECT_EQ(window_control(&w, &kDefaults, &s, 105).cwnd_packets, 2000u);
  cc_params always = kDefaults;
  always.pacing_min_gap_us = 0;
  EXPECT_TRUE(window_control(&w, &always, &s, 105).is_paced);
}

TEST(Window, OneLostPacketIsResentAtOnce) {
  cc_window w = window_of(100);  // halved just now: nothing more may leave for half a round trip
  cc_sample s = ordinary_ack();
  s.in_flight_packets = 199;
  EXPECT_EQ(window_control(&w, &kDefaults, &s, 105).cwnd_packets, 100u);
  s.has_to_resend = 1;
  EXPECT_EQ(window_control(&w, &kDefaults, &s, 105).cwnd_packets, 200u);
  s.in_flight_packets = 20;
  EXPECT_EQ(window_control(&w, &kDefaults, &s, 105).cwnd_packets, 100u);
}

TEST(Window, IdleMeansTwoRoundTripsAndAFifthOfASecond) {
  cc_sample s = ordinary_ack();  // srtt 100 ms: idle after 400 ms
  cc_window w = window_of(10);
  w.last_ack_us = 0xffffff00;  // the clock's low half wraps in between
  s.now_us = 0x100000000ULL + 400000 - 256;
  EXPECT_FALSE(window_is_idle(&w, &s));
  s.now_us += 1;
  EXPECT_TRUE(window_is_idle(&w, &s));
}

TEST(Window, AnIdleTimeEndsATestOfTheTags) {
  cc_window w{};
  w.cwnd_q16 = packets_q16(1000);
  w.doubt.state = DOUBT_MEASURING;
  window_begin_anew(&w, 10);
  EXPECT_EQ(w.cwnd_q16, packets_q16(10));
  EXPECT_TRUE(window_may_grow(&w));
}

}  // namespace
