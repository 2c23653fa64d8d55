/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Scalable TCP (Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003): per ACK
 * a hundredth of a packet more, per loss an eighth of the window less, so that the time to recover from a
 * loss does not depend on the window. Below a window of 100 packets it grows as Reno does.
 */
#ifndef CLARION_CC_STCP_H
#define CLARION_CC_STCP_H

#include "stack.h"

struct stcp {
	__u32 prior_cwnd; /* before the last reduction */
};

CC_INLINE void stcp_init(struct stcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	l->prior_cwnd = tcp->cwnd;
}

/* Past slow start; other laws grow so at times, too. */
CC_INLINE void stcp_raise(struct cc_stack *tcp, __u32 acked_per_packet, __u32 acked)
{
	stack_grow(tcp, (__u32)min_u64(tcp->cwnd, acked_per_packet), acked);
}

CC_INLINE void stcp_grow(struct stcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)l;
	if (stack_is_past_slow_start(tcp, &acked))
		stcp_raise(tcp, p->stcp_acked_per_packet, acked);
}

CC_INLINE __u32 stcp_ssthresh(struct stcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 less = (__u32)((__u64)tcp->cwnd * p->stcp_decrease_q16 >> 16);

	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd - less, 2);
}

STACK_UNDO_TO_PRIOR(stcp)
STACK_IGNORES_ACKED(stcp)
STACK_IGNORES_STATES(stcp)
STACK_IGNORES_EVENTS(stcp)

#endif /* CLARION_CC_STCP_H */
