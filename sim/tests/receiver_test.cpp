// SPDX-License-Identifier: Apache-2.0
// The receiver against traces by hand: when it acknowledges, and which blocks it names.
#include "sim/tcp/receiver.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <utility>
#include <vector>

namespace clarion::sim {

inline std::ostream& operator<<(std::ostream& out, const SegmentRange& range) {
  return out << "[" << range.begin << "," << range.end << ")";
}

namespace {

constexpr Nanoseconds MS = 1'000'000;

// What came out: when, what is expected next, which blocks.
struct Acked {
  double at_ms;
  SegmentNumber ack;
  std::vector<SegmentRange> blocks;

  bool operator==(const Acked& other) const {
    return at_ms == other.at_ms && ack == other.ack && blocks == other.blocks;
  }
};
std::ostream& operator<<(std::ostream& out, const Acked& acked) {
  out << acked.ack << " at " << acked.at_ms << " ms";
  for (const SegmentRange& block : acked.blocks) out << " " << block;
  return out;
}
using Acks = std::vector<Acked>;

class ReceiverTrace : public ::testing::Test, public Receiver::Output {
 protected:
  void take(double at_ms, SegmentNumber number, bool has_ce = false, bool has_cwr = false) {
    IncomingSegment segment;
    segment.number = number;
    segment.has_ce = has_ce;
    segment.has_cwr = has_cwr;
    take(at_ms, segment);
  }
  void take(double at_ms, const IncomingSegment& segment) {
    run_until(at_ms);
    receiver_->on_segment(static_cast<Nanoseconds>(at_ms * 1e6), segment);
  }

  void run_until(double at_ms) {
    const auto until = static_cast<Nanoseconds>(at_ms * 1e6);
    while (receiver_->next_timer() <= until) receiver_->on_timer(receiver_->next_timer());
  }

