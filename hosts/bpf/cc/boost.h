/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* clarion_boost: BoostTCP (Sensors 2022, 22(23), 9187, section 3.3), steps 1-6.
 *
 * B is the smoothed throughput, B' its previous value. The window grows exponentially while B rises, and
 * linearly or not at all once B has fallen three times running. Only loss shrinks it.
 *
 * FS, "sent and not acknowledged when the packet left", is not stored per packet: between a packet's send
 * and its ACK exactly the data outstanding at its send is delivered, so FS is the growth of the delivered
 * total. Losses and reordering within that RTT are the only difference: FS then counts what arrived.
 *
 * Ours, each with a parameter that switches it off and all off in the literal variant: the cap on
 * exponential growth, the delay gate, the drain, the knee, B compared once per round trip, and the way back
 * after an idle time (params.def says what they do). The tagged variant owes its speed to the tags: without
 * them, and under guard (guard.h), it halves and grows as Reno does.
 */
#ifndef CLARION_CC_BOOST_H
#define CLARION_CC_BOOST_H

#include "judgement.h"
#include "loss_heuristic.h"
#include "resume.h"

/* The step of linear growth halves with each overflow, so often at most, and doubles after so many round
 * trips without one.
 */
#define BOOST_STEP_SHIFT_MAX 4
#define BOOST_CALM_ROUNDS    32
/* A step of that part of the window, or more, can be what overflowed the buffer. */
#define BOOST_STEP_DIVISOR 32
/* Losses of a round trip that no heuristic excuses: packets, and a part of the window. */
#define BOOST_HEAVY_PACKETS 16
#define BOOST_HEAVY_DIVISOR 3
/* Base RTT that allows a step of one packet: the 50 of the paper from 400 ms on. */
#define BOOST_STEP_RTT_US 8000

enum boost_mode {
	BOOST_EXP = 0,
	BOOST_LIN = 1,
	BOOST_STOP = 2,
};

struct boost {
	struct cc_window w;
	struct loss_heuristic heuristic;
	struct cc_resume resume;
	__u64 b;	     /* B, payload bytes/s */
	__u64 bc_max[2];     /* largest BC of this round and of the one before */
	__u64 b_past[3];     /* the last three values compared, newest first; 0: none */
	__u64 knee_q16;	     /* packets: window after the last congestion, 0: none */
	__u32 lost_seen;     /* losses judged, modulo 2^32 */
	__u32 lost_round;    /* ... when this round began */
	__u8 mode;	     /* GM of the paper */
	__u8 is_backing_off; /* between a reduction and the end of its recovery */
	__u8 was_queued;     /* SRTT > eta * RTTmin in the whole of this round */
	__u8 is_draining;    /* the round in which a drain or a reduction takes effect */
	__u8 is_past_start;  /* congestion has ended the start, or the path is known from before */
	__u8 step_shift;     /* the step of linear growth is halved so often */
	__u8 calm_rounds;    /* since the last overflow, or since it was doubled again */
	__u8 was_limited;    /* in this round the flow did not use all of its window */
};

CC_INLINE int boost_has_additions(const struct cc_params *p)
{
	return p->boost_loss != BOOST_LOSS_LITERAL;
}

CC_INLINE int boost_uses_tags(const struct cc_params *p, const struct cc_sample *s)
{
	return p->boost_loss == BOOST_LOSS_TAGGED && s->has_tags;
}

/* No better than Reno: tags or the heuristic were to tell causes, and they do not. */
CC_INLINE int boost_is_reno(const struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	if (p->boost_loss == BOOST_LOSS_TAGGED && !s->has_tags)
		return 1;
	return boost_has_additions(p) && window_is_guarded(&b->w);
}

/* The window of a new or idle flow. */
CC_INLINE __u32 boost_initial_packets(const struct cc_params *p, const struct flow *flow)
{
	int is_large = p->boost_loss == BOOST_LOSS_JUDGED ||
		       (p->boost_loss == BOOST_LOSS_TAGGED && flow->id.aware && flow->id.tags);

	if (is_large)
		return p->boost_initial_window_packets;
	return (__u32)min_u64(p->boost_initial_window_packets, p->initial_window_packets);
}

