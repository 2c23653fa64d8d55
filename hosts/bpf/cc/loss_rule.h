/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The sender's use of loss causes, shared by all laws.
 *
 * The path totals say how many packets of this flow were corrupted on wires and how many were dropped by
 * queues. The rule: reduce, at most once per round trip, when the congestion total has moved, or when the
 * transport found more losses than the two totals explain (some hop does not tag). A loss that the
 * corruption total explains is only retransmitted. A total that jumps further than packets were outstanding
 * (restart, route change) is not believed: the rule takes it as its new base, and it explains nothing.
 */
#ifndef CLARION_CC_LOSS_RULE_H
#define CLARION_CC_LOSS_RULE_H

#include "../flow.h"
#include "sample.h"

/* Totals may count a few packets more than the flow had outstanding: flows that share its bucket. */
#define LOSS_JUMP_SLACK 64
/* A late packet takes a count back, and an old ACK may arrive late; further back is a jump. */
#define LOSS_BACKWARD_SLACK 256
/* Round trips that a timeout waits for totals that are newer than it. */
#define LOSS_TIMEOUT_PATIENCE_ROUNDS 2
/* Round trips in which a drop by this host's own queue may still show as a gap on the first wire. */
#define LOSS_LOCAL_ROUNDS 3
/* How long an explanation that has been read too early waits for its loss. */
#define LOSS_LEFTOVER_US 10000
/* Fits every sum of it. */
#define LOSS_LATELY_MAX (1U << 20)

enum loss_verdict {
	LOSS_NOTHING = 0,	    /* go on; what was lost is only retransmitted */
	LOSS_CONGESTION = 1,	    /* reduce: a queue dropped packets */
	LOSS_UNEXPLAINED = 2,	    /* reduce: losses that no total explains */
	LOSS_CONTRADICTED = 3,	    /* reduce: losses tagged as corruption that are not believed */
	LOSS_TIMEOUT_EXPLAINED = 4, /* the timeout was corruption: give the window back */
	LOSS_TIMEOUT_REAL = 5,	    /* the timeout was not corruption */
};

struct loss_rule {
	__u32 lost;	   /* transport's losses already booked, modulo 2^32 */
	__s32 unexplained; /* losses booked less losses explained; negative: explained ahead */
	__u16 corrupt;	   /* totals believed */
	__u16 congest;
	__u8 has_base;	      /* the totals above are valid */
	__u8 is_holding;      /* a reduction, or the base, is less than a round trip old */
	__u8 is_behind;	      /* the echoed totals have been below the ones believed since `behind` */
	__u8 timeout_pending; /* rounds left in which a timeout waits for totals that tell its cause */
	struct cc_round hold;
	struct cc_round behind;
	__u32 explained_lately;	 /* losses that the totals have explained since ... */
	__u32 lately_began_us;	 /* low 32 bits of the clock */
	__u32 timeout_lost;	 /* packets that the pending timeouts gave up */
	__u32 timeout_explained; /* packets corrupted, as the totals said since */
	__u32 timeout_echoes;	 /* echoes received before the newest of them */
	__u32 local_seen;	 /* drops by this host's own queues already noticed, modulo 2^32 */
	__u16 local_pending;	 /* of them, those that have not shown as a gap on the first wire yet */
	__u8 local_rounds;	 /* round trips left in which they may */
	__u8 pad;
	__u16 corrupted; /* packets that this ACK's totals newly call corrupted */
	__u16 congested; /* ... dropped by a queue */
};

CC_INLINE void loss_rule_rebase(struct loss_rule *rule, const struct flow_echo *echo)
{
	rule->corrupt = echo->rev_corrupt;
	rule->congest = echo->rev_congest;
	rule->unexplained = 0;
	rule->is_behind = 0;
	rule->corrupted = 0;
	rule->congested = 0;
}

CC_INLINE void loss_rule_hold(struct loss_rule *rule, const struct cc_sample *s)
{
	rule->is_holding = 1;
	round_begin(&rule->hold, s);
}

