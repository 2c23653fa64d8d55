/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BBR, version 3, as Google's branch v3 of Linux has it (github.com/google/bbr); the description is
 * draft-ietf-ccwg-bbr, whose sections the comments name. Unlike version 1 it bounds what is in flight by the
 * losses that its probes cause. Linux does not say what was in flight and lost when a packet was sent: so
 * this version runs in the simulator only.
 */
#ifndef CLARION_CC_BBR3_H
#define CLARION_CC_BBR3_H

#include "bbr3_startup.h"
#include "bbr3_window.h"

CC_INLINE void bbr3_init(struct bbr3 *b, struct cc_stack *tcp, __u32 seed)
{
	__builtin_memset(b, 0, sizeof(*b));
	b->random = random_seeded(seed);
	b->initial_cwnd = (__u8)min_u64(tcp->cwnd, BBR3_INITIAL_MOST);
	tcp->ssthresh = STACK_INFINITE_SSTHRESH;
	bbr3_begin_round(b, tcp);
	b->loss_round_delivered = tcp->delivered + 1;
	b->min_rtt_us = b->probe_rtt_min_us = tcp->min_rtt_us;
	b->min_rtt_tick = b->probe_rtt_min_tick = stack_ticks(tcp->now_us);
	b->state = BBR3_STARTUP;
	b->inflight_hi = b->up_acked_per_packet = BBR3_NO_BOUND;
	bbr3_reset_lower(b);
	bbr3_ecn_init(b, tcp);
	bbr_aggregation_begin(&b->aggregation, tcp->now_us);
	bbr3_init_pacing(b, tcp);
}

CC_INLINE void bbr3_count_round(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
				const struct stack_ack *ack)
{
	b->is_round_start =
	    ack->interval_us > 0 && wrap_diff_u32(ack->prior_delivered, b->next_round_delivered) >= 0;
	if (!b->is_round_start)
		return;
	bbr3_begin_round(b, tcp);
	b->rounds_since_probe = (__u8)min_u64(b->rounds_since_probe + 1U, 255);
	bbr3_check_startup_marks(b, tcp, bbr3_ecn_on_round(b, p, tcp));
}

/* Rounded up, so that small rates grow. */
CC_INLINE __u32 bbr3_rate_of(const struct stack_ack *ack)
{
	__u64 interval_us = (__u64)ack->interval_us;

	if (ack->interval_us <= 0 || ack->delivered < 0)
		return 0;
	return (__u32)div_u64(((__u64)ack->delivered << BBR_BW_SHIFT) + interval_us - 1, interval_us);
}

/* In Startup the window has grown since the round before: what was held back then says little. */
CC_INLINE void bbr3_update_aggregation(struct bbr3 *b, const struct cc_stack *tcp,
				       const struct stack_ack *ack)
{
	bbr_aggregation_on_ack(&b->aggregation, tcp, ack, bbr3_bw(b), b->is_round_start,
			       b->is_filled ? BBR_EXTRA_ROUNDS : 1);
}

CC_INLINE void bbr3_update_gains(struct bbr3 *b)
{
	b->pacing_gain = BBR_UNIT;
	b->cwnd_gain = BBR_CWND_GAIN;
	switch (b->state) {
	case BBR3_STARTUP:
		b->pacing_gain = BBR3_STARTUP_GAIN;
		break;
	case BBR3_DRAIN:
		b->pacing_gain = BBR_DRAIN_GAIN;
		break;
	case BBR3_DOWN:
		b->pacing_gain = BBR3_DOWN_GAIN;
		break;
	case BBR3_UP:
		b->pacing_gain = BBR_PROBE_GAIN;
		b->cwnd_gain = BBR3_UP_CWND_GAIN;
		break;
	case BBR3_PROBE_RTT:
		b->cwnd_gain = BBR_UNIT;
		break;
	}
}

CC_INLINE void bbr3_sample(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
			   const struct stack_ack *ack)
{
	bbr3_count_round(b, p, tcp, ack);
	if (b->uses_ecn && ack->has_echo)
		b->has_mark_in_round = 1;
	b->sample_bw = bbr3_rate_of(ack);
	bbr3_take_latest(b, tcp, ack);
}

