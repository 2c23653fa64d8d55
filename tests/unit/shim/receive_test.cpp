// SPDX-License-Identifier: Apache-2.0
// Changes to the flow by a received header, and the echo sent back.
#include "receive.h"

#include <gtest/gtest.h>

#include "compose.h"

namespace {

class Receive : public ::testing::Test {
 protected:
  // A DATA header as the last switch leaves it.
  static received data() {
    clarion_data header{};
    header.rtt = bpf_htonl(96 + 5);
    header.delta_throughput = bpf_htonl(5000);
    header.reverse_feedback = bpf_htonl(70000);
    header.bucket = bpf_htons(11);
    header.link_seq = bpf_htons(12);
    header.corrupt = bpf_htons(13);
    header.congest = bpf_htons(14);
    header.rev_corrupt = bpf_htons(15);
    header.rev_congest = bpf_htons(16);
    received r{};
    r.format = CLARION_DATA;
    r.flags = CLARION_FLAG_ECHO;
    receive_data(&r, &header);
    return r;
  }
  void take(const received& r, bool has_payload = true) { receive_flow(&flow_, &r, &wire_, has_payload); }

  flow flow_{};
  clarion_sequence wire_{0, 2, 0, 1, 0};  // the last wire lost two packets
};

TEST_F(Receive, ReadsEachFieldOfADataHeader) {
  received r = data();
  EXPECT_EQ(r.rtt, 96u);
  EXPECT_EQ(r.field, 5);
  EXPECT_EQ(r.delta_throughput, 5000u);
  EXPECT_EQ(r.reverse_feedback, 70000u);
  EXPECT_EQ(r.bucket, 11);
  EXPECT_EQ(r.link_seq, 12);
  EXPECT_EQ(r.corrupt, 13);
  EXPECT_EQ(r.congest, 14);
  EXPECT_EQ(r.rev_corrupt, 15);
  EXPECT_EQ(r.rev_congest, 16);
}

TEST_F(Receive, ReadsEachFieldOfAckAndTag) {
  clarion_ack ack{{}, bpf_htonl(1), bpf_htons(2), bpf_htons(3)};
  received r{};
  receive_ack(&r, &ack);
  EXPECT_EQ(r.reverse_feedback, 1u);
  EXPECT_EQ(r.rev_corrupt, 2);
  EXPECT_EQ(r.rev_congest, 3);
  clarion_tag tag{{}, bpf_htons(1), bpf_htons(2), bpf_htons(3), bpf_htons(4), bpf_htons(5), bpf_htons(6)};
  r = {};
  receive_tag(&r, &tag);
  EXPECT_EQ(r.bucket, 1);
  EXPECT_EQ(r.link_seq, 2);
  EXPECT_EQ(r.corrupt, 3);
  EXPECT_EQ(r.congest, 4);
  EXPECT_EQ(r.rev_corrupt, 5);
  EXPECT_EQ(r.rev_congest, 6);
}

TEST_F(Receive, PathTotalsIncludeTheLastWire) {
  take(data());
  EXPECT_EQ(flow_.seen.corrupt, 15);  // 13 on the path and 2 in front of this host
  EXPECT_EQ(flow_.seen.congest, 14);
  received r = data();
  receive_flow(&flow_, &r, nullptr, true);
  EXPECT_EQ(flow_.seen.corrupt, 13);
}

TEST_F(Receive, GrantsAddUpModulo32Bits) {
  received r = data();
  take(r);
  r.delta_throughput = static_cast<__u32>(-6000);
  take(r);
  EXPECT_EQ(flow_.seen.granted, static_cast<__u32>(-1000));
}

TEST_F(Receive, WithoutARequestNothingIsGranted) {
  received r = data();
  r.rtt = 0;
  take(r);
  r.rtt = 96;
  r.format = CLARION_TAG;
  take(r);
  EXPECT_EQ(flow_.seen.granted, 0u);
}

TEST_F(Receive, AFieldBeyondThePathIsFromBeforeItChanged) {
  received r = data();
  r.flags = 0x0a;  // five hops
  take(r);
  EXPECT_EQ(flow_.seen.field, 5);
  r.flags = 0x08;
  take(r);
  EXPECT_EQ(flow_.seen.field, 0);
}

TEST_F(Receive, HopsOfARequestAreEchoedAsRegulated) {
  received r = data();
  take(r);
  EXPECT_FALSE(flow_.seen.regulated);
  r.flags = 0x02;  // one hop
  take(r);
  EXPECT_TRUE(flow_.seen.regulated);
  r.flags = 0;
  r.rtt = 0;  // no request: says nothing of the path
  take(r);
  EXPECT_TRUE(flow_.seen.regulated);
  r.rtt = 96;
  take(r);
  EXPECT_FALSE(flow_.seen.regulated);
}

TEST_F(Receive, TheEchoSaysWhetherAHopRegulates) {
  received r = data();
  r.flags = CLARION_FLAG_ECHO | CLARION_FLAG_REGULATED | 6 << CLARION_REV_FIELD_SHIFT;
  take(r);
  EXPECT_TRUE(flow_.echo.regulated);
  EXPECT_EQ(flow_.echo.field, 6);
  r.flags = CLARION_FLAG_ECHO;  // a receiver of before, or a path without routers
  take(r);
  EXPECT_FALSE(flow_.echo.regulated);
  EXPECT_EQ(flow_.echo.field, 0);
}

TEST_F(Receive, AnAckHeaderHasNoTotals) {
  received r = data();
  r.format = CLARION_ACK;
  take(r, false);
  EXPECT_EQ(flow_.seen.corrupt, 0);
  EXPECT_EQ(flow_.seen.granted, 0u);
  EXPECT_EQ(flow_.id.heard, 0);
  EXPECT_EQ(flow_.echo.reverse_feedback, 70000u);
  EXPECT_EQ(flow_.stats.rx_headers, 1u);
}

TEST_F(Receive, OnlyPayloadSaysWhatThePeersDataCarries) {
  take(data(), false);
  EXPECT_EQ(flow_.id.peer_format, CLARION_NONE);
  EXPECT_EQ(flow_.id.heard, 1);
  take(data());
  EXPECT_EQ(flow_.id.peer_format, CLARION_DATA);
}

TEST_F(Receive, EchoIsTakenOnlyWithItsFlag) {
  received r = data();
  r.flags = 0;
  take(r);
  EXPECT_EQ(flow_.echo.nr_echoes, 0u);
  EXPECT_EQ(flow_.echo.rev_corrupt, 0);
  take(data());
  EXPECT_EQ(flow_.echo.nr_echoes, 1u);
  EXPECT_EQ(flow_.echo.reverse_feedback, 70000u);
  EXPECT_EQ(flow_.echo.rev_corrupt, 15);
  EXPECT_EQ(flow_.echo.rev_congest, 16);
}

TEST_F(Receive, ATagHeaderHasNoFeedback) {
  take(data());
  received r = data();
  r.format = CLARION_TAG;
  r.reverse_feedback = 0;
  take(r);
  EXPECT_EQ(flow_.echo.reverse_feedback, 70000u);
  EXPECT_EQ(flow_.echo.nr_echoes, 2u);
}

TEST_F(Receive, CountsBeginAtTheFirstEchoAndSurviveTheWrap) {
  received r = data();
  r.rev_corrupt = 0xfffe;
  r.rev_congest = 100;
  take(r);
  EXPECT_EQ(flow_.stats.corrupt, 0u);
  r.rev_corrupt = 3;    // five further
  r.rev_congest = 101;  // one further
  take(r);
  EXPECT_EQ(flow_.stats.corrupt, 5u);
  EXPECT_EQ(flow_.stats.congest, 1u);
  r.rev_corrupt = 2;  // a late packet
  take(r);
  EXPECT_EQ(flow_.stats.corrupt, 4u);
}

TEST_F(Receive, ARestartedPathCountsNothing) {
  __u32 count = 7;
  receive_unwrap(&count, 0, 16384);
  receive_unwrap(&count, 1000, 743);  // 257 back
  EXPECT_EQ(count, 7u);
  receive_unwrap(&count, 0, 16383);
  EXPECT_EQ(count, 16390u);
  receive_unwrap(&count, 1000, 744);  // 256 back
  EXPECT_EQ(count, 16134u);
}

TEST_F(Receive, PlainPayloadStartsTurnsAndAHeaderEndsThem) {
  receive_plain(&flow_);
  EXPECT_EQ(flow_.id.plain_turn, CLARION_TURN_ALWAYS);  // the peer never sent a header
  take(data());
  receive_plain(&flow_);
  EXPECT_EQ(flow_.id.plain_turn, CLARION_TURN_PLAIN);
  flow_.id.plain_turn = CLARION_TURN_HEADER;
  receive_plain(&flow_);
  EXPECT_EQ(flow_.id.plain_turn, CLARION_TURN_HEADER);  // turns go on
  take(data(), false);
  EXPECT_EQ(flow_.id.plain_turn, CLARION_TURN_HEADER);
  take(data());
  EXPECT_EQ(flow_.id.plain_turn, CLARION_TURN_ALWAYS);
}

TEST_F(Receive, WhatWasReceivedIsEchoed) {
  take(data());
  clarion_header header{};
  compose_header(&header, &flow_, compose_format(&flow_, 0), IPPROTO_TCP, 78, 0);
  EXPECT_EQ(header.prefix.version_format, 0x12);  // ACK, for DATA
  EXPECT_EQ(bpf_ntohl(header.ack.reverse_feedback), 5000u);
  EXPECT_EQ(bpf_ntohs(header.ack.rev_corrupt), 15);
  EXPECT_EQ(bpf_ntohs(header.ack.rev_congest), 14);
}

}  // namespace
