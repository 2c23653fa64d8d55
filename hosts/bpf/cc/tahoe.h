/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tahoe (Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; RFC 5681 without fast recovery): slow
 * start, one packet per round trip, and after every loss half of the flight as the aim of a slow start from
 * one packet. That a loss restarts is TCP's part; only the simulated one has it (restarts_after_loss).
 */
#ifndef CLARION_CC_TAHOE_H
#define CLARION_CC_TAHOE_H

#include "stack.h"

struct tahoe {
	__u32 prior_cwnd;   /* before the last reduction */
	__u64 restarted_us; /* 0: never */
};

CC_INLINE void tahoe_init(struct tahoe *t, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	t->prior_cwnd = tcp->cwnd;
	t->restarted_us = 0;
}

/* In slow start a packet for each ACK (RFC 5681, eq. 2): the one that fills a hole acknowledges much. The ACK
 * that shows the loss opens nothing.
 */
CC_INLINE void tahoe_grow(struct tahoe *t, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)p;
	if (tcp->now_us == t->restarted_us)
		return;
	if (stack_is_slow_start(tcp))
		acked = (__u32)min_u64(acked, 1);
	if (stack_is_past_slow_start(tcp, &acked))
		stack_grow(tcp, tcp->cwnd, acked);
}

/* Half of the flight (RFC 5681, eq. 4); after a restart most of it is no flight any more. Sequence numbers
 * are packets in the simulator, to which alone this law belongs.
 */
CC_INLINE __u32 tahoe_ssthresh(struct tahoe *t, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 flight = (__u32)wrap_diff_u32(tcp->next, tcp->una);

	(void)p;
	t->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(min_u64(flight, tcp->cwnd) / 2, 2);
}

CC_INLINE void tahoe_on_event(struct tahoe *t, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	(void)p;
	if (event == STACK_LOSS)
		t->restarted_us = tcp->now_us;
}

STACK_UNDO_TO_PRIOR(tahoe)
STACK_IGNORES_ACKED(tahoe)
STACK_IGNORES_STATES(tahoe)

#endif /* CLARION_CC_TAHOE_H */
