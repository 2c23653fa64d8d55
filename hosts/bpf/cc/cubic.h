/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* CUBIC (RFC 9438) in the integers of Linux: constants are fractions of 1024, time is ticks of the kernel's
 * coarse clock and, on the curve, seconds / 1024. Linux takes the cube root from a table, within 0.2 %; here
 * it is exact.
 */
#ifndef CLARION_CC_CUBIC_H
#define CLARION_CC_CUBIC_H

#include "hystart.h"

#define CUBIC_UNIT 1024
/* beta = 0.7, C = 0.4 packets/s^3 (RFC 9438, 4.6 and 5.1). */
#define CUBIC_BETA 717
#define CUBIC_C	   410
/* Eighths of a window acknowledged for each packet that Reno with this beta would add: the inverse of
 * 3 (1 - beta) / (1 + beta) (4.3).
 */
#define CUBIC_RENO_EIGHTHS (8 * (CUBIC_UNIT + CUBIC_BETA) / 3 / (CUBIC_UNIT - CUBIC_BETA))
/* C and three times the unit of time. */
#define CUBIC_CUBE_SHIFT 40
/* Beyond this distance from the plateau, 256 s, the cube would not fit. */
#define CUBIC_MAX_OFFSET (1U << 18)
/* Growth never waits for more than so many windows, and never exceeds half of the packets acknowledged. */
#define CUBIC_SLOWEST 100
#define CUBIC_FASTEST 2
/* Before the first loss there is no plateau to approach: not slower than 5 % per round trip. */
#define CUBIC_UNKNOWN_PER 20
/* While the window stays as it is, the curve is looked at so seldom. */
#define CUBIC_UPDATE_TICKS (STACK_HZ / 32)

struct cubic {
	struct hystart start;
	__u32 epoch;	    /* tick in which growth began after the last reduction; 0: it has not yet */
	__u32 last_update;  /* tick */
	__u32 last_cwnd;    /* at that update */
	__u32 k;	    /* from the epoch to the plateau, s / 1024 */
	__u32 plateau;	    /* packets (W_max of the curve) */
	__u32 last_max;	    /* window before the last reduction, less if it was shrinking; 0: none yet */
	__u32 per;	    /* packets acknowledged for each of growth */
	__u32 reno_cwnd;    /* window that Reno would have (W_est) */
	__u32 reno_acked;   /* packets acknowledged towards its next one */
	__u32 delay_min_us; /* 0: none yet */
	__u32 prior_cwnd;
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

CC_INLINE void cubic_init(struct cubic *c, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(c, 0, sizeof(*c));
	hystart_begin(&c->start, tcp);
	c->prior_cwnd = tcp->cwnd;
}

/* Where the curve is `after` (s / 1024) the epoch: C (t - K)^3 + W_max (RFC 9438, 4.2). */
CC_INLINE __u32 cubic_curve(const struct cubic *c, __u64 after)
{
	__u64 off = min_u64(after < c->k ? c->k - after : after - c->k, CUBIC_MAX_OFFSET);
	__u32 delta = (__u32)(CUBIC_C * off * off * off >> CUBIC_CUBE_SHIFT);

	return after < c->k ? c->plateau - delta : c->plateau + delta;
}

CC_INLINE void cubic_begin_epoch(struct cubic *c, __u32 now, __u32 cwnd, __u32 acked)
{
	c->epoch = now;
	c->reno_acked = acked;
	c->reno_cwnd = cwnd;
	if (c->last_max <= cwnd) {
		c->k = 0;
		c->plateau = cwnd;
	} else { /* (W_max - cwnd) / C */
		c->k = cubic_root((1ULL << CUBIC_CUBE_SHIFT) / CUBIC_C * (c->last_max - cwnd));
		c->plateau = c->last_max;
	}
}

/* Packets acknowledged for each of growth, so that the window is on the curve a round trip from now. */
CC_INLINE __u32 cubic_per(const struct cubic *c, __u32 now, __u32 cwnd)
{
	__u64 ticks = (__u64)(now - c->epoch) + stack_ticks_of(c->delay_min_us);
	__u32 target = cubic_curve(c, ticks * CUBIC_UNIT / STACK_HZ);
	__u32 per = target > cwnd ? cwnd / (target - cwnd) : CUBIC_SLOWEST * cwnd;

	return c->last_max ? per : (__u32)min_u64(per, CUBIC_UNKNOWN_PER);
}

/* The Reno-friendly region (4.3): not slower than Reno. */
CC_INLINE void cubic_befriend_reno(struct cubic *c, __u32 cwnd)
{
	__u32 each = (cwnd * CUBIC_RENO_EIGHTHS) >> 3;
	__u32 more = (__u32)div_u64(sub_floor_u64(c->reno_acked, 1),
				    each); /* the last packet waits for one beyond it */

	c->reno_acked -= more * each;
	c->reno_cwnd += more;
	if (c->reno_cwnd > cwnd)
		c->per = (__u32)min_u64(c->per, cwnd / (c->reno_cwnd - cwnd));
}

/* The curve moves with the coarse clock: between its ticks only Reno's window does. */
CC_INLINE void cubic_update(struct cubic *c, const struct cc_stack *tcp, __u32 acked)
{
	__u32 now = stack_ticks(tcp->now_us), cwnd = tcp->cwnd;

	c->reno_acked += acked;
	if (c->last_cwnd == cwnd && wrap_diff_u32(now, c->last_update) <= CUBIC_UPDATE_TICKS)
		return;
	if (!c->epoch || now != c->last_update) {
		c->last_cwnd = cwnd;
		c->last_update = now;
		if (!c->epoch)
			cubic_begin_epoch(c, now, cwnd, acked);
		c->per = cubic_per(c, now, cwnd);
	}
	cubic_befriend_reno(c, cwnd);
	c->per = (__u32)max_u64(c->per, CUBIC_FASTEST);
}

CC_INLINE void cubic_grow(struct cubic *c, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)p;
	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	cubic_update(c, tcp, acked);
	stack_grow(tcp, c->per, acked);
}

