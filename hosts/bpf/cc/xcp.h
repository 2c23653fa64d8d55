/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* clarion_xcp: the sender of draft-falk-xcp-spec-03 with a cumulative echo.
 *
 * Differs from the draft: feedback is the difference of a running total, so a lost ACK loses none; the
 * window keeps its fraction of a packet; sending is paced; with tags only congestion halves the window.
 * Without feedback (no hop regulates, or no echo comes back) the same law runs on losses alone: slow start
 * and one packet per RTT. Under guard (guard.h) the window obeys both: what routers grant, and no faster than
 * that.
 */
#ifndef CLARION_CC_XCP_H
#define CLARION_CC_XCP_H

#include "judgement.h"

/* Round trips of an aware flow without any new echo until it stops waiting for feedback. */
#define XCP_ECHO_PATIENCE_RTTS 3
/* An echo may grant so many times what the one before it did; or a part of the window. */
#define XCP_JUMP	 8
#define XCP_JUMP_DIVISOR 4
/* A pause in sending drains a queue, and a window above the BDP refills it within a round trip. So it counts
 * as drained only after a full round trip without late samples: the second to end, as the first is under way.
 */
#define XCP_QUEUE_ROUNDS 2

struct xcp {
	struct cc_window w;
	__s64 granted;		/* in this round so far, bytes/s */
	__s64 granted_before;	/* ... in the one before */
	__u32 feedback_seen;	/* echo.reverse_feedback already applied, modulo 2^32 */
	__u32 echo_before;	/* ... as the ACK before this one had it */
	__u32 echoes_seen;	/* echoes received when this round began */
	__u32 max_in_flight;	/* packets, most in this round */
	__s32 feedback_before;	/* what the ACK before this one changed, bytes/s */
	__u32 round_began_us;	/* low 32 bits of the clock */
	__u32 round_delivered;	/* total delivered when this round began, modulo 2^32 */
	__u32 delivered;	/* packets, in the round before */
	__u64 rate_q16;		/* ... per ms */
	__u64 paid_rate_q16;	/* ... when the ceiling behind this queue rose last; 0: it has not yet */
	__u64 paid_ceiling_q16; /* to which it rose then */
	__u32 queue_base_us;	/* round trip time of the path before this queue */
	__u8 late_samples;	/* in a row, at most WINDOW_LATE_SAMPLES */
	__u8 was_limited;	/* in the whole of this round */
	__u8 echo_patience;	/* rounds left to wait for an echo */
	__u8 queue_rounds;	/* left until a queue counts as drained */
	__u8 has_just_risen;	/* the ceiling, as the round before this one ended */
};

/* Fills the request that the shim copies into DATA headers: xcp_max_rate, spread over the packets of one RTT;
 * nothing while the application or the receiver limits the flow.
 */
CC_INLINE void xcp_request(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			   struct flow *flow)
{
	__u64 max_rate = p->xcp_max_rate_mbit_per_s * 125000ULL; /* bytes/s, at most 2.125e9 < 2^31 */
	__u64 rate = window_rate(x->w.cwnd_q16, s->full_len_bytes, s);
	__u64 delta = (sub_floor_u64(max_rate, rate) << 16) / max_u64(x->w.cwnd_q16, Q16_ONE);

	flow->request.wanted = 1;
	flow->request.full_len = s->full_len_bytes;
	flow->request.rtt = us_to_q28(s->srtt_us);
	flow->request.x = (__u32)div_u64((__u64)flow->request.rtt << 16, x->w.cwnd_q16);
	flow->request.delta_throughput = s->is_limited || !s->srtt_us ? 0 : (__s32)delta;
	flow->request.field = flow->echo.field;
}

CC_INLINE void xcp_init(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			struct flow *flow)
{
	window_init(&x->w, p, p->initial_window_packets, s);
	x->feedback_seen = x->echo_before = flow->echo.reverse_feedback;
	x->was_limited = 1;
	x->round_began_us = (__u32)s->now_us;
	x->round_delivered = s->delivered_packets;
	x->echo_patience = XCP_ECHO_PATIENCE_RTTS;
	xcp_request(x, p, s, flow);
}

/* Window change in Q16 packets of `rate` bytes/s held for one srtt: rate * srtt / (10^6 * full_len).
 * rate < 2^31 and srtt < 2^27 us: the product fits.
 */
CC_INLINE __u64 xcp_rate_to_window(__u32 rate, const struct cc_sample *s)
{
	return ratio_q16((__u64)rate * min_u64(s->srtt_us, 1U << 27), USEC_PER_SEC * s->full_len_bytes);
}

