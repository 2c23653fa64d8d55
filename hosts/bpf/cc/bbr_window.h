/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BBR's window: two products of rate and round trip, except in recovery and in ProbeRTT. */
#ifndef CLARION_CC_BBR_WINDOW_H
#define CLARION_CC_BBR_WINDOW_H

#include "bbr_model.h"

/* What is given back after losses and ProbeRTT (4.2.3.4). */
CC_INLINE void bbr_save_cwnd(struct bbr *b, const struct cc_stack *tcp)
{
	if (b->ca_state < CA_STATE_RECOVERY && b->state != BBR_PROBE_RTT)
		b->prior_cwnd = tcp->cwnd;
	else
		b->prior_cwnd = (__u32)max_u64(b->prior_cwnd, tcp->cwnd);
}

/* 4.2.3.4: the first round of recovery conserves packets; its end gives the window back. */
CC_INLINE __u32 bbr_recover_or_restore(struct bbr *b, const struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 cwnd = tcp->cwnd, before = b->ca_state;

	b->ca_state = tcp->ca_state;
	if (ack->losses)
		cwnd = (__u32)max_u64(sub_floor_u64(cwnd, ack->losses), 1);
	if (b->ca_state == CA_STATE_RECOVERY && before != CA_STATE_RECOVERY) {
		b->conserves = 1;
		b->next_round_delivered = tcp->delivered;
		cwnd = tcp->in_flight + ack->acked_packets;
	} else if (b->ca_state < CA_STATE_RECOVERY && before >= CA_STATE_RECOVERY) {
		b->conserves = 0;
		cwnd = (__u32)max_u64(cwnd, b->prior_cwnd);
	}
	if (b->conserves)
		cwnd = (__u32)max_u64(cwnd, tcp->in_flight + ack->acked_packets);
	return cwnd;
}

/* 4.2.3.5 */
CC_INLINE __u32 bbr_toward_target(const struct bbr *b, const struct cc_stack *tcp, __u32 cwnd, __u32 acked)
{
	__u32 bw = bbr_bw(b);
	__u32 target = bbr_product(b, bw, b->cwnd_gain);

	if (b->is_filled)
		target += bbr_aggregation_packets(&b->aggregation, bw);
	target = bbr_with_pieces(b, tcp, target);
	if (b->is_filled)
		cwnd = (__u32)min_u64(cwnd + acked, target);
	else if (cwnd < target || tcp->delivered < BBR_INITIAL_CWND)
		cwnd += acked;
	return (__u32)max_u64(cwnd, BBR_MIN_PIPE_CWND);
}

CC_INLINE void bbr_set_cwnd(struct bbr *b, struct cc_stack *tcp, const struct stack_ack *ack)
{
	__u32 cwnd = tcp->cwnd;

	if (ack->acked_packets) {
		cwnd = bbr_recover_or_restore(b, tcp, ack);
		if (!b->conserves)
			cwnd = bbr_toward_target(b, tcp, cwnd, ack->acked_packets);
	}
	tcp->cwnd = (__u32)min_u64(cwnd, tcp->cwnd_clamp);
	if (b->state == BBR_PROBE_RTT)
		tcp->cwnd = (__u32)min_u64(tcp->cwnd, BBR_MIN_PIPE_CWND);
}

#endif /* CLARION_CC_BBR_WINDOW_H */
