/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The volume in flight up to which the probes of BBR version 3 have found the loss rate to be bearable. */
#ifndef CLARION_CC_BBR3_UPPER_H
#define CLARION_CC_BBR3_UPPER_H

#include "bbr3_ecn.h"

#define BBR3_HEADROOM	   38U /* of 256: what others may find free; 0.15 */
#define BBR3_MAX_UP_ROUNDS 30U

CC_INLINE __u32 bbr3_loss_threshold(const struct cc_params *p)
{
	return BBR_UNIT * p->bbr3_loss_percent / 100;
}

CC_INLINE int bbr3_has_too_many_losses(const struct cc_params *p, __u32 lost, __u32 in_flight)
{
	return in_flight && lost > (__u64)in_flight * bbr3_loss_threshold(p) / BBR_UNIT;
}

CC_INLINE int bbr3_is_too_high(const struct bbr3 *b, const struct cc_params *p, const struct stack_ack *ack)
{
	return bbr3_has_too_many_losses(p, ack->lost, ack->sent_in_flight) || bbr3_has_too_many_marks(b, ack);
}

/* With how many packets in flight did the loss rate cross the threshold? The x that solves
 * (lost before + x) / (in flight before + x) = threshold, beyond what was in flight before this packet.
 */
CC_INLINE __u32 bbr3_inflight_at_loss(const struct cc_params *p, const struct stack_lost *lost)
{
	__u32 threshold = bbr3_loss_threshold(p);
	__u32 before = lost->sent_in_flight - 1, lost_before = lost->lost - 1;
	__u32 budget = (__u32)(((__u64)before * threshold + BBR_UNIT - 1) / BBR_UNIT);

	if (lost_before >= budget)
		return before;
	return before + (budget - lost_before) * BBR_UNIT / (BBR_UNIT - threshold);
}

CC_INLINE __u32 bbr3_with_headroom(const struct bbr3 *b)
{
	__u64 headroom = max_u64((__u64)b->inflight_hi * BBR3_HEADROOM / BBR_UNIT, 1);

	if (b->inflight_hi == BBR3_NO_BOUND)
		return BBR3_NO_BOUND;
	return (__u32)max_u64(sub_floor_u64(b->inflight_hi, headroom), BBR_MIN_PIPE_CWND);
}

/* The volume in flight to go for, unless congestion has reduced the window. */
CC_INLINE __u32 bbr3_target(const struct bbr3 *b, const struct cc_stack *tcp)
{
	return (__u32)min_u64(bbr3_inflight(b, tcp, bbr3_bw(b)), tcp->cwnd);
}

/* A window in this round of UP, two in the next, four in the one after. */
CC_INLINE void bbr3_raise_slope(struct bbr3 *b, const struct cc_stack *tcp)
{
	__u32 growth = 1U << b->up_rounds;

	b->up_rounds = (__u8)min_u64(b->up_rounds + 1U, BBR3_MAX_UP_ROUNDS);
	b->up_acked_per_packet = (__u32)max_u64(tcp->cwnd / growth, 1);
}

CC_INLINE void bbr3_probe_upward(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 more;

	if (!tcp->is_cwnd_limited || tcp->cwnd < b->inflight_hi)
		return; /* it is not what limits */
	b->up_acked += ack->acked_packets;
	more = (__u32)div_u64(b->up_acked, b->up_acked_per_packet);
	b->up_acked -= more * b->up_acked_per_packet;
	b->inflight_hi += more;
	if (b->is_round_start)
		bbr3_raise_slope(b, tcp);
}

/* A bearable loss rate: what was in flight fits, whatever the phase is. */
CC_INLINE void bbr3_raise_upper(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	if (b->inflight_hi == BBR3_NO_BOUND)
		return;
	b->inflight_hi = (__u32)max_u64(b->inflight_hi, ack->sent_in_flight);
	if (b->state == BBR3_UP)
		bbr3_probe_upward(b, tcp, ack);
}

#endif /* CLARION_CC_BBR3_UPPER_H */
