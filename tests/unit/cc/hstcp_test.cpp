// SPDX-License-Identifier: Apache-2.0
// HighSpeed TCP against RFC 3649: its table against its formulas, and numbers that follow from the table.
#include <gtest/gtest.h>

#include <cmath>

#define _Static_assert static_assert
#include "cc/hstcp.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

// Section 5, with Low_Window 38, High_Window 83000, High_P 10^-7 and High_Decrease 0.1.
double b_of(double w) { return (0.1 - 0.5) * std::log(w / 38) / std::log(83000.0 / 38) + 0.5; }
double p_of(double w) { return 1 / (12.8 * std::pow(w, 1.2)); }  // 0.078 / w^1.2
double a_of(double w) { return w * w * p_of(w) * 2 * b_of(w) / (2 - b_of(w)); }

class HighSpeed : public testing::Test {
 protected:
  void start_at(__u32 cwnd) {
    tcp_ = tcp_of(cwnd, 2);
    hstcp_init(&l_, &kDefaults, &tcp_);
  }
  void grow(int acks, __u32 each = 1) {
    for (int i = 0; i < acks; i++) hstcp_grow(&l_, &kDefaults, &tcp_, each);
  }
  __u32 lose() { return hstcp_ssthresh(&l_, &kDefaults, &tcp_); }
  hstcp l_{};
  cc_stack tcp_ = tcp_of(10);
};

// Appendix B prints a row for each window from 38 on at which a(w) has risen by more than 1 since the row
// before.
TEST_F(HighSpeed, ItsTableIsThatOfTheFormulas) {
  double last_a = 1;
  __u32 row = 1;
  EXPECT_EQ(HSTCP_TABLE[0].cwnd, 38U);
  EXPECT_EQ(HSTCP_TABLE[0].decrease, 128U);
  for (__u32 w = 38; w < 90'000; w++) {
    if (a_of(w) <= last_a + 1) continue;
    ASSERT_LT(row, HSTCP_ROWS);
    EXPECT_EQ(HSTCP_TABLE[row].cwnd, w);
    EXPECT_EQ(row + 1, static_cast<__u32>(a_of(w))) << w;
    EXPECT_EQ(HSTCP_TABLE[row].decrease, static_cast<__u32>(256 * b_of(w))) << w;
    last_a = a_of(w);
    row++;
  }
  EXPECT_EQ(row, HSTCP_ROWS);
}

TEST_F(HighSpeed, ARowHoldsUpToItsWindow) {
  EXPECT_EQ(hstcp_row_of(0), 0U);
  for (__u32 row = 0; row + 1 < HSTCP_ROWS; row++) {
    EXPECT_EQ(hstcp_row_of(HSTCP_TABLE[row].cwnd), row);
    EXPECT_EQ(hstcp_row_of(HSTCP_TABLE[row].cwnd + 1), row + 1);
  }
  EXPECT_EQ(hstcp_row_of(~0U), HSTCP_ROWS - 1);
}

