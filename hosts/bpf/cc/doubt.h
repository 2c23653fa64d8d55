/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Is a loss that the tags call corruption really corruption?
 *
 * A modem, a bridge or a policer between two stamping ports drops packets, too, and their checks call that
 * corruption. Two things give such a queue away. Its losses come when it is full: behind a round trip time that
 * has risen. And they come and go with the sending rate, also where there is no queue (a policer); corruption
 * does neither. What a path corrupts all the time is its level and no reason for doubt; only a round trip
 * with clearly more than the level is. Behind a risen delay that is congestion at once. Otherwise the flow
 * tests it: it slows down a little for two round trips. If the losses stay they are the new level, and the
 * window comes back. If they go they have followed the rate, or a burst (a radio fade) is over: half of the
 * window comes back, and a second time soon after counts as congestion (guard.h). A burst at a much lower rate
 * refutes that, and bursts are then believed for a while.
 */
#ifndef CLARION_CC_DOUBT_H
#define CLARION_CC_DOUBT_H

#include "base_rtt.h"
#include "params.h"
#include "sample.h"

/* Losses of a round trip beyond level + 4 mean deviations before there is a doubt: without and with a queue. */
#define DOUBT_SLACK	   3
#define DOUBT_SLACK_QUEUED 1
/* Bursts believed after the first refutation, factor to the next, and at most. */
#define DOUBT_CREDIT_FIRST  4
#define DOUBT_CREDIT_GROWTH 4
#define DOUBT_CREDIT_MAX    64

enum doubt_state {
	DOUBT_NONE = 0,
	DOUBT_EXCUSED = 1,   /* a burst of this round is believed */
	DOUBT_SETTLING = 2,  /* slowed down; packets of the old rate are still acknowledged */
	DOUBT_MEASURING = 3, /* packets of the lower rate are acknowledged */
};

enum doubt_answer {
	DOUBT_OF_NOTHING = 0,
	DOUBT_CONGESTION, /* losses behind a risen delay */
	DOUBT_TEST,	  /* slow down and see */
	DOUBT_BELIEVED,	  /* the losses stayed: corruption */
	DOUBT_FELL,	  /* the losses went */
};

struct cc_doubt {
	__u64 before_q16; /* window when the doubt arose */
	__u32 lost;	  /* packets corrupted, as the tags say, in this round */
	__u32 acked;	  /* packets delivered in this round */
	__u32 level_q16;  /* mean share of packets corrupted per round, and its mean deviation */
	__u32 dev_q16;
	__u32 spike_q16; /* share that raised the doubt */
	__u32 rtt_us;	 /* the newest */
	struct cc_round round;
	__u8 state;
	__u8 knows_level;
	__u8 credit; /* bursts that are believed without a test */
	__u8 credit_next;
};

CC_INLINE __u32 doubt_share_q16(const struct cc_doubt *doubt, __u64 packets)
{
	return (__u32)min_u64(ratio_q16(doubt->lost, max_u64(packets, 1)), Q16_ONE);
}

CC_INLINE void doubt_begin_round(struct cc_doubt *doubt, const struct cc_sample *s)
{
	doubt->lost = 0;
	doubt->acked = 0;
	round_begin(&doubt->round, s);
}

/* Takes the share of a round into the level, with the weights of RFC 6298. */
CC_INLINE void doubt_learn(struct cc_doubt *doubt, __u32 share_q16)
{
	__u32 off_q16 = share_q16 > doubt->level_q16 ? share_q16 - doubt->level_q16 :
						       doubt->level_q16 - share_q16;

	if (!doubt->knows_level) {
		doubt->level_q16 = share_q16;
		doubt->dev_q16 = share_q16 / 2;
		doubt->knows_level = share_q16 > 0;
		return;
	}
	doubt->dev_q16 += off_q16 / 4 - doubt->dev_q16 / 4;
	doubt->level_q16 += share_q16 / 8 - doubt->level_q16 / 8;
}

CC_INLINE int doubt_is_queued(const struct cc_doubt *doubt, const struct cc_sample *s)
{
	return base_rtt_is_above(doubt->rtt_us, s->min_rtt_us);
}

/* Are this round's losses clearly above the level, in a window of `packets`? */
CC_INLINE int doubt_is_spike(const struct cc_doubt *doubt, __u64 packets, __u32 slack)
{
	__u64 usual_q16 = packets * min_u64(doubt->level_q16 + 4ULL * doubt->dev_q16, Q16_ONE);

	return ((__u64)doubt->lost << 16) > usual_q16 + ((__u64)slack << 16);
}