CC_INLINE int boost_compares_per_ack(const struct cc_params *p)
{
	return p->boost_per_ack || !boost_has_additions(p);
}

/* SRTT > eta * RTTmin */
CC_INLINE int boost_is_queued(const struct cc_params *p, const struct cc_sample *s)
{
	return ((__u64)s->srtt_us << 16) > (__u64)s->min_rtt_us * p->boost_eta_q16;
}

CC_INLINE void boost_init(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
			  struct flow *flow)
{
	flow->request.wanted = 0;
	window_init(&b->w, p, boost_initial_packets(p, flow), s);
	b->lost_seen = b->lost_round = s->lost_packets;
	b->mode = BOOST_EXP; /* step 1, B = 0 */
	b->was_queued = 1;
}

/* Step 3: BC = FS / (T - TS), B = (1 - alpha) B' + alpha BC. Retransmitted packets give no sample. Ours: the
 * first sample is B, or a flow that begins behind a queue would drain to what B had not yet reached. And
 * while the flow sends less on purpose, to test what the tags say, B does not fall.
 */
CC_INLINE void boost_measure(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u64 fs_bytes = (__u64)(s->delivered_packets - s->prior_delivered) * s->mss_bytes;
	__u64 bc = mul_div_u64(fs_bytes, USEC_PER_SEC, s->rtt_us);

	if (!s->has_delivery || !s->rtt_us || s->is_retransmitted)
		return;
	if (!window_may_grow(&b->w) && bc <= b->b)
		return;
	if (!b->b && boost_has_additions(p))
		b->b = bc;
	b->b = scale_q16(b->b, Q16_ONE - p->boost_alpha_q16) + scale_q16(bc, p->boost_alpha_q16);
	b->bc_max[0] = max_u64(b->bc_max[0], bc);
}

/* Does B rise enough to start exponential growth? The paper's words allow two readings: the rise exceeds
 * gamma (the default), or B itself does.
 */
CC_INLINE int boost_rises(const struct boost *b, const struct cc_params *p)
{
	__u64 before = b->b_past[0];

	if (b->b <= before)
		return 0;
	if (p->boost_gamma_rate_kbit_per_s)
		return b->b > p->boost_gamma_rate_kbit_per_s * 125ULL;
	return b->b - before > scale_q16(before, p->boost_gamma_q16);
}

/* Step 4: the growth mode by the change of B. The paper leaves open a rise below gamma and a fall below
 * Delta: the mode stays.
 */
CC_INLINE void boost_choose_mode(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u64 before = b->b_past[0], third = b->b_past[2];
	int fell_thrice = b->b < before && before < b->b_past[1] && b->b_past[1] < third;

	if (boost_rises(b, p)) {
		b->mode = BOOST_EXP;
		b->knee_q16 = 0;
	} else if (fell_thrice && third - b->b >= scale_q16(third, p->boost_delta_q16)) {
		b->mode = boost_is_queued(p, s) ? BOOST_STOP : BOOST_LIN;
	}
	b->b_past[2] = b->b_past[1];
	b->b_past[1] = before;
	b->b_past[0] = b->b;
}

/* A share of rate * RTTmin, in Q16 packets. */
CC_INLINE __u64 boost_share_of_bdp(__u64 bytes_per_s, const struct cc_sample *s, __u32 percent)
{
	__u64 bdp_bytes = mul_div_u64(bytes_per_s, s->min_rtt_us, USEC_PER_SEC);

	return ratio_q16(scale_percent(bdp_bytes, percent), s->mss_bytes);
}

/* Ours: exponential growth up to a share of what the path has carried lately. A packet sent now finds the
 * window that doubled since the packets measured now were sent: 200 % lets every doubling pass. After an idle
 * time what the path carried before is the limit, until as much as the flow began with has come through.
 */