/* With fast convergence: a flow that loses below its last maximum makes room (4.7). */
CC_INLINE __u32 cubic_ssthresh(struct cubic *c, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	c->epoch = 0;
	c->prior_cwnd = tcp->cwnd;
	if (tcp->cwnd < c->last_max)
		c->last_max = tcp->cwnd * (CUBIC_UNIT + CUBIC_BETA) / (2 * CUBIC_UNIT);
	else
		c->last_max = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd * CUBIC_BETA / CUBIC_UNIT, 2);
}

STACK_UNDO_TO_PRIOR(cubic)

/* A timeout: what was learnt of the path is void (4.8). */
CC_INLINE void cubic_on_state(struct cubic *c, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	__u32 prior_cwnd = c->prior_cwnd;

	if (next != CA_STATE_LOSS)
		return;
	cubic_init(c, p, tcp);
	c->prior_cwnd = prior_cwnd;
}

/* Sending starts again after a pause: the curve does not run on meanwhile (4.2, 5.8). */
CC_INLINE void cubic_on_event(struct cubic *c, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	__u32 now = stack_ticks(tcp->now_us);
	__u32 paused = now - stack_ticks(tcp->last_sent_us);

	(void)p;
	if (event == STACK_TX_START && c->epoch && wrap_diff_u32(paused, 0) > 0)
		c->epoch += (__u32)min_u64(paused, now - c->epoch);
}

CC_INLINE void cubic_on_acked(struct cubic *c, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			      __s64 sample_us)
{
	__u32 rtt_us = (__u32)(sample_us > 1 ? sample_us : 1);

	(void)p, (void)packets;
	if (sample_us < 0)
		return;
	/* The first round trips after a reduction still have its queue. */
	if (c->epoch && wrap_diff_u32(stack_ticks(tcp->now_us), c->epoch) < STACK_HZ)
		return;
	if (!c->delay_min_us || rtt_us < c->delay_min_us)
		c->delay_min_us = rtt_us;
	if (c->start.has_found || !stack_is_slow_start(tcp))
		return;
	if (hystart_on_ack(&c->start, tcp, c->delay_min_us, rtt_us))
		tcp->ssthresh = tcp->cwnd;
}

#endif /* CLARION_CC_CUBIC_H */
