/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Westwood+ (Grieco and Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP
 * Congestion Control", ACM CCR 34(2), 2004) as Linux has it: grows as Reno, but after a loss the window is
 * what the measured bandwidth fills in the least round trip, not half. During recovery TCP moves the window
 * as for Reno; what was measured takes its place at the end.
 */
#ifndef CLARION_CC_WESTWOOD_PLUS_H
#define CLARION_CC_WESTWOOD_PLUS_H

#include "westwood_rate.h"

struct westwood_plus {
	struct westwood_count count;
	__u32 prior_cwnd; /* before the last reduction */
};

CC_INLINE void westwood_plus_init(struct westwood_plus *l, const struct cc_params *p,
				  const struct cc_stack *tcp)
{
	(void)p;
	westwood_count_init(&l->count, tcp);
	l->prior_cwnd = tcp->cwnd;
}

CC_INLINE void westwood_plus_grow(struct westwood_plus *l, const struct cc_params *p, struct cc_stack *tcp,
				  __u32 acked)
{
	(void)l, (void)p;
	if (stack_is_past_slow_start(tcp, &acked))
		stack_grow(tcp, tcp->cwnd, acked);
}

CC_INLINE void westwood_plus_on_acked(struct westwood_plus *l, const struct cc_params *p,
				      struct cc_stack *tcp, __u32 packets, __s64 rtt_us)
{
	(void)packets;
	westwood_count_acked(&l->count, tcp, rtt_us, p->westwood_plus_interval_ms,
			     p->westwood_plus_old_eighths);
}

CC_INLINE __u32 westwood_plus_ssthresh(struct westwood_plus *l, const struct cc_params *p,
				       const struct cc_stack *tcp)
{
	(void)p;
	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd / 2, 2);
}

/* A timeout may come of a path that has changed: its least round trip is measured anew. */
CC_INLINE void westwood_plus_on_event(struct westwood_plus *l, const struct cc_params *p,
				      struct cc_stack *tcp, __u8 event)
{
	(void)p;
	if (event != STACK_COMPLETE_CWR && event != STACK_LOSS)
		return;
	tcp->ssthresh = westwood_count_window(&l->count, tcp->mss_bytes);
	if (event == STACK_COMPLETE_CWR)
		tcp->cwnd = tcp->ssthresh;
	else
		l->count.rtt_min_ticks = 0;
}

STACK_UNDO_TO_PRIOR(westwood_plus)
STACK_IGNORES_STATES(westwood_plus)

#endif /* CLARION_CC_WESTWOOD_PLUS_H */
