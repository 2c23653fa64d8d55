// SPDX-License-Identifier: Apache-2.0
// NewReno, RFC 6582: fast retransmit and recovery without SACK.
#include "sender_trace.hpp"

namespace clarion::sim {
namespace {

class NewReno : public SenderTrace {
 protected:
  void open_without_sack(std::uint32_t cwnd, std::uint64_t segments) {
    sack_ = false;
    open(cwnd, segments);
    sent();
  }
};

TEST_F(NewReno, ThreeDuplicatesResendTheHead) {
  open_without_sack(10, 1000);
  ack(100, 0);
  ack(100.1, 0);
  EXPECT_EQ(sender().state(), CaState::disorder);
  EXPECT_EQ(sent(),
            (std::vector<Sent>{{100, 10, false}, {100.1, 11, false}}));  // limited transmit (RFC 3042)
  ack(100.2, 0);
  EXPECT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().ssthresh(), 5U);
  ASSERT_FALSE(sent().empty());
}

TEST_F(NewReno, APartialAcknowledgementResendsTheNextHole) {
  open_without_sack(10, 10);
  for (int n = 0; n < 8; ++n) ack(100 + 0.1 * n, 0);  // 0 and 4 are lost, eight others arrive
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{0}));
  ack(200, 4, {}, 100);
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{4}));
  EXPECT_EQ(sender().state(), CaState::recovery);
  ack(300, 10, {}, 200);
  EXPECT_EQ(sender().resent(), 2U);
  EXPECT_EQ(sender().board().packets_out(), 0U);
}

TEST_F(NewReno, OneHoleInEachRoundTrip) {
  open_without_sack(12, 12);
  for (int n = 0; n < 9; ++n) ack(100 + 0.1 * n, 0);  // 0, 3 and 6 are lost
  sent();
  ack(200, 3, {}, 100);
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{3}));
  ack(300, 6, {}, 200);
  EXPECT_EQ(numbers(), (std::vector<SegmentNumber>{6}));
  ack(400, 12, {}, 300);
  EXPECT_EQ(sender().board().packets_out(), 0U);
}

// Section 4.1: duplicates of segments that were resent needlessly must not begin another recovery.
TEST_F(NewReno, DuplicatesAfterRecoveryDoNotReduceAgain) {
  open_without_sack(10, 1000);
  for (int n = 0; n < 3; ++n) ack(100 + 0.1 * n, 0);
  const SegmentNumber end = sender().board().next();
  ack(200, end, {}, 100);  // exactly what recovery covers
  const std::uint32_t ssthresh = sender().ssthresh();
  for (int n = 0; n < 3; ++n) ack(201 + 0.1 * n, end);
  EXPECT_EQ(sender().ssthresh(), ssthresh);
}

TEST_F(NewReno, ThereAreNoProbes) {
  open_without_sack(4, 4);
  run_until(310);
  EXPECT_EQ(sent(), (std::vector<Sent>{{300, 0, true}}));  // the timeout itself
}

TEST_F(NewReno, NoMoreArriveThanWereSent) {
  open_without_sack(5, 5);
  for (int n = 0; n < 20; ++n) ack(100 + 0.1 * n, 0);
  EXPECT_LE(sender().board().sacked_out(), 4U);
  EXPECT_LE(sender().board().in_flight(), 5U);
}

}  // namespace
}  // namespace clarion::sim
