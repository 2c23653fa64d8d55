/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP Vegas (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", 1995) as
 * Linux has it: once per round trip it estimates how many of its packets stand in queues, and adds or takes
 * one packet to keep them between alpha and beta. A loss halves as Reno does.
 */
#ifndef CLARION_CC_VEGAS_H
#define CLARION_CC_VEGAS_H

#include "reno.h"
#include "vegas_round.h"

#define VEGAS_MIN_CWND 2

struct vegas {
	struct vegas_round round;
	struct reno reno; /* its part in losses, and while there is nothing to measure */
};

CC_INLINE void vegas_init(struct vegas *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	vegas_round_init(&l->round, tcp);
	reno_init(&l->reno, p, tcp);
}

/* Packets in queues. Linux relates them to the round trip of the empty path and not to the last one, so that
 * a long queue counts for more than it is.
 */
CC_INLINE __u64 vegas_queued(const struct vegas *l, __u32 cwnd)
{
	return div_u64((__u64)cwnd * vegas_round_delay_us(&l->round), l->round.base_us);
}

/* What the empty path holds at the rate that has come through, and one packet for what the division cuts off.
 */
CC_INLINE void vegas_end_slow_start(const struct vegas *l, struct cc_stack *tcp)
{
	tcp->cwnd = (__u32)div_u64((__u64)tcp->cwnd * l->round.base_us, l->round.least_us) + 1;
	tcp->ssthresh = (__u32)min_u64(tcp->ssthresh, tcp->cwnd);
}

CC_INLINE void vegas_avoid(const struct cc_params *p, struct cc_stack *tcp, __u64 queued)
{
	if (queued > p->vegas_beta_packets) {
		tcp->cwnd--;
		tcp->ssthresh = (__u32)min_u64(tcp->ssthresh, tcp->cwnd);
	} else if (queued < p->vegas_alpha_packets) {
		tcp->cwnd++;
	}
}

/* Once per round trip. */
CC_INLINE void vegas_adjust(const struct vegas *l, const struct cc_params *p, struct cc_stack *tcp,
			    __u32 acked)
{
	__u64 queued = vegas_queued(l, tcp->cwnd);

	if (!stack_is_slow_start(tcp))
		vegas_avoid(p, tcp, queued);
	else if (queued > p->vegas_gamma_packets)
		vegas_end_slow_start(l, tcp);
	else
		stack_slow_start(tcp, acked);
	tcp->cwnd = (__u32)max_u64(min_u64(tcp->cwnd, tcp->cwnd_clamp), VEGAS_MIN_CWND);
	/* The threshold follows a window that grows, as RFC 2861 has it. */
	tcp->ssthresh = (__u32)max_u64(tcp->ssthresh, (tcp->cwnd >> 1) + (tcp->cwnd >> 2));
}

CC_INLINE void vegas_grow(struct vegas *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (!l->round.is_on) {
		reno_grow(&l->reno, p, tcp, acked);
	} else if (vegas_round_is_over(&l->round, tcp)) {
		if (vegas_round_is_measured(&l->round))
			vegas_adjust(l, p, tcp, acked);
		else
			reno_grow(&l->reno, p, tcp, acked);
		vegas_round_begin(&l->round, tcp);
	} else if (stack_is_slow_start(tcp)) {
		stack_slow_start(tcp, acked);
	}
}

CC_INLINE __u32 vegas_ssthresh(struct vegas *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	return reno_ssthresh(&l->reno, p, tcp);
}

CC_INLINE __u32 vegas_undo(struct vegas *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	return reno_undo(&l->reno, p, tcp);
}

VEGAS_ROUNDS(vegas)

#endif /* CLARION_CC_VEGAS_H */
