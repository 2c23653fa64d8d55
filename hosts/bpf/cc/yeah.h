/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* YeAH-TCP (Baiocchi, Castellani and Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007) as Linux
 * has it: while the queue is short and the delay low it grows as Scalable TCP, else as Reno, and a queue that
 * has become too long is drained before it overflows. Where others are greedy it does not fall below Reno.
 */
#ifndef CLARION_CC_YEAH_H
#define CLARION_CC_YEAH_H

#include "stcp.h"
#include "vegas_round.h"

#define YEAH_MIN_CWND	2
#define YEAH_MAX_ROUNDS 0xffffffU

struct yeah {
	struct vegas_round round;
	__u32 queued;	   /* packets in queues in the last round that was measured */
	__u32 slow_rounds; /* running in slow mode; 0: in fast mode */
	__u32 fast_rounds; /* in fast mode since the last loss or the last forgetting */
	__u32 reno_cwnd;   /* what Reno would have here, about; YEAH_MIN_CWND: no competition known */
	__u32 prior_cwnd;
};

CC_INLINE void yeah_init(struct yeah *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	vegas_round_init(&l->round, tcp);
	l->reno_cwnd = YEAH_MIN_CWND;
	l->prior_cwnd = tcp->cwnd;
}

/* Precautionary decongestion: the queue is taken off the window. */
CC_INLINE void yeah_drain(const struct yeah *l, const struct cc_params *p, struct cc_stack *tcp, __u32 queued)
{
	__u32 less = (__u32)min_u64(queued, (__u64)tcp->cwnd * p->yeah_drain_q16 >> 16);

	if (tcp->cwnd <= l->reno_cwnd)
		return;
	tcp->cwnd = (__u32)max_u64(tcp->cwnd - less, l->reno_cwnd);
	tcp->ssthresh = tcp->cwnd;
}

CC_INLINE void yeah_slow_round(struct yeah *l, const struct cc_stack *tcp)
{
	if (l->reno_cwnd <= YEAH_MIN_CWND)
		l->reno_cwnd = (__u32)max_u64(tcp->cwnd / 2, YEAH_MIN_CWND);
	else
		l->reno_cwnd++;
	l->slow_rounds = (__u32)min_u64(l->slow_rounds + 1, YEAH_MAX_ROUNDS);
}

/* No greedy flow leaves the queue short for so many round trips. */
CC_INLINE void yeah_fast_round(struct yeah *l, const struct cc_params *p)
{
	l->slow_rounds = 0;
	if (++l->fast_rounds <= p->yeah_zeta_rounds)
		return;
	l->fast_rounds = 0;
	l->reno_cwnd = YEAH_MIN_CWND;
}

/* Once per round trip: the mode of the next. */
CC_INLINE void yeah_judge(struct yeah *l, const struct cc_params *p, struct cc_stack *tcp)
{
	__u32 delay_us = vegas_round_delay_us(&l->round);
	__u32 queued = (__u32)div_u64((__u64)tcp->cwnd * delay_us, l->round.least_us);
	int is_long = queued > p->yeah_queue_packets;
	int is_late = delay_us > (__u64)l->round.base_us * p->yeah_delay_q16 >> 16;

	if (is_long)
		yeah_drain(l, p, tcp, queued);
	if (is_long || is_late)
		yeah_slow_round(l, tcp);
	else
		yeah_fast_round(l, p);
	l->queued = queued;
}

CC_INLINE void yeah_grow(struct yeah *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_past_slow_start(tcp, &acked))
		stcp_raise(tcp, l->slow_rounds ? tcp->cwnd : p->yeah_acked_per_packet, acked);
	if (!vegas_round_is_over(&l->round, tcp))
		return;
	if (vegas_round_is_measured(&l->round))
		yeah_judge(l, p, tcp);
	vegas_round_begin(&l->round, tcp);
}

/* What a loss takes: the queue, if the flow has had the path to itself lately, and half of the window at
 * most. */
CC_INLINE __u32 yeah_decrease(const struct yeah *l, const struct cc_params *p, __u32 cwnd)
{
	__u32 half = (__u32)max_u64(cwnd / 2, YEAH_MIN_CWND);
	__u64 least = (__u64)cwnd * p->yeah_decrease_q16 >> 16;

	if (l->slow_rounds >= p->yeah_rho_rounds)
		return half;
	return (__u32)max_u64(min_u64(l->queued, half), least);
}

CC_INLINE __u32 yeah_ssthresh(struct yeah *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 less = yeah_decrease(l, p, tcp->cwnd);

	l->prior_cwnd = tcp->cwnd;
	l->fast_rounds = 0;
	l->reno_cwnd = (__u32)max_u64(l->reno_cwnd / 2, YEAH_MIN_CWND);
	return (__u32)max_u64(sub_floor_u64(tcp->cwnd, less), YEAH_MIN_CWND);
}

VEGAS_ROUNDS(yeah)
STACK_UNDO_TO_PRIOR(yeah)

#endif /* CLARION_CC_YEAH_H */
