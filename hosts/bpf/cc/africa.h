/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP-Africa (King, Baraniuk and Riedi, INFOCOM 2005): HighSpeed TCP while less than alpha packets are
 * queued, by the measure of Vegas, and Reno from there on; so that it is fast on uncongested paths only.
 */
#ifndef CLARION_CC_AFRICA_H
#define CLARION_CC_AFRICA_H

#include "hstcp.h"
#include "queued.h"

struct africa {
	struct queued queue;
	__u32 prior_cwnd; /* before the last reduction */
};

CC_INLINE void africa_init(struct africa *a, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	queued_begin(&a->queue);
	a->prior_cwnd = tcp->cwnd;
}

/* Fast mode; not before there is a round trip to compare with. */
CC_INLINE int africa_is_fast(const struct africa *a, const struct cc_params *p, const struct cc_stack *tcp)
{
	if (a->queue.base_us == STACK_NO_RTT)
		return 0;
	return queued_q16(&a->queue, tcp->cwnd, tcp->srtt_us) < p->africa_alpha_q16;
}

CC_INLINE void africa_grow(struct africa *a, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	__u32 step = 1;

	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	if (africa_is_fast(a, p, tcp))
		step += hstcp_row_of(tcp->cwnd);
	stack_grow(tcp, tcp->cwnd, acked * step);
}

CC_INLINE __u32 africa_ssthresh(struct africa *a, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 row = hstcp_row_of(tcp->cwnd);
	__u32 less = (tcp->cwnd + 1) / 2;

	if (row < HSTCP_ROWS && (!p->africa_halve || africa_is_fast(a, p, tcp)))
		less = (__u32)((__u64)tcp->cwnd * HSTCP_TABLE[row].decrease >> HSTCP_DECREASE_SHIFT);
	a->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd - less, 2);
}

CC_INLINE void africa_on_acked(struct africa *a, const struct cc_params *p, struct cc_stack *tcp,
			       __u32 packets, __s64 rtt_us)
{
	(void)p, (void)tcp, (void)packets;
	queued_on_acked(&a->queue, rtt_us);
}

STACK_UNDO_TO_PRIOR(africa)
STACK_IGNORES_STATES(africa)
STACK_IGNORES_EVENTS(africa)

#endif /* CLARION_CC_AFRICA_H */
