// SPDX-License-Identifier: Apache-2.0
// Scalable TCP against numbers that follow from its definition.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/stcp.h"
#undef _Static_assert

#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

TEST(Scalable, GrowsByAPacketPerWindowBelowAHundredAndByOnePercentAbove) {
  stcp l{};
  cc_stack tcp = tcp_of(50, 2);
  stcp_grow(&l, &kDefaults, &tcp, 50);
  EXPECT_EQ(tcp.cwnd, 51U);
  tcp = tcp_of(1000, 2);
  stcp_grow(&l, &kDefaults, &tcp, 1000);  // a round trip
  EXPECT_EQ(tcp.cwnd, 1010U);
}

TEST(Scalable, ALossTakesAnEighthRoundedDown) {
  stcp l{};
  cc_stack tcp = tcp_of(1007);
  EXPECT_EQ(stcp_ssthresh(&l, &kDefaults, &tcp), 882U);  // 1007 - 125
  EXPECT_EQ(stcp_undo(&l, &kDefaults, &tcp), 1007U);
  tcp.cwnd = 1;
  EXPECT_EQ(stcp_ssthresh(&l, &kDefaults, &tcp), 2U);
}

TEST(Scalable, ItsParametersAreKellysAAndB) {
  cc_params params = kDefaults;
  params.stcp_acked_per_packet = 50;
  params.stcp_decrease_q16 = 32768;
  stcp l{};
  cc_stack tcp = tcp_of(1000, 2);
  stcp_grow(&l, &params, &tcp, 1000);
  EXPECT_EQ(tcp.cwnd, 1020U);
  EXPECT_EQ(stcp_ssthresh(&l, &params, &tcp), 510U);
}

TEST(Scalable, RecoversFromALossInRoundTripsThatDoNotDependOnTheWindow) {
  for (const __u32 window : {1000U, 10'000U}) {
    stcp l{};
    cc_stack tcp = tcp_of(window);
    tcp.cwnd = tcp.ssthresh = stcp_ssthresh(&l, &kDefaults, &tcp);
    int round_trips = 0;
    for (; tcp.cwnd < window; round_trips++) stcp_grow(&l, &kDefaults, &tcp, tcp.cwnd);
    EXPECT_EQ(round_trips, 14) << window;  // ln(8 / 7) / ln(1.01) = 13.4
  }
}

}  // namespace
