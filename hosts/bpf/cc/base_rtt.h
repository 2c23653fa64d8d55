/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The round trip time of the empty path: a minimum over a bounded window, which also follows a path that has
 * become longer.
 *
 * The kernel's minimum (net.ipv4.tcp_min_rtt_wlen, 300 s) takes minutes to notice a longer path; until then
 * the whole difference looks like a queue. A plain shorter window would take a standing queue for the path.
 * So the base rises at once only where the queue cannot be this flow's: its round trips stayed the same
 * although its window fell.
 */
#ifndef CLARION_CC_BASE_RTT_H
#define CLARION_CC_BASE_RTT_H

#include "params.h"
#include "sample.h"

/* Rounds with the same longer round trip before the base follows. */
#define BASE_RTT_SHIFT_ROUNDS 3

struct base_rtt {
	__u32 min_us[2]; /* of this half of the window and of the one before; 0: none */
	__u32 half_began_us;
	__u32 round_min_us;  /* of this round; 0: none */
	__u32 shift_us;	     /* round trip that may be that of a longer path */
	__u32 shift_packets; /* window when it was first seen */
	__u8 shift_rounds;   /* rounds since */
	__u8 pad[3];
};

CC_INLINE __u32 least_known_u32(__u32 a, __u32 b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

CC_INLINE __u32 base_rtt_us(const struct base_rtt *base)
{
	return least_known_u32(base->min_us[0], base->min_us[1]);
}

CC_INLINE void base_rtt_sample(struct base_rtt *base, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 now_us = (__u32)s->now_us;

	if (!s->rtt_us)
		return;
	if (now_us - base->half_began_us > p->min_rtt_window_ms * 500ULL) {
		base->min_us[1] = base->min_us[0];
		base->min_us[0] = 0;
		base->half_began_us = now_us;
	}
	base->min_us[0] = least_known_u32(base->min_us[0], s->rtt_us);
	base->round_min_us = least_known_u32(base->round_min_us, s->rtt_us);
}

/* A quarter and two milliseconds above the base: no jitter. */
CC_INLINE int base_rtt_is_above(__u32 rtt_us, __u32 base_us)
{
	return base_us && rtt_us > base_us + base_us / 4 + 2000;
}

/* To be called as a round ends, with the window of that round. True if the base has followed a longer path.
 */
CC_SUBPROGRAM int base_rtt_round(struct base_rtt *base, __u32 cwnd_packets)
{
	__u32 rtt_us, off_us;

	if (!base)
		return 0;
	rtt_us = base->round_min_us;
	off_us = rtt_us > base->shift_us ? rtt_us - base->shift_us : base->shift_us - rtt_us;
	base->round_min_us = 0;
	if (!rtt_us)
		return 0;
	if (!base_rtt_is_above(rtt_us, base_rtt_us(base))) {
		base->shift_rounds = 0;
		return 0;
	}
	if (!base->shift_rounds || off_us > base->shift_us / 16) {
		base->shift_us = rtt_us;
		base->shift_packets = cwnd_packets;
		base->shift_rounds = 1;
		return 0;
	}
	if (base->shift_rounds < BASE_RTT_SHIFT_ROUNDS)
		base->shift_rounds++;
	if (base->shift_rounds < BASE_RTT_SHIFT_ROUNDS || cwnd_packets * 4ULL > base->shift_packets * 3ULL)
		return 0;
	base->min_us[0] = rtt_us;
	base->min_us[1] = 0;
	base->shift_rounds = 0;
	return 1;
}

#endif /* CLARION_CC_BASE_RTT_H */
