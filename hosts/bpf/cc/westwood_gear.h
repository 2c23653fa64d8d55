/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What WestwoodNew and its successor share: the ratio of two successive estimates of the bandwidth says how
 * fast to grow. They are compared once per round trip, or as often as there is a new one.
 */
#ifndef CLARION_CC_WESTWOOD_GEAR_H
#define CLARION_CC_WESTWOOD_GEAR_H

#include "westwood_rate.h"

struct westwood_gear {
	__u32 round_end; /* what was to be sent next when estimates were compared last */
	__u8 times;	 /* as fast as Reno */
};

CC_INLINE void westwood_gear_begin(struct westwood_gear *g, const struct cc_stack *tcp)
{
	g->round_end = tcp->next;
	g->times = 1;
}

CC_INLINE int westwood_gear_is_due(const struct westwood_gear *g, const struct cc_stack *tcp, int per_ack)
{
	return per_ack || wrap_diff_u32(tcp->una, g->round_end) > 0;
}

/* No growth while the bandwidth falls, twice Reno's when it rises much. */
CC_INLINE void westwood_gear_shift(struct westwood_gear *g, const struct cc_stack *tcp, __u64 bandwidth,
				   __u64 prior, __u32 much_q16)
{
	g->round_end = tcp->next;
	if (!prior) /* nothing to compare with */
		g->times = 1;
	else if (bandwidth < prior)
		g->times = 0;
	else
		g->times = (bandwidth << 16) >= prior * much_q16 ? 2 : 1;
}

#endif /* CLARION_CC_WESTWOOD_GEAR_H */
