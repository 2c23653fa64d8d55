/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* TCP Westwood (Mascolo, Casetti, Gerla, Sanadidi, Wang, "TCP Westwood: Bandwidth Estimation for Enhanced
 * Transport over Wireless Links", MobiCom 2001): grows as Reno; after a loss the slow start threshold is what
 * the bandwidth, a low-pass filter over one sample per ACK, fills in the least round trip.
 */
#ifndef CLARION_CC_WESTWOOD_H
#define CLARION_CC_WESTWOOD_H

#include "westwood_rate.h"

struct westwood {
	struct westwood_filter rate;
	struct westwood_cut cut;
	__u32 rtt_min_us;
};

CC_INLINE void westwood_init(struct westwood *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	l->cut.prior_cwnd = tcp->cwnd;
}

CC_INLINE void westwood_grow(struct westwood *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	(void)l, (void)p;
	if (stack_is_past_slow_start(tcp, &acked))
		stack_grow(tcp, tcp->cwnd, acked);
}

CC_INLINE void westwood_on_acked(struct westwood *l, const struct cc_params *p, struct cc_stack *tcp,
				 __u32 packets, __s64 rtt_us)
{
	(void)packets;
	westwood_observe_rtt(&l->rtt_min_us, rtt_us);
	westwood_filter_acked(&l->rate, tcp, p->westwood_tau_ms);
}

CC_INLINE __u32 westwood_ssthresh(struct westwood *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	return westwood_cut_to(&l->cut, tcp,
			       westwood_window(l->rate.bandwidth, l->rtt_min_us, tcp->mss_bytes));
}

WESTWOOD_CUTS(westwood)
STACK_IGNORES_STATES(westwood)

#endif /* CLARION_CC_WESTWOOD_H */