/* To be called at the end of each ACK. The packet whose ACK ends the round was sent after the reduction, but
 * its totals count drops from before it: the hold is over only with the next ACK.
 */
CC_INLINE void loss_rule_end_ack(struct loss_rule *rule, const struct cc_sample *s)
{
	if (rule->is_holding && round_has_ended(&rule->hold, s))
		rule->is_holding = 0;
}

/* The first echo sets the base. Losses found in the round trip after it may be older than the base. */
CC_INLINE void loss_rule_start(struct loss_rule *rule, const struct cc_sample *s,
			       const struct flow_echo *echo)
{
	loss_rule_rebase(rule, echo);
	rule->lost = s->lost_packets;
	loss_rule_hold(rule, s);
	rule->has_base = 1;
}

/* A timeout marks everything outstanding as lost, whatever its fate: those marks are written off, and totals
 * that are newer than it decide.
 */
CC_INLINE void loss_rule_on_timeout(struct loss_rule *rule, const struct cc_sample *s,
				    const struct flow *flow)
{
	if (!rule->timeout_pending) {
		rule->timeout_lost = 0;
		rule->timeout_explained = rule->unexplained < 0 ? 0U - (__u32)rule->unexplained : 0;
	}
	rule->timeout_lost += s->lost_packets - rule->lost;
	rule->timeout_echoes = flow->echo.nr_echoes;
	rule->timeout_pending = LOSS_TIMEOUT_PATIENCE_ROUNDS;
	rule->lost = s->lost_packets;
}

/* Drops by this host's own queues, new with this call. They come between the number of a packet and the first
 * check of it, so the next hop takes them for corruption: loss_rule_take_local sets that right.
 */
CC_INLINE int loss_rule_notice_local(struct loss_rule *rule, const struct cc_sample *s)
{
	__u32 dropped = s->local_drops - rule->local_seen;

	rule->local_seen = s->local_drops;
	if (!dropped)
		return 0;
	rule->local_pending = (__u16)min_u64(rule->local_pending + (__u64)dropped, 0xffff);
	rule->local_rounds = LOSS_LOCAL_ROUNDS;
	return 1;
}

CC_INLINE void loss_rule_take_local(struct loss_rule *rule, struct flow_stats *stats)
{
	__u16 local = (__u16)min_u64(rule->local_pending, rule->corrupted);

	rule->local_pending -= local;
	rule->corrupted -= local;
	stats->local_corrupt += local;
}

