/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP-Illinois (Liu, Basar and Srikant, "TCP-Illinois: A Loss and Delay-Based Congestion Control Algorithm
 * for High-Speed Networks", 2006) as Linux has it: losses say when to shrink, the queueing delay says how
 * much it grows per round trip, alpha, and what share of the window a loss takes, beta.
 */
#ifndef CLARION_CC_ILLINOIS_H
#define CLARION_CC_ILLINOIS_H

#include "stack.h"

/* alpha counts 128ths of a packet, beta 64ths of the window. */
#define ILLINOIS_ALPHA_SHIFT 7
#define ILLINOIS_BETA_SHIFT  6
#define ILLINOIS_RENO_ALPHA  (1U << ILLINOIS_ALPHA_SHIFT)
#define ILLINOIS_RENO_BETA   (1U << (ILLINOIS_BETA_SHIFT - 1))
/* Thresholds in parts of the largest delay: growth falls from a hundredth on, and a loss takes beta_min up to
 * a tenth and beta_max from eight tenths on.
 */
#define ILLINOIS_ALPHA_PART    100
#define ILLINOIS_BETA_PARTS    10
#define ILLINOIS_BETA_MAX_FROM 8

struct illinois {
	__u64 sum_us;  /* of the samples of this round */
	__u32 samples; /* of this round */
	__u32 end;     /* sequence number that was next to send when it began */
	__u32 base_us; /* least sample of the connection; STACK_NO_RTT: none yet */
	__u32 most_us; /* largest */
	__u32 alpha_q7;
	__u32 beta_q6;
	__u32 packets; /* acknowledged, not counted towards growth yet */
	__u32 prior_cwnd;
	__u32 low_rounds; /* without a queue since there was one; not running */
	__u8 had_queue;
};

CC_INLINE void illinois_begin_round(struct illinois *l, const struct cc_stack *tcp)
{
	l->end = tcp->next;
	l->sum_us = 0;
	l->samples = 0;
}

CC_INLINE void illinois_init(struct illinois *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__builtin_memset(l, 0, sizeof(*l));
	l->base_us = STACK_NO_RTT;
	l->alpha_q7 = p->illinois_alpha_max_q7;
	l->beta_q6 = ILLINOIS_RENO_BETA;
	l->prior_cwnd = tcp->cwnd;
	illinois_begin_round(l, tcp);
}

/* alpha_max without a queue. But one round trip without one, after others with, may be a chance. */
CC_INLINE __u32 illinois_alpha_without_queue(struct illinois *l, const struct cc_params *p)
{
	if (l->had_queue && ++l->low_rounds < p->illinois_theta_rounds)
		return l->alpha_q7;
	l->low_rounds = 0;
	l->had_queue = 0;
	return p->illinois_alpha_max_q7;
}

/* k1 / (k2 + delay): alpha_max at the threshold, alpha_min at the largest delay. */
CC_INLINE __u32 illinois_alpha(struct illinois *l, const struct cc_params *p, __u64 delay_us, __u64 most_us)
{
	__u64 highest = p->illinois_alpha_max_q7, lowest = p->illinois_alpha_min_q7;
	__u64 from_us = most_us / ILLINOIS_ALPHA_PART;

	if (delay_us <= from_us)
		return illinois_alpha_without_queue(l, p);
	l->had_queue = 1;
	most_us -= from_us;
	delay_us -= from_us;
	return (__u32)div_u64(most_us * highest,
			      most_us + div_u64(delay_us * sub_floor_u64(highest, lowest), lowest));
}

/* Straight from beta_min at one threshold to beta_max at the other. */
CC_INLINE __u32 illinois_beta(const struct cc_params *p, __u64 delay_us, __u64 most_us)
{
	__u64 lowest = p->illinois_beta_min_q6, highest = p->illinois_beta_max_q6;
	__u64 from_us = most_us / ILLINOIS_BETA_PARTS;
	__u64 to_us = ILLINOIS_BETA_MAX_FROM * most_us / ILLINOIS_BETA_PARTS;

	if (delay_us <= from_us)
		return (__u32)lowest;
	if (delay_us >= to_us)
		return (__u32)highest;
	return (__u32)div_u64(lowest * (to_us - delay_us) + highest * (delay_us - from_us), to_us - from_us);
}

/* Once per round trip, from its mean delay. */
CC_INLINE void illinois_update(struct illinois *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	if (tcp->cwnd < p->illinois_reno_packets) {
		l->alpha_q7 = ILLINOIS_RENO_ALPHA;
		l->beta_q6 = ILLINOIS_RENO_BETA;
	} else if (l->samples) {
		__u64 delay_us = div_u64(l->sum_us, l->samples) - l->base_us;
		__u64 most_us = l->most_us - l->base_us;

		l->alpha_q7 = illinois_alpha(l, p, delay_us, most_us);
		l->beta_q6 = illinois_beta(p, delay_us, most_us);
	}
	illinois_begin_round(l, tcp);
}

/* alpha / cwnd packets for each that is acknowledged. */
CC_INLINE void illinois_raise(struct illinois *l, struct cc_stack *tcp)
{
	__u64 earned;

	tcp->cwnd_count += l->packets;
	l->packets = 1;
	earned = (__u64)tcp->cwnd_count * l->alpha_q7 >> ILLINOIS_ALPHA_SHIFT;
	if (earned < tcp->cwnd)
		return;
	tcp->cwnd = (__u32)min_u64(tcp->cwnd + div_u64(earned, tcp->cwnd), tcp->cwnd_clamp);
	tcp->cwnd_count = 0;
}

CC_INLINE void illinois_grow(struct illinois *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (wrap_diff_u32(tcp->una, l->end) > 0)
		illinois_update(l, p, tcp);
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp))
		stack_slow_start(tcp, acked);
	else
		illinois_raise(l, tcp);
}

CC_INLINE void illinois_on_acked(struct illinois *l, const struct cc_params *p, struct cc_stack *tcp,
				 __u32 packets, __s64 sample_us)
{
	__u32 rtt_us = (__u32)sample_us;

	(void)p, (void)tcp;
	l->packets = packets;
	if (sample_us < 0)
		return;
	l->base_us = (__u32)min_u64(l->base_us, rtt_us);
	l->most_us = (__u32)max_u64(l->most_us, rtt_us);
	l->sum_us += rtt_us;
	l->samples++;
}

/* After a timeout it begins as Reno. */
CC_INLINE void illinois_on_state(struct illinois *l, const struct cc_params *p, struct cc_stack *tcp,
				 __u8 next)
{
	(void)p;
	if (next != CA_STATE_LOSS)
		return;
	l->alpha_q7 = ILLINOIS_RENO_ALPHA;
	l->beta_q6 = ILLINOIS_RENO_BETA;
	l->low_rounds = 0;
	l->had_queue = 0;
	illinois_begin_round(l, tcp);
}

CC_INLINE __u32 illinois_ssthresh(struct illinois *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 less = (__u32)((__u64)tcp->cwnd * l->beta_q6 >> ILLINOIS_BETA_SHIFT);

	(void)p;
	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd - less, 2);
}

STACK_UNDO_TO_PRIOR(illinois)
STACK_IGNORES_EVENTS(illinois)

#endif /* CLARION_CC_ILLINOIS_H */
