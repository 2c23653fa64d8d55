/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Careful Resume (RFC 9959): a flow that has been idle goes back to half of what its path has carried before,
 * once a round trip has shown that the path is still the same, and below what came through if even that is
 * too much.
 */
#ifndef CLARION_CC_RESUME_H
#define CLARION_CC_RESUME_H

#include "sample.h"

/* The round trip of the same path: at least half of the one that was saved, and at most ten times. */
#define RESUME_RTT_DIVISOR 2
#define RESUME_RTT_FACTOR  10

enum resume_phase {
	RESUME_NORMAL = 0,
	RESUME_RECONNAISSANCE, /* idle before; no round trip since */
	RESUME_CONFIRMED,      /* it is the same path; nothing more than the initial window has been sent */
	RESUME_UNVALIDATED,    /* more is sent, nothing of that is acknowledged */
	RESUME_VALIDATING,     /* the first of it is acknowledged, the last is not */
};

struct cc_resume {
	__u64 saved_q16;    /* packets that the path carried in a round trip; 0: not known */
	__u32 saved_rtt_us; /* of the path without a queue */
	__u32 saved_s;	    /* when */
	__u32 delivered;    /* when more than the initial window was allowed, modulo 2^32 */
	__u8 phase;
};

CC_INLINE __u32 resume_clock_s(const struct cc_sample *s)
{
	return (__u32)div_u64(s->now_us, USEC_PER_SEC);
}

CC_INLINE void resume_save(struct cc_resume *resume, const struct cc_sample *s, __u64 carried_q16)
{
	resume->saved_q16 = carried_q16;
	resume->saved_rtt_us = s->min_rtt_us;
	resume->saved_s = resume_clock_s(s);
}

CC_INLINE void resume_forget(struct cc_resume *resume)
{
	resume->saved_q16 = 0;
	resume->phase = RESUME_NORMAL;
}

/* Sending starts after an idle time. What was saved is good for `lifetime_s`. */
CC_INLINE void resume_begin(struct cc_resume *resume, const struct cc_sample *s, __u32 lifetime_s)
{
	int is_known = resume->saved_q16 && resume_clock_s(s) - resume->saved_s < lifetime_s;

	resume->phase = is_known ? RESUME_RECONNAISSANCE : RESUME_NORMAL;
}

CC_INLINE int resume_is_same_path(const struct cc_resume *resume, const struct cc_sample *s)
{
	return s->srtt_us >= resume->saved_rtt_us / RESUME_RTT_DIVISOR &&
	       s->srtt_us <= (__u64)resume->saved_rtt_us * RESUME_RTT_FACTOR;
}

/* A round trip has ended. */
CC_INLINE void resume_round(struct cc_resume *resume, const struct cc_sample *s)
{
	if (resume->phase == RESUME_RECONNAISSANCE && resume_is_same_path(resume, s))
		resume->phase = RESUME_CONFIRMED;
	else if (resume->phase == RESUME_RECONNAISSANCE)
		resume_forget(resume);
	else if (resume->phase == RESUME_UNVALIDATED)
		resume->phase = RESUME_VALIDATING;
	else if (resume->phase == RESUME_VALIDATING)
		resume->phase = RESUME_NORMAL;
}

/* The window to go on with, when all that the path is known for may be tried. */
CC_INLINE __u64 resume_jump_q16(const struct cc_resume *resume)
{
	return resume->saved_q16 / 2;
}

CC_INLINE void resume_jump(struct cc_resume *resume, const struct cc_sample *s)
{
	resume->phase = RESUME_UNVALIDATED;
	resume->delivered = s->delivered_packets;
}

/* Is more on its way than the path has shown to carry this time? */
CC_INLINE int resume_is_unproven(const struct cc_resume *resume)
{
	return resume->phase == RESUME_UNVALIDATED || resume->phase == RESUME_VALIDATING;
}

/* Safe retreat: half of what has come through since. */
CC_INLINE __u64 resume_retreat_q16(const struct cc_resume *resume, const struct cc_sample *s)
{
	return (__u64)(s->delivered_packets - resume->delivered) << 15;
}

#endif /* CLARION_CC_RESUME_H */
