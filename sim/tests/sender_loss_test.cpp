// SPDX-License-Identifier: Apache-2.0
// RACK (RFC 8985), proportional rate reduction (RFC 6937) and undo.
#include "sender_trace.hpp"

namespace clarion::sim {
namespace {

using Losses = SenderTrace;

TEST_F(Losses, ThreeSacksAboveAHoleMarkItLostAtOnce) {
  open(10, 100);
  sent();
  ack(100, 0, {{1, 2}});
  ack(100.1, 0, {{1, 3}});
  EXPECT_EQ(sender().state(), CaState::disorder);
  EXPECT_EQ(sender().board().lost_out(), 0u);
  ack(100.2, 0, {{1, 4}});
  EXPECT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().lost(), 1u);
}

TEST_F(Losses, OneSackWaitsAQuarterOfTheRoundTrip) {
  open(3, 3);
  sent();
  ack(100, 0, {{2, 3}});
  EXPECT_EQ(sender().lost(), 0u);
  run_until(140);
  EXPECT_EQ(sent(), (std::vector<Sent>{{127, 0, true}}));  // 25 ms and 2 for the timer
  EXPECT_EQ(sender().lost(), 2u);
}

TEST_F(Losses, ReducesInProportionToWhatIsDelivered) {
  open(10, 1000);
  sent();
  for (SegmentNumber n = 2; n <= 10; ++n) ack(100 + 0.1 * static_cast<double>(n), 0, {{1, n}});
  EXPECT_EQ(sender().ssthresh(), 5u);
  ack(201, 10, {}, 100);
  EXPECT_EQ(sender().state(), CaState::recovery);  // what was sent meanwhile is still out
}

TEST_F(Losses, ALawThatOwnsItsWindowIsNotReduced) {
  open(10, 1000, true);
  sent();
  for (SegmentNumber n = 2; n <= 10; ++n) ack(100 + 0.1 * static_cast<double>(n), 0, {{1, n}});
  EXPECT_EQ(sender().cwnd(), 10u);
}

}  // namespace
}  // namespace clarion::sim
