/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sender of JetMax (Zhang, Leonard, Loguinov, "JetMax: Scalable Max-Min Congestion Control for High-Speed
 * Heterogeneous Networks", Computer Networks 52(6), 2008), reconstructed: its equations are not public. Once
 * per round trip
 *
 *	x <- x - tau (x - g)		g: the fair rate of the link that controls the flow
 *
 * tau is from memory of the paper, and is what its "within 1 % in six control intervals" asks for: 0.4^6 =
 * 0.4 %. The rule of membership is ours, as that of the routers is (switch/router/jetmax.hpp): the link with
 * the least rate takes over at once. A lower rate is followed at once, a higher one when the new link has
 * counted the flow, after a round trip and two control intervals. Losses are only sent again; a timeout
 * halves the rate (ours). In the simulator only: data and ACKs need a TCP option
 * (switch/router/link_option.hpp).
 */
#ifndef CLARION_CC_JETMAX_H
#define CLARION_CC_JETMAX_H

#include "told_rate.h"

#define JETMAX_NO_RATE 0xffffffffU /* the word of data that no router has seen; its unit is 12.5 bytes/s */

struct jetmax {
	__u64 bytes_per_s; /* x, of frames */
	__u64 wait_until;  /* us: what was said before is of the time before the last step */
};

CC_INLINE void jetmax_init(struct jetmax *l, struct cc_stack *tcp)
{
	l->bytes_per_s = told_bounded(told_first_rate(tcp), tcp);
	l->wait_until = 0;
	told_apply(l->bytes_per_s, tcp);
}

CC_INLINE __u64 jetmax_step(const struct jetmax *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 fair = (__u64)tcp->told_word * 25 / 2;
	__u64 x = l->bytes_per_s;

	if (fair > x)
		return x + scale_q16(fair - x, p->jetmax_tau_q16);
	return told_bounded(x - scale_q16(x - fair, p->jetmax_tau_q16), tcp);
}

CC_INLINE void jetmax_hear(struct jetmax *l, const struct cc_params *p, struct cc_stack *tcp)
{
	__u64 x = jetmax_step(l, p, tcp);

	l->wait_until = tcp->now_us + told_rtt_us(tcp);
	if (tcp->told_link != tcp->controlling_link) {
		tcp->controlling_link = tcp->told_link;
		l->wait_until += 2000ULL * p->jetmax_interval_ms;
		x = min_u64(x, l->bytes_per_s);
	}
	l->bytes_per_s = x;
}

/* After every ACK. */
CC_INLINE void jetmax_on_ack(struct jetmax *l, const struct cc_params *p, struct cc_stack *tcp)
{
	if (tcp->told_link && tcp->now_us >= l->wait_until)
		jetmax_hear(l, p, tcp);
	told_apply(l->bytes_per_s, tcp);
}

CC_INLINE void jetmax_on_timeout(struct jetmax *l, const struct cc_stack *tcp)
{
	l->bytes_per_s = told_bounded(l->bytes_per_s / 2, tcp);
}

#endif /* CLARION_CC_JETMAX_H */
