/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* clarion_fast: FAST TCP (Wei, Jin, Low, Hegde, IEEE/ACM Trans. Networking 14(6), 2006), eq. 1:
 *
 *     w <- min{ 2w, (1 - gamma) w + gamma (baseRTT / RTT * w + alpha) }
 *
 * RTT is the mean of the samples since the last update; baseRTT follows a path that becomes longer
 * (base_rtt.h). Loss halves, once per RTT. Start: doubling per RTT until alpha packets stand in the queues,
 * w (1 - baseRTT/RTT) >= alpha, because eq. 1 alone grows by gamma * alpha. fast_alpha_rule: what alpha is
 * (fast_alpha.h).
 *
 * Ours: where alpha is more than a buffer holds, eq. 1 overflows it for ever. Losses behind a risen
 * delay, and heavy ones, put the flow under guard (guard.h), where it grows as Reno does; guard_rounds 0 is
 * FAST as published.
 */
#ifndef CLARION_CC_FAST_H
#define CLARION_CC_FAST_H

#include "fast_alpha.h"
#include "judgement.h"

/* Losses of a round trip that no wire makes: so many packets, and that part of the window. */
#define FAST_HEAVY_PACKETS 8
#define FAST_HEAVY_DIVISOR 6

struct fast {
	struct cc_window w;
	__u64 alpha_q16;  /* packets, where it adapts */
	__u64 rtt_sum_us; /* of the samples since the last update */
	__u32 nr_rtts;
	__u32 lost_seen;  /* packets marked lost, modulo 2^32, at the last ACK */
	__u32 lost_round; /* ... and when this round trip began */
	__u8 is_starting;
	__u8 nr_rounds; /* since the last update */
};

CC_INLINE void fast_init(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			 struct flow *flow)
{
	flow->request.wanted = 0;
	window_init(&f->w, p, p->initial_window_packets, s);
	f->alpha_q16 = (__u64)p->fast_alpha_packets << 16;
	f->lost_seen = f->lost_round = s->lost_packets;
	f->is_starting = 1;
}

CC_INLINE int fast_uses_tags(const struct cc_params *p, const struct cc_sample *s)
{
	return p->fast_tags && s->has_tags;
}

/* Packets of this flow standing in queues, Q16: w (1 - baseRTT / RTT). */
CC_INLINE __u64 fast_queued_q16(__u64 cwnd_q16, __u32 base_us, __u32 rtt_us)
{
	return mul_div_u64(cwnd_q16, sub_floor_u64(rtt_us, base_us), rtt_us);
}

/* alpha at this window and round trip time. */
CC_INLINE __u64 fast_alpha_q16(const struct fast *f, const struct cc_params *p, __u32 rtt_us)
{
	if (p->fast_alpha_rule == FAST_ALPHA_GENERALIZED && rtt_us)
		return fast_generalized_q16(p, f->w.cwnd_q16, rtt_us);
	if (p->fast_alpha_rule == FAST_ALPHA_ADAPTIVE)
		return f->alpha_q16;
	return (__u64)p->fast_alpha_packets << 16;
}

/* Eq. 1: w - gamma * queued + gamma * alpha, at most 2 w. */
CC_INLINE __u64 fast_equation_q16(__u64 cwnd_q16, const struct cc_params *p, __u64 alpha_q16, __u32 base_us,
				  __u32 rtt_us)
{
	__u64 queued_q16 = fast_queued_q16(cwnd_q16, base_us, rtt_us);
	__u64 next_q16 =
	    cwnd_q16 - scale_q16(queued_q16, p->fast_gamma_q16) + scale_q16(alpha_q16, p->fast_gamma_q16);

	return min_u64(2 * cwnd_q16, next_q16);
}

/* The window that the equation gives, under guard no more than Reno's. */
CC_INLINE __u64 fast_next_q16(const struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			      __u32 rtt_us)
{
	__u64 alpha_q16 = fast_alpha_q16(f, p, rtt_us);
	__u64 next_q16 = fast_equation_q16(f->w.cwnd_q16, p, alpha_q16, s->min_rtt_us, rtt_us);
	__u64 step_q16 = scale_percent(p->fast_update_rtts * Q16_ONE, GUARD_ALPHA_PERCENT);

	return window_is_guarded(&f->w) ? min_u64(next_q16, f->w.cwnd_q16 + step_q16) : next_q16;
}

/* Under guard alpha is not what limits the window, so it must not run away. */
CC_INLINE void fast_adapt(struct fast *f, const struct cc_params *p, const struct cc_sample *s, __u32 rtt_us)
{
	__u32 delay_us = (__u32)sub_floor_u64(rtt_us, s->min_rtt_us);

	if (p->fast_alpha_rule == FAST_ALPHA_ADAPTIVE && !window_is_guarded(&f->w))
		f->alpha_q16 = fast_adapted_q16(p, f->alpha_q16, f->w.cwnd_q16, delay_us);
}

CC_INLINE void fast_update(struct fast *f, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 rtt_us = (__u32)div_u64(f->rtt_sum_us, f->nr_rtts);

	if (rtt_us && !s->is_limited && !f->is_starting && window_may_grow(&f->w)) {
		fast_adapt(f, p, s, rtt_us);
		window_set(&f->w, p, fast_next_q16(f, p, s, rtt_us));
	}
	f->rtt_sum_us = 0;
	f->nr_rtts = 0;
	f->nr_rounds = 0;
}