CC_INLINE __u64 boost_exp_limit_q16(const struct boost *b, const struct cc_params *p,
				    const struct cc_sample *s)
{
	__u32 percent = b->is_past_start ? p->boost_later_cap_percent : p->boost_exp_cap_percent;
	__u64 bc_max = max_u64(b->bc_max[0], b->bc_max[1]);

	if (resume_is_unproven(&b->resume))
		return b->resume.saved_q16;
	if (!boost_has_additions(p) || !percent || !bc_max)
		return ~0ULL;
	return boost_share_of_bdp(bc_max, s, percent);
}

CC_INLINE void boost_grow_exponentially(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u64 before_q16 = b->w.cwnd_q16;

	if (boost_has_additions(p) && p->boost_knee && b->knee_q16 && before_q16 >= b->knee_q16) {
		b->mode = BOOST_LIN;
		return;
	}
	window_grow_double(&b->w, p, s->acked_packets);
	b->w.cwnd_q16 = max_u64(before_q16, min_u64(b->w.cwnd_q16, boost_exp_limit_q16(b, p, s)));
}

/* Ours: the paper's step suits long paths; on a short one it overruns the buffer in one round trip. There it
 * is the root of the window: less than in proportion, so that flows which share a path still come to equal
 * parts.
 */
CC_INLINE __u32 boost_lin_packets(const struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 root = root_u32(window_packets(&b->w));
	__u64 most = max_u64(root, s->min_rtt_us / BOOST_STEP_RTT_US) * p->boost_lin_root_percent / 100;

	if (!boost_has_additions(p) || !p->boost_lin_root_percent)
		return p->boost_lin_packets;
	return (__u32)max_u64(min_u64(p->boost_lin_packets, most) >> b->step_shift, 1);
}

CC_INLINE void boost_grow(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	if (s->is_limited || !window_may_grow(&b->w))
		return;
	if (boost_is_reno(b, p, s)) {
		if (s->in_recovery)
			return;
		if (window_is_guarded(&b->w) && b->w.cwnd_q16 >= b->w.ssthresh_q16)
			window_grow_guarded(&b->w, p, s->acked_packets, GUARD_ALPHA_PERCENT);
		else
			window_grow_reno(&b->w, p, s->acked_packets);
		return;
	}
	if (b->is_backing_off)
		return;
	if (boost_has_additions(p) && p->boost_gate && b->mode == BOOST_EXP && boost_is_queued(p, s))
		b->mode = BOOST_STOP;
	if (b->mode == BOOST_EXP)
		boost_grow_exponentially(b, p, s);
	else if (b->mode == BOOST_LIN)
		window_grow_linear(&b->w, p, s->acked_packets, boost_lin_packets(b, p, s));
}

/* Ours: a little below the available bandwidth B * RTTmin, to empty the queue. */
CC_INLINE __u64 boost_drained_q16(const struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	if (!boost_has_additions(p) || !p->boost_drain_percent || !b->b)
		return b->w.cwnd_q16;
	return min_u64(b->w.cwnd_q16, boost_share_of_bdp(b->b, s, p->boost_drain_percent));
}

/* The start is over, or a buffer has overflowed by a step that is much for this window. */
CC_INLINE void boost_note_congestion(struct boost *b, int is_overrun)
{
	if (is_overrun && b->is_past_start) {
		b->step_shift += b->step_shift < BOOST_STEP_SHIFT_MAX;
		b->calm_rounds = 0;
	}
	b->knee_q16 = b->w.cwnd_q16;
	b->is_past_start = 1;
}

CC_INLINE void boost_note_reduction(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	int is_overrun = b->mode == BOOST_LIN && !window_is_guarded(&b->w) &&
			 boost_lin_packets(b, p, s) > window_packets(&b->w) / BOOST_STEP_DIVISOR;

	if (resume_is_unproven(&b->resume)) {
		window_reduce(&b->w, max_u64(resume_retreat_q16(&b->resume, s),
					     (__u64)p->initial_window_packets << 16));
		resume_forget(&b->resume);
	}
	boost_note_congestion(b, is_overrun);
	b->mode = BOOST_STOP;
	b->is_backing_off = 1;
	b->is_draining = 1;
}

