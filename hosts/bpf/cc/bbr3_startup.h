/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* When BBR version 3 has filled its path, by a plateau of the rate, by losses or by marks; and when the queue
 * of Startup is drained.
 */
#ifndef CLARION_CC_BBR3_STARTUP_H
#define CLARION_CC_BBR3_STARTUP_H

#include "bbr3_cycle.h"

#define BBR3_FULL_LOSS_EVENTS 6
#define BBR3_MAX_LOSS_EVENTS  15
#define BBR3_FULL_ECN_ROUNDS  2

CC_INLINE void bbr3_fill_by_queue(struct bbr3 *b, const struct cc_stack *tcp)
{
	b->is_filled = 1;
	b->inflight_hi = (__u32)max_u64(bbr3_inflight(b, tcp, bbr3_max_bw(b)), b->inflight_latest);
}

/* Two rounds in a row of which half is marked. */
CC_INLINE void bbr3_check_startup_marks(struct bbr3 *b, const struct cc_stack *tcp, __s32 share)
{
	if (b->is_filled || share < 0)
		return;
	b->marked_rounds = share >= (__s32)BBR3_ECN_THRESHOLD ? b->marked_rounds + 1 : 0;
	if (b->marked_rounds >= BBR3_FULL_ECN_ROUNDS)
		bbr3_fill_by_queue(b, tcp);
}

/* At the end of a round of recovery: too high a loss rate, and not in one burst. */
CC_INLINE void bbr3_check_startup_losses(struct bbr3 *b, const struct cc_params *p,
					 const struct cc_stack *tcp, const struct stack_ack *ack)
{
	if (b->is_filled)
		return;
	if (ack->losses && b->loss_events < BBR3_MAX_LOSS_EVENTS)
		b->loss_events++;
	if (!b->is_loss_round_start)
		return;
	if (tcp->ca_state == CA_STATE_RECOVERY && b->loss_events >= BBR3_FULL_LOSS_EVENTS &&
	    bbr3_is_too_high(b, p, ack))
		bbr3_fill_by_queue(b, tcp);
	else
		b->loss_events = 0;
}

/* Three rounds without growth of a quarter, in Startup and in UP. */
CC_INLINE void bbr3_check_full_bw(struct bbr3 *b, const struct stack_ack *ack)
{
	if (b->is_full_now || ack->is_app_limited)
		return;
	if (b->sample_bw >= (__u64)b->full_bw * BBR_FULL_BW_GAIN / BBR_UNIT) {
		bbr3_reset_full_bw(b, b->sample_bw);
		return;
	}
	if (!b->is_round_start)
		return;
	b->is_full_now = ++b->full_bw_rounds >= BBR_FULL_BW_ROUNDS;
	if (b->is_full_now)
		b->is_filled = 1;
}

CC_INLINE void bbr3_check_drain(struct bbr3 *b, struct cc_stack *tcp)
{
	if (b->state == BBR3_STARTUP && b->is_filled) {
		b->state = BBR3_DRAIN;
		tcp->ssthresh = bbr3_inflight(b, tcp, bbr3_max_bw(b));
		bbr3_reset_signals(b);
	}
	if (b->state == BBR3_DRAIN &&
	    bbr3_in_network(b, tcp, tcp->in_flight) <= bbr3_inflight(b, tcp, bbr3_max_bw(b)))
		bbr3_start_down(b, tcp);
}

#endif /* CLARION_CC_BBR3_STARTUP_H */
