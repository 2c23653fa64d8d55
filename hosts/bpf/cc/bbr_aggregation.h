/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packets acknowledged at once beyond what BBR's rate explains: the most of the last 5 to 10 round trips. The
 * window allows for them, so that sending goes on while ACKs are held back. An addition of Linux.
 */
#ifndef CLARION_CC_BBR_AGGREGATION_H
#define CLARION_CC_BBR_AGGREGATION_H

#include "bbr_rate.h"
#include "stack.h"

#define BBR_EXTRA_ROUNDS 5
#define BBR_EXTRA_MAX_US 100000U
/* Packets of one epoch: an older one says nothing of now. */
#define BBR_EXTRA_EPOCH_ACKED (1U << 20)

struct bbr_aggregation {
	__u64 epoch_us; /* since when more has been acknowledged than the rate explains */
	__u32 acked;	/* packets since then */
	__u16 extra[2]; /* most of these rounds, of those before */
	__u8 rounds;	/* that these have lasted */
};

CC_INLINE void bbr_aggregation_begin(struct bbr_aggregation *a, __u64 now_us)
{
	a->epoch_us = now_us;
	a->acked = 0;
}

CC_INLINE void bbr_aggregation_count_round(struct bbr_aggregation *a, __u8 window)
{
	if (++a->rounds < window)
		return;
	a->rounds = 0;
	a->extra[1] = a->extra[0];
	a->extra[0] = 0;
}

/* `window`: rounds after which half of what is remembered goes. */
CC_INLINE void bbr_aggregation_on_ack(struct bbr_aggregation *a, const struct cc_stack *tcp,
				      const struct stack_ack *ack, __u32 bw, int is_round_start, __u8 window)
{
	__u32 expected, extra;

	if (!ack->acked_packets || ack->delivered < 0 || ack->interval_us <= 0)
		return;
	if (is_round_start)
		bbr_aggregation_count_round(a, window);
	expected = bbr_packets_in(bw, (__u32)sub_floor_u64(tcp->delivered_us, a->epoch_us));
	if (a->acked <= expected || a->acked + ack->acked_packets >= BBR_EXTRA_EPOCH_ACKED) {
		bbr_aggregation_begin(a, tcp->delivered_us);
		expected = 0;
	}
	a->acked = (__u32)min_u64(a->acked + ack->acked_packets, BBR_EXTRA_EPOCH_ACKED - 1);
	extra = (__u32)min_u64(a->acked - expected, tcp->cwnd);
	if (extra > a->extra[0])
		a->extra[0] = (__u16)extra;
}

CC_INLINE __u32 bbr_aggregation_packets(const struct bbr_aggregation *a, __u32 bw)
{
	return (__u32)min_u64(max_u64(a->extra[0], a->extra[1]), bbr_packets_in(bw, BBR_EXTRA_MAX_US));
}

#endif /* CLARION_CC_BBR_AGGREGATION_H */
