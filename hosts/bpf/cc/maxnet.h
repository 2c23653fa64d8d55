/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sender of MaxNet (Wydrowski, Zukerman, "MaxNet: a congestion control architecture", IEEE Communications
 * Letters 6(11), 2002), reconstructed: its constants are not public. The rate follows from the highest price
 * of the path, by the same rule in all senders, which makes shares max-min fair whatever the round trips:
 *
 *	x = D(p) = 400 Gbit/s * e^-p
 *
 * MaxNet's price has 24 bits for rates from 32 bit/s up to 10^15 bit/s in steps of a thousandth of a percent,
 * which only a logarithm has; that it is this one is inferred. In place of MaxStart, whose rule is not
 * public, ours: the rate falls at once and rises by a part of D(p) per round trip, so that a newcomer does
 * not come faster than the price can follow. Losses are only sent again, as MaxNet does; a timeout halves the
 * rate (ours). In the simulator only: data and ACKs need a TCP option (switch/router/link_option.hpp).
 */
#ifndef CLARION_CC_MAXNET_H
#define CLARION_CC_MAXNET_H

#include "told_rate.h"

#define MAXNET_NO_PRICE	   0U /* the word of data that no router has seen; its unit is 2^-24 neper */
#define MAXNET_FASTEST	   50000000000ULL /* bytes/s, of frames */
#define MAXNET_LOG2_E_Q32  6196328019ULL
#define MAXNET_LN_2_Q32	   2977044472ULL
#define MAXNET_MOST_NEPERS 40U /* above these the rate is 0 all the same */
#define MAXNET_TERMS	   12U /* of the series; the next is below 2^-32 */

struct maxnet {
	__u64 bytes_per_s; /* x, of frames */
	__u64 heard_us;	   /* when a price came last */
};

/* 2^-f for f below 1, by the series of e^-(f ln 2). */
CC_INLINE __u64 maxnet_power_q32(__u64 f_q32)
{
	__u64 y = f_q32 * (MAXNET_LN_2_Q32 >> 1) >> 31;
	__u64 term = 1ULL << 32;
	__u64 plus = term;
	__u64 minus = 0;

	for (__u32 k = 1; k <= MAXNET_TERMS; k++) {
		term = (term * y >> 32) / k;
		if (k & 1)
			minus += term;
		else
			plus += term;
	}
	return plus - minus;
}

/* D(p) */
CC_INLINE __u64 maxnet_demand(__u32 price_q24)
{
	__u64 price = min_u64(price_q24, (__u64)MAXNET_MOST_NEPERS << 24);
	__u64 halvings_q32 = price * MAXNET_LOG2_E_Q32 >> 24;
	__u64 part_q24 = maxnet_power_q32(halvings_q32 & 0xffffffffULL) >> 8;

	return (MAXNET_FASTEST * part_q24 >> 24) >> (halvings_q32 >> 32);
}

CC_INLINE void maxnet_init(struct maxnet *l, struct cc_stack *tcp)
{
	l->bytes_per_s = told_bounded(told_first_rate(tcp), tcp);
	l->heard_us = tcp->now_us;
	told_apply(l->bytes_per_s, tcp);
}

CC_INLINE void maxnet_hear(struct maxnet *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 demand = maxnet_demand(tcp->told_word);
	__u64 per_rtt = scale_q16(demand, p->maxnet_growth_q16);
	__u64 since_us = min_u64(tcp->now_us - l->heard_us, told_rtt_us(tcp));
	__u64 most = l->bytes_per_s + mul_div_u64(per_rtt, since_us, told_rtt_us(tcp));

	l->heard_us = tcp->now_us;
	l->bytes_per_s = told_bounded(min_u64(demand, most), tcp);
}

/* After every ACK. */
CC_INLINE void maxnet_on_ack(struct maxnet *l, const struct cc_params *p, struct cc_stack *tcp)
{
	if (tcp->told_link)
		maxnet_hear(l, p, tcp);
	told_apply(l->bytes_per_s, tcp);
}

CC_INLINE void maxnet_on_timeout(struct maxnet *l, const struct cc_stack *tcp)
{
	l->bytes_per_s = told_bounded(l->bytes_per_s / 2, tcp);
}

#endif /* CLARION_CC_MAXNET_H */
