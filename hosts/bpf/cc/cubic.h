/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* CUBIC (RFC 9438) with HyStart (Ha and Rhee, "Taming the Elephants: New TCP Slow Start", 2011), with the
 * constants of Linux, so that it can be held against the kernel's own.
 */
#ifndef CLARION_CC_CUBIC_H
#define CLARION_CC_CUBIC_H

#include "stack.h"

/* C = 0.4 packets/s^3, beta = 0.7 (RFC 9438, 4.6 and 5.1). */
#define CUBIC_C_TENTHS	   4
#define CUBIC_BETA_PERCENT 70
/* Packets of growth per round trip that Reno with this beta would have: 3 (1 - beta) / (1 + beta) (4.3). */
#define CUBIC_ALPHA_Q16 34694
/* Beyond this distance from the plateau, in ms, the cube would not fit; the window is the limit long before.
 */
#define CUBIC_MAX_MS 1000000
/* Growth never waits for more than so many windows, and never exceeds half of the packets acknowledged. */
#define CUBIC_SLOWEST 100
#define CUBIC_FASTEST 2
/* Before the first loss there is no plateau to approach: not slower than 5 % per round trip. */
#define CUBIC_UNKNOWN_PER 20

#define HYSTART_LOW_WINDOW   16
#define HYSTART_SAMPLES	     8
#define HYSTART_TRAIN_GAP_US 2000
#define HYSTART_DELAY_MIN_US 4000
#define HYSTART_DELAY_MAX_US 16000
#define HYSTART_STEADY_ACKS  1000000 /* a base that is older than a second after a loss is forgotten: us */

struct cubic {
	__u64 epoch_us; /* when growth began after the last reduction; 0: it has not yet */
	__u64 last_update_us;
	__u64 round_began_us;
	__u64 last_ack_us;
	__u64 k_ms;	/* from the epoch to the plateau */
	__u64 reno_q16; /* window that Reno would have (W_est) */
	__u32 plateau;	/* packets (W_max of the curve) */
	__u32 last_max; /* window before the last reduction, less if it was shrinking; 0: none yet */
	__u32 last_cwnd;
	__u32 per; /* packets acknowledged for each of growth */
	__u32 prior_cwnd;
	__u32 delay_min_us;   /* 0: none yet */
	__u32 round_end;      /* packets sent when the round began */
	__u32 round_delay_us; /* least of this round's first samples; 0: none yet */
	__u8 samples;
	__u8 has_exited; /* slow start, by HyStart */
};

/* The cube root, rounded down. */
CC_INLINE __u32 cubic_root(__u64 v)
{
	__u64 root = 0;

	for (int shift = 20; shift >= 0; shift--) { /* (2^21)^3 fits */
		__u64 tried = root | 1ULL << shift;

		if (tried * tried * tried <= v)
			root = tried;
	}
	return (__u32)root;
}

CC_INLINE void cubic_begin_round(struct cubic *c, const struct cc_stack *tcp)
{
	c->round_began_us = c->last_ack_us = tcp->now_us;
	c->round_end = tcp->next;
	c->round_delay_us = 0;
	c->samples = 0;
}

CC_INLINE void cubic_forget(struct cubic *c)
{
	__builtin_memset(c, 0, sizeof(*c));
}

CC_INLINE void cubic_init(struct cubic *c, const struct cc_stack *tcp)
{
	cubic_forget(c);
	cubic_begin_round(c, tcp);
	c->prior_cwnd = tcp->cwnd;
}

/* Where the curve is `after_ms` after the epoch: C (t - K)^3 + W_max (RFC 9438, 4.2). */
CC_INLINE __u32 cubic_curve(const struct cubic *c, __u64 after_ms)
{
	__u64 off_ms = after_ms < c->k_ms ? c->k_ms - after_ms : after_ms - c->k_ms;
	__u64 offset;

	off_ms = min_u64(off_ms, CUBIC_MAX_MS);
	offset = off_ms * off_ms * off_ms * CUBIC_C_TENTHS / 10000000000ULL;
	if (after_ms < c->k_ms)
		return (__u32)sub_floor_u64(c->plateau, offset);
	return (__u32)min_u64(c->plateau + offset, STACK_INFINITE_SSTHRESH);
}

CC_INLINE void cubic_begin_epoch(struct cubic *c, const struct cc_stack *tcp)
{
	c->epoch_us = tcp->now_us;
	c->reno_q16 = (__u64)tcp->cwnd << 16;
	if (c->last_max <= tcp->cwnd) {
		c->k_ms = 0;
		c->plateau = tcp->cwnd;
	} else {
		/* (W_max - cwnd) / C in packets s^3, as ms^3 */
		c->k_ms = cubic_root((__u64)(c->last_max - tcp->cwnd) * 10000000000ULL / CUBIC_C_TENTHS);
		c->plateau = c->last_max;
	}
}

