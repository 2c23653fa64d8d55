/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BBR version 3 between its probes: a round with losses leaves seven tenths of rate and volume, but not less
 * than what was delivered in it ("When not Probing for Bandwidth").
 */
#ifndef CLARION_CC_BBR3_LOWER_H
#define CLARION_CC_BBR3_LOWER_H

#include "bbr3_ecn.h"

CC_INLINE int bbr3_has_rate(const struct stack_ack *ack)
{
	return ack->interval_us > 0 && ack->acked_packets;
}

CC_INLINE void bbr3_reset_lower(struct bbr3 *b)
{
	b->bw_lo = b->inflight_lo = BBR3_NO_BOUND;
}

/* What has been seen up to now was of a probe. */
CC_INLINE void bbr3_reset_signals(struct bbr3 *b)
{
	b->has_loss_in_round = b->has_mark_in_round = 0;
	b->has_loss_in_cycle = b->has_mark_in_cycle = 0;
	b->bw_latest = b->inflight_latest = 0;
}

/* Near the begin of an ACK. */
CC_INLINE void bbr3_take_latest(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	b->is_loss_round_start = 0;
	if (!bbr3_has_rate(ack))
		return;
	b->bw_latest = (__u32)max_u64(b->bw_latest, b->sample_bw);
	b->inflight_latest = (__u32)max_u64(b->inflight_latest, (__u32)ack->delivered);
	if (wrap_diff_u32(ack->prior_delivered, b->loss_round_delivered) >= 0) {
		b->loss_round_delivered = tcp->delivered;
		b->is_loss_round_start = 1;
	}
}

/* Near its end. What a tail loss was preceded by is remembered until it is known whether it was one. */
CC_INLINE void bbr3_advance_latest(struct bbr3 *b, const struct stack_ack *ack)
{
	if (!b->is_loss_round_start || ack->is_of_probe)
		return;
	b->bw_latest = b->sample_bw;
	b->inflight_latest = (__u32)ack->delivered;
}

CC_INLINE void bbr3_begin_inflight_lo(struct bbr3 *b, const struct cc_stack *tcp)
{
	if (b->inflight_lo == BBR3_NO_BOUND)
		b->inflight_lo = tcp->cwnd;
}

CC_INLINE void bbr3_lower_by_loss(struct bbr3 *b, const struct cc_stack *tcp)
{
	bbr3_begin_inflight_lo(b, tcp);
	if (b->bw_lo == BBR3_NO_BOUND)
		b->bw_lo = bbr3_max_bw(b);
	b->bw_lo = (__u32)max_u64(b->bw_latest, (__u64)b->bw_lo * BBR3_KEEP / BBR_UNIT);
	b->inflight_lo = (__u32)max_u64(b->inflight_latest, (__u64)b->inflight_lo * BBR3_KEEP / BBR_UNIT);
}

CC_INLINE void bbr3_adapt_lower(struct bbr3 *b, const struct cc_stack *tcp)
{
	__u32 of_marks = BBR3_NO_BOUND;

	if (bbr3_is_probing_bw(b))
		return;
	if (b->has_mark_in_round) {
		bbr3_begin_inflight_lo(b, tcp);
		of_marks = bbr3_ecn_cut(b, b->inflight_lo);
	}
	if (b->has_loss_in_round)
		bbr3_lower_by_loss(b, tcp);
	b->inflight_lo = (__u32)min_u64(b->inflight_lo, of_marks);
	b->bw_lo = (__u32)max_u64(b->bw_lo, 1);
}

/* The largest rate of the cycle, and once per round what losses and marks mean for the bounds. */
CC_INLINE void bbr3_take_signals(struct bbr3 *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	if (!bbr3_has_rate(ack))
		return;
	if (!ack->is_app_limited || b->sample_bw >= bbr3_max_bw(b))
		b->max_bw[1] = (__u32)max_u64(b->max_bw[1], b->sample_bw);
	if (ack->losses)
		b->has_loss_in_round = 1;
	if (!b->is_loss_round_start)
		return;
	bbr3_adapt_lower(b, tcp);
	b->has_loss_in_round = b->has_mark_in_round = 0;
}

/* The first loss begins a round, so that the whole path's rate is seen in it. */
CC_INLINE void bbr3_note_loss(struct bbr3 *b, const struct cc_stack *tcp)
{
	if (!b->has_loss_in_round)
		b->loss_round_delivered = tcp->delivered;
	b->has_loss_in_round = b->has_loss_in_cycle = 1;
}

#endif /* CLARION_CC_BBR3_LOWER_H */