/* True: from now on the application counts as the limit. */
CC_INLINE int bbr3_update_model(struct bbr3 *b, const struct cc_params *p, struct cc_stack *tcp,
				const struct stack_ack *ack)
{
	bbr3_take_signals(b, tcp, ack);
	bbr3_update_aggregation(b, tcp, ack);
	bbr3_check_startup_losses(b, p, tcp, ack);
	bbr3_check_full_bw(b, ack);
	bbr3_check_drain(b, tcp);
	bbr3_update_cycle(b, p, tcp, ack);
	return bbr3_check_probe_rtt(b, tcp, ack);
}

CC_INLINE int bbr3_on_ack(struct bbr3 *b, const struct cc_params *p, struct cc_stack *tcp,
			  const struct stack_ack *ack)
{
	int is_limited;

	bbr3_sample(b, p, tcp, ack);
	is_limited = bbr3_update_model(b, p, tcp, ack);
	bbr3_update_gains(b);
	bbr3_set_pacing(b, tcp, b->pacing_gain);
	bbr3_set_cwnd(b, tcp, ack);
	bbr3_advance_latest(b, ack);
	b->ca_state = tcp->ca_state;
	if (ack->lost)
		b->has_loss_in_cycle = 1;
	if (ack->delivered_ce)
		b->has_mark_in_cycle = 1;
	return is_limited;
}

/* A packet is lost: with how many in flight does a probe lose too much? ("Probing for Bandwidth In ProbeBW")
 */
CC_INLINE void bbr3_on_lost(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
			    const struct stack_lost *lost)
{
	bbr3_note_loss(b, tcp);
	if (b->is_probe_sample && bbr3_has_too_many_losses(p, lost->lost, lost->sent_in_flight))
		bbr3_on_too_high(b, tcp, bbr3_inflight_at_loss(p, lost), lost->is_app_limited);
}

/* A loss probe has repaired the loss of one packet, the last of what was in flight. */
CC_INLINE void bbr3_on_probe_recovery(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
				      int is_app_limited)
{
	__u32 in_flight = b->inflight_latest + 1;

	bbr3_note_loss(b, tcp);
	if (b->is_probe_sample && bbr3_has_too_many_losses(p, 1, in_flight))
		bbr3_on_too_high(b, tcp, in_flight, is_app_limited);
}

/* Before a timeout's state begins or ends. TCP has set the window for it; it is from the one before that
 * losses lower the volume.
 */
CC_INLINE void bbr3_on_state(struct bbr3 *b, struct cc_stack *tcp, __u8 next)
{
	if (next == CA_STATE_LOSS) {
		b->ca_state = CA_STATE_LOSS;
		bbr3_reset_full_bw(b, 0);
		if (!bbr3_is_probing_bw(b) && b->inflight_lo == BBR3_NO_BOUND)
			b->inflight_lo = (__u32)max_u64(tcp->cwnd, b->prior_cwnd);
	} else if (b->ca_state == CA_STATE_LOSS) {
		tcp->cwnd = (__u32)max_u64(tcp->cwnd, b->prior_cwnd);
	}
}

/* Recovery begins. Losses alone do not reduce the window. */
CC_INLINE __u32 bbr3_ssthresh(struct bbr3 *b, const struct cc_stack *tcp)
{
	bbr3_save_cwnd(b, tcp);
	b->undo_bw_lo = b->bw_lo;
	b->undo_inflight_lo = b->inflight_lo;
	b->undo_inflight_hi = b->inflight_hi;
	return tcp->ssthresh;
}

/* The loss was none. */
CC_INLINE __u32 bbr3_undo(struct bbr3 *b)
{
	bbr3_reset_full_bw(b, 0);
	b->has_loss_in_round = 0;
	b->bw_lo = (__u32)max_u64(b->bw_lo, b->undo_bw_lo);
	b->inflight_lo = (__u32)max_u64(b->inflight_lo, b->undo_inflight_lo);
	b->inflight_hi = (__u32)max_u64(b->inflight_hi, b->undo_inflight_hi);
	return b->prior_cwnd;
}

/* Sending starts again after a pause ("Restarting From Idle"). */
CC_INLINE void bbr3_on_tx_start(struct bbr3 *b, struct cc_stack *tcp)
{
	if (!tcp->is_app_limited)
		return;
	b->idle_restart = 1;
	bbr_aggregation_begin(&b->aggregation, tcp->now_us);
	if (bbr3_is_in_probe_bw(b))
		bbr3_set_pacing(b, tcp, BBR_UNIT);
	else if (b->state == BBR3_PROBE_RTT)
		bbr3_try_leave_probe_rtt(b, tcp);
}

#endif /* CLARION_CC_BBR3_H */
