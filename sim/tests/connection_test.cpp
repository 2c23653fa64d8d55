// SPDX-License-Identifier: Apache-2.0
// The two ends of a connection, with frames between them that the test takes and gives: what is in their
// headers.
#include "sim/hosts/connection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>

#include "core/byte_order.hpp"
#include "sim/laws/laws.hpp"

namespace clarion::sim {
namespace {

constexpr Nanoseconds MS = 1'000'000;
constexpr Nanoseconds START = 1000 * MS;
constexpr std::uint32_t IP = 14;
constexpr std::uint32_t MSS = 1000;

// Keeps what a host sends.
class Wire final : public Uplink {
 public:
  bool send(Nanoseconds /*now*/, const Frame& frame, Endpoint* /*owner*/) override {
    frames.push_back(frame);
    return true;
  }
  Frame take() {
    Frame frame = frames.front();
    frames.pop_front();
    return frame;
  }
  std::deque<Frame> frames;
};

Address address(std::uint8_t last) { return {{2, 0, 0, 0, 0, last}, 0x0a000000U + last, 0}; }

class ConnectionTest : public ::testing::Test {
 protected:
  void open(const std::string& law, EcnUse ecn) {
    SenderSettings settings;
    settings.mss_bytes = MSS;
    settings.max_burst = 1;
    settings.load_codes = ecn == EcnUse::load_codes;
    settings.ecn = ecn == EcnUse::marks;
    settings.xcp_ttl = xcp_ttl_;
    Address remote = address(2);
    remote.port = 5201;
    auto made = make_law(law, flow_, default_params(), 1);
    settings.first_word = made->first_word();
    sender_.emplace(left_, remote, std::uint16_t{40001}, settings, std::move(made), flow_, reductions_);
    remote = address(1);
    remote.port = 40001;
    receiver_.emplace(right_, remote, std::uint16_t{5201}, MSS, ReceiverSettings{}, ecn);
    sender_->connect(START);
    to_right(START);
    to_left(START + 100 * MS);
    to_right(START + 100 * MS);  // the ACK of the handshake
    sender_->write_up_to(START + 100 * MS, 1'000'000);
  }

  // Gives the next frame to the other side, with the ECN field that a router may have left in it.
  void to_right(Nanoseconds at, int ecn = -1) { give(right_, from_left_.take(), at, ecn); }
  void to_left(Nanoseconds at) { give(left_, from_right_.take(), at, -1); }

  static void give(Host& host, Frame frame, Nanoseconds at, int ecn) {
    if (ecn >= 0) frame.bytes[IP + 1] = static_cast<std::uint8_t>(ecn);
    host.receive(at, frame.bytes.data(), frame.stored, frame.length);
  }

  static int ecn_of(const Frame& frame) { return frame.bytes[IP + 1] & 3; }
  static TcpFields tcp_of(const Frame& frame) {
    TcpFields tcp;
    EXPECT_TRUE(read_tcp(frame.bytes.data(), frame.stored, IP + 20, frame.length, tcp));
    return tcp;
  }

