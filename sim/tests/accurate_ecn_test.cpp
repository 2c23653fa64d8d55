// SPDX-License-Identifier: Apache-2.0
// Accurate ECN (RFC 9768): the count at the sender, what it makes of acknowledgements, and the handshake in
// frames.
#include "sender_trace.hpp"
#include "sim/hosts/connection.hpp"

namespace clarion::sim {
namespace {

TEST(CeCount, FollowsTheFieldAsItWraps) {
  CeCount count;
  EXPECT_EQ(count.take(5, 2), 0U);  // both begin at 5
  EXPECT_EQ(count.take(7, 2), 2U);
  EXPECT_EQ(count.take(1, 2), 2U);  // 9
  EXPECT_EQ(count.take(1, 2), 0U);
  EXPECT_EQ(count.take(0, 7), 7U);  // 16: as many as can be told apart
  EXPECT_EQ(count.count(), 16U);
}

// The examples of A.2.1, which takes it that every packet may have been marked.
TEST(CeCount, AtFirstAssumesTheWorstOfMissingAcknowledgements) {
  CeCount nine, ten;
  EXPECT_EQ(nine.take(7, 9), 2U);   // 9 - (9 - 2) % 8
  EXPECT_EQ(ten.take(7, 10), 10U);  // 10 - (10 - 2) % 8
}

TEST(CeCount, CountsARunOfLostAcknowledgementsIfAllIsMarked) {
  CeCount count;
  for (std::uint32_t n = 1; n <= 100; ++n) count.take(ace_of(5 + 2 * n), 2);
  ASSERT_EQ(count.count(), 205U);
  // Seven ACKs are lost, the next is for 16 packets: the field is the same as before them.
  EXPECT_EQ(count.take(ace_of(205 + 16), 16), 16U);
  EXPECT_EQ(count.take(ace_of(221 + 13), 14), 13U);  // 5 at least; 14 - (14 - 5) % 8
}

TEST(CeCount, TakesAnAckOfManyPacketsForWhatItSaysIfHardlyAnyWereMarkedBefore) {
  CeCount count;
  for (int n = 0; n < 100; ++n) count.take(5, 2);
  EXPECT_EQ(count.take(5, 40), 0U);
  EXPECT_EQ(count.take(6, 40), 1U);
}

// Every second packet: of 20, 11 at most (the share is a little above a half still).
TEST(CeCount, AssumesAsManyMarksAsThereWereBefore) {
  CeCount even, odd;
  for (std::uint32_t n = 1; n <= 100; ++n) {
    even.take(ace_of(5 + n), 2);
    odd.take(ace_of(5 + n), 2);
  }
  EXPECT_EQ(even.take(ace_of(105 + 2), 20), 10U);  // 11 - (11 - 2) % 8
  EXPECT_EQ(odd.take(ace_of(105 + 4), 20), 4U);    // 11 - (11 - 4) % 8
}

TEST(CeCount, BelievesMoreMarksThanPackets) {  // 3.2.2.5.2
  CeCount count;
  EXPECT_EQ(count.take(0, 1), 3U);
}

class AccurateEcn : public SenderTrace {
 protected:
  AccurateEcn() { accurate_ecn_ = true; }
  void ack_with(double at_ms, SegmentNumber number, std::uint8_t ace, std::uint32_t stamp_ms) {
    run_until(at_ms);
    Acknowledgement ack;
    ack.ack = number;
    ack.window = 1'000'000;
    ack.ace = ace;
    ack.stamp_ms = stamp_ms;
    ack.has_ece = (ace & 1) != 0;  // the same flag
    sender().on_acknowledgement(START + static_cast<Nanoseconds>(at_ms * 1e6), ack);
  }
  std::uint32_t marked() { return sender().rate().delivered_ce(); }
};

TEST_F(AccurateEcn, MarksAreCountedPacketByPacketAndNotAnsweredWithCwr) {
  open(10, 1000);
  ack_with(100, 2, 5, 1050);
  EXPECT_EQ(sender().state(), CaState::open);  // 5 has the flag ECE, and says nothing new
  ack_with(101, 4, 6, 1051);
  EXPECT_EQ(marked(), 1U);
  EXPECT_EQ(sender().state(), CaState::cwr);
  EXPECT_EQ(sender().ssthresh(), 5U);
  ack_with(102, 6, 0, 1052);
  EXPECT_EQ(marked(), 3U);
  ack_with(103, 8, 0, 1053);
  EXPECT_EQ(marked(), 3U);
  run_until(300);
  EXPECT_EQ(cwr_marks(), 0U);
}

TEST_F(AccurateEcn, AnAckThatWasOvertakenSaysNothing) {
  open(10, 1000);
  ack_with(100, 4, 7, 1052);
  EXPECT_EQ(marked(), 2U);
  ack_with(101, 4, 6, 1051);  // of before: else it would be seven more
  ack_with(101, 2, 6, 1050);
  EXPECT_EQ(marked(), 2U);
  ack_with(102, 4, 0, 1052);  // of the same millisecond, delivers nothing: ambiguous, so ignored
  EXPECT_EQ(marked(), 2U);
  ack_with(103, 4, 0, 1053);
  EXPECT_EQ(marked(), 3U);
}

TEST_F(AccurateEcn, TheLawSeesTheMarksOfLostAcks) {
  open(20, 1000, true);
  ack_with(100, 2, 7, 1050);
  ack_with(101, 14, 3, 1051);  // 12 packets; 4 or 12 marks, and both before were marked
  EXPECT_EQ(marked(), 14U);
}

// What a host sends, and the other receives when the test says so.
class Wire final : public Uplink {
 public:
  bool send(Nanoseconds /*now*/, const Frame& frame, Endpoint* /*owner*/) override {
    frames.push_back(frame);
    return true;
  }
  std::vector<Frame> frames;
};

int ecn_of(const Frame& frame) { return frame.bytes[15] & 3; }
void set_ecn(Frame& frame, Ecn ecn) {
  frame.bytes[15] = static_cast<std::uint8_t>((frame.bytes[15] & ~3) | static_cast<int>(ecn));
}
// AE, CWR, ECE
int flags_of(const Frame& frame) { return (frame.bytes[46] & 1) << 2 | frame.bytes[47] >> 6; }
void set_flags(Frame& frame, int flags) {
  frame.bytes[46] = static_cast<std::uint8_t>((frame.bytes[46] & ~1) | flags >> 2);
  frame.bytes[47] = static_cast<std::uint8_t>((frame.bytes[47] & 0x3f) | (flags & 3) << 6);
}

class EcnHandshake : public ::testing::Test {
 protected:
  void open(EcnUse receiver_can, bool ect1 = true) {
    settings_.accurate_ecn = true;
    settings_.ect1 = ect1;
    Address to = b_.address();
    to.port = 5201;
    sender_.emplace(a_, to, std::uint16_t{40001}, settings_, std::make_unique<TestLaw>(true), flow_,
                    reductions_);
    to = a_.address();
    to.port = 40001;
    receiver_.emplace(b_, to, std::uint16_t{5201}, settings_.mss_bytes, ReceiverSettings{}, receiver_can);
    sender_->connect(START);
    sender_->write_up_to(START, segments_ * settings_.mss_bytes);
  }
  static Frame take(Wire& wire) {
    const Frame frame = wire.frames.front();
    wire.frames.erase(wire.frames.begin());
    return frame;
  }
  Frame from_a() { return take(at_a_); }
  Frame from_b() { return take(at_b_); }
  void to_a(const Frame& frame) {
    a_.receive(START + 50 * MS, frame.bytes.data(), frame.stored, frame.length);
  }
  void to_b(const Frame& frame) {
    b_.receive(START + 50 * MS, frame.bytes.data(), frame.stored, frame.length);
  }

