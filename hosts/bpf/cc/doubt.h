/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Is a loss that the tags call corruption really corruption?
 *
 * A modem, a bridge or a policer between two stamping ports drops packets, too, and their checks call that
 * corruption. Two things give such a queue away. Its losses come when it is full: behind a round trip time
 * that has risen. And they come and go with the sending rate, also where there is no queue (a policer);
 * corruption does neither. So what a path corrupts all the time has to be verified, once and now and then
 * again: the flow slows down a little for two round trips. If the losses stay they are corruption and the
 * window comes back. If they go they have followed the rate; half of the window comes back, and a second time
 * soon after counts as congestion (guard.h). Losses clearly above that level behind a risen delay are
 * congestion at once.
 *
 * Bursts alone prove nothing, radio fades come in bursts: a gap counts for at most two packets, because a
 * queue that is offered more than it carries drops one packet here and one there.
 */
#ifndef CLARION_CC_DOUBT_H
#define CLARION_CC_DOUBT_H

#include "base_rtt.h"
#include "params.h"
#include "sample.h"

/* What one gap counts for at most. */
#define DOUBT_GAP_MAX 2
/* Losses of a round trip beyond level + 4 mean deviations before there is a doubt: without and with a queue.
 */
#define DOUBT_SLACK	   3
#define DOUBT_SLACK_QUEUED 1
/* ... without a queue, while the level is not known yet. */
#define DOUBT_SLACK_FIRST 24
/* So many behind a risen delay are no chance. */
#define DOUBT_SLACK_SURE 8
/* Packets of a period, which is a round trip or more: a few are no sample. */
#define DOUBT_PERIOD_PACKETS 512
/* Periods that the smoothed level remembers. */
#define DOUBT_LEVEL_PERIODS 8
/* A test goes on until, at the share in doubt, so many losses were to be expected; at most so many round
 * trips. */
#define DOUBT_EXPECTED	  16
#define DOUBT_TEST_ROUNDS 16
/* Losses have gone when so many were to be expected and none came, and 5/2 more for each that came: the
 * sequential test of Wald (1945) of the share in doubt against an eighth of it, wrong once in a thousand
 * tests: 7/8 expected - ln(8) lost >= ln(1000).
 */
#define DOUBT_GONE	   8
#define DOUBT_GONE_PER_TWO 5
/* A level is in doubt above twice the one verified and this share; half of what was verified is forgotten
 * after so many round trips.
 */
#define DOUBT_FREE_Q16	    328 /* 0.5 % */
#define DOUBT_FORGET_ROUNDS 256
/* Losses that a flow may have for a first period while it opens its window: a quarter. */
#define DOUBT_MODERATE_Q16 16384
/* Round trips in a smaller window before its losses refute a doubt. */
#define DOUBT_REFUTE_ROUNDS 2
/* ... of which so many have to have losses. */
#define DOUBT_REFUTE_LOSSY_ROUNDS 3
/* Bursts believed after the first refutation, factor to the next, and at most. */
#define DOUBT_CREDIT_FIRST  4
#define DOUBT_CREDIT_GROWTH 4
#define DOUBT_CREDIT_MAX    64

enum doubt_state {
	DOUBT_NONE = 0,
	DOUBT_EXCUSED = 1,   /* nothing more in this round: a burst is believed, or congestion answered */
	DOUBT_ANSWERED = 2,  /* losses behind a risen delay have been answered; how many are there? */
	DOUBT_SETTLING = 3,  /* slowed down; packets of the old rate are still acknowledged */
	DOUBT_MEASURING = 4, /* packets of the lower rate are acknowledged */
};

enum doubt_answer {
	DOUBT_OF_NOTHING = 0,
	DOUBT_CONGESTION, /* losses behind a risen delay */
	DOUBT_CONFIRMED,  /* they are so many that it is no chance */
	DOUBT_TEST,	  /* slow down, to the share of the window that has come through, and see */
	DOUBT_BELIEVED,	  /* the losses stayed: corruption */
	DOUBT_FELL,	  /* the losses went */
};

