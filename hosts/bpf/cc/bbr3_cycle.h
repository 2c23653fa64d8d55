/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* ProbeBW of BBR version 3: when it probes for bandwidth, and when a probe has gone too far. */
#ifndef CLARION_CC_BBR3_CYCLE_H
#define CLARION_CC_BBR3_CYCLE_H

#include "bbr3_lower.h"
#include "bbr3_upper.h"
#include "random.h"

/* A Reno flow of this volume probes after as many rounds as it has packets in flight; and 25 Mbit/s at 30 ms
 * are 62 packets, after 1.9 s.
 */
#define BBR3_PROBE_MAX_ROUNDS	 63U
#define BBR3_PROBE_RANDOM_ROUNDS 2U
#define BBR3_PROBE_WAIT_US	 2000000U
#define BBR3_PROBE_RANDOM_US	 1000000U
#define BBR3_ECN_REPROBE	 128U /* of inflight_hi: the first step when marks have ceased */

CC_INLINE void bbr3_pick_wait(struct bbr3 *b)
{
	b->rounds_since_probe = (__u8)random_below(&b->random, BBR3_PROBE_RANDOM_ROUNDS);
	b->probe_wait_us = BBR3_PROBE_WAIT_US + random_below(&b->random, BBR3_PROBE_RANDOM_US);
}

CC_INLINE void bbr3_start_down(struct bbr3 *b, const struct cc_stack *tcp)
{
	bbr3_reset_signals(b);
	b->up_acked_per_packet = BBR3_NO_BOUND;
	bbr3_pick_wait(b);
	b->cycle_began_us = tcp->now_us;
	b->ack_phase = BBR3_ACKS_STOPPING;
	bbr3_begin_round(b, tcp);
	b->state = BBR3_DOWN;
}

CC_INLINE void bbr3_start_cruise(struct bbr3 *b)
{
	if (b->inflight_lo != BBR3_NO_BOUND)
		b->inflight_lo = (__u32)min_u64(b->inflight_lo, b->inflight_hi);
	b->state = BBR3_CRUISE;
}

/* Losses in a pipe that is not full would make the probe's bounds too low. */
CC_INLINE void bbr3_start_refill(struct bbr3 *b, const struct cc_stack *tcp, __u8 up_rounds)
{
	bbr3_reset_lower(b);
	b->up_rounds = up_rounds;
	b->up_acked = 0;
	b->probe_was_cautious = 0;
	b->ack_phase = BBR3_ACKS_REFILLING;
	bbr3_begin_round(b, tcp);
	b->state = BBR3_REFILL;
}

CC_INLINE void bbr3_start_up(struct bbr3 *b, const struct cc_stack *tcp)
{
	b->is_probe_sample = 1; /* ACKs from now on are of REFILL, which may be too much already */
	b->ack_phase = BBR3_ACKS_STARTING;
	bbr3_begin_round(b, tcp);
	b->cycle_began_us = tcp->now_us;
	bbr3_reset_full_bw(b, b->sample_bw);
	b->state = BBR3_UP;
	bbr3_raise_slope(b, tcp);
}

/* Once per probe. What the application limits does not show how much fits. */
CC_INLINE void bbr3_on_too_high(struct bbr3 *b, const struct cc_stack *tcp, __u32 in_flight,
				int is_app_limited)
{
	__u32 least = (__u32)((__u64)bbr3_target(b, tcp) * BBR3_KEEP / BBR_UNIT);

	b->probe_was_too_high = 1;
	b->is_probe_sample = 0;
	if (!is_app_limited)
		b->inflight_hi = (__u32)max_u64(in_flight, least);
	if (b->state == BBR3_UP)
		bbr3_start_down(b, tcp);
}

/* A round after the probe's last packet. True: the next one begins at once, for the last has ended at
 * inflight_hi without a sign that this is too high.
 */
CC_INLINE int bbr3_end_probe(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	b->is_probe_sample = 0;
	b->ack_phase = BBR3_ACKS_INIT;
	if (!bbr3_is_in_probe_bw(b))
		return 0;
	if (!ack->is_app_limited)
		bbr3_next_bw_cycle(b);
	if (!b->probe_was_cautious || b->probe_was_too_high)
		return 0;
	bbr3_start_refill(b, tcp, 0);
	return 1;
}

