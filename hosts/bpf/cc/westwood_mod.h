/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Mod TCP WestwoodNew (Ayob, Subramaniam, Othman, Zulkarnain, "An Enhanced Congestion Control Algorithm for
 * LEO Satellite Networks", Figs. 1-3): WestwoodNew that adds to Reno's growth the window that the bandwidth
 * fills, cwnd_abe = BWE x RTTmin, whole or half; a loss leaves cwnd_abe or half of the window, whichever is
 * more.
 */
#ifndef CLARION_CC_WESTWOOD_MOD_H
#define CLARION_CC_WESTWOOD_MOD_H

#include "westwood_gear.h"

struct westwood_mod {
	struct westwood_cut cut;
	struct westwood_gear gear;
	__u64 since_us;	 /* begin of the sample under way; 0: no ACK yet */
	__u64 bandwidth; /* BWE, bytes/s */
	__u32 delivered; /* of the connection, then */
	__u32 rtt_min_us;
	__u8 is_due; /* an estimate has come and has not been added yet */
};

CC_INLINE void westwood_mod_init(struct westwood_mod *l, const struct cc_params *p,
				 const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(l, 0, sizeof(*l));
	l->cut.prior_cwnd = tcp->cwnd;
	westwood_gear_begin(&l->gear, tcp);
}

CC_INLINE __u32 westwood_mod_abe(const struct westwood_mod *l, const struct cc_stack *tcp)
{
	return westwood_window(l->bandwidth, l->rtt_min_us, tcp->mss_bytes);
}

CC_INLINE void westwood_mod_begin(struct westwood_mod *l, const struct cc_stack *tcp)
{
	l->since_us = tcp->now_us;
	l->delivered = tcp->delivered;
}

/* Fig. 1, lines 1-3. */
CC_INLINE void westwood_mod_on_acked(struct westwood_mod *l, const struct cc_params *p, struct cc_stack *tcp,
				     __u32 packets, __s64 rtt_us)
{
	__s32 delivered = wrap_diff_u32(tcp->delivered, l->delivered);
	__u64 prior = l->bandwidth, us = tcp->now_us - l->since_us;

	(void)packets;
	westwood_observe_rtt(&l->rtt_min_us, rtt_us);
	if (!l->since_us) {
		westwood_gear_begin(&l->gear, tcp);
		westwood_mod_begin(l, tcp);
		return;
	}
	if (delivered <= 0 || !us)
		return;
	if (!westwood_gear_is_due(&l->gear, tcp, p->westwood_mod_per_ack))
		return;
	l->bandwidth = westwood_sample(tcp, (__u32)delivered, us);
	westwood_gear_shift(&l->gear, tcp, l->bandwidth, prior, p->westwood_mod_ratio_q16);
	l->is_due = 1;
	westwood_mod_begin(l, tcp);
}

/* Fig. 1, lines 5-9: what Reno adds and all of cwnd_abe. Lines 12-22: the two of them as the ratio says. */
CC_INLINE void westwood_mod_grow(struct westwood_mod *l, const struct cc_params *p, struct cc_stack *tcp,
				 __u32 acked)
{
	__u64 cap = p->westwood_mod_cap_packets ? p->westwood_mod_cap_packets : tcp->cwnd_clamp;
	__u64 more = l->is_due ? westwood_mod_abe(l, tcp) : 0;

	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		stack_slow_start(tcp, acked);
	} else if (l->gear.times) {
		stack_grow(tcp, tcp->cwnd, l->gear.times * acked);
		if (l->gear.times == 1)
			more /= 2;
	} else {
		more = 0;
	}
	tcp->cwnd = (__u32)min_u64(tcp->cwnd + more, min_u64(cap, tcp->cwnd_clamp));
	l->is_due = 0;
}

/* Figs. 2 and 3, lines 1-6; lines 7-10 of Fig. 2 are westwood_cut_to(). */
CC_INLINE __u32 westwood_mod_ssthresh(struct westwood_mod *l, const struct cc_params *p,
				      const struct cc_stack *tcp)
{
	(void)p;
	return westwood_cut_to(&l->cut, tcp, (__u32)max_u64(westwood_mod_abe(l, tcp), tcp->cwnd / 2));
}

WESTWOOD_CUTS(westwood_mod)
STACK_IGNORES_STATES(westwood_mod)

#endif /* CLARION_CC_WESTWOOD_MOD_H */
