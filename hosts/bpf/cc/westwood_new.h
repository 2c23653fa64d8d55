/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP WestwoodNew (Hagag and El-Sayed, "Enhanced TCP Westwood Congestion Avoidance Mechanism", IJCA 45(5),
 * 2012): Westwood whose growth past slow start follows the ratio of two successive estimates of the
 * bandwidth: none while it falls, Reno's, or twice that when it rises by half. The article gives no formula
 * that could be read; this is what its successor (westwood_mod.h) leaves when its own addition is taken away.
 */
#ifndef CLARION_CC_WESTWOOD_NEW_H
#define CLARION_CC_WESTWOOD_NEW_H

#include "westwood_gear.h"

struct westwood_new {
	struct westwood_filter rate;
	struct westwood_cut cut;
	struct westwood_gear gear;
	__u64 prior_bandwidth; /* of the last comparison, bytes/s */
	__u32 rtt_min_us;
};

CC_INLINE void westwood_new_init(struct westwood_new *l, const struct cc_params *p,
				 const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	l->cut.prior_cwnd = tcp->cwnd;
	westwood_gear_begin(&l->gear, tcp);
}

CC_INLINE void westwood_new_grow(struct westwood_new *l, const struct cc_params *p, struct cc_stack *tcp,
				 __u32 acked)
{
	(void)p;
	if (stack_is_past_slow_start(tcp, &acked) && l->gear.times)
		stack_grow(tcp, tcp->cwnd, l->gear.times * acked);
}

CC_INLINE void westwood_new_on_acked(struct westwood_new *l, const struct cc_params *p, struct cc_stack *tcp,
				     __u32 packets, __s64 rtt_us)
{
	int is_new = westwood_filter_acked(&l->rate, tcp, p->westwood_new_tau_ms);

	(void)packets;
	westwood_observe_rtt(&l->rtt_min_us, rtt_us);
	if (!is_new || !westwood_gear_is_due(&l->gear, tcp, p->westwood_new_per_ack))
		return;
	westwood_gear_shift(&l->gear, tcp, l->rate.bandwidth, l->prior_bandwidth, p->westwood_new_ratio_q16);
	l->prior_bandwidth = l->rate.bandwidth;
}

CC_INLINE __u32 westwood_new_ssthresh(struct westwood_new *l, const struct cc_params *p,
				      const struct cc_stack *tcp)
{
	(void)p;
	return westwood_cut_to(&l->cut, tcp,
			       westwood_window(l->rate.bandwidth, l->rtt_min_us, tcp->mss_bytes));
}

WESTWOOD_CUTS(westwood_new)
STACK_IGNORES_STATES(westwood_new)

#endif /* CLARION_CC_WESTWOOD_NEW_H */
