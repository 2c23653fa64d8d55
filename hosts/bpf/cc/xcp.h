/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* clarion_xcp: the sender of draft-falk-xcp-spec-03 with a cumulative echo.
 *
 * Differs from the draft: feedback is the difference of a running total, so a lost ACK loses none; the
 * window keeps its fraction of a packet; sending is paced; with tags only congestion halves the window; a
 * path without a router that regulates is noticed and its unreduced grants are not used. Without feedback
 * the same law runs on losses alone: slow start and one packet per RTT.
 */
#ifndef CLARION_CC_XCP_H
#define CLARION_CC_XCP_H

#include "window.h"

/* Round trips of an aware flow without any echo until it stops waiting for feedback. */
#define XCP_ECHO_PATIENCE_RTTS 3

struct xcp {
	struct cc_window w;
	struct cc_round round;
	__u32 feedback_seen;	/* echo.reverse_feedback already applied, modulo 2^32 */
	__u32 requested;	/* delta_throughput per packet, bytes/s: the least of this round ... */
	__u32 requested_before; /* ... and of the one before, whose grants come back now */
	__u32 max_in_flight;	/* packets, most in this round */
	__u8 is_unregulated;	/* requests come back unreduced: no router regulates */
	__u8 was_limited;	/* in the whole of this round */
	__u8 echo_patience;	/* rounds left to wait for the first echo */
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
	if (flow->request.delta_throughput)
		x->requested = (__u32)min_u64(x->requested, (__u64)flow->request.delta_throughput);
}