/* Step 5: CWND = beta * CWND and GM = STOP; with our drain not above the drained window. At the start of a
 * flow B, a mean over a round trip in which the rate has doubled, is no bound yet.
 */
CC_INLINE void boost_back_off(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u64 left_q16 = scale_q16(b->w.cwnd_q16, p->boost_beta_q16);

	if (boost_is_reno(b, p, s))
		left_q16 = window_after_loss_q16(&b->w);
	else if (b->is_past_start)
		left_q16 = min_u64(left_q16, boost_drained_q16(b, p, s));
	window_reduce(&b->w, max_u64(left_q16, 2 * Q16_ONE));
	boost_note_reduction(b, p, s);
}

/* Ours: a queue that stood for a whole RTT is drained without waiting for it to overflow. */
CC_INLINE void boost_drain_queue(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
				 struct flow *flow)
{
	__u64 drained_q16 = boost_drained_q16(b, p, s);

	if (!boost_has_additions(p) || !p->boost_drain_percent || b->is_backing_off || boost_is_reno(b, p, s))
		return;
	if (b->was_queued && !b->is_draining && drained_q16 < b->w.cwnd_q16) {
		window_reduce(&b->w, max_u64(drained_q16, 2 * Q16_ONE));
		boost_note_congestion(b, 0);
		b->mode = BOOST_LIN;
		b->is_draining = 1;
		flow_decide(flow, FLOW_DELAY);
		return;
	}
	b->is_draining = 0;
	if (b->mode == BOOST_STOP && !boost_is_queued(p, s))
		b->mode = BOOST_LIN;
}

/* Ours: the path is another one now, what was learnt about its queue is void. */
CC_INLINE void boost_start_over(struct boost *b)
{
	b->mode = BOOST_EXP;
	b->knee_q16 = 0;
	b->is_past_start = 0;
}

/* Ours: an idle flow may have half of what its path has carried. */
CC_INLINE void boost_resume(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u64 jump_q16 = resume_jump_q16(&b->resume);

	if (b->resume.phase != RESUME_CONFIRMED || jump_q16 <= b->w.cwnd_q16)
		return;
	if (b->is_past_start || boost_is_reno(b, p, s) || !window_may_grow(&b->w))
		return;
	window_set(&b->w, p, jump_q16);
	round_begin(&b->w.round, s);
	b->mode = BOOST_EXP;
	b->bc_max[0] = b->bc_max[1] = 0;
	b->b_past[0] = b->b_past[1] = b->b_past[2] = 0;
	resume_jump(&b->resume, s);
}

/* A round trip has ended: what the flow remembers of its path, and whether that is still so. What it was
 * allowed and did not use it has not tried. Where it is still so the start is over: what the path carries is
 * known, and a window twice as large would only fill a queue.
 */
CC_INLINE void boost_remember(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
			      struct flow *flow)
{
	if (b->resume.phase == RESUME_UNVALIDATED && b->was_limited) {
		b->resume.phase = RESUME_CONFIRMED;
		window_set(&b->w, p, (__u64)boost_initial_packets(p, flow) << 16);
	} else {
		b->is_past_start |= b->resume.phase == RESUME_VALIDATING;
		resume_round(&b->resume, s);
	}
	if (b->resume.phase == RESUME_NORMAL && !b->was_limited && window_may_grow(&b->w) && b->bc_max[0])
		resume_save(&b->resume, s, boost_share_of_bdp(b->bc_max[0], s, 100));
}

/* Round trips without an overflow bring the step of linear growth back. */
CC_INLINE void boost_calm_round(struct boost *b)
{
	if (!b->step_shift || ++b->calm_rounds < BOOST_CALM_ROUNDS)
		return;
	b->step_shift--;
	b->calm_rounds = 0;
}