/* Do alpha packets stand in the queues, or as many as alpha will be where it adapts? */
CC_INLINE int fast_has_filled(const struct fast *f, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 delay_us = (__u32)sub_floor_u64(s->srtt_us, s->min_rtt_us);

	if (p->fast_alpha_rule == FAST_ALPHA_ADAPTIVE && delay_us >= p->fast_target_delay_us)
		return 1;
	return fast_queued_q16(f->w.cwnd_q16, s->min_rtt_us, s->srtt_us) >= fast_alpha_q16(f, p, s->srtt_us);
}

/* Doubling ends at the first queue, or at the window that the last timeout left as its aim. */
CC_INLINE void fast_start_phase(struct fast *f, const struct cc_params *p, const struct cc_sample *s)
{
	if (fast_has_filled(f, p, s) || f->w.cwnd_q16 >= f->w.ssthresh_q16)
		f->is_starting = 0;
	else if (!s->is_limited && window_may_grow(&f->w))
		window_grow_double(&f->w, p, s->acked_packets);
}

CC_INLINE void fast_halve(struct fast *f)
{
	window_reduce(&f->w, max_u64(window_after_loss_q16(&f->w), 2 * Q16_ONE));
	f->is_starting = 0;
}

/* A loss without tags. */
CC_INLINE void fast_on_loss(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			    struct flow *flow)
{
	fast_halve(f);
	loss_rule_hold(&f->w.loss, s);
	if (base_rtt_is_above(s->srtt_us, s->min_rtt_us))
		guard_strike(&f->w.guard, p, 0);
	flow_decide(flow, FLOW_LOSS);
}

CC_INLINE void fast_on_enter_recovery(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
				      struct flow *flow)
{
	f->w.undo_q16 = f->w.cwnd_q16;
	if (fast_uses_tags(p, s) || window_has_new_marks(&f->w, s) || f->w.loss.is_holding)
		return;
	fast_on_loss(f, p, s, flow);
}

/* The window grows in recovery, too; what is lost then counts as well. */
CC_INLINE void fast_on_losses_in_recovery(struct fast *f, const struct cc_params *p,
					  const struct cc_sample *s, struct flow *flow)
{
	int has_lost = s->lost_packets != f->lost_seen;

	f->lost_seen = s->lost_packets;
	if (has_lost && s->in_recovery && !f->w.loss.is_holding)
		fast_on_loss(f, p, s, flow);
}

/* A policer has no queue to be seen. */
CC_INLINE void fast_weigh_losses(struct fast *f, const struct cc_params *p, const struct cc_sample *s)
{
	__u32 lost = s->lost_packets - f->lost_round;

	f->lost_round = s->lost_packets;
	if (lost >= FAST_HEAVY_PACKETS && lost >= window_packets(&f->w) / FAST_HEAVY_DIVISOR)
		guard_strike(&f->w.guard, p, 0);
}

CC_INLINE void fast_on_timeout(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			       struct flow *flow)
{
	if (!f->w.loss.timeout_pending)
		f->w.undo_q16 = f->w.cwnd_q16;
	loss_rule_on_timeout(&f->w.loss, s, flow);
	window_collapse(&f->w, f->w.undo_q16 / 2);
	f->is_starting = 1;
	if (!fast_uses_tags(p, s))
		flow_decide(flow, FLOW_TIMEOUT);
}

CC_INLINE void fast_on_losses(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			      struct flow *flow)
{
	enum loss_verdict verdict;

	if (!fast_uses_tags(p, s)) {
		window_timeout_is_over(&f->w, s);
		fast_on_losses_in_recovery(f, p, s, flow);
		return;
	}
	verdict = window_judge(&f->w, p, s, flow);
	if (verdict == LOSS_CONGESTION || verdict == LOSS_UNEXPLAINED || verdict == LOSS_CONTRADICTED)
		fast_halve(f);
	if (verdict == LOSS_TIMEOUT_EXPLAINED)
		window_restore(&f->w);
}

CC_INLINE void fast_on_ack(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
			   struct flow *flow)
{
	if (s->rtt_us) {
		f->rtt_sum_us += s->rtt_us;
		f->nr_rtts++;
	}
	if (window_answer_signals(&f->w, p, s, flow))
		f->is_starting = 0;
	fast_on_losses(f, p, s, flow);
	if (f->w.is_longer && !window_is_guarded(&f->w)) {
		f->is_starting = 1;
		f->w.ssthresh_q16 = ~0ULL;
	}
	if (f->is_starting)
		fast_start_phase(f, p, s);
	if (!f->w.is_new_round)
		return;
	if (!fast_uses_tags(p, s))
		fast_weigh_losses(f, p, s);
	if (++f->nr_rounds >= p->fast_update_rtts)
		fast_update(f, p, s);
}

/* Nothing to undo: the window goes on from the halved one. */
CC_INLINE void fast_on_exit_recovery(struct fast *f)
{
	(void)f;
}

/* Sending starts again. After long silence the start phase does, too. */
CC_INLINE void fast_on_tx_start(struct fast *f, const struct cc_params *p, const struct cc_sample *s,
				struct flow *flow)
{
	flow->request.wanted = 0;
	if (!window_is_idle(&f->w, s))
		return;
	window_begin_anew(&f->w, p->initial_window_packets);
	f->is_starting = 1;
}

CC_INLINE struct cc_control fast_control(const struct fast *f, const struct cc_params *p,
					 const struct cc_sample *s)
{
	return window_control(&f->w, p, s, f->is_starting ? 200 : p->fast_pacing_percent);
}

#endif /* CLARION_CC_FAST_H */
