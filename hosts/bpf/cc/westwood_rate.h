/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What the laws of the Westwood family share: the bandwidth of the path, measured at the sender from what
 * ACKs deliver, as Westwood+ counts it and as the first Westwood filters it; the window that this bandwidth
 * fills on a path without queues; and a loss that sets the slow start threshold to it.
 *
 * Delivered data is what TCP counts (SACKed packets when they are SACKed), which is what the rules of the
 * papers for duplicate, partial and delayed ACKs were made to find out.
 */
#ifndef CLARION_CC_WESTWOOD_RATE_H
#define CLARION_CC_WESTWOOD_RATE_H

#include "stack.h"

#define WESTWOOD_MIN_WINDOW 2

/* --- the window --- */

/* The least round trip so far; 0: none yet. */
CC_INLINE void westwood_observe_rtt(__u32 *rtt_min_us, __s64 rtt_us)
{
	if (rtt_us > 0 && (!*rtt_min_us || rtt_us < *rtt_min_us))
		*rtt_min_us = (__u32)rtt_us;
}

/* Bandwidth x RTTmin, packets; 0 while either is unknown. */
CC_INLINE __u32 westwood_window(__u64 bytes_per_s, __u32 rtt_min_us, __u32 mss_bytes)
{
	__u64 packets = mul_div_u64(bytes_per_s, rtt_min_us, USEC_PER_SEC * mss_bytes);

	return (__u32)min_u64(packets, STACK_INFINITE_SSTHRESH);
}

/* --- a loss --- */

/* The papers set ssthresh = limit and the window to that only where it is more, so that a window below its
 * limit stays and goes on in slow start. TCP moves the window to ssthresh all the way; so it is told the
 * smaller of the two, and the limit takes its place when the reduction is over.
 */
struct westwood_cut {
	__u32 prior_cwnd; /* before the last reduction */
	__u32 limit;	  /* packets; 0: no reduction is under way */
};

CC_INLINE __u32 westwood_cut_to(struct westwood_cut *cut, const struct cc_stack *tcp, __u32 limit)
{
	cut->prior_cwnd = tcp->cwnd;
	cut->limit = (__u32)max_u64(limit, WESTWOOD_MIN_WINDOW);
	return (__u32)min_u64(cut->limit, max_u64(tcp->cwnd, WESTWOOD_MIN_WINDOW));
}

CC_INLINE void westwood_cut_event(struct westwood_cut *cut, struct cc_stack *tcp, __u8 event)
{
	if (!cut->limit || (event != STACK_COMPLETE_CWR && event != STACK_LOSS))
		return;
	tcp->ssthresh = cut->limit;
	cut->limit = 0;
}

/* An undo ends the reduction, too: TCP restores ssthresh. */
CC_INLINE __u32 westwood_cut_undo(struct westwood_cut *cut, const struct cc_stack *tcp)
{
	cut->limit = 0;
	return (__u32)max_u64(tcp->cwnd, cut->prior_cwnd);
}

/* Undo and events of a law with such a `cut`. */
#define WESTWOOD_CUTS(law)                                                                                   \
	CC_INLINE __u32 law##_undo(struct law *l, const struct cc_params *p, const struct cc_stack *tcp)     \
	{                                                                                                    \
		(void)p;                                                                                     \
		return westwood_cut_undo(&l->cut, tcp);                                                      \
	}                                                                                                    \
	CC_INLINE void law##_on_event(struct law *l, const struct cc_params *p, struct cc_stack *tcp,        \
				      __u8 event)                                                            \
	{                                                                                                    \
		(void)p;                                                                                     \
		westwood_cut_event(&l->cut, tcp, event);                                                     \
	}

/* --- bandwidth, counted (Westwood+) --- */

#define WESTWOOD_COUNT_MS	   50
#define WESTWOOD_COUNT_OLD_EIGHTHS 7
/* The round trip before any is known. */
#define WESTWOOD_FIRST_RTT_TICKS (20 * STACK_HZ)

/* As Linux counts: bytes per tick of the coarse clock, over a round trip but not less than 50 ms, through two
 * filters in a row.
 */
struct westwood_count {
	__u32 began;	     /* tick */
	__u32 packets;	     /* delivered since then */
	__u32 delivered;     /* of the connection, at the last ACK */
	__u32 rtt_ticks;     /* newest sample */
	__u32 rtt_min_ticks; /* least one; 0: the next ACK sets it */
	__u32 once_filtered; /* bytes per tick */
	__u32 bandwidth;     /* bytes per tick */
	__u8 has_begun;	     /* an ACK has come */
};

CC_INLINE void westwood_count_init(struct westwood_count *c, const struct cc_stack *tcp)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->began = stack_ticks(tcp->now_us);
	c->rtt_ticks = WESTWOOD_FIRST_RTT_TICKS;
}

CC_INLINE __u32 westwood_mix(__u32 old, __u32 sample, __u32 old_eighths)
{
	return (__u32)(((__u64)old * old_eighths + (__u64)sample * (8 - old_eighths)) >> 3);
}