  // The whole of it; returns the flags of SYN, SYN|ACK and ACK.
  std::vector<int> shake_hands() {
    const Frame syn = from_a();
    to_b(syn);
    const Frame answer = from_b();
    to_a(answer);
    const Frame ack = from_a();
    to_b(ack);
    for (const Frame* each : {&syn, &answer, &ack}) EXPECT_EQ(ecn_of(*each), 0);
    return {flags_of(syn), flags_of(answer), flags_of(ack)};
  }

  static Address address(std::uint8_t last) { return {{2, 0, 0, 0, 0, last}, 0x0a000000U + last, 0}; }

  std::uint64_t segments_ = 100;
  SenderSettings settings_;
  Wire at_a_, at_b_;
  Host a_{"a", address(1), {}, at_a_, false};
  Host b_{"b", address(2), {}, at_b_, false};
  flow flow_{};
  std::vector<Reduction> reductions_;
  std::optional<SendingEnd> sender_;
  std::optional<ReceivingEnd> receiver_;
};

TEST_F(EcnHandshake, BothAgreeAndCount) {
  open(EcnUse::accurate);
  EXPECT_EQ(shake_hands(), (std::vector<int>{0b111, 0b010, 0b010}));
  Frame data = from_a();
  EXPECT_EQ(ecn_of(data), 1);
  EXPECT_EQ(flags_of(data), 5);
  to_b(data);
  Frame ack = from_b();
  EXPECT_EQ(ecn_of(ack), 0);  // RFC 3168, 6.1.4
  EXPECT_EQ(flags_of(ack), 5);
  data = from_a();
  set_ecn(data, Ecn::ce);
  to_b(data);
  ack = from_b();
  EXPECT_EQ(flags_of(ack), 6);
  to_a(ack);
  EXPECT_EQ(sender_->sender().rate().delivered_ce(), 1U);
}

TEST_F(EcnHandshake, OnlyAScalableLawHasTheOtherCodepoint) {
  open(EcnUse::accurate, false);
  shake_hands();
  EXPECT_EQ(ecn_of(from_a()), 2);
}

TEST_F(EcnHandshake, ARetransmissionIsNotCapable) {
  segments_ = 3;
  open(EcnUse::accurate);
  shake_hands();
  const Frame first = from_a();
  while (at_a_.frames.size() > 1) at_a_.frames.erase(at_a_.frames.begin());
  while (at_a_.frames.size() == 1) sender_->on_timer(sender_->next_timer());
  const Frame again = at_a_.frames.back();
  EXPECT_EQ(ecn_of(first), 1);
  EXPECT_EQ(ecn_of(again), 0);
  EXPECT_EQ(flags_of(again), 5);
}

TEST_F(EcnHandshake, WithAnEndOfClassicEcnTheyHaveThat) {
  open(EcnUse::marks);
  EXPECT_EQ(shake_hands(), (std::vector<int>{0b111, 0b001, 0b000}));
  Frame data = from_a();
  EXPECT_EQ(ecn_of(data), 2);  // no accurate feedback, so no ECT(1) (RFC 9331, 4.2)
  EXPECT_EQ(flags_of(data), 0);
  set_ecn(data, Ecn::ce);
  to_b(data);
  EXPECT_EQ(flags_of(from_b()), 0b001);
}

TEST_F(EcnHandshake, AnEndWithoutEcnAndOneThatMirrorsFlagsHaveNone) {
  open(EcnUse::none);
  EXPECT_EQ(shake_hands(), (std::vector<int>{0b111, 0b000, 0b000}));
  EXPECT_EQ(ecn_of(from_a()), 0);
  at_a_.frames.clear();
  open(EcnUse::accurate);
  to_b(from_a());
  Frame answer = from_b();
  set_flags(answer, 0b111);
  to_a(answer);
  EXPECT_EQ(flags_of(from_a()), 0b000);
  EXPECT_EQ(ecn_of(from_a()), 0);
}

TEST_F(EcnHandshake, EachToldWhatTheOthersPacketCameAs) {
  open(EcnUse::accurate);
  Frame syn = from_a();
  set_ecn(syn, Ecn::ce);
  to_b(syn);
  EXPECT_EQ(flags_of(from_b()), 0b110);
  set_ecn(syn, Ecn::ect1);
  to_b(syn);
  EXPECT_EQ(flags_of(from_b()), 0b011);
  set_ecn(syn, Ecn::ect0);
  to_b(syn);
  Frame answer = from_b();
  EXPECT_EQ(flags_of(answer), 0b100);
  set_ecn(answer, Ecn::ce);
  to_a(answer);
  EXPECT_EQ(flags_of(from_a()), 0b110);
  EXPECT_EQ(flags_of(from_a()), 6);  // data: its count is one more now
}

TEST_F(EcnHandshake, AThirdSynAsksForNothingAndTheFirstThatCameDecides) {
  open(EcnUse::accurate);
  std::vector<int> asked = {flags_of(from_a())};
  for (int n = 0; n < 2; ++n) {
    sender_->on_timer(sender_->next_timer());
    asked.push_back(flags_of(at_a_.frames.back()));
  }
  EXPECT_EQ(asked, (std::vector<int>{0b111, 0b111, 0b000}));
  to_b(from_a());
  from_b();  // and is lost
  to_b(from_a());
  EXPECT_EQ(flags_of(from_b()), 0b010);
}

TEST_F(EcnHandshake, ASynWithoutItOrWithClassicEcnIsAnsweredAsItAsks) {
  for (const auto& [asked, answered] : {std::pair{0b000, 0b000}, {0b011, 0b001}, {0b100, 0b010}}) {
    open(EcnUse::accurate);
    Frame syn = from_a();
    set_flags(syn, asked);
    to_b(syn);
    EXPECT_EQ(flags_of(from_b()), answered);
  }
}

}  // namespace
}  // namespace clarion::sim