CC_INLINE void boost_on_round(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
			      struct flow *flow)
{
	b->was_queued &= (__u8)boost_is_queued(p, s);
	b->was_limited |= s->is_limited;
	if (!b->w.is_new_round)
		return;
	boost_remember(b, p, s, flow);
	if (b->w.is_longer)
		boost_start_over(b);
	if (!boost_compares_per_ack(p) && !b->is_backing_off && window_may_grow(&b->w))
		boost_choose_mode(b, p, s);
	boost_calm_round(b);
	boost_drain_queue(b, p, s, flow);
	b->was_queued = 1;
	b->was_limited = 0;
	b->bc_max[1] = b->bc_max[0];
	b->bc_max[0] = 0;
}

/* Step 6: exponential growth again; B is kept. */
CC_INLINE void boost_on_exit_recovery(struct boost *b)
{
	if (b->is_backing_off)
		b->mode = BOOST_EXP;
	b->is_backing_off = 0;
}

CC_INLINE int boost_is_loss_excused(const struct boost *b, const struct cc_params *p,
				    const struct cc_sample *s)
{
	if (p->boost_loss != BOOST_LOSS_JUDGED || window_is_guarded(&b->w))
		return 0;
	return !loss_heuristic_is_congestion(&b->heuristic, p, s);
}

CC_INLINE void boost_on_enter_recovery(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
				       struct flow *flow)
{
	b->w.undo_q16 = b->w.cwnd_q16;
	if (boost_uses_tags(p, s) || window_has_new_marks(&b->w, s) || boost_is_loss_excused(b, p, s))
		return;
	if (b->w.loss.is_holding && boost_has_additions(p))
		return;
	boost_back_off(b, p, s);
	loss_rule_hold(&b->w.loss, s);
	flow_decide(flow, FLOW_LOSS);
}

/* A timeout is a loss like any other (step 5), but the window opens again only with the first ACK, which also
 * brings a tagged flow the cause. Without any ACK the window stays at one packet.
 */
CC_INLINE void boost_on_timeout(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
				struct flow *flow)
{
	if (!b->w.loss.timeout_pending)
		b->w.undo_q16 = b->w.cwnd_q16;
	loss_rule_on_timeout(&b->w.loss, s, flow);
	window_collapse(&b->w, b->w.undo_q16 / 2);
	if (!boost_uses_tags(p, s))
		flow_decide(flow, FLOW_TIMEOUT);
}

/* Several judged flows behind a short queue believe each other's drops. So many are no corruption. */
CC_INLINE void boost_weigh_losses(struct boost *b, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 lost = s->lost_packets - b->lost_round;

	if (!b->w.is_new_round)
		return;
	b->lost_round = s->lost_packets;
	if (p->doubt && lost >= BOOST_HEAVY_PACKETS && lost >= window_packets(&b->w) / BOOST_HEAVY_DIVISOR)
		guard_confirm(&b->w.guard, p);
}

/* What the heuristic excuses has to behave like corruption, as tagged losses have to (doubt.h). Every loss is
 * judged: one that is excused leaves the flow in a recovery in which others come.
 */
CC_INLINE enum loss_verdict boost_judge(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
					struct flow *flow)
{
	__u32 lost = s->lost_packets - b->lost_seen;
	int is_excused = boost_is_loss_excused(b, p, s);
	enum loss_verdict verdict;

	b->lost_seen = s->lost_packets;
	boost_weigh_losses(b, p, s);
	verdict = window_examine(&b->w, p, s, flow, is_excused || window_is_guarded(&b->w) ? lost : 0);
	if (verdict != LOSS_NOTHING || !lost || b->w.loss.is_holding || boost_is_loss_excused(b, p, s))
		return verdict;
	loss_rule_hold(&b->w.loss, s);
	flow_decide(flow, FLOW_LOSS);
	return LOSS_CONGESTION;
}