/* A standing queue ages the base until it counts as the path (base_rtt.h). Behind the queue the base from
 * before it holds, or what the flow waits for would grow with each window of the base.
 */
CC_INLINE void xcp_watch_queue(struct xcp *x, const struct cc_sample *s)
{
	if (!x->queue_rounds || x->w.is_longer || s->min_rtt_us < x->queue_base_us)
		x->queue_base_us = s->min_rtt_us;
	x->late_samples = window_count_late(x->late_samples, s->rtt_us, x->queue_base_us);
	if (x->late_samples >= WINDOW_LATE_SAMPLES)
		x->queue_rounds = XCP_QUEUE_ROUNDS;
	else if (x->w.is_new_round && x->queue_rounds)
		x->queue_rounds--;
}

/* What the round trip that ends has delivered, and how fast. */
CC_INLINE void xcp_measure_round(struct xcp *x, const struct cc_sample *s)
{
	__u32 took_us = (__u32)s->now_us - x->round_began_us;

	if (!x->w.is_new_round)
		return;
	x->delivered = s->delivered_packets - x->round_delivered;
	x->rate_q16 = div_u64(((__u64)x->delivered << 16) * 1000, took_us ? took_us : 1);
	x->round_began_us = (__u32)s->now_us;
	x->round_delivered = s->delivered_packets;
}

/* Routers keep their queues short. Where one stands they do not speak for it, and their grants fill it; or
 * the path has become longer. After a guard the ceiling stays while that queue is empty, too.
 */
CC_INLINE int xcp_has_ceiling(const struct xcp *x)
{
	return guard_is_wary(&x->w.guard) || x->queue_rounds || guard_has_been_on(&x->w.guard);
}

/* What the echo has changed since it was applied last, bytes/s. It is a running total, and no checksum covers
 * it: two in a row have to say so, and a change that only one shows is none.
 */
CC_INLINE __s32 xcp_confirmed_feedback(struct xcp *x, __u32 echo)
{
	__s32 before = wrap_diff_u32(x->echo_before, x->feedback_seen);
	__s32 now = wrap_diff_u32(echo, x->feedback_seen);
	__s32 both = 0;

	if (before > 0 && now > 0)
		both = before < now ? before : now;
	else if (before < 0 && now < 0)
		both = before > now ? before : now;
	x->echo_before = echo;
	x->feedback_seen += (__u32)both;
	return both;
}

/* The window after a grant. Routers spread over a round trip what they grant: far more than with the ACK
 * before is a flipped bit in the header of a packet, which the receiver has added to its total.
 */
CC_INLINE __u64 xcp_granted_q16(const struct xcp *x, __u32 feedback, __u32 before, const struct cc_sample *s)
{
	__u64 most_q16 = max_u64(XCP_JUMP * xcp_rate_to_window(before, s), x->w.cwnd_q16 / XCP_JUMP_DIVISOR);
	__u64 granted_q16 = add_sat_u64(x->w.cwnd_q16, min_u64(xcp_rate_to_window(feedback, s), most_q16));

	if (!xcp_has_ceiling(x))
		return granted_q16;
	return min_u64(granted_q16, max_u64(x->w.ceiling_q16, x->w.cwnd_q16));
}

/* Applies the part of the echo that is not applied yet. Needs an RTT: without one the echo stays unread. What
 * a path grants on which no hop regulates is only what was asked for, and is passed over.
 */
CC_INLINE void xcp_apply_feedback(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
				  struct flow *flow)
{
	__s32 feedback, before = x->feedback_before;
	__u64 taken_q16;

	if (!flow->echo.regulated) {
		x->feedback_seen = x->echo_before = flow->echo.reverse_feedback;
		return;
	}
	feedback = xcp_confirmed_feedback(x, flow->echo.reverse_feedback);
	x->feedback_before = feedback;
	flow->stats.feedback_bytes_per_s += feedback;
	x->granted += feedback;
	if (feedback < 0) {
		taken_q16 = xcp_rate_to_window(0U - (__u32)feedback, s);
		window_take_back(&x->w, p, min_u64(taken_q16, x->w.cwnd_q16 / 2));
	} else if (feedback > 0 && !s->is_limited && window_may_grow(&x->w)) {
		window_set(&x->w, p, xcp_granted_q16(x, (__u32)feedback, before > 0 ? (__u32)before : 0, s));
	}
}

/* Packets of growth per round trip under guard, in percent. Behind a queue a quarter: drops of a full queue
 * meet the bursts of other senders rather than packets that are paced.
 */