  // Past the acknowledgements that come at once at the start: 16 segments, a millisecond apart, from 1000 ms
  // on.
  void warm_up() {
    receiver_->set_rtt(100'000);
    for (SegmentNumber n = 0; n < 17; ++n) take(1000.0 + static_cast<double>(n), n);
    run_until(1500);
    acks();
  }

  Acks acks() { return std::exchange(acks_, {}); }
  Receiver& receiver() { return *receiver_; }
  bool echoes() const { return has_ece_; }
  int ace() const { return ace_; }  // of the last acknowledgement
  std::uint64_t window() const { return window_; }

  void begin(const ReceiverSettings& settings) { receiver_ = std::make_unique<Receiver>(settings, *this); }

 private:
  void acknowledge(const OutgoingAck& ack, Nanoseconds now) override {
    Acked acked{static_cast<double>(now) / 1e6, ack.ack, {}};
    for (std::size_t i = 0; i < ack.blocks; ++i) acked.blocks.push_back(ack.sacks[i]);
    acks_.push_back(std::move(acked));
    has_ece_ = ack.has_ece;
    ace_ = ack.ace;
    window_ = ack.window;
  }

  static constexpr ReceiverSettings settings_{1000, 1000, true};
  Acks acks_;
  bool has_ece_ = false;
  std::uint8_t ace_ = 0;
  std::uint64_t window_ = 0;
  std::unique_ptr<Receiver> receiver_ = std::make_unique<Receiver>(settings_, *this);
};

TEST_F(ReceiverTrace, TheFirstSixteenAreAcknowledgedAtOnce) {
  for (SegmentNumber n = 0; n < 20; ++n) take(1000.0 + static_cast<double>(n), n);
  Acks expected;
  for (int n = 0; n < 16; ++n) expected.push_back({1000.0 + n, SegmentNumber(n) + 1, {}});
  expected.push_back({1017, 18, {}});  // then every second (RFC 5681, 4.2)
  expected.push_back({1019, 20, {}});
  EXPECT_EQ(acks(), expected);
}

TEST_F(ReceiverTrace, ALoneSegmentWaits) {
  warm_up();
  take(1501, 17);
  run_until(1600);
  // 484 ms without data is more than a timeout: the sender may have begun anew, so it is acknowledged at
  // once.
  EXPECT_EQ(acks(), (Acks{{1501, 18, {}}}));
  for (SegmentNumber n = 18; n < 34; ++n) take(1601.0 + static_cast<double>(n), n);
  run_until(1700);
  acks();
  take(1740, 34);  // the last one of those has waited in vain
  run_until(1900);
  EXPECT_EQ(acks(), (Acks{{1820, 35, {}}}));
}

TEST_F(ReceiverTrace, AGapIsToldAtOnceAndSoIsItsFilling) {
  warm_up();
  take(1501, 18);
  take(1502, 19);
  take(1503, 17);
  EXPECT_EQ(acks(), (Acks{{1501, 17, {{18, 19}}}, {1502, 17, {{18, 20}}}, {1503, 20, {}}}));
}

TEST_F(ReceiverTrace, TheLatestBlockComesFirstAndThreeAreNamed) {
  warm_up();
  take(1501, 18);
  take(1502, 20);
  take(1503, 22);
  take(1505, 24);  // from the fourth on acknowledgements may be held back for a millisecond
  run_until(1506);
  take(1507, 21);  // joins two
  run_until(1508);
  const Acks all = acks();
  EXPECT_EQ(all[2].blocks, (std::vector<SegmentRange>{{22, 23}, {20, 21}, {18, 19}}));
  EXPECT_EQ(all[3].blocks, (std::vector<SegmentRange>{{24, 25}, {22, 23}, {20, 21}}));
  EXPECT_EQ(all[4].blocks, (std::vector<SegmentRange>{{20, 23}, {24, 25}, {18, 19}}));
}

TEST_F(ReceiverTrace, WhatComesTwiceIsNamedFirst) {
  warm_up();
  take(1501, 18);
  take(1502, 3);   // RFC 2883, 4: below what is acknowledged
  take(1503, 18);  // and inside a block
  EXPECT_EQ(acks(),
            (Acks{{1501, 17, {{18, 19}}}, {1502, 17, {{3, 4}, {18, 19}}}, {1503, 17, {{18, 19}, {18, 19}}}}));
}

// tcp_comp_sack_delay_ns: a millisecond, or 5 % of the round trip if that is less.
TEST_F(ReceiverTrace, AfterThreeDuplicatesAcknowledgementsAreHeldBack) {
  warm_up();
  for (int n = 0; n < 10; ++n) take(1510 + 0.01 * n, SegmentNumber(18) + SegmentNumber(n));
  run_until(1512);
  EXPECT_EQ(acks(), (Acks{{1510, 17, {{18, 19}}},
                          {1510.01, 17, {{18, 20}}},
                          {1510.02, 17, {{18, 21}}},
                          {1511.03, 17, {{18, 28}}}}));
}

TEST_F(ReceiverTrace, NoMoreThanFortyFourAreHeldBack) {
  warm_up();
  for (int n = 0; n < 47; ++n) take(1510 + 0.001 * n, SegmentNumber(18) + SegmentNumber(n));
  EXPECT_EQ(acks().size(), 3U);  // duplicates; 44 are held back
  take(1510.5, 65);
  EXPECT_EQ(acks().size(), 1U);
}

// tcp_sack_compress_send_ack: three holes filled within a millisecond would leave the first untold.
TEST_F(ReceiverTrace, BlocksAreToldBeforeTheyAreLost) {
  warm_up();
  for (SegmentNumber n = 18; n < 60; n += 3) take(1501, n);
  run_until(1510);
  acks();
  take(1510, 100);
  take(1510.1, 110);
  EXPECT_TRUE(acks().size() >= 1);
  take(1510.2, 120);
  take(1510.3, 130);
  const Acks all = acks();
  ASSERT_GE(all.size(), 1U);
  run_until(1512);
  std::vector<SegmentRange> named;
  for (const Acked& each : acks()) named.insert(named.end(), each.blocks.begin(), each.blocks.end());
  for (const Acked& each : all) named.insert(named.end(), each.blocks.begin(), each.blocks.end());
  for (const SegmentNumber n : {110, 120, 130}) {
    EXPECT_NE(std::find(named.begin(), named.end(), SegmentRange{n, n + 1}), named.end()) << n;
  }
}

TEST_F(ReceiverTrace, MarksAreEchoedUntilTheSenderAnswers) {
  warm_up();
  take(1501, 17, true);
  EXPECT_TRUE(echoes());
  take(1502, 18);
  take(1503, 19);
  EXPECT_TRUE(echoes());
  take(1504, 20, false, true);
  run_until(1600);
  EXPECT_FALSE(echoes());
}

// RFC 3168, 6.1.3 and __tcp_ecn_check_ce: what is not marked among segments that may be was probably resent.
TEST_F(ReceiverTrace, AMarkAndWhatWasResentAreAcknowledgedAtOnce) {
  warm_up();
  IncomingSegment segment;
  segment.has_ect = true;
  for (SegmentNumber n = 17; n < 40; ++n) {
    segment.number = n;
    take(1501.0 + static_cast<double>(n), segment);
  }
  run_until(1600);
  acks();
  segment.has_ect = false;
  segment.number = 40;
  take(1601, segment);
  EXPECT_EQ(acks(), (Acks{{1601, 41, {}}}));
}

// RFC 9768, 3.2.2.5.1; from 1501 ms on sixteen are acknowledged at once, for there was a pause.
TEST_F(ReceiverTrace, WithAccurateEcnTheFirstMarkAndEachSecondOneAreToldAtOnce) {
  receiver().use_accurate_ecn();
  warm_up();
  EXPECT_EQ(ace(), 5);
  for (SegmentNumber n = 17; n < 33; ++n) take(1501, n);
  acks();
  take(1510, 33, true);
  EXPECT_EQ(acks(), (Acks{{1510, 34, {}}}));
  EXPECT_EQ(ace(), 6);
  take(1511, 34, true);  // one more, and the packet before was marked, too: it may wait
  EXPECT_EQ(acks(), Acks{});
  take(1512, 35);
  EXPECT_EQ(acks(), (Acks{{1512, 36, {}}}));
  EXPECT_EQ(ace(), 7);
  take(1513, 37);  // 36 is missing; three acknowledgements of it go out as they come,
  take(1513, 38);
  take(1513, 39);
  acks();
  take(1513, 40);  // then they wait,
  EXPECT_EQ(acks(), Acks{});
  take(1513.1, 41, true);
  EXPECT_EQ(acks(), (Acks{{1513.1, 36, {{37, 42}}}}));
  EXPECT_EQ(ace(), 0);  // 8
  take(1513.2, 42, true);
  EXPECT_EQ(acks(), Acks{});
  take(1513.3, 43, true);
  EXPECT_EQ(acks(), (Acks{{1513.3, 36, {{37, 44}}}}));
  EXPECT_EQ(ace(), 2);
  EXPECT_EQ(receiver().ce_count(), 10U);
}

TEST_F(ReceiverTrace, WithAccurateEcnNothingIsEchoedAndWhatIsNotAcceptableDoesNotCount) {
  receiver().use_accurate_ecn();
  warm_up();
  take(1501, 3, true);          // it has come before
  take(1502, 17 + 1000, true);  // its window does not take it
  EXPECT_EQ(receiver().ce_count(), FIRST_CE_COUNT);
  take(1503, 17, true);
  EXPECT_EQ(receiver().ce_count(), FIRST_CE_COUNT + 1);
  EXPECT_FALSE(echoes());
}

// tcp_cleanup_rbuf: the application has read all, and the sender has no more.
TEST_F(ReceiverTrace, TheEndOfAWriteIsAcknowledgedAtOnce) {
  warm_up();
  for (SegmentNumber n = 17; n < 33; ++n) take(1501, n);
  acks();
  IncomingSegment last;
  last.number = 33;
  last.is_pushed = true;
  take(1510, last);
  EXPECT_EQ(acks(), (Acks{{1510, 34, {}}}));
}

// tcp_grow_window: a quarter of the buffer at first, 80/256 of it in the end.
TEST_F(ReceiverTrace, WhileItsWindowGrowsEachSegmentIsAcknowledged) {
  begin(ReceiverSettings::with_buffer(1'600'000, 1000, true));
  for (SegmentNumber n = 0; n < 120; ++n) {
    take(1000.0 + static_cast<double>(n), n);
    if (n == 0) {
      EXPECT_EQ(window(), 401U);
    }
  }
  EXPECT_EQ(window(), 500U);
  EXPECT_EQ(acks().size(), 100U + 10U);  // then every second
}

// tcp_delack_timer_handler: 40 ms, then, as nothing came for so long, 80.
TEST_F(ReceiverTrace, AnAcknowledgementThatWaitedInVainMakesTheNextOneWaitLonger) {
  warm_up();
  for (SegmentNumber n = 17; n < 33; ++n) take(1501, n);
  acks();
  take(1510, 33);
  take(1600, 34);
  run_until(1800);
  EXPECT_EQ(acks(), (Acks{{1550, 34, {}}, {1680, 35, {}}}));
}

TEST_F(ReceiverTrace, WhatItsWindowDoesNotTakeIsDropped) {
  warm_up();
  take(1501, 17 + 1000);
  EXPECT_EQ(receiver().received(), 17U);
  EXPECT_EQ(acks(), (Acks{{1501, 17, {}}}));
}

}  // namespace
}  // namespace clarion::sim