  Wire from_left_;
  Wire from_right_;
  Host left_{"h", address(1), {}, from_left_, false};
  Host right_{"r", address(2), {}, from_right_, false};
  flow flow_{};
  std::vector<Reduction> reductions_;
  std::optional<SendingEnd> sender_;
  std::optional<ReceivingEnd> receiver_;
  bool xcp_ttl_ = false;
};

TEST_F(ConnectionTest, VcpsDataCarriesALowLoadAndNothingElseDoes) {
  open("vcp", EcnUse::load_codes);
  ASSERT_EQ(from_left_.frames.size(), 10U);
  for (const Frame& frame : from_left_.frames) EXPECT_EQ(ecn_of(frame), 1);
  to_right(START + 150 * MS);
  EXPECT_EQ(ecn_of(from_right_.frames.front()), 0);
}

TEST_F(ConnectionTest, TheCodeOfAPacketComesBackInTheFlagsOfItsAcknowledgement) {
  open("vcp", EcnUse::load_codes);
  for (const std::uint8_t code : {1, 2, 3, 1}) {
    to_right(START + 150 * MS, code);
    const TcpFields ack = tcp_of(from_right_.frames.front());
    EXPECT_EQ(ack.load_code(), code);
    EXPECT_EQ(ack.ece, code >= 2);
    EXPECT_EQ(ack.cwr, code % 2 == 1);
    to_left(START + 200 * MS);
    EXPECT_EQ(sender_->sender().load_code(), code);
  }
}

TEST_F(ConnectionTest, OneAcknowledgementOfSeveralPacketsCarriesTheHighestCode) {
  open("vcp", EcnUse::load_codes);
  // The first sixteen are acknowledged one by one, then each second.
  for (Nanoseconds at = START + 150 * MS; at < START + 450 * MS; at += 100 * MS) {
    while (!from_left_.frames.empty()) to_right(at, 1);
    while (!from_right_.frames.empty()) to_left(at + 50 * MS);
  }
  ASSERT_GE(from_left_.frames.size(), 6U);
  while (from_right_.frames.empty()) to_right(START + 450 * MS, 1);
  from_right_.frames.clear();
  to_right(START + 451 * MS, 3);
  ASSERT_TRUE(from_right_.frames.empty());
  to_right(START + 451 * MS, 2);
  ASSERT_EQ(from_right_.frames.size(), 1U);
  EXPECT_EQ(tcp_of(from_right_.take()).load_code(), 3);
  to_right(START + 452 * MS, 1);
  to_right(START + 452 * MS, 2);
  EXPECT_EQ(tcp_of(from_right_.take()).load_code(), 2);  // of those since then
}

TEST_F(ConnectionTest, VcpsRetransmissionsCarryALowLoadToo) {
  open("vcp", EcnUse::load_codes);
  from_left_.frames.clear();  // all are lost
  while (from_left_.frames.empty()) sender_->on_timer(sender_->next_timer());
  EXPECT_EQ(ecn_of(from_left_.frames.front()), 1);
}

TEST_F(ConnectionTest, ForOthersTheFlagsStayThoseOfRfc3168) {
  open("reno", EcnUse::marks);
  EXPECT_EQ(ecn_of(from_left_.frames.front()), 2);  // ECT(0)
  to_right(START + 150 * MS, 3);
  const TcpFields ack = tcp_of(from_right_.frames.front());
  EXPECT_TRUE(ack.ece);
  EXPECT_FALSE(ack.cwr);
  to_left(START + 200 * MS);
  EXPECT_EQ(sender_->sender().load_code(), 0);
  EXPECT_EQ(sender_->sender().state(), CaState::cwr);
}

// JetMax's data, with the option behind the time stamps.
class LinkOptionTest : public ConnectionTest {
 protected:
  static constexpr std::uint32_t OPTION = IP + 20 + 20 + 12;

