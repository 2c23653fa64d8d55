// SPDX-License-Identifier: Apache-2.0
// The window of network-coded TCP against its definition.
#include <gtest/gtest.h>

#define _Static_assert static_assert
#include "cc/nctcp.h"
#undef _Static_assert

#include "stack_path.hpp"
#include "stack_testing.hpp"

namespace {

using namespace clarion::testing;

class NcTcp : public testing::Test {
 protected:
  NcTcp() { nctcp_init(&l_, &kDefaults, &tcp_); }
  void acked(__s64 rtt_us) { nctcp_on_acked(&l_, &kDefaults, &tcp_, 1, rtt_us); }
  __u32 ssthresh() { return nctcp_ssthresh(&l_, &kDefaults, &tcp_); }
  nctcp l_{};
  cc_stack tcp_ = tcp_of(100);
};

TEST_F(NcTcp, GrowsAsReno) {
  nctcp_grow(&l_, &kDefaults, &tcp_, 100);
  EXPECT_EQ(tcp_.cwnd, 200U);
  tcp_.ssthresh = 200;
  nctcp_grow(&l_, &kDefaults, &tcp_, 199);
  EXPECT_EQ(tcp_.cwnd, 200U);
  nctcp_grow(&l_, &kDefaults, &tcp_, 1);
  EXPECT_EQ(tcp_.cwnd, 201U);
}

TEST_F(NcTcp, ALossLeavesTheLeastRoundTripOverTheLast) {
  acked(150'000);
  acked(100'000);
  EXPECT_EQ(ssthresh(), 100U);  // no queue
  acked(125'000);
  EXPECT_EQ(ssthresh(), 80U);
  acked(130'000);
  EXPECT_EQ(ssthresh(), 76U);  // 76.92
  acked(-1);                   // no sample
  EXPECT_EQ(ssthresh(), 76U);
  acked(200'000);  // a queue as long as the path
  EXPECT_EQ(ssthresh(), 50U);
  acked(1'000'000);  // longer: less than Reno leaves
  EXPECT_EQ(ssthresh(), 10U);
  acked(100'000'000);
  EXPECT_EQ(ssthresh(), 2U);
}

TEST_F(NcTcp, HalvesBeforeItKnowsARoundTrip) { EXPECT_EQ(ssthresh(), 50U); }

TEST_F(NcTcp, AMistakenReductionIsUndone) {
  acked(100'000);
  acked(400'000);
  tcp_.cwnd = ssthresh();
  EXPECT_EQ(tcp_.cwnd, 25U);
  EXPECT_EQ(nctcp_undo(&l_, &kDefaults, &tcp_), 100U);
}

// A path that holds 100 packets, and a loss in every tenth round trip, whatever is queued: Reno's window
// would swing between 10 and 20. Here a loss takes what stands in the queue, and no more.
TEST(NcTcpOnAPath, RandomLossesLeaveItAtWhatThePathHolds) {
  nctcp l{};
  cc_stack tcp = tcp_of(20, 2);
  nctcp_init(&l, &kDefaults, &tcp);
  StackPath path(1000, 100'000);
  __u32 least = ~0U, most = 0;
  for (int round = 1; round <= 300; ++round) {
    for (const __u32 end = tcp.next; static_cast<__s32>(tcp.una - end) < 0 || tcp.una == tcp.next;) {
      path.fill(tcp);
      nctcp_on_acked(&l, &kDefaults, &tcp, 1, path.acknowledge(tcp));
      nctcp_grow(&l, &kDefaults, &tcp, 1);
    }
    if (round % 10 == 0) {
      const __u32 left = nctcp_ssthresh(&l, &kDefaults, &tcp);
      EXPECT_GE(left, std::min(tcp.cwnd, 99U)) << round;
      tcp.cwnd = left;
    }
    if (round > 150) least = std::min(least, tcp.cwnd);
    if (round > 150) most = std::max(most, tcp.cwnd);
  }
  EXPECT_GE(least, 99U);
  EXPECT_LE(most, 111U);
}

}  // namespace
