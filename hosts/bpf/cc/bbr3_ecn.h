/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Congestion marks in BBR version 3, as DCTCP takes them: not that there is one counts, but their share.
 * Google's kernel has this; the draft leaves it open.
 */
#ifndef CLARION_CC_BBR3_ECN_H
#define CLARION_CC_BBR3_ECN_H

#include "bbr3_model.h"

#define BBR3_ECN_MAX_RTT_US 5000U
#define BBR3_ECN_GAIN	    16U	 /* weight of a round in alpha */
#define BBR3_ECN_FACTOR	    85U	 /* of alpha: what a round with marks takes of inflight_lo */
#define BBR3_ECN_THRESHOLD  128U /* share of marked packets that is too much */

CC_INLINE void bbr3_ecn_init(struct bbr3 *b, const struct cc_stack *tcp)
{
	b->ecn_alpha = BBR_UNIT; /* so that the first marks count */
	b->marks_delivered = tcp->delivered;
	b->marks_ce = tcp->delivered_ce;
}

/* At the end of a round. Its share of marked packets, of 256; negative: not known, or not asked for. */
CC_INLINE __s32 bbr3_ecn_on_round(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 delivered = tcp->delivered - b->marks_delivered;
	__u32 share, alpha;

	if (p->bbr3_ecn && b->min_rtt_us <= BBR3_ECN_MAX_RTT_US)
		b->uses_ecn = 1;
	if (!b->uses_ecn || !delivered)
		return -1;
	share = (__u32)div_u64((__u64)(tcp->delivered_ce - b->marks_ce) * BBR_UNIT, delivered);
	alpha = (BBR_UNIT - BBR3_ECN_GAIN) * b->ecn_alpha / BBR_UNIT + BBR3_ECN_GAIN * share / BBR_UNIT;
	b->ecn_alpha = (__u16)min_u64(alpha, BBR_UNIT);
	b->marks_delivered = tcp->delivered;
	b->marks_ce = tcp->delivered_ce;
	return (__s32)share;
}

CC_INLINE int bbr3_has_too_many_marks(const struct bbr3 *b, const struct stack_ack *ack)
{
	__u32 most;

	if (!b->uses_ecn || !ack->delivered_ce || ack->delivered <= 0)
		return 0;
	most = (__u32)((__u64)ack->delivered * BBR3_ECN_THRESHOLD / BBR_UNIT);
	return ack->delivered_ce > most;
}

/* What a round with marks leaves of a volume. */
CC_INLINE __u32 bbr3_ecn_cut(const struct bbr3 *b, __u32 packets)
{
	return (__u32)((__u64)packets * (BBR_UNIT - b->ecn_alpha * BBR3_ECN_FACTOR / BBR_UNIT) / BBR_UNIT);
}

#endif /* CLARION_CC_BBR3_ECN_H */