/* To be called as a round trip ends. */
CC_INLINE void loss_rule_round(struct loss_rule *rule)
{
	if (rule->timeout_pending > 1)
		rule->timeout_pending--;
	if (rule->local_rounds && !--rule->local_rounds)
		rule->local_pending = 0;
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

/* How far the totals have moved since they were believed last; not at all if they have jumped. */
CC_INLINE void loss_rule_read(struct loss_rule *rule, const struct cc_sample *s, const struct flow_echo *echo,
			      struct flow_stats *stats)
{
	__s32 corrupted = wrap_diff_u16(echo->rev_corrupt, rule->corrupt);
	__s32 congested = wrap_diff_u16(echo->rev_congest, rule->congest);
	int is_behind = corrupted < 0 || congested < 0;

	rule->corrupted = 0;
	rule->congested = 0;
	if (loss_rule_is_jump(corrupted, s) || loss_rule_is_jump(congested, s) ||
	    loss_rule_stays_behind(rule, s, is_behind)) {
		loss_rule_rebase(rule, echo);
		stats->rebased++;
		return;
	}
	if (corrupted > 0)
		rule->corrupted = (__u16)corrupted;
	if (congested > 0)
		rule->congested = (__u16)congested;
	rule->corrupt += rule->corrupted;
	rule->congest += rule->congested;
	loss_rule_take_local(rule, stats);
}

/* A timeout is corruption if no queue dropped anything and the totals explain at least half of what it gave
 * up: one corrupted packet does not excuse a window lost elsewhere.
 */
CC_INLINE enum loss_verdict loss_rule_decide_timeout(struct loss_rule *rule, const struct cc_sample *s,
						     int has_congestion)
{
	__u64 explained = rule->timeout_explained;

	rule->timeout_pending = 0;
	rule->unexplained = 0;
	loss_rule_hold(rule, s);
	if (!has_congestion && explained && 2 * explained >= rule->timeout_lost)
		return LOSS_TIMEOUT_EXPLAINED;
	return LOSS_TIMEOUT_REAL;
}

/* Once nothing is suspected lost, an explanation left over is that of another flow of the bucket. But packets
 * wait while an application has their socket, on either side, and what the newest of them brought is read
 * with the first: an ACK may tell of a loss before the ACK that shows it. So the latest are kept for 10 ms,
 * and for 20 at most.
 */
CC_INLINE void loss_rule_drop_leftover(struct loss_rule *rule, const struct cc_sample *s, __s32 explained)
{
	rule->explained_lately = (__u32)min_u64(rule->explained_lately + (__u64)explained, LOSS_LATELY_MAX);
	if (!s->is_open || (__u32)s->now_us - rule->lately_began_us <= LOSS_LEFTOVER_US)
		return;
	if (rule->unexplained < -(__s32)rule->explained_lately)
		rule->unexplained = -(__s32)rule->explained_lately;
	rule->explained_lately = 0;
	rule->lately_began_us = (__u32)s->now_us;
}

/* Books the transport's new losses against those that the totals newly explain. Explanations come first: the
 * packet behind a loss carries the total, its ACK makes the transport suspect, later ACKs convince it.
 */
CC_INLINE void loss_rule_book(struct loss_rule *rule, const struct cc_sample *s, __s32 explained)
{
	__s32 ahead_max = (__s32)min_u64(s->outstanding_packets, 0x7fffffff);

	rule->unexplained += wrap_diff_u32(s->lost_packets, rule->lost) - explained;
	rule->lost = s->lost_packets;
	loss_rule_drop_leftover(rule, s, explained);
	if (rule->unexplained < -ahead_max)
		rule->unexplained = -ahead_max;
}

/* To be called once per ACK while s->has_tags; the caller books the reduction it makes. With
 * `distrusts_corruption` the corruption total explains nothing.
 */
CC_SUBPROGRAM enum loss_verdict loss_rule_on_ack(struct loss_rule *rule, const struct cc_sample *s,
						 const struct flow_echo *echo, struct flow_stats *stats,
						 int distrusts_corruption)
{
	enum loss_verdict verdict = LOSS_NOTHING;
	__u16 believed;

	if (!rule || !s || !echo || !stats)
		return LOSS_NOTHING;
	if (!rule->has_base) {
		loss_rule_start(rule, s, echo);
		return LOSS_NOTHING;
	}
	loss_rule_read(rule, s, echo, stats);
	believed = distrusts_corruption ? 0 : rule->corrupted;
	loss_rule_book(rule, s, (__s32)believed + rule->congested);

	if (rule->timeout_pending) {
		rule->timeout_explained += believed;
		if (!s->acked_packets ||
		    (echo->nr_echoes == rule->timeout_echoes && rule->timeout_pending > 1))
			return LOSS_NOTHING;
		return loss_rule_decide_timeout(rule, s, rule->congested > 0);
	}
	if (rule->congested > 0)
		verdict = LOSS_CONGESTION;
	else if (rule->unexplained > 0)
		verdict = distrusts_corruption ? LOSS_CONTRADICTED : LOSS_UNEXPLAINED;
	if (rule->unexplained > 0)
		rule->unexplained = 0;
	if (verdict == LOSS_NOTHING || rule->is_holding)
		return LOSS_NOTHING;
	loss_rule_hold(rule, s);
	return verdict;
}

#endif /* CLARION_CC_LOSS_RULE_H */
