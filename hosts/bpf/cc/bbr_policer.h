/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Is a token bucket the limit? Two intervals in a row that end with a loss, have lost a fifth of what they
 * delivered, and delivered it at the same rate: then BBR sends at that rate for 48 round trips. An addition
 * of Linux (its "long-term bandwidth"), after "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016.
 */
#ifndef CLARION_CC_BBR_POLICER_H
#define CLARION_CC_BBR_POLICER_H

#include "bbr_rate.h"
#include "stack.h"

#define BBR_POLICER_MIN_ROUNDS	4
#define BBR_POLICER_MAX_ROUNDS	16
#define BBR_POLICER_USE_ROUNDS	48
#define BBR_POLICER_LOSS	50U /* lost of delivered, of 256 */
#define BBR_POLICER_RATIO	32U /* difference of rates that counts as none, of 256; */
#define BBR_POLICER_BYTES_PER_S 500 /* or so */
#define BBR_POLICER_MS		1000U

/* What the law has to do. */
enum bbr_policing {
	BBR_POLICING_AS_BEFORE,
	BBR_POLICING_FOUND,
	BBR_POLICING_OVER,
};

struct bbr_policer {
	__u32 bw;	       /* of the interval before, then of both; 0: none */
	__u32 began_ms;	       /* the interval, modulo 2^32 */
	__u32 began_delivered; /* total delivered then */
	__u32 began_lost;      /* total lost then */
	__u8 rounds;	       /* of the interval; of those that the rate has been in use */
	__u8 is_sampling;
	__u8 is_in_use;
};

CC_INLINE __u32 bbr_policer_ms(const struct cc_stack *tcp)
{
	return (__u32)(tcp->delivered_us / BBR_POLICER_MS);
}

CC_INLINE void bbr_policer_begin_interval(struct bbr_policer *p, const struct cc_stack *tcp)
{
	p->began_ms = bbr_policer_ms(tcp);
	p->began_delivered = tcp->delivered;
	p->began_lost = tcp->lost;
	p->rounds = 0;
}

CC_INLINE void bbr_policer_reset(struct bbr_policer *p, const struct cc_stack *tcp)
{
	p->bw = 0;
	p->is_in_use = 0;
	p->is_sampling = 0;
	bbr_policer_begin_interval(p, tcp);
}

CC_INLINE int bbr_policer_is_same(__u32 bw, __u32 before, __u32 mss_bytes)
{
	__u32 difference = bw > before ? bw - before : before - bw;

	return difference * BBR_UNIT <= BBR_POLICER_RATIO * before ||
	       bbr_bytes_per_s(difference, mss_bytes, BBR_UNIT) <= BBR_POLICER_BYTES_PER_S;
}

CC_INLINE enum bbr_policing bbr_policer_end_interval(struct bbr_policer *p, const struct cc_stack *tcp,
						     __u32 bw)
{
	if (p->bw && bbr_policer_is_same(bw, p->bw, tcp->mss_bytes)) {
		p->bw = (bw + p->bw) >> 1;
		p->is_in_use = 1;
		p->rounds = 0;
		return BBR_POLICING_FOUND;
	}
	p->bw = bw;
	bbr_policer_begin_interval(p, tcp);
	return BBR_POLICING_AS_BEFORE;
}

/* The interval has lasted long enough, and a packet has been lost: its tokens are used up. */
CC_INLINE enum bbr_policing bbr_policer_judge(struct bbr_policer *p, const struct cc_stack *tcp)
{
	__u32 lost = tcp->lost - p->began_lost;
	__u32 delivered = tcp->delivered - p->began_delivered;
	__u32 ms = bbr_policer_ms(tcp) - p->began_ms;

	if (!delivered || lost * BBR_UNIT < BBR_POLICER_LOSS * delivered || wrap_diff_u32(ms, 0) < 1)
		return BBR_POLICING_AS_BEFORE;
	if (ms >= ~0U / BBR_POLICER_MS) { /* too long to be told in us */
		bbr_policer_reset(p, tcp);
		return BBR_POLICING_AS_BEFORE;
	}
	return bbr_policer_end_interval(p, tcp, bbr_rate_of(delivered, ms * BBR_POLICER_MS));
}

CC_INLINE enum bbr_policing bbr_policer_sample(struct bbr_policer *p, const struct cc_stack *tcp,
					       __u32 losses, int is_app_limited, int is_round_start)
{
	if (!p->is_sampling) { /* before the first loss bursts would count that the bucket's tokens allow */
		if (!losses)
			return BBR_POLICING_AS_BEFORE;
		bbr_policer_begin_interval(p, tcp);
		p->is_sampling = 1;
	}
	if (is_round_start)
		p->rounds++;
	if (is_app_limited || p->rounds > BBR_POLICER_MAX_ROUNDS) {
		bbr_policer_reset(p, tcp);
		return BBR_POLICING_AS_BEFORE;
	}
	if (p->rounds < BBR_POLICER_MIN_ROUNDS || !losses)
		return BBR_POLICING_AS_BEFORE;
	return bbr_policer_judge(p, tcp);
}

/* `is_probing`: in the cycle of ProbeBW, which the rate in use suspends. */
CC_INLINE enum bbr_policing bbr_policer_on_ack(struct bbr_policer *p, const struct cc_stack *tcp,
					       __u32 losses, int is_app_limited, int is_round_start,
					       int is_probing)
{
	if (!p->is_in_use)
		return bbr_policer_sample(p, tcp, losses, is_app_limited, is_round_start);
	if (!is_probing || !is_round_start || ++p->rounds < BBR_POLICER_USE_ROUNDS)
		return BBR_POLICING_AS_BEFORE;
	bbr_policer_reset(p, tcp);
	return BBR_POLICING_OVER;
}

#endif /* CLARION_CC_BBR_POLICER_H */
