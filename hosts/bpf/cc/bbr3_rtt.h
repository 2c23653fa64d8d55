/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The round trip of the empty path in BBR version 3: the least of ten seconds, in which ProbeRTT has drained
 * the queues twice.
 */
#ifndef CLARION_CC_BBR3_RTT_H
#define CLARION_CC_BBR3_RTT_H

#include "bbr3_cycle.h"

#define BBR3_PROBE_RTT_EVERY_TICKS (5 * STACK_HZ)
#define BBR3_PROBE_RTT_GAIN	   128U

CC_INLINE __u32 bbr3_probe_rtt_cwnd(const struct bbr3 *b)
{
	return (__u32)max_u64(bbr3_product(b, bbr3_bw(b), BBR3_PROBE_RTT_GAIN), BBR_MIN_PIPE_CWND);
}

CC_INLINE void bbr3_enter_probe_rtt(struct bbr3 *b, const struct cc_stack *tcp)
{
	b->state = BBR3_PROBE_RTT;
	bbr3_save_cwnd(b, tcp);
	b->probe_rtt_done_tick = 0;
	b->ack_phase = BBR3_ACKS_STOPPING;
	bbr3_begin_round(b, tcp);
}

/* Less than the path holds is in flight: the cycle begins anew, and DOWN is over. */
CC_INLINE void bbr3_leave_probe_rtt(struct bbr3 *b, const struct cc_stack *tcp)
{
	bbr3_reset_lower(b);
	if (!b->is_filled) {
		b->state = BBR3_STARTUP;
		return;
	}
	bbr3_start_down(b, tcp);
	bbr3_start_cruise(b);
}

CC_INLINE void bbr3_try_leave_probe_rtt(struct bbr3 *b, struct cc_stack *tcp)
{
	__u32 now = stack_ticks(tcp->now_us);

	if (!b->probe_rtt_done_tick || wrap_diff_u32(now, b->probe_rtt_done_tick) <= 0)
		return;
	b->probe_rtt_min_tick = now;
	tcp->cwnd = (__u32)max_u64(tcp->cwnd, b->prior_cwnd);
	bbr3_leave_probe_rtt(b, tcp);
}

/* 200 ms and a round with half of the path's volume in flight. */
CC_INLINE void bbr3_stay_in_probe_rtt(struct bbr3 *b, struct cc_stack *tcp)
{
	if (!b->probe_rtt_done_tick && tcp->in_flight <= bbr3_probe_rtt_cwnd(b)) {
		b->probe_rtt_done_tick = stack_ticks(tcp->now_us) + BBR_PROBE_RTT_TICKS;
		b->probe_rtt_round_done = 0;
		bbr3_begin_round(b, tcp);
	} else if (b->probe_rtt_done_tick) {
		if (b->is_round_start)
			b->probe_rtt_round_done = 1;
		if (b->probe_rtt_round_done)
			bbr3_try_leave_probe_rtt(b, tcp);
	}
}

/* True: the least of the last five seconds is that old. */
CC_INLINE int bbr3_update_min_rtt(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 now = stack_ticks(tcp->now_us);
	int is_due = wrap_diff_u32(now, b->probe_rtt_min_tick + BBR3_PROBE_RTT_EVERY_TICKS) > 0;

	if (ack->rtt_us >= 0 && (ack->rtt_us < b->probe_rtt_min_us || is_due)) {
		b->probe_rtt_min_us = (__u32)ack->rtt_us;
		b->probe_rtt_min_tick = now;
	}
	if (b->probe_rtt_min_us <= b->min_rtt_us ||
	    wrap_diff_u32(now, b->min_rtt_tick + BBR_MIN_RTT_TICKS) > 0) {
		b->min_rtt_us = b->probe_rtt_min_us;
		b->min_rtt_tick = b->probe_rtt_min_tick;
	}
	return is_due;
}

/* True while the application counts as the limit, as in ProbeRTT. */
CC_INLINE int bbr3_check_probe_rtt(struct bbr3 *b, struct cc_stack *tcp, const struct stack_ack *ack)
{
	int probes;

	if (bbr3_update_min_rtt(b, tcp, ack) && !b->idle_restart && b->state != BBR3_PROBE_RTT)
		bbr3_enter_probe_rtt(b, tcp);
	probes = b->state == BBR3_PROBE_RTT;
	if (probes)
		bbr3_stay_in_probe_rtt(b, tcp);
	if (ack->delivered > 0)
		b->idle_restart = 0;
	return probes;
}

#endif /* CLARION_CC_BBR3_RTT_H */
