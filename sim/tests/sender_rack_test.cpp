// SPDX-License-Identifier: Apache-2.0
// Reordering (RFC 8985, 6.2), retransmissions that get lost, and undo (RFC 3708, 4015).
#include "sender_trace.hpp"

namespace clarion::sim {
namespace {

using Rack = SenderTrace;

TEST_F(Rack, APacketThatIsLateByLessThanAQuarterIsNotResent) {
  open(10, 10);
  sent();
  ack(100, 0, {{1, 3}});
  ack(120, 3);  // it has come
  run_until(140);
  for (const Sent& each : sent()) EXPECT_FALSE(each.is_resent);
  EXPECT_EQ(sender().lost(), 0U);
}

TEST_F(Rack, AfterReorderingThreeDuplicatesAreNotEnough) {
  open(10, 1000);
  sent();
  ack(100, 0, {{5, 6}});
  ack(100.1, 0, {{4, 6}});  // 4 came after 5
  ack(100.2, 0, {{3, 6}});
  ack(100.3, 0, {{2, 6}});
  EXPECT_TRUE(sender().rack().saw_reordering());
  EXPECT_EQ(sender().lost(), 0U);
}

TEST_F(Rack, ALostRetransmissionIsResentWhenLaterOnesArrive) {
  open(10, 1000);
  ack(100, 0, {{1, 4}});  // 0 is lost, resent at 100
  for (int n = 5; n <= 10; ++n) ack(100 + n, 0, {{1, SegmentNumber(n)}});
  sent();
  // Segments sent after the retransmission arrive, and it does not.
  ack(201, 0, {{1, 12}}, 100);
  ack(202, 0, {{1, 14}}, 100);
  std::size_t again = 0;
  for (const Sent& each : sent()) again += each.number == 0 ? 1 : 0;
  EXPECT_EQ(again, 1U);
}

TEST_F(Rack, ANeedlessRetransmissionGivesTheWindowBack) {
  open(10, 10);
  sent();
  ack(100, 0, {{1, 4}});  // 0 is taken for lost
  EXPECT_EQ(sender().ssthresh(), 5U);
  ack(101, 10, {}, 0);  // all came; the echo is of the first transmission (Eifel)
  EXPECT_EQ(sender().cwnd(), 10U);
  EXPECT_EQ(sender().state(), CaState::open);
}

TEST_F(Rack, ADuplicateReportProvesItToo) {
  open(10, 1000);
  ack(100, 0, {{1, 4}});
  for (int n = 5; n <= 10; ++n) ack(100 + n, 0, {{1, SegmentNumber(n)}});
  const std::uint32_t reduced = sender().ssthresh();
  EXPECT_EQ(reduced, 5U);
  ack(201, 10, {{0, 1}}, 101);  // both copies of 0 have arrived (RFC 2883)
  run_until(202);
  EXPECT_GE(sender().cwnd(), 10U);
}

TEST_F(Rack, InOrderNothingIsEverLost) {
  open(10, 100);
  for (SegmentNumber n = 1; n <= 10; ++n) ack(100 + static_cast<double>(n), n);
  EXPECT_EQ(sender().lost(), 0U);
  EXPECT_EQ(sender().resent(), 0U);
  EXPECT_EQ(law().grown, 10U);
}

}  // namespace
}  // namespace clarion::sim
