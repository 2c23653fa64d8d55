// SPDX-License-Identifier: Apache-2.0
// What a program's ask makes of the next datagram, and what a header says of the peer's.
#include "datagram.h"

#include <gtest/gtest.h>

namespace {

flow_ask ask_for(flow_carries carries) {
  flow_ask ask{};
  ask.netns_cookie = 11;
  ask.cookie = 12;
  ask.carries = static_cast<__u8>(carries);
  return ask;
}

TEST(Datagram, OpensAFlowThatKnowsTheHeader) {
  flow f{};
  flow_ask ask = ask_for(FLOW_CARRIES_NONE);
  ask.tags = 1;
  datagram_open(&f, &ask, 13);
  EXPECT_EQ(f.id.netns_cookie, 11u);
  EXPECT_EQ(f.id.cookie, 12u);
  EXPECT_EQ(f.id.bucket, 13);
  EXPECT_EQ(f.id.tags, 1);
  EXPECT_EQ(f.id.aware, 1);
}

TEST(Datagram, CarriesNothingUnlessAsked) {
  flow f{};
  f.id.heard = 1;
  f.id.peer_format = CLARION_DATA;
  flow_ask ask = ask_for(FLOW_CARRIES_NONE);
  ask.tags = 1;
  ask.request.wanted = 1;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_NONE);
  EXPECT_EQ(f.id.plain, 1);
  ask.carries = 77;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_NONE);
}

TEST(Datagram, ARequestIsForARateOrForCauses) {
  flow f{};
  flow_ask ask = ask_for(FLOW_CARRIES_REQUEST);
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_NONE);  // neither is wanted
  EXPECT_EQ(f.id.plain, 0);
  ask.tags = 1;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_TAG);
  ask.request.wanted = 1;
  ask.request.delta_throughput = 4711;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_DATA);
  EXPECT_EQ(f.request.delta_throughput, 4711);
}

TEST(Datagram, AnEchoNeedsSomethingHeard) {
  flow f{};
  const flow_ask ask = ask_for(FLOW_CARRIES_ECHO);
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_NONE);
  f.id.heard = 1;
  f.id.peer_format = CLARION_TAG;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_TAG);
  f.id.peer_format = CLARION_DATA;
  EXPECT_EQ(datagram_format(&f, &ask), CLARION_ACK);
}

TEST(Datagram, APeerThatAsksForARateKeepsItsGrantsEchoed) {
  flow f{};
  received tag{}, data{};
  tag.format = CLARION_TAG;
  data.format = CLARION_DATA;
  EXPECT_TRUE(datagram_shows_format(&f, &tag));
  receive_flow(&f, &tag, nullptr, datagram_shows_format(&f, &tag));
  EXPECT_EQ(f.id.peer_format, CLARION_TAG);
  receive_flow(&f, &data, nullptr, datagram_shows_format(&f, &data));
  receive_flow(&f, &tag, nullptr, datagram_shows_format(&f, &tag));  // on its acknowledgements
  EXPECT_EQ(f.id.peer_format, CLARION_DATA);
}

TEST(Datagram, AGuardComparesTheBitsThatCount) {
  flow_ask ask{};
  EXPECT_TRUE(datagram_is_guarded(&ask, 0x1234));
  ask.guard = 0x1234;
  ask.guard_mask = 0xff00;
  EXPECT_TRUE(datagram_is_guarded(&ask, 0x12ff));
  EXPECT_FALSE(datagram_is_guarded(&ask, 0x1334));
}

}  // namespace