/* True: a phase has begun. */
CC_INLINE int bbr3_adapt_upper(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
			       const struct stack_ack *ack)
{
	if (b->is_round_start && b->ack_phase == BBR3_ACKS_STARTING)
		b->ack_phase = BBR3_ACKS_FEEDBACK;
	if (b->is_round_start && b->ack_phase == BBR3_ACKS_STOPPING && bbr3_end_probe(b, tcp, ack))
		return 1;
	if (!bbr3_is_too_high(b, p, ack))
		bbr3_raise_upper(b, tcp, ack);
	else if (b->is_probe_sample)
		bbr3_on_too_high(b, tcp, ack->sent_in_flight, ack->is_app_limited);
	return 0;
}

/* Rounded down; of 0: 0. */
CC_INLINE __u8 bbr3_log2(__u32 v)
{
	__u8 log = 0;

	for (__u8 bit = 1; bit < 32; bit++)
		if (v >> bit)
			log = bit;
	return log;
}

/* Marks without losses have ceased: others may have left. */
CC_INLINE int bbr3_have_marks_ceased(const struct bbr3 *b, const struct cc_stack *tcp)
{
	return b->uses_ecn && b->has_mark_in_cycle && !b->has_loss_in_cycle && tcp->ca_state == CA_STATE_OPEN;
}

CC_INLINE int bbr3_is_time_to_probe(const struct bbr3 *b, const struct cc_stack *tcp)
{
	__u32 rounds = (__u32)min_u64(BBR3_PROBE_MAX_ROUNDS, bbr3_target(b, tcp));

	return tcp->now_us > b->cycle_began_us + b->probe_wait_us || b->rounds_since_probe >= rounds;
}

/* True: a probe has begun. */
CC_INLINE int bbr3_try_probe(struct bbr3 *b, const struct cc_stack *tcp)
{
	__u8 up_rounds = 0;

	if (bbr3_have_marks_ceased(b, tcp))
		up_rounds = bbr3_log2((__u32)((__u64)b->inflight_hi * BBR3_ECN_REPROBE / BBR_UNIT));
	else if (!bbr3_is_time_to_probe(b, tcp))
		return 0;
	bbr3_start_refill(b, tcp, up_rounds);
	return 1;
}

CC_INLINE int bbr3_is_time_to_cruise(const struct bbr3 *b, const struct cc_stack *tcp, __u32 in_network)
{
	return in_network <= bbr3_with_headroom(b) && in_network <= bbr3_inflight(b, tcp, bbr3_max_bw(b));
}

/* UP ends where the probe before lost too much; or when the rate grows no more although it may. */
CC_INLINE int bbr3_is_time_to_go_down(struct bbr3 *b, const struct cc_stack *tcp, __u32 in_network)
{
	if (b->probe_was_too_high && in_network >= b->inflight_hi) {
		b->probe_was_cautious = 1;
		return 1;
	}
	if (!tcp->is_cwnd_limited || tcp->cwnd < b->inflight_hi)
		return b->is_full_now;
	bbr3_reset_full_bw(b, b->sample_bw); /* inflight_hi limits the rate */
	return 0;
}

CC_INLINE void bbr3_update_phase(struct bbr3 *b, const struct cc_stack *tcp, __u32 in_network)
{
	switch (b->state) {
	case BBR3_DOWN:
		if (!bbr3_try_probe(b, tcp) && bbr3_is_time_to_cruise(b, tcp, in_network))
			bbr3_start_cruise(b);
		break;
	case BBR3_CRUISE:
		bbr3_try_probe(b, tcp);
		break;
	case BBR3_REFILL:
		if (b->is_round_start)
			bbr3_start_up(b, tcp);
		break;
	case BBR3_UP:
		if (bbr3_is_time_to_go_down(b, tcp, in_network)) {
			b->probe_was_too_high = 0;
			bbr3_start_down(b, tcp);
		}
		break;
	}
}

CC_INLINE void bbr3_update_cycle(struct bbr3 *b, const struct cc_params *p, const struct cc_stack *tcp,
				 const struct stack_ack *ack)
{
	if (b->is_filled && !bbr3_adapt_upper(b, p, tcp, ack))
		bbr3_update_phase(b, tcp, bbr3_in_network(b, tcp, ack->prior_in_flight));
}

#endif /* CLARION_CC_BBR3_CYCLE_H */
