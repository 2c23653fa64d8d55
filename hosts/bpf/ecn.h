/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The ECN field of an IP header (RFC 3168, section 5). */
#ifndef CLARION_ECN_H
#define CLARION_ECN_H

#include <linux/ip.h>
#include <linux/ipv6.h>

#include "checksum.h"

#define ECN_MASK 3
#define ECN_ECT1 1
#define ECN_ECT0 2

static inline __attribute__((always_inline, unused)) __u16 ecn_word(const struct iphdr *ip4)
{
	__u16 word;

	__builtin_memcpy(&word, ip4, sizeof(word));
	return word;
}

/* Makes a header that is ECT(0) ECT(1) (RFC 9331); false: it is not, and stays as it is. */
static inline __attribute__((always_inline, unused)) int ecn_make_ect1_ip4(struct iphdr *ip4)
{
	__u16 old_word = ecn_word(ip4);

	if ((ip4->tos & ECN_MASK) != ECN_ECT0)
		return 0;
	ip4->tos ^= ECN_ECT0 ^ ECN_ECT1;
	ip4->check = checksum_replace(ip4->check, old_word, ecn_word(ip4));
	return 1;
}

/* The traffic class ends in the upper half of the second byte. */
static inline __attribute__((always_inline, unused)) int ecn_make_ect1_ip6(struct ipv6hdr *ip6)
{
	if ((ip6->flow_lbl[0] >> 4 & ECN_MASK) != ECN_ECT0)
		return 0;
	ip6->flow_lbl[0] ^= (ECN_ECT0 ^ ECN_ECT1) << 4;
	return 1;
}

#endif /* CLARION_ECN_H */
