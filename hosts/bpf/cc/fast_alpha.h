/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What alpha of FAST is, the packets that a flow keeps in the queues of its path:
 *
 *   constant     FAST as published.
 *   generalized  alpha (x / x0)^(1 - n), x = w / RTT: Yuan, Tan, Andrew, Zhang, Zukerman, "A Generalized FAST
 *                TCP scheme", Computer Communications 31(14), 2008. A queueing delay of alpha x^-n is (alpha,
 *                n)-proportional fairness; N flows hold N^n times the queue of one.
 *   adaptive     moved by what the queueing delay lacks of its target: Zhang, Zhang, Fan, "Adaptive FAST
 * TCP", ICFN 2010. The delay stays at the target, whatever the number of flows.
 */
#ifndef CLARION_CC_FAST_ALPHA_H
#define CLARION_CC_FAST_ALPHA_H

#include "arith.h"
#include "params.h"

/* Less than that nothing moves. */
#define FAST_MIN_ALPHA_Q16 (Q16_ONE / 16)

/* The square root of a Q16 number below 2^32, rounded down. */
CC_SUBPROGRAM __u64 fast_root_q16(__u64 v_q16)
{
	__u64 v_q32 = v_q16 << 16;
	__u64 root = 0;

	for (__u64 bit = 1ULL << 31; bit; bit >>= 1) {
		__u64 tried = root | bit;

		if (tried * tried <= v_q32)
			root = tried;
	}
	return root;
}

/* v to the power of so many quarters, 0 to 3. */
CC_INLINE __u64 fast_power_q16(__u64 v_q16, __u32 quarters)
{
	__u64 half = fast_root_q16(min_u64(v_q16, (1ULL << 48) - 1));
	__u64 power = Q16_ONE;

	if (quarters & 2)
		power = half;
	if (quarters & 1)
		power = scale_q16(power, fast_root_q16(half));
	return power;
}

/* alpha (x / x0)^(1 - n) at the rate of so many packets per `rtt_us`. */
CC_INLINE __u64 fast_generalized_q16(const struct cc_params *p, __u64 cwnd_q16, __u32 rtt_us)
{
	__u64 rate_q16 = mul_div_u64(cwnd_q16, USEC_PER_SEC, max_u64(rtt_us, 1));
	__u64 ratio_q16 = rate_q16 / max_u64(p->fast_alpha_rate_packets_per_s, 1);
	__u64 power_q16 = fast_power_q16(ratio_q16, 4 - p->fast_power_quarters);

	return max_u64(p->fast_alpha_packets * power_q16, FAST_MIN_ALPHA_Q16);
}

/* Below the target alpha grows by the gain's share of itself, or of what it was at first if that is less, and
 * above it shrinks by that of itself, as far as the delay is away. It never exceeds the window.
 */
CC_INLINE __u64 fast_adapted_q16(const struct cc_params *p, __u64 alpha_q16, __u64 cwnd_q16, __u32 delay_us)
{
	__u64 target_us = max_u64(p->fast_target_delay_us, 1);
	__u64 step_q16 = scale_q16(alpha_q16, p->fast_alpha_gain_q16);
	__u64 first_q16 = scale_q16((__u64)p->fast_alpha_packets << 16, p->fast_alpha_gain_q16);

	if (delay_us <= target_us)
		alpha_q16 += mul_div_u64(min_u64(step_q16, first_q16), target_us - delay_us, target_us);
	else
		alpha_q16 -= mul_div_u64(step_q16, min_u64(delay_us - target_us, target_us), target_us);
	return clamp_u64(alpha_q16, FAST_MIN_ALPHA_Q16, max_u64(cwnd_q16, FAST_MIN_ALPHA_Q16));
}

#endif /* CLARION_CC_FAST_ALPHA_H */