struct cc_doubt {
	__u64 before_q16; /* window when the doubt arose */
	__u64 clean_q16;  /* window at which the losses had gone */
	__u64 test_q16;	  /* window of the test */
	__u64 round_q16;  /* window at the end of the last round trip */
	__u32 lost;	  /* packets corrupted, as the tags say, in this period, at most two for each gap */
	__u32 acked;	  /* packets delivered in this period */
	__u32 level_q16;  /* mean share of packets corrupted per period, and its mean deviation */
	__u32 dev_q16;
	__u32 verified_q16; /* level that has stayed at a lower rate */
	__u32 spike_q16;    /* share that raised the doubt */
	__u32 rtt_us;	    /* the newest */
	struct cc_round round;
	__u16 rounds; /* since half of what was verified was forgotten */
	__u8 state;
	__u8 lossy_rounds; /* of this refutation: with losses */
	__u8 has_lost;	   /* this round is one */
	__u8 has_fallen;   /* losses have followed the rate, and no test has refuted that */
	__u8 is_growing; /* the window is being opened: what a test would set back, and what ends by itself */
	__u8 periods;	 /* that the level is known from, at most DOUBT_LEVEL_PERIODS */
	__u8 credit;	 /* bursts that are believed without a test */
	__u8 credit_next;
	__u8 test_rounds; /* of this test, or of the refutation, so far */
	__u8 has_lied;	  /* losses have followed the rate before: no more tests until that is refuted */
};

CC_INLINE __u32 doubt_share_q16(const struct cc_doubt *doubt, __u64 packets)
{
	return (__u32)min_u64(ratio_q16(doubt->lost, max_u64(packets, 1)), Q16_ONE);
}

CC_INLINE void doubt_begin_period(struct cc_doubt *doubt)
{
	doubt->lost = 0;
	doubt->acked = 0;
}

/* Of a test or a refutation; the one before leaves nothing to it. */
CC_INLINE void doubt_begin_rounds(struct cc_doubt *doubt)
{
	doubt->test_rounds = 0;
	doubt->lossy_rounds = 0;
	doubt->has_lost = 0;
}

CC_INLINE void doubt_count(struct cc_doubt *doubt, const struct cc_sample *s, __u32 corrupted)
{
	doubt->lost += (__u32)min_u64(corrupted, DOUBT_GAP_MAX);
	doubt->acked += s->acked_packets;
}

CC_INLINE __u64 doubt_packets(const struct cc_doubt *doubt)
{
	return (__u64)doubt->acked + doubt->lost;
}

CC_INLINE void doubt_set_level(struct cc_doubt *doubt, __u32 level_q16)
{
	doubt->level_q16 = level_q16;
	doubt->dev_q16 = level_q16 / 2;
}

/* Takes the share of a period into the level, with the weights of RFC 6298. */
CC_INLINE void doubt_learn(struct cc_doubt *doubt, __u32 share_q16)
{
	__u32 off_q16 =
	    share_q16 > doubt->level_q16 ? share_q16 - doubt->level_q16 : doubt->level_q16 - share_q16;
	int is_first = !doubt->periods;

	doubt->periods += doubt->periods < DOUBT_LEVEL_PERIODS;
	if (is_first || !doubt->level_q16) {
		doubt_set_level(doubt, share_q16);
		return;
	}
	doubt->dev_q16 += off_q16 / 4 - doubt->dev_q16 / 4;
	doubt->level_q16 += share_q16 / 8 - doubt->level_q16 / 8;
}

CC_INLINE int doubt_is_queued(const struct cc_doubt *doubt, const struct cc_sample *s)
{
	return base_rtt_is_above(doubt->rtt_us, s->min_rtt_us);
}

/* What chance adds to the losses of `packets`, in Q16 packets: the mean deviation of a period, which falls
 * with the root of its length, and at least that of losses one by one (Poisson), in these packets and in
 * those that the level is known from.
 */
