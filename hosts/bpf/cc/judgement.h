/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What an ACK means for the window, common to all laws: begins and ends each ACK, and says whether to reduce.
 *
 * Signs of congestion in the order of their weight: a drop by this host's own queue, a mark (ECN), the totals
 * of the path (loss_rule.h), corruption that behaves like congestion (doubt.h). At most one reduction per
 * round trip.
 */
#ifndef CLARION_CC_JUDGEMENT_H
#define CLARION_CC_JUDGEMENT_H

#include "window.h"

/* Before a law looks at an ACK: its base RTT takes the place of the kernel's, rounds are counted. */
CC_INLINE void window_begin_ack(struct cc_window *w, const struct cc_params *p, struct cc_sample *s)
{
	base_rtt_sample(&w->base_rtt, p, s);
	w->is_longer = 0;
	w->is_new_round = (__u8)round_has_ended(&w->round, s);
	if (w->is_new_round) {
		round_begin(&w->round, s);
		w->is_longer = (__u8)base_rtt_round(&w->base_rtt, window_packets(w));
		guard_round(&w->guard);
		loss_rule_round(&w->loss);
	}
	if (base_rtt_us(&w->base_rtt))
		s->min_rtt_us = base_rtt_us(&w->base_rtt);
	window_sample_rtt(w, s);
}

CC_INLINE void window_end_ack(struct cc_window *w, const struct cc_sample *s)
{
	w->last_ack_us = (__u32)s->now_us;
	loss_rule_end_ack(&w->loss, s);
}

/* A sample that is no ACK (state changes, start of sending) with the base RTT of this flow. */
CC_INLINE void window_adopt(const struct cc_window *w, struct cc_sample *s)
{
	if (base_rtt_us(&w->base_rtt))
		s->min_rtt_us = base_rtt_us(&w->base_rtt);
}

/* Does the flow have to mind its manners? */
CC_INLINE int window_is_guarded(const struct cc_window *w)
{
	return guard_is_on(&w->guard);
}

/* May it grow at all? Not while it tests what the tags say. */
CC_INLINE int window_may_grow(const struct cc_window *w)
{
	return !doubt_is_testing(&w->doubt);
}

/* The window that a mark leaves: RFC 3168 halves, RFC 8511 takes less once slow start is over. */
CC_INLINE __u64 window_after_mark_q16(const struct cc_window *w, const struct cc_params *p)
{
	__u32 percent = w->cwnd_q16 < w->ssthresh_q16 ? 50 : p->ecn_beta_percent;

	return scale_percent(w->cwnd_q16, percent);
}

CC_INLINE int window_has_new_marks(const struct cc_window *w, const struct cc_sample *s)
{
	return s->ce_packets != w->ce_seen;
}

/* Answers marks and drops by this host's own queue: reduces, at most once per round trip. Routers' grants
 * know nothing of either, so they are strikes. True if it has reduced.
 */
CC_INLINE int window_answer_signals(struct cc_window *w, const struct cc_params *p, const struct cc_sample *s,
				    struct flow *flow)
{
	int has_marks = window_has_new_marks(w, s);
	int has_local = loss_rule_notice_local(&w->loss, s);

	w->ce_seen = s->ce_packets;
	if ((!has_marks && !has_local) || w->loss.is_holding)
		return 0;
	window_reduce(w, has_local ? window_after_loss_q16(w) : window_after_mark_q16(w, p));
	loss_rule_hold(&w->loss, s);
	guard_strike(&w->guard, p, 0);
	flow_decide(flow, has_local ? FLOW_LOCAL : FLOW_ECN);
	return 1;
}

/* A test of what the tags say begins or ends. What was reduced for another reason meanwhile stays so. */
CC_INLINE void window_test(struct cc_window *w, const struct cc_params *p, enum doubt_answer answer,
			   struct flow *flow)
{
	__u64 before_q16 = w->cwnd_q16 < w->doubt.test_q16 ? w->cwnd_q16 : w->doubt.before_q16;

	if (answer == DOUBT_TEST) {
		window_set(w, p, min_u64(w->cwnd_q16, w->doubt.test_q16));
		flow_decide(flow, FLOW_CONTRADICTED);
	} else if (answer == DOUBT_BELIEVED) {
		window_set(w, p, max_u64(w->cwnd_q16, before_q16));
	} else if (answer == DOUBT_FELL) {
		guard_strike(&w->guard, p, 1);
		w->doubt.has_lied = w->guard.distrust;
		if (!window_is_guarded(w))
			window_set(w, p,
				   max_u64(w->cwnd_q16,
					   doubt_fallen_window_q16(&w->doubt, before_q16, w->cwnd_q16)));
		w->ssthresh_q16 = w->cwnd_q16;
	}
}

/* Does what the tags call corruption behave like it? */
CC_INLINE enum loss_verdict window_examine(struct cc_window *w, const struct cc_params *p,
					   const struct cc_sample *s, struct flow *flow, __u32 corrupted)
{
	enum doubt_answer answer;

	if (!p->doubt)
		return LOSS_NOTHING;
	if (w->guard.distrust) {
		if (doubt_is_refuted(&w->doubt, s, corrupted, w->cwnd_q16))
			guard_lift(&w->guard);
		return LOSS_NOTHING;
	}
	answer = doubt_on_ack(&w->doubt, s, corrupted, w->cwnd_q16);
	if (answer == DOUBT_CONGESTION && !w->loss.is_holding) {
		loss_rule_hold(&w->loss, s);
		guard_strike(&w->guard, p, 1);
		w->doubt.has_lied = w->guard.distrust;
		return LOSS_CONTRADICTED;
	}
	if (answer == DOUBT_CONFIRMED) {
		guard_confirm(&w->guard, p);
		w->doubt.has_lied = w->guard.distrust;
	}
	window_test(w, p, answer, flow);
	return LOSS_NOTHING;
}

/* To be called once per ACK while s->has_tags: what the losses that it shows mean. The law makes the
 * reduction.
 */
CC_INLINE enum loss_verdict window_judge(struct cc_window *w, const struct cc_params *p,
					 const struct cc_sample *s, struct flow *flow)
{
	int is_after_timeout = w->loss.timeout_pending;
	enum loss_verdict verdict =
	    loss_rule_on_ack(&w->loss, s, &flow->echo, &flow->stats, w->guard.distrust);

	if (verdict == LOSS_UNEXPLAINED || verdict == LOSS_CONTRADICTED)
		guard_strike(&w->guard, p, verdict == LOSS_CONTRADICTED);
	if (verdict == LOSS_NOTHING && !is_after_timeout)
		verdict = window_examine(w, p, s, flow, w->loss.corrupted);
	switch (verdict) {
	case LOSS_CONGESTION:
		flow_decide(flow, FLOW_CONGESTION);
		break;
	case LOSS_UNEXPLAINED:
		flow_decide(flow, FLOW_UNEXPLAINED);
		break;
	case LOSS_CONTRADICTED:
		flow_decide(flow, FLOW_CONTRADICTED);
		break;
	case LOSS_TIMEOUT_REAL:
		flow_decide(flow, FLOW_TIMEOUT);
		break;
	default:
		break;
	}
	return verdict;
}

/* Without tags a timeout waits for nothing but an ACK. True when that has come. */
CC_INLINE int window_timeout_is_over(struct cc_window *w, const struct cc_sample *s)
{
	w->loss.has_base = 0;
	if (!w->loss.timeout_pending || !s->acked_packets)
		return 0;
	w->loss.timeout_pending = 0;
	return 1;
}

#endif /* CLARION_CC_JUDGEMENT_H */
