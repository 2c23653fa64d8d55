// SPDX-License-Identifier: Apache-2.0
// Which header an outgoing packet gets, and each byte of it.
#include "compose.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

using Bytes = std::vector<int>;

Bytes bytes_of(const clarion_header& header, clarion_format format) {
  unsigned char raw[sizeof(header)];
  std::memcpy(raw, &header, sizeof(header));
  return Bytes(raw, raw + clarion_length(format));
}

// A flow in which every field that a header takes differs from the others.
flow full_flow() {
  flow f{};
  f.id.bucket = 0x0102;
  f.id.heard = 1;
  f.seen.granted = 0x03040506;
  f.seen.corrupt = 0x0708;
  f.seen.congest = 0x090a;
  f.seen.regulated = 1;
  f.seen.field = 5;
  f.request.wanted = 1;
  f.request.rtt = 0x0b0c0d0e;
  f.request.field = 3;
  f.request.x = 0x10111213;
  f.request.delta_throughput = 0x14151617;
  f.request.full_len = 1546;
  return f;
}

Bytes compose(const flow& f, clarion_format format, __u32 frame_bytes = 1546) {
  clarion_header header{};
  compose_header(&header, &f, format, IPPROTO_TCP, frame_bytes, 0x1819);
  return bytes_of(header, format);
}

TEST(Compose, DataHeaderByteForByte) {
  // TCP, 32 bytes, version 1 and format 1; ECHO, REGULATED and 5; `field` in the low bits of the RTT; zeros
  // are the totals that switches count.
  EXPECT_EQ(compose(full_flow(), CLARION_DATA),
            (Bytes{6,    32,   0x11, 0xb1, 0x0b, 0x0c, 0x0d, 0x0b, 0x10, 0x11, 0x12,
                   0x13, 0x14, 0x15, 0x16, 0x17, 0x03, 0x04, 0x05, 0x06, 0x01, 0x02,
                   0x18, 0x19, 0,    0,    0,    0,    0x07, 0x08, 0x09, 0x0a}));
}

TEST(Compose, AckHeaderByteForByte) {
  EXPECT_EQ(compose(full_flow(), CLARION_ACK),
            (Bytes{6, 12, 0x12, 0xb1, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a}));
}

TEST(Compose, TagHeaderByteForByte) {
  EXPECT_EQ(compose(full_flow(), CLARION_TAG),
            (Bytes{6, 16, 0x13, 1, 0x01, 0x02, 0x18, 0x19, 0, 0, 0, 0, 0x07, 0x08, 0x09, 0x0a}));
}

TEST(Compose, NoEchoFlagBeforeATotalHasArrived) {
  flow f = full_flow();
  f.id.heard = 0;
  for (clarion_format format : {CLARION_DATA, CLARION_ACK, CLARION_TAG})
    EXPECT_EQ(compose(f, format)[3], 0) << format;
}

TEST(Compose, WithoutARequestTheHeaderHasRttZero) {
  flow f = full_flow();
  f.request.wanted = 0;
  Bytes header = compose(f, CLARION_DATA);
  EXPECT_EQ(Bytes(header.begin() + 4, header.begin() + 16), Bytes(12, 0));
}

TEST(Compose, AnRttTooShortForItsFieldIsNone) {
  flow f = full_flow();
  f.request.rtt = 7;
  EXPECT_EQ(compose(f, CLARION_DATA)[7], 0);
}

TEST(Compose, ShorterPacketsRequestTheirShare) {
  flow f{};
  f.request = {1, 0, 0, 0, 1000, 3000, -3001, 1500};
  clarion_header header{};
  compose_header(&header, &f, CLARION_DATA, IPPROTO_TCP, 500, 0);
  EXPECT_EQ(bpf_ntohl(header.data.rtt), 1000u);  // of the flow, not of the packet
  EXPECT_EQ(bpf_ntohl(header.data.x), 1000u);    // a third
  EXPECT_EQ(static_cast<__s32>(bpf_ntohl(header.data.delta_throughput)), -1000);  // -1000.33, towards zero
}

TEST(Compose, ScalesStayInTheirFields) {
  EXPECT_EQ(compose_scale(0xffffffff, 3000, 1500), 0xffffffffu);
  EXPECT_EQ(compose_scale(1000, 500, 0), 1000u);  // no full length yet
  EXPECT_EQ(compose_scale_signed(0x7fffffff, 3000, 1500), 0x7fffffff);
  EXPECT_EQ(compose_scale_signed(-0x7fffffff, 3000, 1500), -0x7fffffff);
  EXPECT_EQ(compose_scale_signed(301, 500, 1500), 100);
}

TEST(Compose, DataHasTheFormatThatEitherEndNeeds) {
  flow f{};
  EXPECT_EQ(compose_format(&f, 1448), CLARION_NONE);
  f.id.tags = 1;
  EXPECT_EQ(compose_format(&f, 1448), CLARION_TAG);
  f.id.peer_format = CLARION_DATA;  // the peer wants its grants echoed
  EXPECT_EQ(compose_format(&f, 1448), CLARION_DATA);
  f.id.tags = 0;
  f.id.peer_format = CLARION_TAG;
  EXPECT_EQ(compose_format(&f, 1448), CLARION_TAG);
  f.request.wanted = 1;
  EXPECT_EQ(compose_format(&f, 1448), CLARION_DATA);
}

TEST(Compose, PureAcksEchoInTheFormatOfThePeersData) {
  flow f{};
  f.id.tags = 1;
  EXPECT_EQ(compose_format(&f, 0), CLARION_NONE);  // nothing heard, nothing to echo
  f.id.heard = 1;
  EXPECT_EQ(compose_format(&f, 0), CLARION_TAG);
  f.request.wanted = 1;
  EXPECT_EQ(compose_format(&f, 0), CLARION_NONE);  // a sender of DATA whose peer sends none
  f.id.peer_format = CLARION_TAG;
  EXPECT_EQ(compose_format(&f, 0), CLARION_TAG);
  f.id.peer_format = CLARION_DATA;
  EXPECT_EQ(compose_format(&f, 0), CLARION_ACK);
}

TEST(Compose, EverySecondPureAckGoesPlainAfterPlainPayload) {
  flow f{};
  f.id.heard = 1;
  f.id.peer_format = CLARION_DATA;
  f.id.plain_turn = CLARION_TURN_PLAIN;
  EXPECT_EQ(compose_format(&f, 0), CLARION_NONE);
  EXPECT_EQ(compose_format(&f, 1448), CLARION_DATA);  // packets with payload do not take part in the turns
  EXPECT_EQ(compose_format(&f, 0), CLARION_ACK);
  EXPECT_EQ(compose_format(&f, 0), CLARION_NONE);
  f.id.plain_turn = CLARION_TURN_ALWAYS;
  EXPECT_EQ(compose_format(&f, 0), CLARION_ACK);
  EXPECT_EQ(compose_format(&f, 0), CLARION_ACK);
}

}  // namespace