CC_INLINE __u64 doubt_chance_q16(const struct cc_doubt *doubt, __u64 packets)
{
	__u32 n = (__u32)min_u64(packets, 1 << 16);
	__u64 bursts_q16 = (__u64)doubt->dev_q16 * max_u64(n, root_u32(n * DOUBT_PERIOD_PACKETS));
	__u64 lost_q8 = n * (__u64)doubt->level_q16 >> 8;
	__u64 known_packets = max_u64(doubt->periods, 1) * DOUBT_PERIOD_PACKETS;
	__u64 single_q16 = (__u64)root_u32((__u32)(lost_q8 + lost_q8 * n / known_packets)) << 12;

	return max_u64(bursts_q16, single_q16);
}

/* Losses among `packets` that are nothing new. */
CC_INLINE __u64 doubt_usual_q16(const struct cc_doubt *doubt, __u64 packets)
{
	return packets * doubt->level_q16 + 4 * doubt_chance_q16(doubt, packets);
}

/* Are this period's losses clearly above the level, among `packets`? Before a first period has ended the
 * level is what came without a queue: that is no queue's doing, but it may be a policer's.
 */
CC_INLINE int doubt_is_spike(const struct cc_doubt *doubt, __u64 packets, int is_queued, __u32 slack)
{
	__u64 usual_q16 = doubt->periods || is_queued ? doubt_usual_q16(doubt, packets) : 0;

	return ((__u64)doubt->lost << 16) > usual_q16 + ((__u64)slack << 16);
}

/* A little less than what comes through, which is little behind a policer. */
CC_INLINE __u64 doubt_test_window_q16(__u64 through_q16)
{
	return max_u64(through_q16 / 8 * 7, 2 * Q16_ONE);
}

/* The window that `share_q16` of losses lets through. */
CC_INLINE __u64 doubt_through_q16(__u64 cwnd_q16, __u32 share_q16)
{
	return scale_q16(cwnd_q16, Q16_ONE - share_q16);
}

/* The window after losses that followed the rate: half of what the test took, less if little came through. */
CC_INLINE __u64 doubt_fallen_window_q16(const struct cc_doubt *doubt, __u64 before_q16, __u64 cwnd_q16)
{
	return min_u64((cwnd_q16 + before_q16) / 2, doubt_through_q16(before_q16, doubt->spike_q16));
}

CC_INLINE enum doubt_answer doubt_begin_test(struct cc_doubt *doubt, const struct cc_sample *s,
					     __u32 share_q16, __u64 cwnd_q16)
{
	doubt->before_q16 = cwnd_q16;
	doubt->spike_q16 = share_q16;
	doubt->test_q16 = doubt_test_window_q16(doubt_through_q16(cwnd_q16, share_q16));
	/* What slow start has added in a round trip is more than what was lost so far. */
	if (doubt->is_growing)
		doubt->test_q16 = min_u64(doubt->test_q16, doubt->round_q16);
	doubt->state = DOUBT_SETTLING;
	doubt_begin_rounds(doubt);
	doubt_begin_period(doubt);
	round_begin(&doubt->round, s);
	return DOUBT_TEST;
}

/* A flow that knows no level yet may have begun behind the queue of others, on a path that corrupts; and few
 * losses are no sample to test. Where a path corrupts, three in a row are nothing rare: the tail of a Poisson
 * distribution is longer than its deviation says.
 */
CC_INLINE __u32 doubt_slack(const struct cc_doubt *doubt, int is_queued)
{
	if (!doubt->periods)
		return is_queued ? DOUBT_SLACK_SURE : DOUBT_SLACK_FIRST;
	return is_queued && !doubt->level_q16 ? DOUBT_SLACK_QUEUED : DOUBT_SLACK;
}

/* A test would set back a flow that has only begun to open its window; of moderate losses the first period
 * tells more.
 */
CC_INLINE int doubt_may_wait(const struct cc_doubt *doubt, __u32 share_q16)
{
	return !doubt->periods && doubt->is_growing && share_q16 < DOUBT_MODERATE_Q16;
}

