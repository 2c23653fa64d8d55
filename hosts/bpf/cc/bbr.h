/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BBR, version 1, as Linux has it: draft-cardwell-iccrg-bbr-congestion-control-00, whose names these are,
 * with the additions without which it cannot be held against the kernel's own: the allowance for aggregated
 * ACKs, the recognition of policers, what pacing holds back, and pacing at 99 %. Section numbers are the
 * draft's.
 */
#ifndef CLARION_CC_BBR_H
#define CLARION_CC_BBR_H

#include "bbr_model.h"
#include "bbr_window.h"

CC_INLINE void bbr_init(struct bbr *b, struct cc_stack *tcp, __u32 seed)
{
	__builtin_memset(b, 0, sizeof(*b));
	b->random = random_seeded(seed);
	tcp->ssthresh = STACK_INFINITE_SSTHRESH;
	b->next_round_delivered = tcp->delivered;
	b->min_rtt_us = tcp->min_rtt_us;
	b->min_rtt_tick = stack_ticks(tcp->now_us);
	b->state = BBR_STARTUP;
	bbr_init_pacing(b, tcp);
	bbr_policer_reset(&b->policer, tcp);
	bbr_aggregation_begin(&b->aggregation, tcp->now_us);
}

CC_INLINE void bbr_next_phase(struct bbr *b, const struct cc_stack *tcp)
{
	b->cycle = (b->cycle + 1) % BBR_CYCLE_LEN;
	b->cycle_began_us = tcp->delivered_us;
}

/* 4.3.4.2: at any phase but the one that yields. */
CC_INLINE void bbr_enter_probe_bw(struct bbr *b, const struct cc_stack *tcp)
{
	b->state = BBR_PROBE_BW;
	b->cycle = (__u8)(BBR_CYCLE_LEN - 1 - random_below(&b->random, BBR_CYCLE_RANDOM));
	bbr_next_phase(b, tcp);
}

CC_INLINE void bbr_watch_policer(struct bbr *b, const struct cc_stack *tcp, __u32 losses, int is_app_limited)
{
	enum bbr_policing policing = bbr_policer_on_ack(&b->policer, tcp, losses, is_app_limited,
							b->is_round_start, b->state == BBR_PROBE_BW);

	if (policing == BBR_POLICING_FOUND)
		b->pacing_gain = BBR_UNIT;
	else if (policing == BBR_POLICING_OVER)
		bbr_enter_probe_bw(b, tcp);
}

CC_INLINE void bbr_count_round(struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	if (wrap_diff_u32(ack->prior_delivered, b->next_round_delivered) < 0)
		return;
	b->next_round_delivered = tcp->delivered;
	b->rounds++;
	b->is_round_start = 1;
	b->conserves = 0;
}

/* 4.1.1, 4.1.2 */
CC_INLINE void bbr_update_bw(struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 bw;

	b->is_round_start = 0;
	if (ack->delivered < 0 || ack->interval_us <= 0)
		return;
	bbr_count_round(b, tcp, ack);
	bbr_watch_policer(b, tcp, ack->losses, ack->is_app_limited);
	bw = bbr_rate_of((__u32)ack->delivered, (__u64)ack->interval_us);
	if (!ack->is_app_limited || bw >= bbr_max_bw(b))
		windowed_max_update(&b->bw, BBR_BW_ROUNDS, b->rounds, bw);
}

/* 4.3.4.3: when has a phase lasted long enough? */
CC_INLINE int bbr_is_phase_over(const struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	int is_full_length = sub_floor_u64(tcp->delivered_us, b->cycle_began_us) > b->min_rtt_us;
	__u32 in_network = bbr_in_network(b, tcp, ack->prior_in_flight);

	if (b->pacing_gain == BBR_UNIT)
		return is_full_length;
	if (b->pacing_gain > BBR_UNIT)
		return is_full_length && (ack->losses || in_network >= bbr_target(b, tcp, b->pacing_gain));
	return is_full_length || in_network <= bbr_target(b, tcp, BBR_UNIT);
}

CC_INLINE void bbr_update_cycle(struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	if (b->state == BBR_PROBE_BW && bbr_is_phase_over(b, tcp, ack))
		bbr_next_phase(b, tcp);
}

/* 4.3.2.2: three rounds without growth of a quarter. */
CC_INLINE void bbr_check_full_pipe(struct bbr *b, int is_app_limited)
{
	if (b->is_filled || !b->is_round_start || is_app_limited)
		return;
	if (bbr_max_bw(b) >= (__u64)b->full_bw * BBR_FULL_BW_GAIN / BBR_UNIT) {
		b->full_bw = bbr_max_bw(b);
		b->full_bw_rounds = 0;
		return;
	}
	b->is_filled = ++b->full_bw_rounds >= BBR_FULL_BW_ROUNDS;
}

/* 4.3.3 */
CC_INLINE void bbr_check_drain(struct bbr *b, struct cc_stack *tcp)
{
	if (b->state == BBR_STARTUP && b->is_filled) {
		b->state = BBR_DRAIN;
		tcp->ssthresh = bbr_target(b, tcp, BBR_UNIT);
	}
	if (b->state == BBR_DRAIN && bbr_in_network(b, tcp, tcp->in_flight) <= bbr_target(b, tcp, BBR_UNIT))
		bbr_enter_probe_bw(b, tcp);
}

CC_INLINE void bbr_enter_probe_rtt(struct bbr *b, const struct cc_stack *tcp)
{
	b->state = BBR_PROBE_RTT;
	bbr_save_cwnd(b, tcp);
	b->probe_rtt_done_tick = 0;
}

