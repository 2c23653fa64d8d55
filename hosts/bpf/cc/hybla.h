/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", Int. J. Satellite
 * Communications and Networking 22, 2004) in the integers of Linux: a flow whose round trip is rho times a
 * reference grows its rate as one with the reference would: by 2^rho - 1 packets per ACK in slow start, by
 * rho^2 per window of ACKs after it. Shorter round trips grow as Reno does; a loss halves.
 */
#ifndef CLARION_CC_HYBLA_H
#define CLARION_CC_HYBLA_H

#include "stack.h"

/* Steps are counted in 1 / 128, rho in 1 / 8. */
#define HYBLA_STEP_SHIFT 7
#define HYBLA_STEP_ONE	 (1U << HYBLA_STEP_SHIFT)
#define HYBLA_RHO_SHIFT	 3
#define HYBLA_RHO_ONE	 (1U << HYBLA_RHO_SHIFT)
/* In slow start no more than 2^16 packets per ACK, and never a larger window than this. */
#define HYBLA_MAX_EXPONENT 16
#define HYBLA_MAX_WINDOW   65535

/* 2^(n / 8), rounded down: 128, 139, 152, 165, 181, 197, 215, 234, a byte each from the lowest on. As an
 * array of eight bytes clang would merge them with other constants, where the kernel does not take them.
 */
#define HYBLA_POWERS 0xead7c5b5a5988b80ULL

struct hybla {
	__u32 prior_cwnd;
	__u32 rho;
	__u32 rho_squared; /* 1 / 128 */
	__u32 min_srtt_us; /* that `rho` is of; 0: none yet */
	__u32 fraction;	   /* of a packet of growth, 1 / 128 */
	__u8 is_open;	   /* nothing is suspected lost */
	__u8 has_begun;	   /* the initial window has been set */
};

/* The least smoothed round trip counts. */
CC_INLINE void hybla_see_srtt(struct hybla *h, const struct cc_params *p, __u32 srtt_us)
{
	__u64 rtt0_us = p->hybla_rtt0_ms * 1000ULL;

	if (!srtt_us || (h->min_srtt_us && srtt_us >= h->min_srtt_us))
		return;
	h->min_srtt_us = srtt_us;
	h->rho = (__u32)max_u64(div_u64((__u64)srtt_us << HYBLA_RHO_SHIFT, rtt0_us), HYBLA_RHO_ONE);
	h->rho_squared =
	    (__u32)min_u64((__u64)h->rho * h->rho << (HYBLA_STEP_SHIFT - 2 * HYBLA_RHO_SHIFT), ~0U);
}

CC_INLINE void hybla_init(struct hybla *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->prior_cwnd = tcp->cwnd;
	h->rho = HYBLA_RHO_ONE;
	h->rho_squared = HYBLA_STEP_ONE;
	h->is_open = 1;
	hybla_see_srtt(h, p, tcp->srtt_us);
}

/* The initial window is rho: with the first packet, since `init` may not change a window. */
CC_INLINE void hybla_begin(struct hybla *h, struct cc_stack *tcp)
{
	if (h->has_begun)
		return;
	h->has_begun = 1;
	tcp->cwnd = h->rho >> HYBLA_RHO_SHIFT;
}

CC_INLINE __u32 hybla_power(__u32 eighths)
{
	return (__u32)(HYBLA_POWERS >> (8 * (eighths % HYBLA_RHO_ONE))) & 0xff;
}

/* 2^rho - 1. */
CC_INLINE __u32 hybla_slow_start_step(const struct hybla *h)
{
	__u32 exponent = (__u32)min_u64(h->rho >> HYBLA_RHO_SHIFT, HYBLA_MAX_EXPONENT);

	return (hybla_power(h->rho) << exponent) - HYBLA_STEP_ONE;
}

/* Where a step is less than 1 / 128, a packet per window. */
CC_INLINE void hybla_add(struct hybla *h, struct cc_stack *tcp, __u32 step)
{
	tcp->cwnd += step >> HYBLA_STEP_SHIFT;
	h->fraction += step % HYBLA_STEP_ONE;
	if (h->fraction >= HYBLA_STEP_ONE) {
		h->fraction -= HYBLA_STEP_ONE;
		tcp->cwnd++;
		tcp->cwnd_count = 0;
	}
	if (!step && tcp->cwnd_count >= tcp->cwnd) {
		tcp->cwnd++;
		tcp->cwnd_count = 0;
	}
}

/* For each ACK, however many packets it acknowledges: 2^rho - 1, or rho^2 / w. */
CC_INLINE void hybla_grow_open(struct hybla *h, struct cc_stack *tcp)
{
	if (stack_is_slow_start(tcp)) {
		hybla_add(h, tcp, hybla_slow_start_step(h));
		tcp->cwnd = (__u32)min_u64(tcp->cwnd, tcp->ssthresh);
	} else {
		__u32 step = (__u32)div_u64(h->rho_squared, tcp->cwnd);

		if (step < HYBLA_STEP_ONE)
			tcp->cwnd_count++;
		hybla_add(h, tcp, step);
	}
	tcp->cwnd = (__u32)min_u64(tcp->cwnd, tcp->cwnd_clamp);
}

CC_INLINE void hybla_grow(struct hybla *h, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	tcp->cwnd_clamp = (__u32)min_u64(tcp->cwnd_clamp, HYBLA_MAX_WINDOW);
	hybla_see_srtt(h, p, tcp->srtt_us);
	if (!h->is_open) { /* as Reno */
		if (stack_is_past_slow_start(tcp, &acked))
			stack_grow(tcp, tcp->cwnd, acked);
	} else if (tcp->is_cwnd_limited) {
		hybla_grow_open(h, tcp);
	}
}

CC_INLINE void hybla_on_acked(struct hybla *h, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			      __s64 rtt_us)
{
	(void)p, (void)packets, (void)rtt_us;
	hybla_begin(h, tcp);
}

CC_INLINE void hybla_on_state(struct hybla *h, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	(void)p, (void)tcp;
	h->is_open = next == CA_STATE_OPEN;
}

CC_INLINE void hybla_on_event(struct hybla *h, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	(void)p, (void)event;
	hybla_begin(h, tcp);
}

CC_INLINE __u32 hybla_ssthresh(struct hybla *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	h->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd / 2, 2);
}

STACK_UNDO_TO_PRIOR(hybla)

#endif /* CLARION_CC_HYBLA_H */
