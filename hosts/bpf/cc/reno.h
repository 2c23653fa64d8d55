/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reno: slow start, one packet per round trip, half after a loss (RFC 5681). With TCP that has no SACK the
 * same law is NewReno (RFC 6582): the difference is in recovery, which is TCP's.
 */
#ifndef CLARION_CC_RENO_H
#define CLARION_CC_RENO_H

#include "stack.h"

struct reno {
	__u32 prior_cwnd; /* before the last reduction */
};

CC_INLINE void reno_init(struct reno *r, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	r->prior_cwnd = tcp->cwnd;
}

CC_INLINE void reno_grow(struct reno *r, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)r, (void)p;
	if (stack_is_past_slow_start(tcp, &acked))
		stack_grow(tcp, tcp->cwnd, acked);
}

CC_INLINE __u32 reno_ssthresh(struct reno *r, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	r->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd / 2, 2);
}

STACK_UNDO_TO_PRIOR(reno)
STACK_IGNORES_ACKED(reno)
STACK_IGNORES_STATES(reno)
STACK_IGNORES_EVENTS(reno)

#endif /* CLARION_CC_RENO_H */