/* Losses clearly above the level. */
CC_INLINE enum doubt_answer doubt_raise(struct cc_doubt *doubt, const struct cc_sample *s, __u64 cwnd_q16)
{
	__u64 packets = max_u64(cwnd_q16 >> 16, doubt_packets(doubt));
	__u32 share_q16 = doubt_share_q16(doubt, packets);
	int is_queued = doubt_is_queued(doubt, s);

	if (!doubt_is_spike(doubt, packets, is_queued, doubt_slack(doubt, is_queued)))
		return DOUBT_OF_NOTHING;
	if (is_queued || doubt->has_lied) {
		doubt->before_q16 = cwnd_q16;
		doubt->clean_q16 = cwnd_q16 / 2;
		doubt->spike_q16 = share_q16;
		doubt_begin_rounds(doubt);
		doubt->state = DOUBT_ANSWERED; /* once per round */
		return DOUBT_CONGESTION;
	}
	if (share_q16 < DOUBT_FREE_Q16 || doubt_may_wait(doubt, share_q16))
		return DOUBT_OF_NOTHING;
	if (doubt->credit) {
		doubt->credit--;
		doubt->state = DOUBT_EXCUSED;
		return DOUBT_OF_NOTHING;
	}
	return doubt_begin_test(doubt, s, share_q16, cwnd_q16);
}

CC_INLINE enum doubt_answer doubt_confirm(struct cc_doubt *doubt, __u64 cwnd_q16)
{
	__u64 packets = max_u64(cwnd_q16 >> 16, doubt_packets(doubt));

	if (!doubt_is_spike(doubt, packets, 1, DOUBT_SLACK_SURE))
		return DOUBT_OF_NOTHING;
	doubt->state = DOUBT_EXCUSED;
	return DOUBT_CONFIRMED;
}

CC_INLINE void doubt_forget(struct cc_doubt *doubt)
{
	if (++doubt->rounds < DOUBT_FORGET_ROUNDS)
		return;
	doubt->rounds = 0;
	doubt->verified_q16 /= 2;
}

CC_INLINE void doubt_end(struct cc_doubt *doubt)
{
	doubt->state = DOUBT_NONE;
	doubt_begin_rounds(doubt);
	doubt_begin_period(doubt);
}

CC_INLINE void doubt_know_level(struct cc_doubt *doubt, __u32 level_q16)
{
	doubt_set_level(doubt, level_q16);
	doubt->periods = 1;
}

/* Losses that were to be expected in this test, had they stayed. */
CC_INLINE __u64 doubt_expected(const struct cc_doubt *doubt)
{
	return doubt_packets(doubt) * doubt->spike_q16 >> 16;
}

CC_INLINE int doubt_have_gone(const struct cc_doubt *doubt)
{
	return 2 * doubt_expected(doubt) >= 2 * DOUBT_GONE + DOUBT_GONE_PER_TWO * (__u64)doubt->lost;
}

/* Losses that have not gone have stayed. Many more than there were before, and this test says nothing:
 * another begins. Too few packets to tell do no harm.
 */
CC_INLINE enum doubt_answer doubt_end_test(struct cc_doubt *doubt, const struct cc_sample *s, __u64 cwnd_q16)
{
	__u32 share_q16 = doubt_share_q16(doubt, doubt_packets(doubt));
	__u64 before_q16 = doubt->before_q16;
	int is_proof = doubt_expected(doubt) >= DOUBT_EXPECTED;
	int have_gone = doubt_have_gone(doubt);

	if (share_q16 > 2 * doubt->spike_q16 + DOUBT_FREE_Q16) {
		doubt_begin_test(doubt, s, share_q16, cwnd_q16);
		doubt->before_q16 = before_q16;
		return DOUBT_TEST;
	}
	doubt_end(doubt);
	if (have_gone) {
		doubt_know_level(doubt, share_q16);
		doubt->clean_q16 = cwnd_q16;
		doubt->verified_q16 = 0;
		doubt->has_fallen = 1;
		return DOUBT_FELL;
	}
	if (is_proof) {
		doubt_know_level(doubt, (share_q16 + doubt->spike_q16) / 2);
		doubt->has_fallen = 0;
	}
	doubt->verified_q16 = (__u32)max_u64(doubt->verified_q16, doubt->level_q16);
	return DOUBT_BELIEVED;
}

/* The share that is surely lost at the old rate: of what its last packets show what chance does not explain,
 * or, where they are too few to show anything, what was lost before.
 */
