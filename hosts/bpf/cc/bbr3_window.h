/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The window of BBR version 3: two products of rate and round trip, within the bounds of its state. */
#ifndef CLARION_CC_BBR3_WINDOW_H
#define CLARION_CC_BBR3_WINDOW_H

#include "bbr3_rtt.h"

CC_INLINE __u32 bbr3_toward_target(const struct bbr3 *b, const struct cc_stack *tcp, __u32 acked)
{
	__u32 bw = bbr3_bw(b);
	__u32 target = bbr3_product(b, bw, b->cwnd_gain) + bbr_aggregation_packets(&b->aggregation, bw);
	__u32 cwnd = tcp->cwnd;

	target = bbr3_with_pieces(b, tcp, target);
	if (b->is_filled)
		cwnd = (__u32)min_u64(cwnd + acked, target);
	else if (cwnd < target || cwnd < 2U * b->initial_cwnd)
		cwnd += acked;
	return (__u32)max_u64(cwnd, BBR_MIN_PIPE_CWND);
}

/* Only CRUISE and ProbeRTT leave headroom; Startup and Drain know no upper bound. */
CC_INLINE __u32 bbr3_bound(const struct bbr3 *b)
{
	__u32 bound = BBR3_NO_BOUND;

	if (b->state == BBR3_CRUISE || b->state == BBR3_PROBE_RTT)
		bound = bbr3_with_headroom(b);
	else if (bbr3_is_in_probe_bw(b))
		bound = b->inflight_hi;
	return (__u32)max_u64(min_u64(bound, b->inflight_lo), BBR_MIN_PIPE_CWND);
}

CC_INLINE void bbr3_set_cwnd(struct bbr3 *b, struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u64 cwnd = ack->acked_packets ? bbr3_toward_target(b, tcp, ack->acked_packets) : tcp->cwnd;

	cwnd = min_u64(cwnd, tcp->cwnd_clamp);
	if (b->state == BBR3_PROBE_RTT)
		cwnd = min_u64(cwnd, bbr3_probe_rtt_cwnd(b));
	tcp->cwnd = (__u32)min_u64(cwnd, bbr3_bound(b));
}

#endif /* CLARION_CC_BBR3_WINDOW_H */
