// SPDX-License-Identifier: Apache-2.0
// ECT(0) becomes ECT(1), and nothing else of the header changes.
#include "ecn.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

// Of the header's words as they lie in memory; 0: the checksum is right.
__u16 checksum_of(const iphdr& ip4) {
  __u16 words[sizeof(ip4) / 2];
  std::memcpy(words, &ip4, sizeof(ip4));
  __u32 sum = 0;
  for (const __u16 word : words) sum += word;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<__u16>(~sum);
}

iphdr ip4_of(__u8 tos) {
  iphdr ip4{};
  ip4.version = 4;
  ip4.ihl = 5;
  ip4.tos = tos;
  ip4.tot_len = 0xdc05;
  ip4.id = 0x3412;
  ip4.ttl = 64;
  ip4.protocol = 6;
  ip4.saddr = 0x0100000a;
  ip4.daddr = 0x0200000a;
  ip4.check = checksum_of(ip4);
  return ip4;
}

TEST(Ecn, Ect0OfIp4BecomesEct1WithARightChecksum) {
  for (const int dscp : {0, 0xb8}) {
    iphdr ip4 = ip4_of(static_cast<__u8>(dscp | ECN_ECT0));
    EXPECT_TRUE(ecn_make_ect1_ip4(&ip4));
    EXPECT_EQ(ip4.tos, dscp | ECN_ECT1);
    EXPECT_EQ(checksum_of(ip4), 0);
  }
}

TEST(Ecn, Ect0OfIp6BecomesEct1BesideTheFlowLabel) {
  ipv6hdr ip6{};
  ip6.version = 6;
  ip6.priority = 0xb;
  ip6.flow_lbl[0] = 0xaf;  // ECT(0), and the label begins with 15
  EXPECT_TRUE(ecn_make_ect1_ip6(&ip6));
  EXPECT_EQ(ip6.flow_lbl[0], 0x9f);
  EXPECT_EQ(ip6.priority, 0xb);
}

TEST(Ecn, OthersStayAsTheyAre) {
  for (const int ecn : {0, ECN_ECT1, ECN_MASK}) {
    iphdr ip4 = ip4_of(static_cast<__u8>(ecn));
    EXPECT_FALSE(ecn_make_ect1_ip4(&ip4));
    EXPECT_EQ(ip4.tos, ecn);
    ipv6hdr ip6{};
    ip6.flow_lbl[0] = static_cast<__u8>(ecn << 4);
    EXPECT_FALSE(ecn_make_ect1_ip6(&ip6));
    EXPECT_EQ(ip6.flow_lbl[0], ecn << 4);
  }
}

}  // namespace