CC_INLINE __u32 doubt_settled_q16(const struct cc_doubt *doubt)
{
	__u32 sure = doubt->lost - root_u32(doubt->lost);
	__u64 sure_q16 = ratio_q16(sure, max_u64(doubt_packets(doubt), 1));
	__u32 known_q16 = doubt->periods ? doubt->level_q16 : 0;

	return (__u32)max_u64(sure_q16, min_u64(known_q16, doubt->spike_q16));
}

/* The packets of the old rate tell how many are really lost, unlike the spike that raised the doubt, and how
 * many come through in a round trip: the test goes below that. Losses that went before the rate did have not
 * followed it.
 */
CC_INLINE enum doubt_answer doubt_settle(struct cc_doubt *doubt)
{
	__u64 expected = doubt_expected(doubt);
	__u64 through_q16 = (__u64)doubt->acked << 16;

	if (doubt->test_rounds++ > 0) {
		doubt_begin_period(doubt);
		doubt->state = DOUBT_MEASURING;
		return DOUBT_OF_NOTHING;
	}
	doubt->spike_q16 = doubt_settled_q16(doubt);
	if (!doubt->spike_q16 || doubt->lost < expected / 4) {
		doubt_end(doubt);
		return DOUBT_BELIEVED;
	}
	doubt_begin_period(doubt);
	doubt->test_q16 = min_u64(doubt->test_q16, doubt_test_window_q16(through_q16));
	return DOUBT_TEST;
}

CC_INLINE enum doubt_answer doubt_test_round(struct cc_doubt *doubt, const struct cc_sample *s,
					     __u64 cwnd_q16)
{
	if (doubt->state == DOUBT_SETTLING)
		return doubt_settle(doubt);
	if (++doubt->test_rounds < DOUBT_TEST_ROUNDS && doubt_expected(doubt) < DOUBT_EXPECTED &&
	    !doubt_have_gone(doubt))
		return DOUBT_OF_NOTHING;
	return doubt_end_test(doubt, s, cwnd_q16);
}

CC_INLINE enum doubt_answer doubt_end_round(struct cc_doubt *doubt, const struct cc_sample *s, __u64 cwnd_q16)
{
	__u32 share_q16 = doubt_share_q16(doubt, doubt_packets(doubt));

	round_begin(&doubt->round, s);
	doubt->is_growing = !doubt->has_fallen && cwnd_q16 > doubt->round_q16 + doubt->round_q16 / 4;
	doubt->round_q16 = cwnd_q16;
	doubt_forget(doubt);
	if (doubt->state >= DOUBT_SETTLING)
		return doubt_test_round(doubt, s, cwnd_q16);
	doubt->state = DOUBT_NONE;
	if (doubt_packets(doubt) < DOUBT_PERIOD_PACKETS) {
		if (!doubt->periods && !doubt_is_queued(doubt, s))
			doubt_set_level(doubt, share_q16);
		return DOUBT_OF_NOTHING;
	}
	doubt_begin_period(doubt);
	doubt_learn(doubt, share_q16);
	if (doubt->level_q16 > 2 * doubt->verified_q16 + DOUBT_FREE_Q16 &&
	    share_q16 >= doubt->level_q16 / 2 && !doubt->is_growing)
		return doubt_begin_test(doubt, s, doubt->level_q16, cwnd_q16);
	return DOUBT_OF_NOTHING;
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
	doubt_count(doubt, s, corrupted);
	if (s->rtt_us)
		doubt->rtt_us = s->rtt_us;
	if (round_has_ended(&doubt->round, s))
		return doubt_end_round(doubt, s, cwnd_q16);
	if (corrupted && doubt->state == DOUBT_NONE)
		return doubt_raise(doubt, s, cwnd_q16);
	if (corrupted && doubt->state == DOUBT_ANSWERED)
		return doubt_confirm(doubt, cwnd_q16);
	return DOUBT_OF_NOTHING;
}

