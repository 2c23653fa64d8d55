/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BIC (Xu, Harfoush and Rhee, "Binary Increase Congestion Control for Fast Long-Distance Networks", INFOCOM
 * 2004) in the integers of Linux: after a loss the window searches for the one before it, a quarter of the
 * distance per round trip, by a bounded step while it is far away and slowly when it is there; then it
 * searches beyond, the same way back.
 */
#ifndef CLARION_CC_BIC_H
#define CLARION_CC_BIC_H

#include "stack.h"

/* The search goes a quarter of the way in a round trip, and is slow where that is one packet or less; beyond
 * the maximum, up to four packets from it.
 */
#define BIC_PARTS 4
/* Before the first loss there is no maximum to search for: not slower than 5 % per round trip. */
#define BIC_UNKNOWN_PER 20
/* While the window stays as it is, the search is looked at so seldom. */
#define BIC_UPDATE_TICKS (STACK_HZ / 32)
/* Packets per ACK are counted in sixteenths, and smoothed over as many ACKs. Two until ACKs have come. */
#define BIC_RATIO_SHIFT 4
#define BIC_FIRST_RATIO (2U << BIC_RATIO_SHIFT)

struct bic {
	__u32 last_max;	   /* window before the last reduction, less if it was shrinking; 0: none yet */
	__u32 per;	   /* packets acknowledged for each of growth */
	__u32 last_cwnd;   /* when `per` was worked out */
	__u32 last_update; /* tick */
	__u32 ratio;	   /* packets per ACK, 1 / 16 */
	__u32 prior_cwnd;
};

CC_INLINE void bic_forget(struct bic *b)
{
	b->last_max = b->per = b->last_cwnd = b->last_update = 0;
	b->ratio = BIC_FIRST_RATIO;
}

CC_INLINE void bic_init(struct bic *b, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	bic_forget(b);
	b->prior_cwnd = tcp->cwnd;
}

/* At the maximum: four packets in bic_smooth_rtts round trips. */
CC_INLINE __u32 bic_slow_per(const struct cc_params *p, __u32 cwnd)
{
	return (__u32)min_u64((__u64)cwnd * p->bic_smooth_rtts / BIC_PARTS, ~0U);
}

/* Below the maximum: a quarter of the distance per round trip. */
CC_INLINE __u32 bic_search_per(const struct bic *b, const struct cc_params *p, __u32 cwnd)
{
	__u32 step = (b->last_max - cwnd) / BIC_PARTS;

	if (step <= 1)
		return bic_slow_per(p, cwnd);
	return cwnd / (__u32)min_u64(step, p->bic_max_increment_packets);
}

/* Beyond it: faster with the distance. */
CC_INLINE __u32 bic_probe_per(const struct bic *b, const struct cc_params *p, __u32 cwnd)
{
	__u32 beyond = cwnd - b->last_max;

	if (beyond < BIC_PARTS)
		return bic_slow_per(p, cwnd);
	if (beyond < p->bic_max_increment_packets * (BIC_PARTS - 1))
		return (__u32)min_u64((__u64)cwnd * (BIC_PARTS - 1) / beyond, ~0U);
	return cwnd / p->bic_max_increment_packets;
}

/* Growth counts packets, and still is sped up by the packets per ACK, as if it counted ACKs. */
CC_INLINE __u32 bic_per(const struct bic *b, const struct cc_params *p, __u32 cwnd)
{
	__u64 per;

	if (cwnd <= p->bic_low_window_packets)
		return cwnd;
	per = cwnd < b->last_max ? bic_search_per(b, p, cwnd) : bic_probe_per(b, p, cwnd);
	if (!b->last_max)
		per = min_u64(per, BIC_UNKNOWN_PER);
	return (__u32)max_u64(div_u64(per << BIC_RATIO_SHIFT, b->ratio), 1);
}

CC_INLINE void bic_update(struct bic *b, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 now = stack_ticks(tcp->now_us);

	if (b->last_cwnd == tcp->cwnd && wrap_diff_u32(now, b->last_update) <= BIC_UPDATE_TICKS)
		return;
	b->last_cwnd = tcp->cwnd;
	b->last_update = now;
	b->per = bic_per(b, p, tcp->cwnd);
}

CC_INLINE void bic_grow(struct bic *b, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	bic_update(b, p, tcp);
	stack_grow(tcp, b->per, acked);
}

/* With fast convergence: a flow that loses below its last maximum makes room. */
CC_INLINE __u32 bic_ssthresh(struct bic *b, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 cwnd = tcp->cwnd;

	b->prior_cwnd = tcp->cwnd;
	if (p->bic_fast_convergence && tcp->cwnd < b->last_max)
		b->last_max = (__u32)(cwnd * (Q16_ONE + p->bic_beta_q16) / (2 * Q16_ONE));
	else
		b->last_max = tcp->cwnd;
	if (tcp->cwnd <= p->bic_low_window_packets)
		return (__u32)max_u64(cwnd / 2, 2);
	return (__u32)max_u64(scale_q16(cwnd, p->bic_beta_q16), 2);
}

STACK_UNDO_TO_PRIOR(bic)

/* A timeout: what was learnt of the path is void. */
CC_INLINE void bic_on_state(struct bic *b, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	(void)p, (void)tcp;
	if (next == CA_STATE_LOSS)
		bic_forget(b);
}

CC_INLINE void bic_on_acked(struct bic *b, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			    __s64 rtt_us)
{
	(void)p, (void)rtt_us;
	if (tcp->ca_state == CA_STATE_OPEN)
		b->ratio += packets - (b->ratio >> BIC_RATIO_SHIFT);
}

STACK_IGNORES_EVENTS(bic)

#endif /* CLARION_CC_BIC_H */
