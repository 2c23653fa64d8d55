/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP Adaptive Reno (Shimonishi and Murase, "Improving Efficiency-Friendliness Tradeoffs of TCP Congestion
 * Control Algorithm", Globecom 2005; Shimonishi, Hama, Murase, PFLDnet 2006): the window is a base that grows
 * as Reno's and a probing part on top whose growth depends on the level of congestion c: where the round trip
 * stands between the least one and those at which packets were lost. With no queue it grows in proportion to
 * the measured bandwidth, with some it gives that back, and a loss leaves W / (1 + c).
 */
#ifndef CLARION_CC_ARENO_H
#define CLARION_CC_ARENO_H

#include "westwood_rate.h"

#define ARENO_ONE	  (1ULL << 32) /* of fractions in Q32 */
#define ARENO_LN2	  2977044472ULL
#define ARENO_EXP_TERMS	  10	       /* below 2e-9 of the value */
#define ARENO_MAX_INC_Q16 (1ULL << 31) /* packets per round trip */

struct areno {
	struct westwood_count count;
	__u64 base_q32; /* packets, as the next */
	__u64 probe_q32;
	__u32 cwnd;	  /* that the two made; another one has been set by TCP */
	__u32 prior_cwnd; /* before the last reduction */
	__u32 rtt_us;	  /* newest sample; 0: none yet */
	__u32 rtt_min_us;
	__u32 rtt_cong_us; /* smoothed, at losses; 0: no loss yet */
};

CC_INLINE void areno_init(struct areno *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	westwood_count_init(&l->count, tcp);
	l->prior_cwnd = tcp->cwnd;
}

CC_INLINE void areno_on_acked(struct areno *l, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			      __s64 rtt_us)
{
	(void)p, (void)packets;
	westwood_count_acked(&l->count, tcp, rtt_us, WESTWOOD_COUNT_MS, WESTWOOD_COUNT_OLD_EIGHTHS);
	westwood_observe_rtt(&l->rtt_min_us, rtt_us);
	if (rtt_us > 0)
		l->rtt_us = (__u32)rtt_us;
}

/* c = (RTT - RTTmin) / (RTTcong - RTTmin), at most 1; 0 while no loss has come with a queue. */
CC_INLINE __u32 areno_congestion_q16(const struct areno *l)
{
	if (l->rtt_cong_us <= l->rtt_min_us || l->rtt_us <= l->rtt_min_us)
		return 0;
	return (__u32)min_u64(ratio_q16(l->rtt_us - l->rtt_min_us, l->rtt_cong_us - l->rtt_min_us), Q16_ONE);
}

/* e^-x in Q32, x in Q16 up to 2^20: whole powers of two by shifts, the rest by its series. */
CC_INLINE __u64 areno_exp_q32(__u32 x_q16)
{
	__u64 x = (__u64)x_q16 << 16, halvings = x / ARENO_LN2;
	__u64 rest = x - halvings * ARENO_LN2, e = ARENO_ONE;

	for (__u32 i = ARENO_EXP_TERMS; i > 0; i--)
		e = ARENO_ONE - (rest * e >> 32) / i;
	return e >> halvings;
}

/* Winc(c) / Wincmax = e^(-a c) + 2 c (1/a - (1/a + 1) / e^a) - 2 (1/a - (1/a + 1/2) / e^a), in Q32: 0.8 with
 * no congestion (for a = 10), 0 with all of it, and between them below 0 so that it sums up to 0.
 */
CC_INLINE __s64 areno_shape_q32(__u32 alpha, __u32 c_q16)
{
	__u64 end = areno_exp_q32(alpha << 16), inverse = ARENO_ONE / alpha;
	__u64 slope = 2 * (inverse - end / alpha - end), drop = 2 * (inverse - end / alpha - end / 2);

	return (__s64)(areno_exp_q32(alpha * c_q16) + (slope * c_q16 >> 16)) - (__s64)drop;
}

/* Wincmax = B / M. */
CC_INLINE __u64 areno_max_inc_q16(const struct areno *l, const struct cc_params *p)
{
	__u64 bits_per_s = 8 * westwood_count_bytes_per_s(&l->count);
	__u64 m = USEC_PER_SEC * p->areno_scale_mbit_per_s;

	return min_u64(ratio_q16(bits_per_s, m), ARENO_MAX_INC_Q16);
}

/* Growth of the probing part per round trip. */
CC_INLINE __s64 areno_inc_q16(const struct areno *l, const struct cc_params *p)
{
	__s64 shape = areno_shape_q32(p->areno_alpha, areno_congestion_q16(l));
	__u64 max_inc = areno_max_inc_q16(l, p);
	__s64 offset = (__s64)(p->areno_gamma_packets * Q16_ONE);

	if (shape < 0)
		return offset - (__s64)(max_inc * (__u64)-shape >> 32);
	return offset + (__s64)(max_inc * (__u64)shape >> 32);
}

/* What each of `acked` packets adds: 1 / W to the base, Winc / W to the probing part, which ends at 0. */
CC_INLINE void areno_grow(struct areno *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	__u64 step, most = (__u64)tcp->cwnd_clamp << 32;
	__s64 inc;

	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	if (tcp->cwnd != l->cwnd) {
		l->base_q32 = (__u64)tcp->cwnd << 32;
		l->probe_q32 = 0;
	}
	inc = areno_inc_q16(l, p);
	step = mul_div_u64((inc < 0 ? (__u64)-inc : (__u64)inc) << 16, acked, tcp->cwnd);
	l->base_q32 = min_u64(l->base_q32 + div_u64(acked * ARENO_ONE, tcp->cwnd), most);
	l->probe_q32 = inc < 0 ? sub_floor_u64(l->probe_q32, step) : add_sat_u64(l->probe_q32, step);
	l->probe_q32 = min_u64(l->probe_q32, most - l->base_q32);
	l->cwnd = tcp->cwnd = (__u32)((l->base_q32 + l->probe_q32) >> 32);
}

/* RTTcong moves towards the round trip at this loss; the first one sets it. */
CC_INLINE __u32 areno_ssthresh(struct areno *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 old = p->areno_cong_old_percent;

	if (l->rtt_cong_us < l->rtt_min_us || !l->rtt_cong_us)
		old = 0;
	l->rtt_cong_us = (__u32)((l->rtt_cong_us * old + l->rtt_us * (100 - old)) / 100);
	l->prior_cwnd = tcp->cwnd;
	l->cwnd = 0; /* all of what is left is base */
	return (__u32)max_u64(((__u64)tcp->cwnd << 16) / (Q16_ONE + areno_congestion_q16(l)), 2);
}

STACK_UNDO_TO_PRIOR(areno)
STACK_IGNORES_STATES(areno)
STACK_IGNORES_EVENTS(areno)

#endif /* CLARION_CC_ARENO_H */