CC_INLINE __u32 xcp_guarded_percent(const struct xcp *x)
{
	return window_is_queued(&x->w) ? GUARD_ALPHA_PERCENT / 4 : GUARD_ALPHA_PERCENT;
}

/* Behind a queue a larger window has to bring more, an eighth since the ceiling rose last, or it only makes
 * the queue longer. Routers grant for ever where the flow waits at a place that they do not see: in a slow
 * device of its own host, say. A window that has been reduced since begins again.
 */
CC_INLINE int xcp_growth_pays(const struct xcp *x)
{
	return !x->queue_rounds || x->w.ceiling_q16 < x->paid_ceiling_q16 ||
	       x->rate_q16 > x->paid_rate_q16 + x->paid_rate_q16 / 8;
}

/* Room for a quarter more than the last round has used, as slow start grows behind a queue (RFC 9406, 4.2).
 */
CC_INLINE void xcp_raise_ceiling(struct xcp *x)
{
	__u64 used_q16 = max_u64((__u64)x->delivered << 16, x->w.cwnd_q16);

	x->w.ceiling_q16 = max_u64(x->w.ceiling_q16, used_q16 + used_q16 / 4);
	x->paid_ceiling_q16 = x->w.ceiling_q16;
	x->paid_rate_q16 = x->rate_q16;
	x->has_just_risen = 1;
}

/* The first round after a rise still has the rate of the window before it. Where it has far less, the path
 * has become longer since: what the shorter one delivered is out of reach, and no growth would ever pay.
 */
CC_INLINE void xcp_check_paid_rate(struct xcp *x)
{
	if (x->has_just_risen && x->rate_q16 < x->paid_rate_q16 - x->paid_rate_q16 / 8)
		x->paid_rate_q16 = x->rate_q16;
	x->has_just_risen = 0;
}

/* Under guard, and behind a queue after one, the ceiling grows as Reno does, in round trips in which the
 * window has come near it; else after round trips that paid.
 */
CC_INLINE void xcp_move_ceiling(struct xcp *x, const struct cc_sample *s)
{
	__u64 step_q32 = (__u64)s->acked_packets << 32;
	int is_reno =
	    guard_is_wary(&x->w.guard) || (guard_has_been_on(&x->w.guard) && window_is_queued(&x->w));

	if (!xcp_has_ceiling(x)) {
		x->w.ceiling_q16 = x->w.cwnd_q16;
		x->paid_ceiling_q16 = x->paid_rate_q16 = 0;
	} else if (is_reno && x->w.cwnd_q16 >= x->w.ceiling_q16 - x->w.ceiling_q16 / 8) {
		x->w.ceiling_q16 +=
		    scale_percent(div_u64(step_q32, x->w.ceiling_q16), xcp_guarded_percent(x));
	} else if (!is_reno && x->w.is_new_round) {
		xcp_check_paid_rate(x);
		if (xcp_growth_pays(x))
			xcp_raise_ceiling(x);
	}
}

/* Gives back, once per RTT, part of a window that the application or the receiver leaves unused. */
CC_INLINE void xcp_age_window(struct xcp *x, const struct cc_params *p)
{
	__u64 used_q16 = (__u64)max_u64(x->max_in_flight, p->initial_window_packets) << 16;
	__u64 unused_q16 = sub_floor_u64(x->w.cwnd_q16, used_q16);

	if (x->was_limited)
		window_set(&x->w, p, x->w.cwnd_q16 - scale_percent(unused_q16, p->xcp_idle_decay_percent));
}

CC_INLINE void xcp_on_round(struct xcp *x, const struct cc_params *p, const struct flow *flow)
{
	if (!x->w.is_new_round)
		return;
	xcp_age_window(x, p);
	x->granted_before = x->granted;
	x->granted = 0;
	x->max_in_flight = 0;
	x->was_limited = 1;
	if (flow->echo.nr_echoes != x->echoes_seen)
		x->echo_patience = XCP_ECHO_PATIENCE_RTTS;
	else if (x->echo_patience)
		x->echo_patience--;
	x->echoes_seen = flow->echo.nr_echoes;
}

/* Reduction by a loss that is, or may be, congestion. Routers grant again what is free. */
CC_INLINE void xcp_reduce(struct xcp *x, __u32 policy)
{
	if (policy == XCP_LOSS_RENO)
		window_reduce(&x->w, window_after_loss_q16(&x->w));
	else if (policy == XCP_LOSS_ONE)
		window_collapse(&x->w, x->w.cwnd_q16 / 2);
}