  // As a router does.
  void propose(Frame& frame, std::uint16_t link, std::uint32_t word) {
    emu::link_option::Place place(frame.bytes.data(), frame.length);
    ASSERT_TRUE(place.found());
    place.propose(link, word);
  }
};

TEST_F(LinkOptionTest, DataSaysHowFarApartThePacketsOfTheFlowAre) {
  open("jetmax", EcnUse::none);
  const Frame& frame = from_left_.frames.front();
  EXPECT_EQ(frame.length, OPTION + 16 + MSS);
  const LinkField link = tcp_of(frame).link;
  EXPECT_EQ(link.kind, LinkField::Kind::data);
  EXPECT_EQ(link.option.controlling, 0);
  EXPECT_EQ(link.option.proposed, 0);
  EXPECT_EQ(link.option.word, 0xffffffffU);
  EXPECT_NEAR(link.option.interval_ns, 10'000'000, 1000);  // ten in a round trip of 100 ms
  const std::uint8_t bytes[] = {253, 16, 0xc1, 0xa9, 0, 0, 0, 0, 255, 255, 255, 255};
  EXPECT_TRUE(std::equal(std::begin(bytes), std::end(bytes), frame.bytes.begin() + OPTION));
}

TEST_F(LinkOptionTest, WhatRoutersWriteComesBackAndNamesTheControllingLinkOfWhatFollows) {
  open("jetmax", EcnUse::none);
  propose(from_left_.frames.front(), 0x1234, 800'000);
  to_right(START + 150 * MS);
  const Frame& frame = from_right_.frames.front();
  EXPECT_EQ(frame.length, OPTION + 12);
  const std::uint8_t bytes[] = {253, 10, 0xc1, 0xa9, 0x12, 0x34, 0x00, 0x0c, 0x35, 0x00, 1, 1};
  EXPECT_TRUE(std::equal(std::begin(bytes), std::end(bytes), frame.bytes.begin() + OPTION));
  from_left_.frames.clear();
  to_left(START + 200 * MS);
  EXPECT_EQ(sender_->sender().told_link(), 0x1234);
  EXPECT_EQ(sender_->sender().told_word(), 800'000U);
  while (from_left_.frames.empty()) sender_->on_timer(sender_->next_timer());
  EXPECT_EQ(tcp_of(from_left_.frames.front()).link.option.controlling, 0x1234);
}

TEST_F(LinkOptionTest, BesideItTwoSackBlocksHaveRoom) {
  open("jetmax", EcnUse::none);
  for (int lost = 0; lost < 3; ++lost) {  // every second one
    from_left_.take();
    from_right_.frames.clear();
    to_right(START + 150 * MS);
  }
  const Frame frame = from_right_.frames.back();
  EXPECT_EQ(frame.length, IP + 20 + 60U);
  const TcpFields ack = tcp_of(frame);
  EXPECT_EQ(ack.link.kind, LinkField::Kind::echo);
  ASSERT_EQ(ack.sacks, 2);
  EXPECT_EQ(ack.blocks[0].begin, 5 * MSS + 1);
  EXPECT_EQ(ack.blocks[1].begin, 3 * MSS + 1);
}

TEST_F(LinkOptionTest, OthersHaveNone) {
  open("reno", EcnUse::none);
  EXPECT_EQ(tcp_of(from_left_.frames.front()).link.kind, LinkField::Kind::none);
  to_right(START + 150 * MS);
  EXPECT_EQ(tcp_of(from_right_.frames.front()).link.kind, LinkField::Kind::none);
}

TEST_F(ConnectionTest, DataOfXcpIHasAnIpOptionWithItsFirstTtl) {
  xcp_ttl_ = true;
  open("cubic", EcnUse::none);
  const Frame& frame = from_left_.frames.front();
  EXPECT_EQ(frame.length, IP + 32 + 20 + 12 + MSS);
  EXPECT_EQ(frame.bytes[IP], 0x48);
  const std::uint8_t option[] = {158, 12, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(std::equal(std::begin(option), std::end(option), frame.bytes.begin() + IP + 20));
}

// Packets of 1052 bytes of IP; 10.24 Mbit/s are 1,280,000 bytes/s, in 100 ms 121 packets.
class QuickStart : public ConnectionTest {
 protected:
  using Place = QuickStartField::Place;
  static constexpr std::uint32_t OPTION = IP + 20;

  void ask() {
    SenderSettings settings;
    settings.mss_bytes = MSS;
    settings.max_burst = 1;
    settings.quick_start_bps = 15'000'000;
    from_left_.frames.clear();
    settings.quick_start_seed = 7;
    Address remote = address(2);
    remote.port = 5201;
    sender_.emplace(left_, remote, std::uint16_t{40001}, settings,
                    make_law("cubic", flow_, default_params(), 1), flow_, reductions_);
    remote = address(1);
    remote.port = 40001;
    receiver_.emplace(right_, remote, std::uint16_t{5201}, MSS, ReceiverSettings{}, EcnUse::none);
    sender_->write_up_to(START, 10'000'000);
    sender_->connect(START);
    syn_ = from_left_.take();
    EXPECT_EQ(syn_.length, 14 + 28 + 20 + 20U);
  }

  // As a router does that approves, perhaps less.
  void approve(std::uint8_t rate) {
    --syn_.bytes[IP + 8];
    --syn_.bytes[OPTION + 3];
    syn_.bytes[OPTION + 2] = rate;
  }

  // The SYN reaches the other side, and its answer this one.
  void answer() {
    give(right_, syn_, START + 50 * MS, -1);
    syn_ack_ = from_right_.take();
    give(left_, syn_ack_, START + 100 * MS, -1);
  }

  TcpFields fields(const Frame& frame) const {
    const std::uint32_t bytes = (frame.bytes[IP] & 0xfU) * 4;
    TcpFields tcp;
    EXPECT_TRUE(read_tcp(frame.bytes.data(), frame.stored, IP + bytes, frame.length, tcp));
    read_ip(frame.bytes.data() + IP, bytes, tcp);
    return tcp;
  }
  void run_until(std::uint64_t at_ms) {
    while (sender_->next_timer() <= START + at_ms * MS) sender_->on_timer(sender_->next_timer());
  }
  void ack(std::uint64_t at_ms, std::uint32_t packets, std::uint32_t sacked_from = 0,
           std::uint32_t sacked_to = 0) {
    run_until(at_ms);
    TcpFields tcp;
    tcp.has_ack = true;
    tcp.seq = 1;
    tcp.ack = 1 + packets * MSS;
    tcp.window_bytes = 1 << 28;
    if (sacked_to != 0) tcp.blocks[tcp.sacks++] = {1 + sacked_from * MSS, 1 + sacked_to * MSS};
    sender_->receive(START + at_ms * MS, tcp, nullptr);
  }

  Frame syn_{};
  Frame syn_ack_{};
};

TEST_F(QuickStart, TheSynAsksForTheGreatestRateThatIsNotAboveWhatIsWanted) {
  ask();
  const TcpFields tcp = fields(syn_);
  EXPECT_EQ(tcp.quick_start.place, Place::request);
  EXPECT_EQ(tcp.quick_start.rate, 8);
  EXPECT_EQ(tcp.ip_ttl, 64);
  EXPECT_TRUE(tcp.syn);
}

TEST_F(QuickStart, ASynThatIsSentAgainAsksForNothing) {
  ask();
  sender_->on_timer(START + 1000 * MS);
  EXPECT_EQ(from_left_.frames.back().length, 14 + 20 + 20 + 20U);
  approve(8);
  answer();
  EXPECT_EQ(sender_->quick_start_bps(), 0U);
}

TEST_F(QuickStart, TheAnswerHasRateNonceAndTheDifferenceOfBothTtls) {
  ask();
  approve(8);
  answer();
  const TcpFields asked = fields(syn_);
  const TcpFields answered = fields(syn_ack_);
  EXPECT_EQ(answered.quick_start.place, Place::response);
  EXPECT_EQ(answered.quick_start.rate, 8);
  EXPECT_EQ(answered.quick_start.nonce, asked.quick_start.nonce);
  EXPECT_EQ(answered.quick_start.ttl, static_cast<std::uint8_t>(63 - asked.quick_start.ttl));
  EXPECT_EQ(sender_->quick_start_bps(), 10'240'000U);
}

TEST_F(QuickStart, WhatWasApprovedIsReportedAndSentEvenlyOverTheFirstRoundTrip) {
  ask();
  approve(8);
  answer();
  const TcpFields report = fields(from_left_.take());
  EXPECT_EQ(report.quick_start.place, Place::report);
  EXPECT_EQ(report.quick_start.rate, 8);
  EXPECT_EQ(sender_->sender().cwnd(), 121U);
  EXPECT_EQ(sender_->sender().pacing_bytes_per_s(), 1'280'000U * 1000 / 1052);
  // The first ten go at once, as anybody's; then one each 0.822 ms.
  EXPECT_NEAR(static_cast<double>(from_left_.frames.size()), 10, 1);
  run_until(150);
  EXPECT_NEAR(static_cast<double>(from_left_.frames.size()), 10 + 50 / 0.822, 2);
  run_until(199);
  EXPECT_NEAR(static_cast<double>(from_left_.frames.size()), 121, 2);
  for (const Frame& frame : from_left_.frames) EXPECT_EQ(fields(frame).quick_start.place, Place::none);
}

TEST_F(QuickStart, TheFirstAcknowledgementEndsItAndSlowStartGoesOnFromThere) {
  ask();
  approve(8);
  answer();
  ack(200, 2);
  EXPECT_EQ(sender_->sender().cwnd(), 123U);
  EXPECT_TRUE(sender_->sender().is_slow_start());
  ack(201, 100);
  EXPECT_EQ(sender_->sender().cwnd(), 221U);
}

TEST_F(QuickStart, WhatWasNotSentByThenMayNotBeSentAtOnce) {
  ask();
  approve(8);
  answer();
  ack(150, 2);  // 10 + 50 / 0.822 packets, 70, have been sent
  EXPECT_NEAR(sender_->sender().cwnd(), 72, 2);
}

TEST_F(QuickStart, ALossOfItsPacketsLeadsBackToTheWindowWithoutIt) {
  ask();
  approve(8);
  answer();
  ack(200, 2);
  ack(201, 2, 10, static_cast<std::uint32_t>(sender_->sender().board().next()));
  run_until(240);
  ASSERT_EQ(sender_->sender().state(), CaState::recovery);
  EXPECT_EQ(sender_->sender().ssthresh(), 10U);
  ack(310, static_cast<std::uint32_t>(sender_->sender().board().next()));
  EXPECT_EQ(sender_->sender().state(), CaState::open);
  EXPECT_GT(sender_->sender().ssthresh(), 60U);  // CUBIC's part of the window, up to which it doubles
  EXPECT_LT(sender_->sender().cwnd(), 30U);
}

TEST_F(QuickStart, ARouterThatDoesNotKnowItShowsInTheTtl) {
  ask();
  approve(8);
  --syn_.bytes[IP + 8];
  answer();
  EXPECT_EQ(sender_->quick_start_bps(), 0U);
  EXPECT_EQ(sender_->sender().cwnd(), 10U);
  const TcpFields report = fields(from_left_.take());
  EXPECT_EQ(report.quick_start.place, Place::report);
  EXPECT_EQ(report.quick_start.rate, 0);
}

TEST_F(QuickStart, ALowerRateNeedsTheRestOfTheNonce) {
  ask();
  approve(6);
  syn_.bytes[OPTION + 4] ^= 0x80;  // of a step that was taken
  answer();
  EXPECT_EQ(sender_->quick_start_bps(), 2'560'000U);
  EXPECT_EQ(sender_->sender().cwnd(), 30U);  // 320,000 bytes/s
  ask();
  approve(6);
  syn_.bytes[OPTION + 7] ^= 0x04;  // the lowest bit of the nonce
  answer();
  EXPECT_EQ(sender_->quick_start_bps(), 0U);
}

TEST_F(QuickStart, NeitherARefusalNorMoreThanWasAskedIsAnApproval) {
  for (const std::uint8_t rate : {0, 9}) {
    ask();
    approve(rate);
    answer();
    EXPECT_EQ(sender_->quick_start_bps(), 0U) << int{rate};
    EXPECT_EQ(sender_->sender().cwnd(), 10U);
  }
}

TEST_F(QuickStart, LessThanTheInitialWindowIsNotUsed) {
  ask();
  approve(4);  // 640 kbit/s: 7 packets
  answer();
  EXPECT_EQ(sender_->quick_start_bps(), 640'000U);
  EXPECT_EQ(sender_->sender().cwnd(), 10U);
}

}  // namespace
}  // namespace clarion::sim