/* Packets acknowledged for each of growth, so that the window is on the curve a round trip from now. */
CC_INLINE void cubic_update(struct cubic *c, const struct cc_stack *tcp, __u32 acked)
{
	__u32 target, per;

	if (!c->epoch_us)
		cubic_begin_epoch(c, tcp);
	c->reno_q16 += div_u64((__u64)acked * CUBIC_ALPHA_Q16, tcp->cwnd);
	target = cubic_curve(c, (tcp->now_us - c->epoch_us + c->delay_min_us) / 1000);
	per = target > tcp->cwnd ? tcp->cwnd / (target - tcp->cwnd) : CUBIC_SLOWEST * tcp->cwnd;
	if (!c->last_max && per > CUBIC_UNKNOWN_PER)
		per = CUBIC_UNKNOWN_PER;
	if (c->reno_q16 >> 16 > tcp->cwnd) { /* the Reno-friendly region (4.3) */
		__u32 ahead = (__u32)(c->reno_q16 >> 16) - tcp->cwnd;

		per = (__u32)min_u64(per, tcp->cwnd / ahead);
	}
	c->per = (__u32)max_u64(per, CUBIC_FASTEST);
}

CC_INLINE void cubic_grow(struct cubic *c, struct cc_stack *tcp, __u32 acked)
{
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		acked = stack_slow_start(tcp, acked);
		if (!acked)
			return;
	}
	cubic_update(c, tcp, acked);
	stack_grow(tcp, c->per, acked);
}

/* With fast convergence: a flow that loses below its last maximum makes room (4.7). */
CC_INLINE __u32 cubic_ssthresh(struct cubic *c, const struct cc_stack *tcp)
{
	c->epoch_us = 0;
	c->prior_cwnd = tcp->cwnd;
	if (tcp->cwnd < c->last_max)
		c->last_max = (__u32)scale_percent(tcp->cwnd, (100 + CUBIC_BETA_PERCENT) / 2);
	else
		c->last_max = tcp->cwnd;
	return (__u32)max_u64(scale_percent(tcp->cwnd, CUBIC_BETA_PERCENT), 2);
}

CC_INLINE __u32 cubic_undo(const struct cubic *c, const struct cc_stack *tcp)
{
	return (__u32)max_u64(tcp->cwnd, c->prior_cwnd);
}

/* A timeout: what was learnt of the path is void (4.8). */
CC_INLINE void cubic_on_timeout(struct cubic *c, const struct cc_stack *tcp)
{
	__u32 prior_cwnd = c->prior_cwnd;

	cubic_forget(c);
	c->prior_cwnd = prior_cwnd;
	cubic_begin_round(c, tcp);
}

/* Sending starts again after `idle_us`: the curve does not run on meanwhile (4.2, 5.8). */
CC_INLINE void cubic_on_restart(struct cubic *c, __u64 idle_us)
{
	if (c->epoch_us)
		c->epoch_us += idle_us;
}

/* Slow start has filled the pipe: ACKs in one train for as long as half of the path's round trip, or
 * round trips that have grown.
 */
CC_INLINE int cubic_hystart_found(struct cubic *c, const struct cc_stack *tcp, __u32 rtt_us)
{
	__u64 train_us = tcp->is_paced ? c->delay_min_us : c->delay_min_us / 2;
	__u32 late_us = (__u32)clamp_u64(c->delay_min_us / 8, HYSTART_DELAY_MIN_US, HYSTART_DELAY_MAX_US);

	if (tcp->now_us - c->last_ack_us <= HYSTART_TRAIN_GAP_US) {
		c->last_ack_us = tcp->now_us;
		if (tcp->now_us - c->round_began_us > train_us)
			return 1;
	}
	if (c->samples < HYSTART_SAMPLES) {
		c->samples++;
		if (!c->round_delay_us || rtt_us < c->round_delay_us)
			c->round_delay_us = rtt_us;
		return 0;
	}
	return c->round_delay_us > c->delay_min_us + late_us;
}

/* Packets have been acknowledged in order, the newest after `rtt_us`; 0: no sample. */
CC_INLINE void cubic_on_acked(struct cubic *c, struct cc_stack *tcp, __u32 rtt_us)
{
	if (!rtt_us)
		return;
	/* The first round trips after a reduction still have its queue. */
	if (c->epoch_us && tcp->now_us - c->epoch_us < HYSTART_STEADY_ACKS)
		return;
	if (!c->delay_min_us || rtt_us < c->delay_min_us)
		c->delay_min_us = rtt_us;
	if (!stack_is_slow_start(tcp) || tcp->cwnd < HYSTART_LOW_WINDOW)
		return;
	if (wrap_diff_u32(tcp->una, c->round_end) > 0)
		cubic_begin_round(c, tcp);
	if (cubic_hystart_found(c, tcp, rtt_us)) {
		c->has_exited = 1;
		tcp->ssthresh = tcp->cwnd;
	}
}

#endif /* CLARION_CC_CUBIC_H */
