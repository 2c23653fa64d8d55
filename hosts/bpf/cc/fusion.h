/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP-Fusion (Kaneko, Fujikawa, Su and Katto, PFLDnet 2007): the larger of two windows, Reno's and one that
 * grows by a share of the bandwidth while the queueing delay is small, shrinks while it is large and stays
 * between; a loss takes of it what is queued, at most half.
 */
#ifndef CLARION_CC_FUSION_H
#define CLARION_CC_FUSION_H

#include "queued.h"

/* The window shrinks from so many times the queue on below which it grows. */
#define FUSION_UPPER 3
/* Weight of the newest sample of bandwidth: an eighth. */
#define FUSION_RATE_SHIFT 3

struct fusion {
	struct queued queue;
	__u64 rate_q16;	 /* packets delivered per second, smoothed; 0: not known yet */
	__u64 sample_us; /* since then `sample_delivered` is counted */
	__u32 sample_delivered;
	__u32 fraction_q32; /* of a packet, that the window has beyond cwnd */
	__u32 reno_cwnd;    /* the window that Reno would have */
	__u32 reno_count;   /* packets acknowledged towards its next one */
	__u32 prior_cwnd;   /* before the last reduction, as: */
	__u32 prior_reno;
};

CC_INLINE void fusion_begin_sample(struct fusion *f, const struct cc_stack *tcp)
{
	f->sample_us = tcp->now_us;
	f->sample_delivered = tcp->delivered;
}

CC_INLINE void fusion_init(struct fusion *f, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(f, 0, sizeof(*f));
	queued_begin(&f->queue);
	fusion_begin_sample(f, tcp);
	f->reno_cwnd = f->prior_cwnd = f->prior_reno = tcp->cwnd;
}

/* Winc: the packets that the path delivers in so short a time that its queue has room for them. */
CC_INLINE __u64 fusion_increment_q16(const struct fusion *f, const struct cc_params *p)
{
	return mul_div_u64(f->rate_q16, p->fusion_increment_us, USEC_PER_SEC);
}

/* Per ACK Winc / cwnd more while diff < alpha; (diff - alpha) / cwnd less while diff > 3 alpha. Diff is
 * cwnd (RTT - RTTmin) / RTT and alpha cwnd D / RTT, what this flow sends in the time D: so that delays
 * decide.
 */
CC_INLINE __u64 fusion_window_q32(const struct fusion *f, const struct cc_params *p,
				  const struct cc_stack *tcp, __u32 acked)
{
	__u64 window_q32 = (__u64)tcp->cwnd << 32 | f->fraction_q32;
	__u64 delay_us = queued_us(&f->queue, f->queue.rtt_us), d_us = p->fusion_queue_us;

	if (delay_us < d_us)
		return window_q32 + mul_div_u64(fusion_increment_q16(f, p) << 16, acked, tcp->cwnd);
	if (delay_us <= FUSION_UPPER * d_us)
		return window_q32;
	return sub_floor_u64(window_q32, mul_div_u64((__u64)acked << 16, delay_us - d_us, f->queue.rtt_us)
					     << 16);
}

/* One packet for each window acknowledged; never above the window that TCP has left. */
CC_INLINE void fusion_grow_reno(struct fusion *f, const struct cc_stack *tcp, __u32 acked)
{
	__u32 more;

	f->reno_count += acked;
	more = f->reno_count / (__u32)max_u64(tcp->cwnd, 1);
	f->reno_count -= more * tcp->cwnd;
	f->reno_cwnd = (__u32)min_u64(f->reno_cwnd, tcp->cwnd) + more;
}

CC_INLINE void fusion_grow(struct fusion *f, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	int is_slow_start = stack_is_slow_start(tcp);
	int is_past = stack_is_past_slow_start(tcp, &acked);
	__u64 window_q32;

	if (is_slow_start) {
		f->reno_cwnd = tcp->cwnd;
		f->reno_count = f->fraction_q32 = 0;
	}
	if (!is_past)
		return;
	window_q32 = fusion_window_q32(f, p, tcp, acked);
	fusion_grow_reno(f, tcp, acked);
	window_q32 = max_u64(window_q32, max_u64(f->reno_cwnd, 2) << 32);
	f->fraction_q32 = (__u32)window_q32;
	tcp->cwnd = (__u32)min_u64(window_q32 >> 32, tcp->cwnd_clamp);
}

/* RTTmin / RTT of the window, at least half: what is on the path without the queue. Reno's is halved. */
CC_INLINE __u32 fusion_ssthresh(struct fusion *f, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 left = scale_q16(tcp->cwnd, p->fusion_least_q16);

	if (f->queue.rtt_us != STACK_NO_RTT)
		left = max_u64(left, mul_div_u64(tcp->cwnd, f->queue.base_us, f->queue.rtt_us));
	f->prior_cwnd = tcp->cwnd;
	f->prior_reno = f->reno_cwnd;
	f->reno_cwnd = (__u32)min_u64(f->reno_cwnd, tcp->cwnd) / 2;
	f->reno_count = f->fraction_q32 = 0;
	return (__u32)max_u64(max_u64(left, f->reno_cwnd), 2);
}

CC_INLINE __u32 fusion_undo(struct fusion *f, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	f->reno_cwnd = (__u32)max_u64(f->reno_cwnd, f->prior_reno);
	return (__u32)max_u64(tcp->cwnd, f->prior_cwnd);
}

/* Bandwidth: what was delivered in a round trip, smoothed. */
CC_INLINE void fusion_on_acked(struct fusion *f, const struct cc_params *p, struct cc_stack *tcp,
			       __u32 packets, __s64 rtt_us)
{
	__u64 took_us = tcp->now_us - f->sample_us, rate_q16;

	(void)p, (void)packets;
	queued_on_acked(&f->queue, rtt_us);
	if (took_us < f->queue.rtt_us)
		return;
	rate_q16 = mul_div_u64(tcp->delivered - f->sample_delivered, USEC_PER_SEC << 16, took_us);
	if (f->rate_q16)
		rate_q16 = f->rate_q16 - (f->rate_q16 >> FUSION_RATE_SHIFT) + (rate_q16 >> FUSION_RATE_SHIFT);
	f->rate_q16 = rate_q16;
	fusion_begin_sample(f, tcp);
}

/* A pause is no lack of bandwidth. */
CC_INLINE void fusion_on_event(struct fusion *f, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	(void)p;
	if (event == STACK_TX_START)
		fusion_begin_sample(f, tcp);
}

STACK_IGNORES_STATES(fusion)

#endif /* CLARION_CC_FUSION_H */