CC_INLINE void westwood_count_sample(struct westwood_count *c, __u32 sample, __u32 old_eighths)
{
	if (!c->once_filtered && !c->bandwidth) { /* nothing to be smoothed yet */
		c->once_filtered = c->bandwidth = sample;
		return;
	}
	c->once_filtered = westwood_mix(c->once_filtered, sample, old_eighths);
	c->bandwidth = westwood_mix(c->bandwidth, c->once_filtered, old_eighths);
}

/* In the order of Linux: an ACK that closes a sample belongs to the next one, and its round trip counts from
 * the next ACK on.
 */
CC_INLINE void westwood_count_acked(struct westwood_count *c, const struct cc_stack *tcp, __s64 rtt_us,
				    __u32 least_ms, __u32 old_eighths)
{
	__u32 now = stack_ticks(tcp->now_us), ticks = now - c->began;

	if (!c->has_begun) {
		c->has_begun = 1;
		c->delivered = tcp->delivered;
	}
	if (ticks > max_u64(c->rtt_ticks, (__u64)least_ms * STACK_HZ / 1000)) {
		__u64 bytes = (__u64)c->packets * tcp->mss_bytes;

		westwood_count_sample(c, (__u32)div_u64(bytes, ticks), old_eighths);
		c->packets = 0;
		c->began = now;
	}
	c->packets += tcp->delivered - c->delivered;
	c->delivered = tcp->delivered;
	if (!c->rtt_min_ticks || c->rtt_ticks < c->rtt_min_ticks)
		c->rtt_min_ticks = c->rtt_ticks;
	if (rtt_us > 0)
		c->rtt_ticks = stack_ticks_of((__u32)rtt_us);
}

/* Bandwidth x RTTmin, packets. */
CC_INLINE __u32 westwood_count_window(const struct westwood_count *c, __u32 mss_bytes)
{
	__u64 packets = div_u64((__u64)c->bandwidth * c->rtt_min_ticks, mss_bytes);

	return (__u32)clamp_u64(packets, WESTWOOD_MIN_WINDOW, STACK_INFINITE_SSTHRESH);
}

CC_INLINE __u64 westwood_count_bytes_per_s(const struct westwood_count *c)
{
	return (__u64)c->bandwidth * STACK_HZ;
}

/* --- bandwidth, filtered per ACK (Westwood) --- */

/* 2.2 Tbit/s: below it no product of the filter overflows. */
#define WESTWOOD_MAX_BYTES_PER_S (1ULL << 38)
/* After so many empty samples nothing is left: 0.6^64 < 2^-47. */
#define WESTWOOD_MAX_NULLS 64
/* What is left of a pause after its empty samples is not a sample of its own when it is shorter. */
#define WESTWOOD_SHORT_US 10000

struct westwood_filter {
	__u64 last_us; /* when something was delivered last; 0: no ACK yet */
	__u64 sample;  /* the last one, bytes/s */
	__u64 bandwidth;
	__u32 delivered; /* of the connection, then */
};

/* Of `packets` in `us`; needs us > 0. */
CC_INLINE __u64 westwood_sample(const struct cc_stack *tcp, __u32 packets, __u64 us)
{
	__u64 bytes = (__u64)packets * tcp->mss_bytes;

	return min_u64(mul_div_u64(bytes, USEC_PER_SEC, us), WESTWOOD_MAX_BYTES_PER_S);
}

/* The low-pass filter of first order with time constant tau, made discrete by Tustin's rule for samples that
 * do not come evenly; needs us < 2 tau.
 */
CC_INLINE void westwood_filter_take(struct westwood_filter *f, __u64 sample, __u64 us, __u64 tau_us)
{
	__u64 kept = (2 * tau_us - us) * f->bandwidth, added = us * (sample + f->sample);

	f->bandwidth = div_u64(kept + added, 2 * tau_us + us);
	f->sample = sample;
}

/* True: there is a new estimate. An ACK that delivers nothing, or in the same microsecond as the one before,
 * is counted with the next. Each half of tau without any is a sample of nothing.
 */
CC_INLINE int westwood_filter_acked(struct westwood_filter *f, const struct cc_stack *tcp, __u32 tau_ms)
{
	__u64 tau_us = (__u64)tau_ms * 1000, us = tcp->now_us - f->last_us;
	__s32 packets = wrap_diff_u32(tcp->delivered, f->delivered);
	__u64 nulls = div_u64(us, tau_us / 2), last_us = us - nulls * (tau_us / 2);

	if (f->last_us && (packets <= 0 || !us))
		return 0;
	if (f->last_us) {
		if (nulls && last_us < WESTWOOD_SHORT_US) {
			nulls--;
			last_us += tau_us / 2;
		}
		for (__u32 i = 0; i < WESTWOOD_MAX_NULLS && i < nulls; i++)
			westwood_filter_take(f, 0, tau_us / 2, tau_us);
		westwood_filter_take(f, westwood_sample(tcp, (__u32)packets, last_us), last_us, tau_us);
	}
	f->last_us = tcp->now_us;
	f->delivered = tcp->delivered;
	return f->bandwidth > 0;
}

#endif /* CLARION_CC_WESTWOOD_RATE_H */
