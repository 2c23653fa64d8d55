/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Compound TCP (Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02): the window is
 * the sum of Reno's and of a delay window. The latter grows by a power of the whole while few packets are
 * queued, and gives way by as many as are queued once there are more; so that a full path sees Reno.
 */
#ifndef CLARION_CC_CTCP_H
#define CLARION_CC_CTCP_H

#include "queued.h"

#define CTCP_NO_SAMPLE (~0ULL)

struct ctcp {
	__u64 dwnd_q16;	       /* the delay window, part of cwnd */
	__u64 prior_dwnd_q16;  /* before the last reduction, as: */
	__u64 gamma_q16;       /* packets queued from which the delay window gives way */
	__u64 reno_queued_q16; /* packets queued by Reno's part alone in the last round; or CTCP_NO_SAMPLE */
	struct queued queue;
	__u32 round_end; /* what was to be sent next when the round began */
	__u32 prior_cwnd;
};

CC_INLINE void ctcp_begin_round(struct ctcp *c, const struct cc_stack *tcp)
{
	c->round_end = tcp->next;
}

CC_INLINE void ctcp_init(struct ctcp *c, const struct cc_params *p, const struct cc_stack *tcp)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->gamma_q16 = (__u64)p->ctcp_gamma_packets << 16;
	c->reno_queued_q16 = CTCP_NO_SAMPLE;
	c->prior_cwnd = tcp->cwnd;
	queued_begin(&c->queue);
	ctcp_begin_round(c, tcp);
}

/* The square root, rounded down. */
CC_SUBPROGRAM __u64 ctcp_root(__u64 v)
{
	__u64 root = 0;

	for (int shift = 31; shift >= 0; shift--) {
		__u64 tried = root | 1ULL << shift;

		if (tried * tried <= v)
			root = tried;
	}
	return root;
}

/* win^k as Q16 with k = 3/4, the exponent near HighSpeed TCP's that two square roots give (draft, section 4).
 */
CC_INLINE __u64 ctcp_power_q16(__u32 win)
{
	__u64 half_q16 = ctcp_root((__u64)win << 32);
	__u64 quarter_q16 = ctcp_root(half_q16 << 16);

	return half_q16 * quarter_q16 >> 16;
}

/* Reno's part: at least one packet, also when TCP itself has reduced the sum. */
CC_INLINE __u32 ctcp_loss_window(struct ctcp *c, const struct cc_stack *tcp)
{
	c->dwnd_q16 = min_u64(c->dwnd_q16, sub_floor_u64(tcp->cwnd, 1) << 16);
	return tcp->cwnd - (__u32)(c->dwnd_q16 >> 16);
}

/* A round trip is over: the delay window grows by alpha win^k less the packet that Reno's part grows by, or
 * gives way by zeta times what is queued.
 */
CC_INLINE void ctcp_end_round(struct ctcp *c, const struct cc_params *p, struct cc_stack *tcp)
{
	__u32 reno = ctcp_loss_window(c, tcp), win = tcp->cwnd;
	__u64 diff_q16 = queued_q16(&c->queue, win, tcp->srtt_us);

	ctcp_begin_round(c, tcp);
	c->reno_queued_q16 = queued_q16(&c->queue, reno, tcp->srtt_us);
	if (win <= p->ctcp_low_window_packets) {
		c->dwnd_q16 = 0; /* all of it is Reno's */
		return;
	}
	if (diff_q16 < c->gamma_q16)
		c->dwnd_q16 += sub_floor_u64(scale_q16(ctcp_power_q16(win), p->ctcp_alpha_q16), Q16_ONE);
	else
		c->dwnd_q16 = sub_floor_u64(c->dwnd_q16, scale_q16(diff_q16, p->ctcp_zeta_q16));
	tcp->cwnd = (__u32)min_u64(reno + (c->dwnd_q16 >> 16), tcp->cwnd_clamp);
}

CC_INLINE void ctcp_grow(struct ctcp *c, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (stack_is_slow_start(tcp))
		ctcp_begin_round(c, tcp);
	if (!stack_is_past_slow_start(tcp, &acked))
		return;
	if (wrap_diff_u32(tcp->una, c->round_end) > 0)
		ctcp_end_round(c, p, tcp);
	stack_grow(tcp, tcp->cwnd, acked);
}

/* Tuning by emulation (draft, section 5): a flow of Reno's had so many packets queued before it lost one, and
 * gamma shall be less.
 */
CC_INLINE void ctcp_tune(struct ctcp *c, const struct cc_params *p)
{
	__u64 least_q16 = (__u64)p->ctcp_gamma_low_packets << 16;
	__u64 most_q16 = (__u64)p->ctcp_gamma_packets << 16;
	__u64 tuned_q16 = scale_q16(c->gamma_q16, Q16_ONE - p->ctcp_lambda_q16);

	if (c->reno_queued_q16 == CTCP_NO_SAMPLE)
		return;
	tuned_q16 += scale_q16(c->reno_queued_q16 / 4 * 3, p->ctcp_lambda_q16);
	c->gamma_q16 = min_u64(max_u64(tuned_q16, least_q16), most_q16);
	c->reno_queued_q16 = CTCP_NO_SAMPLE;
}

/* Reno's part is halved, and the delay window is what (1 - beta) of the sum has beyond it. */
CC_INLINE __u32 ctcp_ssthresh(struct ctcp *c, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 half = ctcp_loss_window(c, tcp) / 2;
	__u32 left = tcp->cwnd - (__u32)scale_q16(tcp->cwnd, p->ctcp_beta_q16);

	ctcp_tune(c, p);
	c->prior_cwnd = tcp->cwnd;
	c->prior_dwnd_q16 = c->dwnd_q16;
	c->dwnd_q16 = sub_floor_u64(left, half) << 16;
	return (__u32)max_u64(max_u64(left, half), 2);
}

CC_INLINE __u32 ctcp_undo(struct ctcp *c, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	c->dwnd_q16 = max_u64(c->dwnd_q16, c->prior_dwnd_q16);
	return (__u32)max_u64(tcp->cwnd, c->prior_cwnd);
}

/* A timeout: no delay window, and the path may be another one. A recovery is no round. */
CC_INLINE void ctcp_on_state(struct ctcp *c, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	(void)p;
	if (next == CA_STATE_LOSS) {
		c->dwnd_q16 = 0;
		queued_begin(&c->queue);
	}
	if (next == CA_STATE_OPEN)
		ctcp_begin_round(c, tcp);
}

/* After a pause neither the round nor, where TCP has taken the window back, the delay window stands. */
CC_INLINE void ctcp_on_event(struct ctcp *c, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	(void)p;
	if (event == STACK_CWND_RESTART)
		c->dwnd_q16 = 0;
	if (event == STACK_CWND_RESTART || event == STACK_TX_START)
		ctcp_begin_round(c, tcp);
}

CC_INLINE void ctcp_on_acked(struct ctcp *c, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			     __s64 rtt_us)
{
	(void)p, (void)packets;
	if (tcp->ca_state < CA_STATE_RECOVERY)
		queued_on_acked(&c->queue, rtt_us);
}

#endif /* CLARION_CC_CTCP_H */
