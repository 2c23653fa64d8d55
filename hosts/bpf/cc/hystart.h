/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* HyStart (Ha and Rhee, "Taming the Elephants: New TCP Slow Start", 2011) with the constants of Linux: slow
 * start has filled the pipe when ACKs come in one train for as long as half of the path's round trip, or when
 * round trips have grown.
 */
#ifndef CLARION_CC_HYSTART_H
#define CLARION_CC_HYSTART_H

#include "stack.h"

#define HYSTART_LOW_WINDOW    16
#define HYSTART_SAMPLES	      8
#define HYSTART_TRAIN_GAP_US  2000
#define HYSTART_DELAY_MIN_US  4000
#define HYSTART_DELAY_MAX_US  16000
#define HYSTART_CUSHION_US    1000
#define HYSTART_CUSHION_BYTES (4ULL * STACK_MAX_PIECE_BYTES)

struct hystart {
	__u32 round_began_us; /* modulo 2^32 */
	__u32 last_ack_us;    /* of the train; modulo 2^32 */
	__u32 round_end;      /* packets sent when the round began */
	__u32 round_rtt_us;   /* least of this round */
	__u8 samples;
	__u8 has_found; /* since then it looks no more */
};

CC_INLINE void hystart_begin_round(struct hystart *h, const struct cc_stack *tcp)
{
	h->round_began_us = h->last_ack_us = (__u32)tcp->now_us;
	h->round_end = tcp->next;
	h->round_rtt_us = STACK_NO_RTT;
	h->samples = 0;
}

CC_INLINE void hystart_begin(struct hystart *h, const struct cc_stack *tcp)
{
	h->has_found = 0;
	hystart_begin_round(h, tcp);
}

/* What offloads hold back: four pieces of full size at the pacing rate, which is doubled in slow start. */
CC_INLINE __u32 hystart_cushion_us(const struct cc_stack *tcp)
{
	__u64 us = div_u64(HYSTART_CUSHION_BYTES * USEC_PER_SEC, tcp->pacing_bytes_per_s);

	return (__u32)min_u64(us, HYSTART_CUSHION_US);
}

/* Timers spread a window over its round trip, so that paced flows get twice the time. */
CC_INLINE int hystart_train_is_long(struct hystart *h, const struct cc_stack *tcp, __u32 delay_min_us)
{
	__u32 now_us = (__u32)tcp->now_us;
	__u32 longest_us = delay_min_us + hystart_cushion_us(tcp);

	if (wrap_diff_u32(now_us, h->last_ack_us) > HYSTART_TRAIN_GAP_US)
		return 0;
	h->last_ack_us = now_us;
	if (!tcp->is_paced)
		longest_us /= 2;
	return now_us - h->round_began_us > longest_us;
}

/* From the ninth sample of a round on: is even its least one late? */
CC_INLINE int hystart_round_is_late(struct hystart *h, __u32 delay_min_us, __u32 rtt_us)
{
	__u32 late_us = (__u32)clamp_u64(delay_min_us / 8, HYSTART_DELAY_MIN_US, HYSTART_DELAY_MAX_US);

	h->round_rtt_us = (__u32)min_u64(h->round_rtt_us, rtt_us);
	if (h->samples < HYSTART_SAMPLES) {
		h->samples++;
		return 0;
	}
	return h->round_rtt_us > delay_min_us + late_us;
}

/* In slow start, at each ACK with a round trip. True: leave it. */
CC_INLINE int hystart_on_ack(struct hystart *h, const struct cc_stack *tcp, __u32 delay_min_us, __u32 rtt_us)
{
	int is_long, is_late;

	if (wrap_diff_u32(tcp->una, h->round_end) > 0)
		hystart_begin_round(h, tcp);
	if (tcp->cwnd < HYSTART_LOW_WINDOW)
		return 0;
	is_long = hystart_train_is_long(h, tcp, delay_min_us);
	is_late = hystart_round_is_late(h, delay_min_us, rtt_us);
	if (is_long || is_late)
		h->has_found = 1;
	return is_long || is_late;
}

#endif /* CLARION_CC_HYSTART_H */