CC_INLINE void bbr_try_leave_probe_rtt(struct bbr *b, struct cc_stack *tcp)
{
	__u32 now = stack_ticks(tcp->now_us);

	if (!b->probe_rtt_done_tick || wrap_diff_u32(now, b->probe_rtt_done_tick) <= 0)
		return;
	b->min_rtt_tick = now;
	tcp->cwnd = (__u32)max_u64(tcp->cwnd, b->prior_cwnd);
	if (b->is_filled)
		bbr_enter_probe_bw(b, tcp);
	else
		b->state = BBR_STARTUP;
}

/* 4.3.5: 200 ms and a round with four packets in flight. */
CC_INLINE void bbr_stay_in_probe_rtt(struct bbr *b, struct cc_stack *tcp)
{
	if (!b->probe_rtt_done_tick && tcp->in_flight <= BBR_MIN_PIPE_CWND) {
		b->probe_rtt_done_tick = stack_ticks(tcp->now_us) + BBR_PROBE_RTT_TICKS;
		b->probe_rtt_round_done = 0;
		b->next_round_delivered = tcp->delivered;
	} else if (b->probe_rtt_done_tick) {
		if (b->is_round_start)
			b->probe_rtt_round_done = 1;
		if (b->probe_rtt_round_done)
			bbr_try_leave_probe_rtt(b, tcp);
	}
}

/* 4.1.3. True: the last minimum is ten seconds old. */
CC_INLINE int bbr_update_min_rtt(struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 now = stack_ticks(tcp->now_us);
	int is_expired = wrap_diff_u32(now, b->min_rtt_tick + BBR_MIN_RTT_TICKS) > 0;

	if (ack->rtt_us >= 0 && (ack->rtt_us < b->min_rtt_us || is_expired)) {
		b->min_rtt_us = (__u32)ack->rtt_us;
		b->min_rtt_tick = now;
	}
	return is_expired;
}

/* True while the application counts as the limit, as in ProbeRTT. */
CC_INLINE int bbr_check_probe_rtt(struct bbr *b, struct cc_stack *tcp, const struct stack_ack *ack)
{
	int probes;

	if (bbr_update_min_rtt(b, tcp, ack) && !b->idle_restart && b->state != BBR_PROBE_RTT)
		bbr_enter_probe_rtt(b, tcp);
	probes = b->state == BBR_PROBE_RTT;
	if (probes)
		bbr_stay_in_probe_rtt(b, tcp);
	if (ack->delivered > 0)
		b->idle_restart = 0;
	return probes;
}

CC_INLINE __u16 bbr_cycle_gain(const struct bbr *b)
{
	if (b->policer.is_in_use || b->cycle > 1)
		return BBR_UNIT;
	return b->cycle == 0 ? BBR_PROBE_GAIN : BBR_YIELD_GAIN;
}

CC_INLINE void bbr_update_gains(struct bbr *b)
{
	switch (b->state) {
	case BBR_STARTUP:
		b->pacing_gain = b->cwnd_gain = BBR_HIGH_GAIN;
		break;
	case BBR_DRAIN:
		b->pacing_gain = BBR_DRAIN_GAIN;
		b->cwnd_gain = BBR_HIGH_GAIN;
		break;
	case BBR_PROBE_BW:
		b->pacing_gain = bbr_cycle_gain(b);
		b->cwnd_gain = BBR_CWND_GAIN;
		break;
	default:
		b->pacing_gain = b->cwnd_gain = BBR_UNIT;
	}
}

/* True: from now on the application counts as the limit. */
CC_INLINE int bbr_on_ack(struct bbr *b, struct cc_stack *tcp, const struct stack_ack *ack)
{
	int is_limited;

	bbr_update_bw(b, tcp, ack);
	bbr_aggregation_on_ack(&b->aggregation, tcp, ack, bbr_bw(b), b->is_round_start, BBR_EXTRA_ROUNDS);
	bbr_update_cycle(b, tcp, ack);
	bbr_check_full_pipe(b, ack->is_app_limited);
	bbr_check_drain(b, tcp);
	is_limited = bbr_check_probe_rtt(b, tcp, ack);
	bbr_update_gains(b);
	bbr_set_pacing(b, tcp, b->pacing_gain);
	bbr_set_cwnd(b, tcp, ack);
	return is_limited;
}

/* A timeout counts as the end of a round. TCP has set the window. */
CC_INLINE void bbr_on_timeout(struct bbr *b, const struct cc_stack *tcp)
{
	b->ca_state = CA_STATE_LOSS;
	b->full_bw = 0;
	b->is_round_start = 1;
	bbr_watch_policer(b, tcp, 1, 0);
}

/* Losses alone do not reduce it. */
CC_INLINE __u32 bbr_ssthresh(struct bbr *b, const struct cc_stack *tcp)
{
	bbr_save_cwnd(b, tcp);
	return tcp->ssthresh;
}

/* The loss was none. */
CC_INLINE __u32 bbr_undo(struct bbr *b, const struct cc_stack *tcp)
{
	b->full_bw = 0;
	b->full_bw_rounds = 0;
	bbr_policer_reset(&b->policer, tcp);
	return tcp->cwnd;
}

/* Sending starts again after a pause (4.3.4.4). */
CC_INLINE void bbr_on_tx_start(struct bbr *b, struct cc_stack *tcp)
{
	if (!tcp->is_app_limited)
		return;
	b->idle_restart = 1;
	bbr_aggregation_begin(&b->aggregation, tcp->now_us);
	if (b->state == BBR_PROBE_BW)
		bbr_set_pacing(b, tcp, BBR_UNIT);
	else if (b->state == BBR_PROBE_RTT)
		bbr_try_leave_probe_rtt(b, tcp);
}

#endif /* CLARION_CC_BBR_H */
