/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sender of VCP (Xia, Subramanian, Stoica, Kalyanaraman, "One more bit is enough", SIGCOMM 2005). Routers
 * say how loaded the worst link of the path is, and the window grows by a part of it, by packets, or shrinks:
 *
 *	low       cwnd += (1 + xi)^(rtt / t_rho) - 1 of it per round trip           xi = 1/16
 *	high      cwnd += alpha (rtt / t_rho)^2 packets per round trip              alpha = 1
 *	overload  cwnd *= beta, then nothing for t_rho, then as high for an rtt     beta = 7/8
 *
 * In the simulator only: the code takes the two bits that ECN has on hosts. There is no slow start, and a
 * loss halves, as Reno does.
 */
#ifndef CLARION_CC_VCP_H
#define CLARION_CC_VCP_H

#include "stack.h"

#define VCP_INTERVAL_US	    200000U	 /* t_rho, in which routers measure */
#define VCP_LOG_GROWTH_Q32  260380768ULL /* ln(1 + xi) */
#define VCP_LONGEST_RTT_US  500000U	 /* growth by a part follows the round trip up to here */
#define VCP_SHORTEST_RTT_US 20000U	 /* growth by packets is linear in round trips below this */
#define VCP_TYPICAL_RTT_US  100000U	 /* that of a connection without a sample */

/* The load as packets show it (ECN field), and ACKs to the sender. */
enum vcp_code {
	VCP_NONE = 0, /* no router of ours has seen it */
	VCP_LOW = 1,
	VCP_HIGH = 2,
	VCP_OVERLOAD = 3,
};

struct vcp {
	__u64 window_q32;   /* the exact one */
	__u64 frozen_until; /* us: after a decrease by beta */
	__u64 calm_until;   /* us: and growth by packets until here */
	__u32 prior_cwnd;   /* before the last reduction after a loss */
};

CC_INLINE void vcp_init(struct vcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	l->window_q32 = (__u64)tcp->cwnd << 32;
	l->frozen_until = l->calm_until = 0;
	l->prior_cwnd = tcp->cwnd;
}

CC_INLINE __u32 vcp_rtt_us(const struct cc_stack *tcp)
{
	return tcp->srtt_us ? tcp->srtt_us : VCP_TYPICAL_RTT_US;
}

/* (1 + xi)^(rtt / t_rho) - 1, by the series of the exponential function: with y up to 0.152 the first part
 * left out, y^5 / 120, is below 10^-6.
 */
CC_INLINE __u64 vcp_part_q32(__u32 rtt_us)
{
	__u64 y = min_u64(rtt_us, VCP_LONGEST_RTT_US) * VCP_LOG_GROWTH_Q32 / VCP_INTERVAL_US;
	__u64 y2 = y * y >> 32;
	__u64 y3 = y2 * y >> 32;
	__u64 y4 = y3 * y >> 32;

	return y + y2 / 2 + y3 / 6 + y4 / 24;
}

/* alpha (rtt / t_rho)^2; below the shortest and above the longest round trip that is meant a line goes on. */
CC_INLINE __u64 vcp_packets_q32(__u32 rtt_us)
{
	__u64 rtts = ((__u64)rtt_us << 20) / VCP_INTERVAL_US; /* Q20 */
	__u64 most = ((__u64)VCP_LONGEST_RTT_US << 20) / VCP_INTERVAL_US;

	if (rtt_us < VCP_SHORTEST_RTT_US)
		return (rtts * VCP_SHORTEST_RTT_US / VCP_INTERVAL_US) << 12;
	if (rtt_us > VCP_LONGEST_RTT_US)
		return ((most * most >> 20) + rtts - most) << 12;
	return (rtts * rtts >> 20) << 12;
}

/* TCP itself moves the window in recovery and at a timeout. */
CC_INLINE void vcp_follow(struct vcp *l, const struct cc_stack *tcp)
{
	if (l->window_q32 >> 32 != tcp->cwnd)
		l->window_q32 = (__u64)tcp->cwnd << 32;
}

CC_INLINE void vcp_set(struct vcp *l, struct cc_stack *tcp, __u64 window_q32)
{
	__u64 least = 1ULL << 32;

	l->window_q32 = clamp_u64(window_q32, least, max_u64(least, (__u64)tcp->cwnd_clamp << 32));
	tcp->cwnd = (__u32)(l->window_q32 >> 32);
}

/* A decrease. In recovery the loss has made the window smaller already. */
CC_INLINE void vcp_on_acked(struct vcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			    __s64 rtt_us)
{
	(void)p, (void)packets, (void)rtt_us;
	if (tcp->load_code != VCP_OVERLOAD || tcp->now_us < l->calm_until || tcp->ca_state >= CA_STATE_CWR)
		return;
	vcp_follow(l, tcp);
	vcp_set(l, tcp, l->window_q32 - l->window_q32 / 8);
	l->frozen_until = tcp->now_us + VCP_INTERVAL_US;
	l->calm_until = l->frozen_until + vcp_rtt_us(tcp);
}

CC_INLINE void vcp_grow(struct vcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	__u32 rtt_us = vcp_rtt_us(tcp);
	__u64 per_packet;

	(void)p;
	if (!tcp->is_cwnd_limited || tcp->load_code == VCP_NONE || tcp->now_us < l->frozen_until)
		return;
	vcp_follow(l, tcp);
	if (tcp->load_code == VCP_LOW && tcp->now_us >= l->calm_until)
		per_packet = vcp_part_q32(rtt_us);
	else
		per_packet = div_u64(vcp_packets_q32(rtt_us) << 16, l->window_q32 >> 16);
	vcp_set(l, tcp, l->window_q32 + per_packet * acked);
}

CC_INLINE __u32 vcp_ssthresh(struct vcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	l->prior_cwnd = tcp->cwnd;
	return (__u32)max_u64(tcp->cwnd / 2, 2);
}

STACK_UNDO_TO_PRIOR(vcp)
STACK_IGNORES_STATES(vcp)
STACK_IGNORES_EVENTS(vcp)

#endif /* CLARION_CC_VCP_H */