/* The kernel enters fast recovery: with tags the totals decide (xcp_on_ack), else the policy does. A mark is
 * answered there, too.
 */
CC_INLINE void xcp_on_enter_recovery(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
				     struct flow *flow)
{
	x->w.undo_q16 = x->w.cwnd_q16;
	if (s->has_tags || p->xcp_loss == XCP_LOSS_NONE || window_has_new_marks(&x->w, s) ||
	    x->w.loss.is_holding)
		return;
	xcp_reduce(x, p->xcp_loss);
	loss_rule_hold(&x->w.loss, s);
	guard_strike(&x->w.guard, p, 0);
	flow_decide(flow, FLOW_LOSS);
}

/* One packet until the first ACK; with tags, or when no loss counts, that ACK may give the window back. */
CC_INLINE void xcp_on_timeout(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			      struct flow *flow)
{
	if (!x->w.loss.timeout_pending)
		x->w.undo_q16 = x->w.cwnd_q16;
	loss_rule_on_timeout(&x->w.loss, s, flow);
	window_collapse(&x->w, x->w.undo_q16 / 2);
	if (!s->has_tags && p->xcp_loss != XCP_LOSS_NONE) {
		x->w.loss.timeout_pending = 0;
		flow_decide(flow, FLOW_TIMEOUT);
	}
}

/* Routers alone give the window back. */
CC_INLINE void xcp_on_exit_recovery(struct xcp *x)
{
	(void)x;
}

/* With tags the totals decide. Without them a timeout waits for its ACK only where no loss counts. */
CC_INLINE void xcp_on_losses(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			     struct flow *flow)
{
	enum loss_verdict verdict;

	if (s->has_tags)
		verdict = window_judge(&x->w, p, s, flow);
	else
		verdict = window_timeout_is_over(&x->w, s) ? LOSS_TIMEOUT_EXPLAINED : LOSS_NOTHING;
	if (verdict == LOSS_CONGESTION || verdict == LOSS_UNEXPLAINED || verdict == LOSS_CONTRADICTED)
		xcp_reduce(x, XCP_LOSS_RENO);
	if (verdict == LOSS_TIMEOUT_EXPLAINED)
		window_restore(&x->w);
}

/* Growth without routers. */
CC_INLINE void xcp_grow_alone(struct xcp *x, const struct cc_params *p, const struct cc_sample *s)
{
	if (window_is_guarded(&x->w) && x->w.cwnd_q16 >= x->w.ssthresh_q16)
		window_grow_guarded(&x->w, p, s->acked_packets, xcp_guarded_percent(x));
	else
		window_grow_reno(&x->w, p, s->acked_packets);
}

CC_INLINE void xcp_on_ack(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			  struct flow *flow)
{
	int has_echo = s->has_feedback && flow->echo.nr_echoes && x->echo_patience;
	int is_waiting = s->has_feedback && !flow->echo.nr_echoes && x->echo_patience;

	x->max_in_flight = (__u32)max_u64(x->max_in_flight, s->in_flight_packets + s->acked_packets);
	x->was_limited &= s->is_limited;
	window_answer_signals(&x->w, p, s, flow);
	xcp_on_losses(x, p, s, flow);
	xcp_watch_queue(x, s);
	xcp_measure_round(x, s);
	xcp_move_ceiling(x, s);
	if (has_echo && s->srtt_us)
		xcp_apply_feedback(x, p, s, flow);
	if ((!has_echo || !flow->echo.regulated) && !is_waiting && !s->in_recovery && !s->is_limited &&
	    window_may_grow(&x->w))
		xcp_grow_alone(x, p, s);
	xcp_on_round(x, p, flow);
	xcp_request(x, p, s, flow);
}

/* Sending starts again. After long silence the grant from before it is no longer valid. */
CC_INLINE void xcp_on_tx_start(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			       struct flow *flow)
{
	if (window_is_idle(&x->w, s))
		window_begin_anew(&x->w, p->initial_window_packets);
	xcp_request(x, p, s, flow);
}

CC_INLINE struct cc_control xcp_control(const struct xcp *x, const struct cc_params *p,
					const struct cc_sample *s)
{
	struct cc_control c = window_control(&x->w, p, s, p->xcp_pacing_percent);

	if (c.bytes_per_s != CC_NO_RATE && x->granted_before > 0)
		c.bytes_per_s += scale_percent((__u64)x->granted_before, p->xcp_pacing_grants_percent);
	return c;
}

#endif /* CLARION_CC_XCP_H */