TEST_F(HighSpeed, UpTo38PacketsItGrowsAsRenoAndThenByTheRow) {
  start_at(38);
  grow(37);
  EXPECT_EQ(tcp_.cwnd, 38U);
  grow(1);  // 38 times 1
  EXPECT_EQ(tcp_.cwnd, 39U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  grow(20);  // 20 times 2, of which 39 are a packet
  EXPECT_EQ(tcp_.cwnd, 40U);
  EXPECT_EQ(tcp_.cwnd_count, 1U);
  start_at(10'000);  // between 9991 and 10661: the 30th row
  grow(334);         // 334 * 30 = 10020
  EXPECT_EQ(tcp_.cwnd, 10'001U);
  EXPECT_EQ(tcp_.cwnd_count, 20U);
}

TEST_F(HighSpeed, AnAckIsOneHoweverManyPacketsItAcknowledges) {
  start_at(1000);
  grow(10, 100);  // between 851 and 1058: the 8th row
  EXPECT_EQ(tcp_.cwnd, 1000U);
  EXPECT_EQ(tcp_.cwnd_count, 80U);
}

TEST_F(HighSpeed, ALossTakesTheShareOfTheRow) {
  start_at(900);
  tcp_.cwnd = 1000;
  grow(1);
  EXPECT_EQ(lose(), 676U);  // 1000 * 83 / 256 = 324.2 less
  tcp_.cwnd = 676;
  EXPECT_EQ(hstcp_undo(&l_, &kDefaults, &tcp_), 1000U);
  start_at(83'000);
  grow(1);
  EXPECT_EQ(lose(), 74'895U);  // 83000 * 25 / 256 = 8105.4 less: a tenth
  start_at(2);
  grow(1);
  EXPECT_EQ(lose(), 2U);
}

TEST_F(HighSpeed, AShareFollowsTheWindowDownWithTheNextAck) {
  start_at(1000);
  grow(1);
  tcp_.cwnd = 30;
  EXPECT_EQ(lose(), 21U);  // still that of 1000: 30 * 83 / 256 = 9.7
  grow(1);
  EXPECT_EQ(lose(), 15U);
}

TEST_F(HighSpeed, SlowStartDoublesAndItsLossHalves) {
  tcp_ = tcp_of(3000, 5000);
  hstcp_init(&l_, &kDefaults, &tcp_);
  grow(1, 3000);
  EXPECT_EQ(tcp_.cwnd, 5000U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);  // what is left of the ACK counts for nothing
  EXPECT_EQ(lose(), 2500U);
  grow(1);  // outside slow start: between 4596 and 5036, the 20th row
  EXPECT_EQ(tcp_.cwnd_count, 20U);
  EXPECT_EQ(lose(), 3790U);  // 5000 * 62 / 256 = 1210.9 less
}

TEST_F(HighSpeed, AConnectionBeginsWithTheFirstRowAndCanBeUndoneToItsWindow) {
  start_at(1000);
  grow(1);
  start_at(1000);  // the next connection
  EXPECT_EQ(hstcp_undo(&l_, &kDefaults, &tcp_), 1000U);
  EXPECT_EQ(lose(), 500U);
  start_at(2000);
  tcp_.cwnd = 10;
  EXPECT_EQ(hstcp_undo(&l_, &kDefaults, &tcp_), 2000U);
}

TEST_F(HighSpeed, AWindowThatIsNotUsedOrAtItsClampDoesNotGrow) {
  start_at(10);
  tcp_.is_cwnd_limited = 0;
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 10U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
  tcp_.is_cwnd_limited = 1;
  tcp_.cwnd_clamp = 10;
  grow(10);
  EXPECT_EQ(tcp_.cwnd, 10U);
  EXPECT_EQ(tcp_.cwnd_count, 0U);
}

TEST_F(HighSpeed, TheLargestWindowDoesNotOverflow) {
  start_at(1U << 29);
  grow(1);
  EXPECT_EQ(lose(), 486'539'264U);  // 2^29 * 24 / 256 = 50331648 less
}

// Section 5: at a loss rate p the window is 0.12 / p^0.835. One loss in 100,000 packets: 1795, Reno 379.
TEST_F(HighSpeed, KeepsTheWindowOfItsResponseFunction) {
  constexpr int LOSSES = 20, SETTLED = 5;
  start_at(1795);
  double round_trips = 0;
  for (int loss = 0; loss < LOSSES; loss++) {
    for (int ack = 0; ack < 100'000; ack++) {
      grow(1);
      if (loss >= SETTLED) round_trips += 1.0 / tcp_.cwnd;
    }
    tcp_.cwnd = lose();
  }
  const double window = (LOSSES - SETTLED) * 100'000 / round_trips;
  EXPECT_NEAR(window, 1795, 180);
}

}  // namespace
