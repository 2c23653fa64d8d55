// SPDX-License-Identifier: Apache-2.0
// The two ends of a connection, with frames between them that the test takes and gives: what is in their
// headers.
#include "sim/hosts/connection.hpp"

#include <gtest/gtest.h>

#include <deque>

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
    Address remote = address(2);
    remote.port = 5201;
    sender_.emplace(left_, remote, std::uint16_t{40001}, settings, make_law(law, flow_, default_params(), 1),
                    flow_, reductions_);
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

}  // namespace
}  // namespace clarion::sim