CC_INLINE enum doubt_answer doubt_raise(struct cc_doubt *doubt, const struct cc_sample *s, __u64 cwnd_q16)
{
	__u64 packets = max_u64(cwnd_q16 >> 16, (__u64)doubt->acked + doubt->lost);
	int is_queued = doubt_is_queued(doubt, s);

	if (!doubt_is_spike(doubt, packets, is_queued ? DOUBT_SLACK_QUEUED : DOUBT_SLACK))
		return DOUBT_OF_NOTHING;
	doubt->before_q16 = cwnd_q16;
	doubt->spike_q16 = doubt_share_q16(doubt, packets);
	if (is_queued) {
		doubt->state = DOUBT_EXCUSED; /* once per round */
		return DOUBT_CONGESTION;
	}
	if (doubt->credit) {
		doubt->credit--;
		doubt->state = DOUBT_EXCUSED;
		return DOUBT_OF_NOTHING;
	}
	doubt->state = DOUBT_SETTLING;
	doubt_begin_round(doubt, s);
	return DOUBT_TEST;
}

CC_INLINE enum doubt_answer doubt_end_round(struct cc_doubt *doubt, const struct cc_sample *s)
{
	__u32 share_q16 = doubt_share_q16(doubt, (__u64)doubt->acked + doubt->lost);
	__u8 state = doubt->state;

	doubt_begin_round(doubt, s);
	if (state == DOUBT_SETTLING) {
		doubt->state = DOUBT_MEASURING;
		return DOUBT_OF_NOTHING;
	}
	doubt->state = DOUBT_NONE;
	doubt_learn(doubt, share_q16);
	if (state != DOUBT_MEASURING)
		return DOUBT_OF_NOTHING;
	if (share_q16 < doubt->spike_q16 / 2)
		return DOUBT_FELL;
	doubt->level_q16 = (__u32)max_u64(doubt->level_q16, share_q16);
	return DOUBT_BELIEVED;
}

CC_INLINE int doubt_is_testing(const struct cc_doubt *doubt)
{
	return doubt->state >= DOUBT_SETTLING;
}

/* To be called once per ACK of a flow with tags; `corrupted`: packets that the tags newly call corrupted. */
CC_SUBPROGRAM enum doubt_answer doubt_on_ack(struct cc_doubt *doubt, const struct cc_sample *s,
					     __u32 corrupted, __u64 cwnd_q16)
{
	if (!doubt || !s)
		return DOUBT_OF_NOTHING;
	doubt->lost += corrupted;
	doubt->acked += s->acked_packets;
	if (s->rtt_us)
		doubt->rtt_us = s->rtt_us;
	if (round_has_ended(&doubt->round, s))
		return doubt_end_round(doubt, s);
	if (corrupted && doubt->state == DOUBT_NONE)
		return doubt_raise(doubt, s, cwnd_q16);
	return DOUBT_OF_NOTHING;
}

/* While corruption is not believed: does it come as before, at a rate that is much lower and without a queue?
 * Then it was corruption.
 */
CC_SUBPROGRAM int doubt_is_refuted(struct cc_doubt *doubt, const struct cc_sample *s, __u32 corrupted,
				   __u64 cwnd_q16)
{
	__u64 packets;

	if (!doubt || !s)
		return 0;
	doubt->lost += corrupted;
	doubt->acked += s->acked_packets;
	if (s->rtt_us)
		doubt->rtt_us = s->rtt_us;
	packets = max_u64(cwnd_q16 >> 16, (__u64)doubt->acked + doubt->lost);
	if (corrupted && cwnd_q16 < doubt->before_q16 / 4 * 3 && !doubt_is_queued(doubt, s) &&
	    doubt->lost > DOUBT_SLACK && doubt_share_q16(doubt, packets) >= doubt->spike_q16 / 2) {
		doubt->credit_next = (__u8)clamp_u64(doubt->credit_next * DOUBT_CREDIT_GROWTH,
						     DOUBT_CREDIT_FIRST, DOUBT_CREDIT_MAX);
		doubt->credit = doubt->credit_next;
		return 1;
	}
	if (round_has_ended(&doubt->round, s))
		doubt_begin_round(doubt, s);
	return 0;
}

#endif /* CLARION_CC_DOUBT_H */
