/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP Libra (Marfia, Palazzi, Pau, Gerla, Sanadidi and Roccetti, NETWORKING 2007): NewReno whose steps go
 * with the square of the round trip, so that throughput does not depend on it; with the capacity of the
 * narrowest link, so that large paths are filled; and fall with the queue. The capacity is that of CapProbe
 * (Kapoor and others, SIGCOMM 2004): the spacing of the two packets of all pairs that took the least time
 * together.
 */
#ifndef CLARION_CC_LIBRA_H
#define CLARION_CC_LIBRA_H

#include "packet_pair.h"
#include "queued.h"

struct libra {
	struct queued queue;
	struct packet_pair pair;
	__u32 max_rtt_us;
	__u32 pair_sum_us;   /* the least sum of the round trips of a pair; STACK_NO_RTT: no pair yet */
	__u32 capacity_kbit; /* by that pair, kbit/s; 0: not known yet */
	__u32 prior_cwnd;    /* before the last reduction */
};

CC_INLINE void libra_init(struct libra *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	queued_begin(&l->queue);
	packet_pair_init(&l->pair);
	l->pair_sum_us = STACK_NO_RTT;
	l->prior_cwnd = tcp->cwnd;
}

/* e^-x = (1 - x / 2^16)^(2^16), within 10^-4 for x up to 2. */
CC_INLINE __u64 libra_exp_q16(__u64 x_q16)
{
	__u64 q32 = sub_floor_u64(1ULL << 32, x_q16);

	if (!x_q16)
		return Q16_ONE;
	for (int i = 0; i < 16; i++)
		q32 = q32 * q32 >> 32;
	return q32 >> 16;
}

/* P, the penalty: e^(-k2 (T - Tmin) / (Tmax - Tmin)). */
CC_INLINE __u64 libra_penalty_q16(const struct libra *l, const struct cc_params *p)
{
	__u64 backlog_us = queued_us(&l->queue, l->queue.rtt_us);

	return libra_exp_q16(
	    mul_div_u64(p->libra_penalty_q16, backlog_us, queued_us(&l->queue, l->max_rtt_us)));
}

/* C, kbit/s; 0: not known yet. */
CC_INLINE __u64 libra_capacity_kbit(const struct libra *l, const struct cc_params *p)
{
	return p->libra_capacity_mbit_per_s ? p->libra_capacity_mbit_per_s * 1000ULL : l->capacity_kbit;
}

CC_INLINE __u64 libra_t0_us(const struct cc_params *p)
{
	return p->libra_t0_ms * 1000ULL;
}

/* Growth per round trip: alpha T^2 / (T + T0) with alpha = S P and S = k1 C, where T is in seconds and C in
 * Mbit/s.
 */
CC_INLINE __u64 libra_step_q16(const struct libra *l, const struct cc_params *p)
{
	__u64 t_us = l->queue.rtt_us;
	__u64 scale_q16_per_s = mul_div_u64(p->libra_scale_q16, libra_capacity_kbit(l, p), 1000);
	__u64 time_us_q10 = mul_div_u64(t_us << 10, t_us, t_us + libra_t0_us(p));
	__u64 step_q16 = mul_div_u64(scale_q16_per_s, time_us_q10, USEC_PER_SEC << 10);

	return scale_q16(step_q16, libra_penalty_q16(l, p));
}

/* As long as it knows nothing of the path it is NewReno. */
CC_INLINE void libra_grow(struct libra *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	__u64 step_q16 = Q16_ONE;

	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	if (libra_capacity_kbit(l, p) && l->queue.rtt_us != STACK_NO_RTT)
		step_q16 = libra_step_q16(l, p);
	if (step_q16)
		stack_grow(tcp, (__u32)min_u64(((__u64)tcp->cwnd << 16) / step_q16, ~0U), acked);
}

/* w T1 / (2 (T + T0)) less. */
CC_INLINE __u32 libra_ssthresh(struct libra *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 t_us = l->queue.rtt_us == STACK_NO_RTT ? 0 : l->queue.rtt_us;
	__u64 less = mul_div_u64(tcp->cwnd, p->libra_t1_ms * 1000ULL, 2 * (t_us + libra_t0_us(p)));

	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(sub_floor_u64(tcp->cwnd, less), 2);
}

/* Of pairs, the one that takes the least time together has met no queue but itself. */
CC_INLINE void libra_take_pair(struct libra *l)
{
	if (l->pair.sum_us >= l->pair_sum_us)
		return;
	l->pair_sum_us = l->pair.sum_us;
	l->capacity_kbit = (__u32)min_u64(l->pair.bytes_per_s / 125, ~0U);
}

CC_INLINE void libra_on_acked(struct libra *l, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			      __s64 sample_us)
{
	(void)p;
	queued_on_acked(&l->queue, sample_us);
	if (packet_pair_on_acked(&l->pair, tcp, packets, sample_us))
		libra_take_pair(l);
	if (sample_us >= 0)
		l->max_rtt_us = (__u32)max_u64(l->max_rtt_us, l->queue.rtt_us);
}

STACK_UNDO_TO_PRIOR(libra)
STACK_IGNORES_STATES(libra)
STACK_IGNORES_EVENTS(libra)

#endif /* CLARION_CC_LIBRA_H */
