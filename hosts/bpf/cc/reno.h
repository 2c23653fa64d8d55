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

CC_INLINE void reno_init(struct reno *r, const struct cc_stack *tcp)
{
	r->prior_cwnd = tcp->cwnd;
}

CC_INLINE void reno_grow(struct reno *r, struct cc_stack *tcp, __u32 acked)
{
	(void)r;
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		acked = stack_slow_start(tcp, acked);
		if (!acked)
			return;
	}
	stack_grow(tcp, tcp->cwnd, acked);
}

CC_INLINE __u32 reno_ssthresh(struct reno *r, const struct cc_stack *tcp)
{
	r->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd / 2, 2);
}

CC_INLINE __u32 reno_undo(const struct reno *r, const struct cc_stack *tcp)
{
	return (__u32)max_u64(tcp->cwnd, r->prior_cwnd);
}

#endif /* CLARION_CC_RENO_H */
