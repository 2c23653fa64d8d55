/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The packets that a flow has queued on its path, by the measure of Vegas (Brakmo and Peterson, 1995): the
 * part of the window that the path itself, without a queue, would not hold.
 */
#ifndef CLARION_CC_QUEUED_H
#define CLARION_CC_QUEUED_H

#include "stack.h"

/* What samples say of the round trip. STACK_NO_RTT: none yet. */
struct queued {
	__u32 base_us; /* the least, so that of the path without a queue */
	__u32 rtt_us;  /* the last */
};

CC_INLINE void queued_begin(struct queued *q)
{
	q->base_us = q->rtt_us = STACK_NO_RTT;
}

CC_INLINE void queued_on_acked(struct queued *q, __s64 sample_us)
{
	if (sample_us < 0)
		return;
	q->rtt_us = (__u32)clamp_u64((__u64)sample_us, 1, STACK_NO_RTT - 1);
	q->base_us = (__u32)min_u64(q->base_us, q->rtt_us);
}

/* Of the round trip `rtt_us`, the part that is spent in queues. */
CC_INLINE __u32 queued_us(const struct queued *q, __u32 rtt_us)
{
	return (__u32)sub_floor_u64(rtt_us, q->base_us);
}

/* cwnd (RTT - base) / RTT, in packets as Q16. */
CC_INLINE __u64 queued_q16(const struct queued *q, __u32 cwnd, __u32 rtt_us)
{
	return mul_div_u64((__u64)cwnd << 16, queued_us(q, rtt_us), rtt_us);
}

#endif /* CLARION_CC_QUEUED_H */