/* The share that refutes a doubt: half of what the path corrupted before, at most half of what raised it. */
CC_INLINE __u32 doubt_refuting_q16(const struct cc_doubt *doubt)
{
	return (__u32)min_u64(doubt->spike_q16, max_u64(doubt->level_q16, DOUBT_FREE_Q16)) / 2;
}

/* Losses that a sender which backs off would cause itself: 1.5 / cwnd^2 of all packets (Mathis et al., 1997),
 * here twice that.
 */
CC_INLINE int doubt_is_self_made(__u32 share_q16, __u64 cwnd_q16)
{
	__u64 packets = cwnd_q16 >> 16;

	return mul_sat_u64(share_q16, packets * packets) < 3 * Q16_ONE;
}

/* Until the window is small enough to refute, and its packets alone are acknowledged. What came through at
 * the larger window is the limit: above that a policer goes on dropping.
 */
CC_INLINE void doubt_settle_refutation(struct cc_doubt *doubt, __u64 cwnd_q16)
{
	__u64 through_q16 = (__u64)doubt->acked << 16;

	if (!doubt->test_rounds && !doubt->lossy_rounds && doubt->lost)
		doubt->clean_q16 = min_u64(doubt->clean_q16, through_q16 / 4 * 3);
	doubt_begin_period(doubt);
	if (cwnd_q16 <= doubt->clean_q16)
		doubt->test_rounds++;
}

/* The first losses may be those of a limit that the window has just reached: after them it has to be smaller.
 */
CC_INLINE void doubt_count_lossy_round(struct cc_doubt *doubt)
{
	if (!doubt->lossy_rounds) {
		doubt->clean_q16 = min_u64(doubt->clean_q16, doubt->round_q16 / 4 * 3);
		doubt->test_rounds = 0;
	}
	doubt->lossy_rounds += doubt->lossy_rounds < DOUBT_REFUTE_LOSSY_ROUNDS;
}

/* Losses of one burst may show late; corruption goes on. */
CC_INLINE void doubt_end_refuting_round(struct cc_doubt *doubt, __u64 cwnd_q16)
{
	if (doubt->test_rounds < DOUBT_REFUTE_ROUNDS)
		doubt_settle_refutation(doubt, cwnd_q16);
	else if (doubt->has_lost)
		doubt_count_lossy_round(doubt);
	doubt->has_lost = 0;
	doubt->round_q16 = cwnd_q16;
}

/* While corruption is not believed: does it come as before, without a queue and in a window in which it had
 * gone? Then it was corruption. Each time takes more proof than the one before.
 */
CC_SUBPROGRAM int doubt_is_refuted(struct cc_doubt *doubt, const struct cc_sample *s, __u32 corrupted,
				   __u64 cwnd_q16)
{
	__u32 share_q16;

	if (!doubt || !s)
		return 0;
	if (s->rtt_us)
		doubt->rtt_us = s->rtt_us;
	if (cwnd_q16 > doubt->clean_q16)
		doubt_begin_rounds(doubt);
	if (doubt->test_rounds < DOUBT_REFUTE_ROUNDS || !doubt_is_queued(doubt, s))
		doubt_count(doubt, s, corrupted);
	doubt->has_lost |= corrupted > 0;
	if (round_has_ended(&doubt->round, s)) {
		round_begin(&doubt->round, s);
		doubt_end_refuting_round(doubt, cwnd_q16);
	}
	if (doubt->lossy_rounds < DOUBT_REFUTE_LOSSY_ROUNDS)
		return 0;
	share_q16 = doubt_share_q16(doubt, doubt_packets(doubt));
	if (doubt->lost <= DOUBT_SLACK + (__u32)doubt->credit_next || share_q16 < doubt_refuting_q16(doubt) ||
	    doubt_is_self_made(share_q16, cwnd_q16))
		return 0;
	doubt->credit_next =
	    (__u8)clamp_u64(doubt->credit_next * DOUBT_CREDIT_GROWTH, DOUBT_CREDIT_FIRST, DOUBT_CREDIT_MAX);
	doubt->credit = doubt->credit_next;
	doubt->has_lied = 0;
	doubt_end(doubt);
	return 1;
}

#endif /* CLARION_CC_DOUBT_H */
