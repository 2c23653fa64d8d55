// SPDX-License-Identifier: Apache-2.0
// Retransmission timeouts (RFC 6298), loss probes (RFC 8985, 7) and F-RTO (RFC 5682).
#include "sender_trace.hpp"

namespace clarion::sim {
namespace {

using Timeouts = SenderTrace;

TEST_F(Timeouts, ProbesAfterTwoRoundTripsThenTimesOutWithBackOff) {
  open(4, 4);
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{0, 1, 2, 3}));
  run_until(5000);
  // Probe: 2 srtt + 2 ms. Then the timeout, counted from the probe: srtt + the least variance, 200 ms. It
  // doubles each time.
  EXPECT_EQ(sent(), (std::vector<Sent>{
                        {202, 3, true}, {502, 0, true}, {1102, 0, true}, {2302, 0, true}, {4702, 0, true}}));
  EXPECT_EQ(sender().state(), CaState::loss);
}

TEST_F(Timeouts, AProbeThatFindsTheTailDeliveredEndsQuietly) {
  open(4, 4);
  run_until(202);
  ack(302, 4, {{3, 4}});  // D-SACK: both copies of the last have arrived
  EXPECT_EQ(sender().state(), CaState::open);
  EXPECT_EQ(sender().cwnd(), 4u);
  EXPECT_EQ(sender().next_timer(), NEVER);
}

TEST_F(Timeouts, AProbeThatRepairedTheTailCountsAsCongestion) {
  open(8, 8);
  ack(100, 4);
  run_until(1000);
  sent();
  ack(1100, 8, {}, 300);
  EXPECT_EQ(law().before, 8u);
}

TEST_F(Timeouts, ALawHearsOfTheTailThatAProbeHasRepaired) {
  open(4, 4, true);
  run_until(202);  // 3 once more
  sender().write_up_to(START + 202 * MS, 8000);
  ack(302, 4);  // of either copy
  EXPECT_TRUE(law().last.is_of_probe);
  EXPECT_EQ(std::count(law().events.begin(), law().events.end(), CaEvent::probe_recovery), 0);
  ack(402, 8);  // and nothing has been reported to have come twice
  EXPECT_FALSE(law().last.is_of_probe);
  EXPECT_EQ(std::count(law().events.begin(), law().events.end(), CaEvent::probe_recovery), 1);
  EXPECT_TRUE(sender().probe_was_app_limited());
}

TEST_F(Timeouts, FrtoGivesTheWindowBackWhenOnlyTheDelayHasGrown) {
  open(6, 100);
  sent();
  run_until(510);  // a timeout: the head is sent again
  EXPECT_EQ(sender().state(), CaState::loss);
  sent();
  ack(520, 1, {}, 0);  // the echo is of the first transmission
  EXPECT_EQ(sender().state(), CaState::open);
  EXPECT_EQ(sender().cwnd(), 6u);
}

}  // namespace
}  // namespace clarion::sim
