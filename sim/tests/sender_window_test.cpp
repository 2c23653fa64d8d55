// SPDX-License-Identifier: Apache-2.0
// What a sender may send when: limited transmit (RFC 3042), pacing, the receiver's window, congestion marks
// (RFC 3168), what counts as limited by the window.
#include "sender_trace.hpp"

namespace clarion::sim {
namespace {

using Window = SenderTrace;

TEST_F(Window, TwoDuplicatesReleaseTwoNewSegments) {
  open(10, 100);
  sent();
  ack(100, 0, {{1, 2}});
  ack(100.5, 0, {{1, 3}});
  EXPECT_EQ(sent(), (std::vector<Sent>{{100, 10, false}, {100.5, 11, false}}));
  EXPECT_EQ(sender().state(), CaState::disorder);
  EXPECT_EQ(sender().cwnd(), 10U);
}

TEST_F(Window, APacedSenderSpreadsWhatItsWindowTakes) {
  open(30, 100, true);
  sender().pace(true, 1'000'000);  // a segment of 1000 bytes each millisecond
  sent();                          // 10 go at once: below, Linux does not pace (tcp_update_skb_after_send)
  ack(100, 10);
  run_until(105);
  std::vector<double> times;
  for (const Sent& each : sent()) times.push_back(each.at_ms);
  ASSERT_GE(times.size(), 4U);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i] - times[i - 1], 2.0);
  EXPECT_LE(times.size(), 8U);
}

TEST_F(Window, TheReceiversWindowIsKept) {
  open(10, 100);
  sent();
  run_until(100);
  Acknowledgement ack;
  ack.ack = 5;
  ack.window = 6;  // up to segment 11
  ack.echo_ms = static_cast<std::uint32_t>(START / MS);
  sender().on_acknowledgement(START + 100 * MS, ack);
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{10}));
  run_until(150);
  EXPECT_EQ(sender().receiver_room(), 0U);
}

TEST_F(Window, AMarkReducesOncePerRoundTripAndIsAnswered) {
  open(10, 1000, false, true);
  sent();
  ack_marked(100, 1);
  EXPECT_EQ(sender().state(), CaState::cwr);
  EXPECT_EQ(sender().ssthresh(), 5U);
  ack_marked(101, 2);
  EXPECT_EQ(sender().ssthresh(), 5U);
  EXPECT_EQ(sender().lost(), 0U);
  for (SegmentNumber n = 3; n <= 10; ++n) ack(101 + static_cast<double>(n), n);
  EXPECT_EQ(cwr_marks(), 1U);  // on the first new segment after it
  EXPECT_EQ(sender().cwnd(), 5U);
}

TEST_F(Window, GrowsOnlyWhileItIsWhatLimits) {
  open(10, 4);
  ack(100, 2);
  EXPECT_FALSE(sender().is_window_marked_limited());
  open(10, 1000);
  ack(100, 2);
  EXPECT_TRUE(sender().is_window_marked_limited());
}

TEST_F(Window, AnApplicationThatPausesIsMarked) {
  open(10, 4);
  ack(100, 4);
  sender().write_up_to(START + 150 * MS, 6'000);
  EXPECT_TRUE(sender().rate().is_app_limited());
}

TEST_F(Window, NothingSentInBurstsOfMoreThanHalfOfTheWindow) {
  max_burst_ = 44;
  open(8, 100);
  EXPECT_EQ(sent().size(), 8U);
  ack(100, 8);
  EXPECT_GE(sent().size(), 8U);
  EXPECT_LE(sender().board().in_flight(), sender().cwnd());
}

// tcp_tso_should_defer: with a third of the window, or a millisecond after what was sent last.
TEST_F(Window, ASenderOfLargePiecesWaitsForTheNextAcknowledgement) {
  max_burst_ = 44;
  open(30, 1000, true);
  sender().pace(false, Sender::NO_RATE);  // pieces as large as they get
  ack(100, 10);
  sent();
  ack(100.2, 12);
  ack(100.4, 13);
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(sender().is_window_marked_limited());
  ack(100.9, 20);  // a third of the window is free
  EXPECT_EQ(sent().size(), 10U);
  ack(101.2, 21);
  EXPECT_TRUE(sent().empty());
  ack(102.3, 22);
  EXPECT_EQ(sent().size(), 2U);
}

TEST_F(Window, WithAHeaderOnEachPacketNothingIsGathered) {
  open(30, 1000);
  ack(100, 10);
  sent();
  ack(100.2, 12);
  EXPECT_EQ(sent().size(), 2U);
}

// tcp_small_queue_check: two packets, or a millisecond of the pacing rate.
TEST_F(Window, NoMoreWaitsInTheHostsOwnQueueThanAMillisecond) {
  open(10, 1000);
  sent();
  waiting_bytes_ = 1'000'000;
  ack(100, 5);
  EXPECT_TRUE(sent().empty());
  waiting_bytes_ = 0;
  sender().on_room(START + 110 * MS);
  EXPECT_EQ(numbers().size(), 5U);
}

TEST_F(Window, BeforeARetransmissionTwiceAsMuchMayWait) {
  open(10, 1000);
  sent();
  waiting_bytes_ = 2 * 2 * 1600;  // two packets and their overhead, twice
  ack(100, 0, {{1, 5}});
  EXPECT_EQ(sent(), (std::vector<Sent>{{100, 0, true}}));
}

// What the host's own queue drops has not been sent (tcp_write_xmit); TCP reduces as for a mark
// (tcp_enter_cwr).
TEST_F(Window, ADropByTheHostsOwnQueueReducesAndIsNotSent) {
  open(10, 1000);
  sent();
  is_device_full_ = true;
  ack(100, 5);
  EXPECT_EQ(sender().state(), CaState::cwr);
  EXPECT_EQ(sender().ssthresh(), 5U);
  EXPECT_EQ(sender().board().next(), 10U);
  is_device_full_ = false;
  ack(101, 6);
  ack(102, 8);
  for (const Sent& each : sent()) EXPECT_GE(each.number, 10U);
  EXPECT_EQ(sender().lost(), 0U);
}

}  // namespace
}  // namespace clarion::sim
