// SPDX-License-Identifier: Apache-2.0
// The kernel's laws in the simulated TCP: when each is asked, and what it sees. Round trip 100 ms, packets of
// 1000 bytes.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "sim/hosts/bpf_headers.hpp"
#include "sim/laws/laws.hpp"
#include "sim/tcp/sender.hpp"

namespace clarion::sim {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 1000 * MS;  // of the connection

class StackLaw : public ::testing::Test, public Sender::Output {
 protected:
  void open(const std::string& law, std::uint64_t segments = 1000, bool sack = true) {
    SenderSettings settings;
    settings.sack = sack;
    settings.mss_bytes = 1000;
    settings.initial_cwnd = 10;
    settings.accurate_ecn = law == "clarion_prague";
    sender_ = std::make_unique<Sender>(settings, make_law(law, flow_, default_params(), 1), *this);
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
  // One ACK for each.
  void ack_each(std::uint64_t at_ms, SegmentNumber first, SegmentNumber last) {
    for (SegmentNumber number = first; number <= last; ++number) ack(at_ms, number);
  }
  // What has come out since this was asked last.
  std::vector<SegmentNumber> sent() { return std::exchange(sent_, {}); }
  Sender& sender() { return *sender_; }

 private:
  bool transmit(const OutgoingSegment& segment, Nanoseconds /*now*/) override {
    sent_.push_back(segment.number);
    return true;
  }
  void note_reduction(std::uint8_t reason, std::uint32_t before, std::uint32_t after) override {
    reductions.push_back({reason, before, after});
  }
  void note_timeout() override {}
  std::uint64_t waiting_bytes() const override { return 0; }

  flow flow_{};
  std::uint32_t ce_count_ = FIRST_CE_COUNT;
  std::unique_ptr<Sender> sender_;
  std::vector<SegmentNumber> sent_;

 protected:
  std::vector<std::array<std::uint32_t, 3>> reductions;  // reason, before, after
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

TEST_F(StackLaw, BbrVersion3PacesFromTheFirstRoundTripOn) {
  open("bbr3");
  // 1677 (10 packets in 100 ms) * 1000 bytes * 710 / 256, less one percent
  EXPECT_EQ(sender().pacing_bytes_per_s(), 274'452u);
  EXPECT_EQ(sender().board().packets_out(), 10u);
  EXPECT_EQ(sender().ssthresh(), INFINITE_SSTHRESH);
  ack(100, 10);
  EXPECT_EQ(sender().cwnd(), 20u);
}

TEST_F(StackLaw, BbrVersion3GrowsInRecoveryToo) {
  open("bbr3");
  ack(100, 10);
  run_until(150);
  const std::uint32_t before = sender().cwnd();
  ack(201, 10, {12, 15});
  ASSERT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().lost(), 2u);
  EXPECT_EQ(sender().cwnd(), before + 3);
}

// Two packets of 1000 bytes in 2 ms, four to be queued: (1000 x 102 + 4000) / 0.102 bytes/s.
TEST_F(StackLaw, PacketPairPacesTrainsOfFourFromItsFirstPairOn) {
  open("packet_pair");
  EXPECT_EQ(sender().board().packets_out(), 10u);
  ack(100, 2);
  EXPECT_EQ(sender().cwnd(), 10u);
  ack(102, 4);
  EXPECT_EQ(sender().pacing_bytes_per_s(), 1'039'215u);
  EXPECT_EQ(sender().cwnd(), 207u);
  for (int i = 0; i < 3; ++i) {
    const Nanoseconds at = sender().next_timer();
    const SegmentNumber before = sender().board().next();
    sender().on_timer(at);
    EXPECT_EQ(sender().board().next(), before + 4);
    EXPECT_NEAR(static_cast<double>(sender().next_timer() - at), 4000 / 1.039215e6 * 1e9, 1000);
  }
}

TEST_F(StackLaw, PacketPairHalvesItsRateAtATimeoutAndIsNotReducedByALoss) {
  open("packet_pair");
  ack(100, 2);
  ack(102, 4);
  run_until(150);
  ack(202, 4, {6, 10});
  const std::uint32_t cwnd = sender().cwnd();
  const std::uint64_t rate = sender().pacing_bytes_per_s();
  run_until(240);
  ASSERT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().cwnd(), cwnd);
  EXPECT_EQ(sender().pacing_bytes_per_s(), rate);
  run_until(3000);
  ASSERT_EQ(sender().state(), CaState::loss);
  ack(3100, 6);
  EXPECT_LT(sender().pacing_bytes_per_s(), rate * 2 / 3);
  EXPECT_LT(sender().cwnd(), cwnd * 2 / 3);
}

TEST_F(StackLaw, PragueGoesDownByAPacketPerAckAndSendsInSmallPieces) {
  open("clarion_prague");
  // Twice ten packets of 1000 bytes and 52 of headers per 100 ms.
  EXPECT_EQ(sender().pacing_bytes_per_s(), 210'400u);
  EXPECT_EQ(sender().board().packets_out(), 10u);
  EXPECT_EQ(sender().paced_ahead_us(), 4752u);  // 1000 bytes, the tenth
  ack_each(100, 1, 10);
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
  open("clarion_prague");
  ack_each(100, 1, 10);
  run_until(200);
  ack(201, 10, {12, 16});
  ASSERT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().cwnd(), 19u);
  EXPECT_FALSE(sender().is_slow_start());
  for (SegmentNumber n = 17; n <= 30; ++n) ack(200 + n, 10, {12, n});
  EXPECT_EQ(sender().cwnd(), 10u);
}

TEST_F(StackLaw, ThatSetsItsWindowItselfGivesItBackAfterATimeout) {
  // The timeout was none for Prague: what comes is what was sent once.
  for (const auto& [law, acked] : {std::pair{"bbr", 30u}, {"bbr3", 30u}, {"clarion_prague", 16u}}) {
    SCOPED_TRACE(law);
    open(law, 30);
    ack_each(100, 1, 10);
    run_until(180);
    const std::uint32_t before = sender().cwnd();
    run_until(2000);
    ASSERT_EQ(sender().state(), CaState::loss);
    EXPECT_LT(sender().cwnd(), 4u);
    ack(2100, acked);
    EXPECT_EQ(sender().state(), CaState::open);
    EXPECT_GE(sender().cwnd(), before);
  }
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
  ASSERT_EQ(reductions.size(), 1u);
  EXPECT_EQ(reductions[0][0], static_cast<std::uint32_t>(FLOW_TIMEOUT));
}

TEST_F(StackLaw, PccStartsWithTwoPacketsPerRoundTripAndDoublesAfterTen) {
  open("pcc");
  EXPECT_EQ(sender().pacing_bytes_per_s(), 20'000u);
  EXPECT_EQ(sender().cwnd(), 8u);  // it does not limit
  for (std::uint64_t at_ms = 100; at_ms < 500; at_ms += 100) ack(at_ms, sender().board().next());
  EXPECT_EQ(sender().pacing_bytes_per_s(), 20'000u);
  ack(500, sender().board().next());
  EXPECT_EQ(sender().pacing_bytes_per_s(), 40'000u);
}

TEST_F(StackLaw, PccIsNotReducedByALossAndHalvesAfterATimeout) {
  open("pcc", 40);
  for (std::uint64_t at_ms = 100; at_ms <= 500; at_ms += 100) ack(at_ms, sender().board().next());
  const SegmentNumber una = sender().board().una();
  const std::uint32_t window = sender().cwnd();
  run_until(560);
  ASSERT_GT(sender().board().packets_out(), 3u);
  ack(600, una, {una + 1, una + 4});
  EXPECT_EQ(sender().state(), CaState::recovery);
  EXPECT_EQ(sender().cwnd(), window);
  EXPECT_EQ(sender().pacing_bytes_per_s(), 40'000u);
  run_until(3000);
  ASSERT_EQ(sender().state(), CaState::loss);
  ack(3000, una + 1);
  EXPECT_LE(sender().pacing_bytes_per_s(), 20'200u);  // half, and one percent for the trial
}

using Numbers = std::vector<SegmentNumber>;
using Reductions = std::vector<std::array<std::uint32_t, 3>>;

TEST_F(StackLaw, TahoeRestartsFromOnePacketAtTheThirdDuplicate) {
  open("tahoe");
  ack_each(100, 1, 10);
  EXPECT_EQ(sender().cwnd(), 20u);
  sent();  // 0 to 29
  ack(200, 10, {11, 12});
  ack(201, 10, {11, 13});
  EXPECT_EQ(sender().cwnd(), 20u);
  ack(202, 10, {11, 14});
  EXPECT_EQ(sender().cwnd(), 1u);
  EXPECT_EQ(sender().ssthresh(), 10u);  // half of 20
  for (SegmentNumber end = 15; end <= 30; ++end) ack(203, 10, {11, end});
  ack(300, 10, {11, 31});
  EXPECT_EQ(sent(), (Numbers{30, 10}));  // 30 by limited transmit; further duplicates release nothing
  EXPECT_EQ(reductions, (Reductions{{FLOW_LOSS, 20, 1}}));
  ack(302, 31);
  EXPECT_EQ(sender().state(), CaState::open);
  EXPECT_EQ(sent(), (Numbers{31, 32}));
  ack_each(400, 32, 33);
  EXPECT_EQ(sender().cwnd(), 4u);
  ack_each(500, 34, 37);
  EXPECT_EQ(sender().cwnd(), 8u);
  ack_each(600, 38, 45);  // two to the threshold; six count towards the eleventh
  EXPECT_EQ(sender().cwnd(), 10u);
  ack_each(700, 46, 48);
  EXPECT_EQ(sender().cwnd(), 10u);
  ack(700, 49);
  EXPECT_EQ(sender().cwnd(), 11u);
}

TEST_F(StackLaw, TahoeGoesBackToTheLossAndSendsAgainWhatHadArrived) {
  open("tahoe", 1000, false);
  ack_each(100, 1, 10);
  sent();
  for (int i = 0; i < 18; i++) ack(200, 10);  // 10 and 15 of 10 to 29 are lost
  EXPECT_EQ(sent(), (Numbers{30, 10}));       // 30 by limited transmit
  ack(300, 10);                               // of 30
  ack(300, 15);
  EXPECT_EQ(sender().cwnd(), 2u);  // one ACK, five packets
  EXPECT_EQ(sent(), (Numbers{15, 16}));
  ack(400, 31);
  EXPECT_EQ(sender().cwnd(), 3u);
  EXPECT_EQ(sent(), (Numbers{31, 32, 33}));
  ack(400, 31);  // of 16, which had come before
  EXPECT_EQ(sender().ssthresh(), 10u);
  EXPECT_EQ(reductions.size(), 1u);
}

TEST_F(StackLaw, TahoeRestartsWhenTheReorderingTimerShowsTheLoss) {
  open("tahoe");
  ack_each(100, 1, 10);
  sent();
  ack(200, 10, {12, 14});
  run_until(224);
  EXPECT_EQ(sender().cwnd(), 20u);
  run_until(230);  // a quarter of the round trip and 2 ms later
  EXPECT_EQ(sender().cwnd(), 1u);
  EXPECT_EQ(sender().ssthresh(), 10u);
  EXPECT_EQ(sent(), (Numbers{30, 31, 10}));
  EXPECT_EQ(sender().state(), CaState::loss);
}

TEST_F(StackLaw, TahoeRestartsAgainWhenTheRetransmissionIsLost) {
  open("tahoe");
  ack_each(100, 1, 10);
  sent();
  ack(200, 10, {11, 14});
  ack(201, 10, {11, 30});
  run_until(502);  // the timer: 300 ms
  EXPECT_EQ(sent(), (Numbers{10, 10}));
  EXPECT_EQ(sender().cwnd(), 1u);
  EXPECT_EQ(sender().ssthresh(), 2u);  // half of a window of one packet, but two
  ack(601, 30);
  EXPECT_EQ(sender().cwnd(), 2u);
}

TEST_F(StackLaw, TahoeNeverTakesARestartBack) {
  // It was reordering, as the time stamp's echo shows.
  for (const auto& [law, window] : {std::pair{"tahoe", 1u}, {"reno", 20u}}) {  // and one for the ACK
    open(law);
    ack_each(100, 1, 10);
    ack(200, 10, {11, 14});
    Acknowledgement late;
    late.ack = 14;
    late.window = 1'000'000;
    late.echo_ms = 1100;  // before 10 was sent again
    sender().on_acknowledgement(START + 210 * MS, late);
    EXPECT_EQ(sender().cwnd(), window + 1) << law;
  }
}

TEST_F(StackLaw, TahoeHalvesWhatIsUnderWayWhereTheWindowIsNotUsedUp) {
  open("tahoe", 16);
  ack_each(100, 1, 10);  // 10 to 15, the last
  EXPECT_EQ(sender().cwnd(), 20u);
  ack(200, 10, {11, 14});
  EXPECT_EQ(sender().ssthresh(), 3u);  // 6 / 2
}

// A sender over a link that takes a packet per millisecond, and 100 ms to the acknowledgement.
class Path final : public Sender::Output {
 public:
  Path(const std::string& law, std::uint32_t buffer, const cc_params& params) : buffer_(buffer) {
    SenderSettings settings;
    settings.mss_bytes = 1000;
    sender_ = std::make_unique<Sender>(settings, make_law(law, flow_, params, 1), *this);
    sender_->open_window(1'000'000);
    sender_->write_up_to(START, ~std::uint64_t{0});
    sender_->establish(START, 100'000);
  }
  void run_until(std::uint64_t at_s) {
    const Nanoseconds end = START + at_s * 1000 * MS;
    while (true) {
      const Nanoseconds arrival = arrivals_.empty() ? NEVER : arrivals_.front().first;
      if (std::min(arrival, sender_->next_timer()) > end) return;
      if (arrival <= sender_->next_timer()) {
        arrive();
      } else {
        sender_->on_timer(sender_->next_timer());
      }
    }
  }
  std::uint64_t delivered() const { return sender_->board().una(); }
  std::uint32_t dropped() const { return dropped_; }

 private:
  bool transmit(const OutgoingSegment& segment, Nanoseconds now) override {
    if (free_at_ > now + buffer_ * MS) {
      ++dropped_;
      return true;
    }
    free_at_ = std::max(free_at_, now) + MS;
    arrivals_.emplace_back(free_at_ + 100 * MS, segment.number);
    return true;
  }
  void note_timeout() override {}
  std::uint64_t waiting_bytes() const override { return 0; }

  void arrive() {
    const auto [at, number] = arrivals_.front();
    arrivals_.pop_front();
    if (number >= next_) early_.insert(number);
    for (; early_.erase(next_) > 0; ++next_) {
    }
    Acknowledgement ack;
    ack.ack = next_;
    ack.window = 1'000'000;
    if (number > next_) {
      SegmentRange& block = ack.sacks[ack.blocks++] = {number, number + 1};
      while (early_.count(block.begin - 1) > 0) --block.begin;
      while (early_.count(block.end) > 0) ++block.end;
    }
    sender_->on_acknowledgement(at, ack);
  }

  std::uint32_t buffer_;
  flow flow_{};
  std::unique_ptr<Sender> sender_;
  std::deque<std::pair<Nanoseconds, SegmentNumber>> arrivals_;
  std::set<SegmentNumber> early_;
  SegmentNumber next_ = 0;
  Nanoseconds free_at_ = 0;
  std::uint32_t dropped_ = 0;
};

// The buffer is a fifth of what the path holds.
TEST(Path, BbrVersion3FillsItAsVersion1DoesAndLosesAQuarterOfThePackets) {
  Path one("bbr", 20, default_params());
  Path three("bbr3", 20, default_params());
  one.run_until(60);
  three.run_until(60);
  EXPECT_GT(one.delivered(), 57'000u);
  EXPECT_GT(three.delivered(), 57'000u);
  EXPECT_LT(4 * three.dropped(), one.dropped());

  cc_params params = default_params();
  params.bbr3_loss_percent = 20;  // a probe may lose more than the buffer holds
  Path bold("bbr3", 20, params);
  bold.run_until(60);
  EXPECT_GT(bold.dropped(), 3 * three.dropped());
}

}  // namespace
}  // namespace clarion::sim