/* What a timeout calls lost says nothing more. */
CC_INLINE enum loss_verdict boost_end_timeout(struct boost *b, const struct cc_sample *s)
{
	b->lost_seen = b->lost_round = s->lost_packets;
	return LOSS_TIMEOUT_REAL;
}

CC_INLINE void boost_on_losses(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
			       struct flow *flow)
{
	enum loss_verdict verdict = LOSS_NOTHING;

	if (boost_uses_tags(p, s))
		verdict = window_judge(&b->w, p, s, flow);
	else if (window_timeout_is_over(&b->w, s))
		verdict = boost_end_timeout(b, s);
	else if (p->boost_loss == BOOST_LOSS_JUDGED)
		verdict = boost_judge(b, p, s, flow);
	if (verdict == LOSS_TIMEOUT_REAL && boost_is_reno(b, p, s))
		return; /* slow start from one packet, as RFC 5681 has it */
	if (verdict == LOSS_TIMEOUT_EXPLAINED || verdict == LOSS_TIMEOUT_REAL)
		window_restore(&b->w);
	if (verdict != LOSS_NOTHING && verdict != LOSS_TIMEOUT_EXPLAINED)
		boost_back_off(b, p, s);
}

CC_INLINE void boost_on_ack(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
			    struct flow *flow)
{
	loss_heuristic_observe(&b->heuristic, s, (__u32)s->now_us - b->w.last_ack_us);
	boost_measure(b, p, s);
	if (boost_compares_per_ack(p) && !b->is_backing_off && s->rtt_us && !s->is_retransmitted)
		boost_choose_mode(b, p, s);
	if (window_answer_signals(&b->w, p, s, flow))
		boost_note_reduction(b, p, s);
	boost_on_losses(b, p, s, flow);
	if (b->w.doubt.has_fallen && !b->is_past_start) {
		boost_note_congestion(b, 0);
		b->mode = BOOST_LIN;
	}
	if (b->is_backing_off && s->is_open && !b->w.loss.is_holding)
		boost_on_exit_recovery(b);
	boost_on_round(b, p, s, flow);
	boost_grow(b, p, s);
	if (!s->is_limited)
		boost_resume(b, p, s);
}

/* Sending starts again. After long silence the path is learnt anew; B is kept. */
CC_INLINE void boost_on_tx_start(struct boost *b, const struct cc_params *p, const struct cc_sample *s,
				 struct flow *flow)
{
	flow->request.wanted = 0;
	if (!window_is_idle(&b->w, s)) {
		boost_resume(b, p, s);
		return;
	}
	window_begin_anew(&b->w, boost_initial_packets(p, flow));
	boost_start_over(b);
	resume_begin(&b->resume, s, boost_has_additions(p) ? p->boost_resume_s : 0);
}

/* Ours: in the round trip after a drain the samples are of packets that waited in the queue, and by that SRTT
 * the flow would leave the path idle. Twice the rate at most, as in slow start.
 */
CC_INLINE __u32 boost_undelayed_percent(const struct boost *b, const struct cc_params *p,
					const struct cc_sample *s, __u32 percent)
{
	__u64 undelayed;

	if (!b->is_draining || !boost_uses_tags(p, s) || !s->min_rtt_us || s->srtt_us <= s->min_rtt_us)
		return percent;
	undelayed = mul_div_u64(percent, s->srtt_us, s->min_rtt_us);
	return (__u32)min_u64(undelayed, 2 * percent);
}

CC_INLINE struct cc_control boost_control(const struct boost *b, const struct cc_params *p,
					  const struct cc_sample *s)
{
	int is_exp = b->mode == BOOST_EXP && !b->knee_q16 && window_may_grow(&b->w) &&
		     !boost_is_reno(b, p, s) && b->resume.phase != RESUME_UNVALIDATED;
	__u32 percent = is_exp ? p->boost_exp_pacing_percent : p->boost_pacing_percent;

	return window_control(&b->w, p, s, boost_undelayed_percent(b, p, s, percent));
}

#endif /* CLARION_CC_BOOST_H */
