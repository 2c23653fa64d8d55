// SPDX-License-Identifier: Apache-2.0
// The kernel's laws in the simulated TCP: when each is asked, and what it sees. Round trip 100 ms, packets of
// 1000 bytes.
#include "sim/laws/stack_law.hpp"

#include <gtest/gtest.h>

#include "sim/laws/clarion_law.hpp"
#include "sim/tcp/sender.hpp"

namespace clarion::sim {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 1000 * MS;  // of the connection

class StackLaw : public ::testing::Test, public Sender::Output {
 protected:
  void open(const std::string& law, std::uint64_t segments = 1000) {
    SenderSettings settings;
    settings.mss_bytes = 1000;
    settings.initial_cwnd = 10;
    settings.accurate_ecn = law == "prague";
    sender_ = std::make_unique<Sender>(settings, make_stack_law(law, default_params(), 1), *this);
    sender_->open_window(1'000'000);
    sender_->write_up_to(START, segments * 1000);
    sender_->establish(START, 100'000);
  }
  void run_until(std::uint64_t at_ms) {
    while (sender_->next_timer() <= START + at_ms * MS) sender_->on_timer(sender_->next_timer());
  }
  void ack(std::uint64_t at_ms, SegmentNumber number, SegmentRange sack = {}, std::uint32_t marked = 0) {
    run_until(at_ms);
    Acknowledgement ack;
    ack.ack = number;
    ack.window = 1'000'000;
    ack.ace = ace_of(ce_count_ += marked);
    if (!sack.empty()) ack.sacks[ack.blocks++] = sack;
    sender_->on_acknowledgement(START + at_ms * MS, ack);
  }
  // One by one, up to a number.
  void ack_each(std::uint64_t at_ms, SegmentNumber number) {
    for (SegmentNumber n = sender_->board().una() + 1; n <= number; ++n) ack(at_ms, n);
  }
  Sender& sender() { return *sender_; }

 private:
  bool transmit(const OutgoingSegment& /*segment*/, Nanoseconds /*now*/) override { return true; }
  void note_timeout() override {}
  std::uint64_t waiting_bytes() const override { return 0; }

  std::uint32_t ce_count_ = FIRST_CE_COUNT;
  std::unique_ptr<Sender> sender_;
};

TEST_F(StackLaw, BbrPacesFromTheFirstRoundTripOn) {
  open("bbr");
  // 1677 (10 packets in 100 ms) * 1000 bytes * 739 / 256, less one percent
  EXPECT_EQ(sender().pacing_bytes_per_s(), 285'662u);
  EXPECT_EQ(sender().board().packets_out(), 10u);
  EXPECT_EQ(sender().paced_ahead_us(), 7001u);  // only the last piece, 2000 bytes, was paced
  ack(100, 10);
  EXPECT_EQ(sender().cwnd(), 20u);
  EXPECT_EQ(sender().board().packets_out(), 2u);          // a piece; the next has to wait
  EXPECT_EQ(sender().paced_ahead_us(), 3500u);            // half: it could have gone long ago
  EXPECT_EQ(sender().rate().delivered_us(), 1'100'000u);  // the ACK
}

TEST_F(StackLaw, BbrLeavesTheWindowToTheAckThatComesAfterATimersLosses) {
  open("bbr");
  ack(100, 10);
  run_until(150);
  const std::uint32_t before = sender().cwnd();
  ack(201, 10, {12, 14});
  const std::uint32_t grown = sender().cwnd();
  EXPECT_EQ(grown, before + 2);
  run_until(230);  // the reordering timer
  ASSERT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().cwnd(), grown);
  const std::uint32_t in_flight = sender().board().in_flight();
  ack(231, 10, {12, 15});
  EXPECT_EQ(sender().cwnd(), in_flight);  // one less in flight, one acknowledged
}

TEST_F(StackLaw, BbrGivesTheWindowBackAfterATimeout) {
  open("bbr", 30);
  ack(100, 10);
  run_until(180);
  const std::uint32_t before = sender().cwnd();
  run_until(2000);
  ASSERT_EQ(sender().state(), CaState::loss);
  EXPECT_LT(sender().cwnd(), 4u);
  ack(2100, 30);
  EXPECT_EQ(sender().state(), CaState::open);
  EXPECT_GE(sender().cwnd(), before);
}

TEST_F(StackLaw, PragueGoesDownByAPacketPerAckAndSendsInSmallPieces) {
  open("prague");
  // Twice ten packets of 1000 bytes and 52 of headers per 100 ms.
  EXPECT_EQ(sender().pacing_bytes_per_s(), 210'400u);
  EXPECT_EQ(sender().board().packets_out(), 10u);
  EXPECT_EQ(sender().paced_ahead_us(), 4752u);  // 1000 bytes, the tenth
  ack_each(100, 10);
  EXPECT_EQ(sender().cwnd(), 20u);
  EXPECT_EQ(sender().board().packets_out(), 1u);
  run_until(200);
  EXPECT_EQ(sender().board().packets_out(), 20u);
  ack(201, 12, {}, 1);
  EXPECT_EQ(sender().state(), CaState::cwr);
  EXPECT_EQ(sender().cwnd(), 19u);  // of 20, on the way to 10 and what it grows
  EXPECT_FALSE(sender().is_slow_start());
  for (SegmentNumber n = 13; n < 30; ++n) ack(201 + n, n);
  EXPECT_EQ(sender().cwnd(), 12u);  // and 18 packets at 10 to 12 each
}

TEST_F(StackLaw, PragueHalvesAtALossByAPacketPerAck) {
  open("prague");
  ack_each(100, 10);
  run_until(200);
  ack(201, 10, {12, 16});
  ASSERT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().cwnd(), 19u);
  EXPECT_FALSE(sender().is_slow_start());
  for (SegmentNumber n = 17; n <= 30; ++n) ack(200 + n, 10, {12, n});
  EXPECT_EQ(sender().cwnd(), 10u);
}

TEST_F(StackLaw, PragueGivesTheWindowBackAfterATimeoutThatWasNone) {
  open("prague", 30);
  ack_each(100, 10);
  run_until(300);
  const std::uint32_t before = sender().cwnd();
  run_until(2000);
  ASSERT_EQ(sender().state(), CaState::loss);
  EXPECT_LT(sender().cwnd(), 4u);
  ack(2100, 16);  // with what was sent once
  EXPECT_EQ(sender().state(), CaState::open);
  EXPECT_GE(sender().cwnd(), before);
}

TEST_F(StackLaw, RenoAndCubicGrowAsTheyAreAcknowledgedAndReduceByTheirPart) {
  for (const auto& [law, part] : {std::pair{"reno", 20u}, {"cubic", 28u}}) {
    open(law);
    ack(100, 10);
    ack(200, 30);
    EXPECT_EQ(sender().cwnd(), 40u);
    ack(300, 30, {40, 60});
    run_until(340);
    ASSERT_EQ(sender().state(), CaState::recovery);
    EXPECT_EQ(sender().ssthresh(), part);
  }
}

TEST_F(StackLaw, CubicKeepsItsCurveThroughAPauseAndForgetsItAtATimeout) {
  open("cubic", 70);
  ack(100, 10);
  ack(200, 30);
  ack(300, 70);
  EXPECT_EQ(sender().cwnd(), 80u);
  sender().write_up_to(START + 10'000 * MS, 1'000'000);
  run_until(30'000);
  ASSERT_EQ(sender().state(), CaState::loss);
  EXPECT_EQ(sender().ssthresh(), 56u);  // 80 * 717 / 1024
}

}  // namespace
}  // namespace clarion::sim
