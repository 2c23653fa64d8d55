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

TEST_F(Rack, ALawHearsOfEveryLossWithWhatWasInFlightThen) {
  open(10, 1000);
  using Lost = TestLaw::Lost;
  ack(100, 0, {{2, 5}});  // at once, for three have come: the first and second of the window
  EXPECT_EQ(law().lost, (std::vector<Lost>{{1, 1, 0}, {2, 2, 0}}));
  const std::uint32_t resent_beside = sender().board()[0].stamp.in_flight;
  EXPECT_EQ(sender().board()[0].stamp.lost, 2u);  // before it was sent again
  for (int n = 6; n <= 10; ++n) ack(100 + n, 0, {{2, SegmentNumber(n)}});
  law().lost.clear();
  ack(201, 0, {{2, 12}}, 100);
  ack(202, 0, {{2, 14}}, 100);  // later ones than the retransmissions have come
  EXPECT_EQ(law().lost.front(), (Lost{3, resent_beside, 2}));
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

// tcp_sacktag_write_queue sorts the blocks of an ACK: their order there is no reordering on the path.
TEST_F(Rack, TheOrderOfBlocksIsNoReordering) {
  open(10, 1000);
  ack(100, 0, {{6, 7}, {4, 5}, {2, 3}});
  EXPECT_FALSE(sender().rack().saw_reordering());
}

// tcp_packet_delayed: the fast retransmission still waits in the host (small queues), so nothing was resent.
TEST_F(Rack, BeforeAnythingIsResentAnAdvanceProvesTheReductionNeedless) {
  open(10, 10);
  sent();
  waiting_bytes_ = 1'000'000;
  ack(100, 0, {{1, 4}});
  EXPECT_EQ(sender().state(), CaState::recovery);
  EXPECT_TRUE(sent().empty());
  ack(101, 4);
  EXPECT_EQ(sender().cwnd(), 10U);
  EXPECT_LT(sender().state(), CaState::recovery);
}

// tcp_rack_reo_timeout: the retransmission timer goes on as the head has it, not from now.
TEST_F(Rack, AfterAReorderingTimeoutTheHeadsTimerGoesOn) {
  open(4, 4);
  sent();
  waiting_bytes_ = 1'000'000;  // so that nothing can be resent
  ack(100, 0, {{2, 3}});       // 0 and 1 may be late by a quarter of a round trip
  run_until(130);
  EXPECT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().next_timer(), START + 300 * MS);  // the round trip and 200 ms
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