CC_INLINE void xcp_init(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			struct flow *flow)
{
	window_init(&x->w, p, p->initial_window_packets, s);
	round_begin(&x->round, s);
	x->feedback_seen = flow->echo.reverse_feedback;
	x->requested = ~0U;
	x->requested_before = ~0U;
	x->was_limited = 1;
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

/* Does this ACK bring back (nearly) all of the requests of the packets that it covers? */
CC_INLINE int xcp_grant_is_unreduced(const struct xcp *x, const struct cc_params *p,
				     const struct cc_sample *s, __s32 feedback)
{
	__u64 requested = min_u64(x->requested, x->requested_before);

	if (requested == ~0U || !s->acked_packets || !p->xcp_unregulated_percent)
		return 0;
	return feedback > 0 &&
	       (__u64)feedback >= scale_percent(requested * s->acked_packets, p->xcp_unregulated_percent);
}

/* Applies the part of the echo that is not applied yet. Needs an RTT: without one the echo stays unread. */
CC_INLINE void xcp_apply_feedback(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
				  struct flow *flow)
{
	__s32 feedback = wrap_diff_u32(flow->echo.reverse_feedback, x->feedback_seen);
	__u64 change_q16;

	x->feedback_seen = flow->echo.reverse_feedback;
	flow->stats.feedback_bytes_per_s += feedback;
	if (feedback > 0) {
		x->is_unregulated = (__u8)xcp_grant_is_unreduced(x, p, s, feedback);
		if (x->is_unregulated || s->is_limited)
			return;
		change_q16 = xcp_rate_to_window((__u32)feedback, s);
		window_set(&x->w, p, add_sat_u64(x->w.cwnd_q16, change_q16));
	} else if (feedback < 0) {
		x->is_unregulated = 0;
		change_q16 = xcp_rate_to_window(0U - (__u32)feedback, s);
		window_set(&x->w, p, sub_floor_u64(x->w.cwnd_q16, change_q16));
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

CC_INLINE void xcp_on_round(struct xcp *x, const struct cc_params *p, const struct cc_sample *s)
{
	if (!round_has_ended(&x->round, s))
		return;
	xcp_age_window(x, p);
	round_begin(&x->round, s);
	x->requested_before = x->requested;
	x->requested = ~0U;
	x->max_in_flight = 0;
	x->was_limited = 1;
	if (x->echo_patience)
		x->echo_patience--;
}

/* Reduction by a loss that is, or may be, congestion. Routers grant again what is free. */
CC_INLINE void xcp_reduce(struct xcp *x, __u32 policy)
{
	if (policy == XCP_LOSS_RENO)
		window_reduce(&x->w, x->w.cwnd_q16 / 2);
	else if (policy == XCP_LOSS_ONE)
		window_collapse(&x->w, x->w.cwnd_q16 / 2);
}

/* The kernel enters fast recovery: with tags the totals decide (xcp_on_ack), else the policy does. */
CC_INLINE void xcp_on_enter_recovery(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
				     struct flow *flow)
{
	x->w.undo_q16 = x->w.cwnd_q16;
	if (s->has_tags || p->xcp_loss == XCP_LOSS_NONE)
		return;
	xcp_reduce(x, p->xcp_loss);
	flow->stats.reduced_loss++;
}

/* One packet until the first ACK; with tags, or when no loss counts, that ACK may give the window back. */
CC_INLINE void xcp_on_timeout(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			      struct flow *flow)
{
	if (!x->w.loss.timeout_pending)
		x->w.undo_q16 = x->w.cwnd_q16;
	loss_rule_on_timeout(&x->w.loss, s);
	window_collapse(&x->w, x->w.undo_q16 / 2);
	if (!s->has_tags && p->xcp_loss != XCP_LOSS_NONE) {
		x->w.loss.timeout_pending = 0;
		flow->stats.reduced_timeout++;
	}
}

/* Routers alone give the window back. */
CC_INLINE void xcp_on_exit_recovery(struct xcp *x)
{
	(void)x;
}

/* With tags the totals decide. Without them a timeout waits for its ACK only where no loss counts. */
CC_INLINE enum loss_verdict xcp_verdict(struct xcp *x, const struct cc_sample *s, struct flow *flow)
{
	enum loss_verdict verdict;

	if (s->has_tags) {
		verdict = loss_rule_on_ack(&x->w.loss, s, flow);
		loss_rule_count(&flow->stats, verdict);
		return verdict;
	}
	x->w.loss.has_base = 0;
	if (!x->w.loss.timeout_pending || !s->acked_packets)
		return LOSS_NOTHING;
	x->w.loss.timeout_pending = 0;
	return LOSS_TIMEOUT_EXPLAINED;
}

CC_INLINE void xcp_on_losses(struct xcp *x, const struct cc_sample *s, struct flow *flow)
{
	enum loss_verdict verdict = xcp_verdict(x, s, flow);

	if (verdict == LOSS_CONGESTION || verdict == LOSS_UNEXPLAINED)
		xcp_reduce(x, XCP_LOSS_RENO);
	if (verdict == LOSS_TIMEOUT_EXPLAINED)
		window_restore(&x->w);
}

CC_INLINE void xcp_on_ack(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			  struct flow *flow)
{
	int has_echo = s->has_feedback && flow->echo.nr_echoes;
	int is_waiting = s->has_feedback && !flow->echo.nr_echoes && x->echo_patience;

	x->max_in_flight = (__u32)max_u64(x->max_in_flight, s->in_flight_packets + s->acked_packets);
	x->was_limited &= s->is_limited;
	xcp_on_losses(x, s, flow);
	if (has_echo && s->srtt_us)
		xcp_apply_feedback(x, p, s, flow);
	if ((!has_echo || x->is_unregulated) && !is_waiting && !s->in_recovery && !s->is_limited)
		window_grow_reno(&x->w, p, s->acked_packets);
	xcp_on_round(x, p, s);
	xcp_request(x, p, s, flow);
}

/* Sending starts again. After long silence the grant from before it is no longer valid. */
CC_INLINE void xcp_on_tx_start(struct xcp *x, const struct cc_params *p, const struct cc_sample *s,
			       struct flow *flow)
{
	if (window_is_idle(&x->w, s))
		x->w.cwnd_q16 = min_u64(x->w.cwnd_q16, (__u64)p->initial_window_packets << 16);
	xcp_request(x, p, s, flow);
}

CC_INLINE struct cc_control xcp_control(const struct xcp *x, const struct cc_params *p,
					const struct cc_sample *s)
{
	return window_control(&x->w, p, s, p->xcp_pacing_percent);
}

#endif /* CLARION_CC_XCP_H */
