/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sender's use of loss causes, shared by all laws.
 *
 * The path totals say how many packets of this flow were corrupted on wires and how many were dropped by
 * queues. The rule: reduce, at most once per round trip, when the congestion total has moved, or when the
 * transport found more losses than the two totals explain (some hop does not tag). A loss that the
 * corruption total explains is only retransmitted. A total that jumps further than packets were outstanding
 * (restart, route change) is not believed: the rule takes it as its new base.
 */
#ifndef CLARION_CC_LOSS_RULE_H
#define CLARION_CC_LOSS_RULE_H

#include "../flow.h"
#include "sample.h"

/* Totals may count a few packets more than the flow had outstanding: flows that share its bucket. */
#define LOSS_JUMP_SLACK 64
/* A late packet takes a count back, and an old ACK may arrive late; further back is a jump. */
#define LOSS_BACKWARD_SLACK 256

enum loss_verdict {
	LOSS_NOTHING = 0,	    /* go on; what was lost is only retransmitted */
	LOSS_CONGESTION = 1,	    /* reduce: a queue dropped packets */
	LOSS_UNEXPLAINED = 2,	    /* reduce: losses that no total explains */
	LOSS_TIMEOUT_EXPLAINED = 3, /* the timeout was corruption: give the window back */
	LOSS_TIMEOUT_REAL = 4,	    /* the timeout was not corruption */
};

struct loss_rule {
	__u32 lost;	   /* transport's losses already booked, modulo 2^32 */
	__s32 unexplained; /* losses booked less losses explained; negative: explained ahead */
	__u16 corrupt;	   /* totals believed */
	__u16 congest;
	__u8 has_base;	      /* the totals above are valid */
	__u8 is_holding;      /* a reduction, or the base, is less than a round trip old */
	__u8 is_behind;	      /* the echoed totals have been below the ones believed since `behind` */
	__u8 timeout_pending; /* a timeout waits for the first ACK to tell its cause */
	struct cc_round hold;
	struct cc_round behind;
};

CC_INLINE void loss_rule_rebase(struct loss_rule *rule, const struct cc_sample *s,
				const struct flow_echo *echo)
{
	rule->corrupt = echo->rev_corrupt;
	rule->congest = echo->rev_congest;
	rule->lost = s->lost_packets;
	rule->unexplained = 0;
	rule->is_behind = 0;
}

CC_INLINE void loss_rule_hold(struct loss_rule *rule, const struct cc_sample *s)
{
	rule->is_holding = 1;
	round_begin(&rule->hold, s);
}

/* The first echo sets the base. Losses found in the round trip after it may be older than the base. */
CC_INLINE void loss_rule_start(struct loss_rule *rule, const struct cc_sample *s,
			       const struct flow_echo *echo)
{
	loss_rule_rebase(rule, s, echo);
	loss_rule_hold(rule, s);
	rule->has_base = 1;
}

/* A timeout marks everything outstanding as lost, whatever its fate: those marks are written off and the next
 * ACK decides by the totals.
 */
CC_INLINE void loss_rule_on_timeout(struct loss_rule *rule, const struct cc_sample *s)
{
	rule->lost = s->lost_packets;
	rule->timeout_pending = 1;
}

CC_INLINE int loss_rule_is_jump(__s32 moved, const struct cc_sample *s)
{
	return moved < -LOSS_BACKWARD_SLACK || moved > (__s32)s->outstanding_packets + LOSS_JUMP_SLACK;
}

/* Totals that stay behind for a whole round trip have been restarted or taken back for good. */
CC_INLINE int loss_rule_stays_behind(struct loss_rule *rule, const struct cc_sample *s, int is_behind)
{
	if (!is_behind) {
		rule->is_behind = 0;
		return 0;
	}
	if (rule->is_behind)
		return round_has_ended(&rule->behind, s);
	rule->is_behind = 1;
	round_begin(&rule->behind, s);
	return 0;
}

CC_INLINE enum loss_verdict loss_rule_decide_timeout(struct loss_rule *rule, const struct cc_sample *s,
						     __s32 corrupted, __s32 congested)
{
	int is_explained = !congested && (corrupted > 0 || rule->unexplained < 0);

	rule->timeout_pending = 0;
	rule->unexplained = 0;
	loss_rule_hold(rule, s);
	return is_explained ? LOSS_TIMEOUT_EXPLAINED : LOSS_TIMEOUT_REAL;
}

/* Books the transport's new losses against those that the totals newly explain. Explanations come first: the
 * packet behind a loss carries the total, its ACK makes the transport suspect, later ACKs convince it. Once
 * nothing is suspected lost, an explanation left over is that of another flow of the bucket.
 */
CC_INLINE void loss_rule_book(struct loss_rule *rule, const struct cc_sample *s, __s32 explained)
{
	__s32 ahead_max = (__s32)min_u64(s->outstanding_packets, 0x7fffffff);

	rule->unexplained += wrap_diff_u32(s->lost_packets, rule->lost) - explained;
	rule->lost = s->lost_packets;
	if (s->is_open && rule->unexplained < 0)
		rule->unexplained = 0;
	if (rule->unexplained < -ahead_max)
		rule->unexplained = -ahead_max;
}

/* To be called once per ACK while s->has_tags; the caller books the reduction it makes. */
CC_INLINE enum loss_verdict loss_rule_on_ack(struct loss_rule *rule, const struct cc_sample *s,
					     struct flow *flow)
{
	__s32 corrupted = wrap_diff_u16(flow->echo.rev_corrupt, rule->corrupt);
	__s32 congested = wrap_diff_u16(flow->echo.rev_congest, rule->congest);
	enum loss_verdict verdict = LOSS_NOTHING;

	if (!rule->has_base) {
		loss_rule_start(rule, s, &flow->echo);
		return LOSS_NOTHING;
	}
	if (loss_rule_is_jump(corrupted, s) || loss_rule_is_jump(congested, s) ||
	    loss_rule_stays_behind(rule, s, corrupted < 0 || congested < 0)) {
		loss_rule_rebase(rule, s, &flow->echo);
		flow->stats.rebased++;
		return LOSS_NOTHING;
	}
	if (corrupted < 0)
		corrupted = 0;
	if (congested < 0)
		congested = 0;
	rule->corrupt += (__u16)corrupted;
	rule->congest += (__u16)congested;
	loss_rule_book(rule, s, corrupted + congested);

	if (rule->timeout_pending && s->acked_packets)
		return loss_rule_decide_timeout(rule, s, corrupted, congested);
	if (rule->is_holding && round_has_ended(&rule->hold, s))
		rule->is_holding = 0;

	if (congested > 0)
		verdict = LOSS_CONGESTION;
	else if (rule->unexplained > 0)
		verdict = LOSS_UNEXPLAINED;
	if (rule->unexplained > 0)
		rule->unexplained = 0;
	if (verdict == LOSS_NOTHING || rule->is_holding)
		return LOSS_NOTHING;
	loss_rule_hold(rule, s);
	return verdict;
}

CC_INLINE void loss_rule_count(struct flow_stats *stats, enum loss_verdict verdict)
{
	stats->reduced_congestion += verdict == LOSS_CONGESTION;
	stats->reduced_unexplained += verdict == LOSS_UNEXPLAINED;
	stats->reduced_timeout += verdict == LOSS_TIMEOUT_REAL;
}

#endif /* CLARION_CC_LOSS_RULE_H */
