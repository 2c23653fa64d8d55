/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Packet pairs (Keshav, "A control-theoretic approach to flow control", SIGCOMM 1991): two packets that are
 * sent at once come from the narrowest link as far apart as it takes to serve one, and so do their ACKs.
 * Whether that is the link's capacity or the flow's share of it is up to how the link serves: in order or in
 * turns. Which pairs count is up to the law.
 */
#ifndef CLARION_CC_PACKET_PAIR_H
#define CLARION_CC_PACKET_PAIR_H

#include "stack.h"

/* Packets are a pair when they were sent within this part of the time that lies between their ACKs. */
#define PACKET_PAIR_SHIFT  2
#define PACKET_PAIR_NO_ACK (~0ULL)

struct packet_pair {
	__u64 ack_us;	   /* when the ACK before came; PACKET_PAIR_NO_ACK: none with a round trip */
	__u64 bytes_per_s; /* of payload, by the last pair */
	__u32 ack_rtt_us;  /* round trip of the ACK before */
	__u32 sum_us;	   /* of the two round trips of the last pair */
};

CC_INLINE void packet_pair_init(struct packet_pair *pair)
{
	__builtin_memset(pair, 0, sizeof(*pair));
	pair->ack_us = PACKET_PAIR_NO_ACK;
}

/* An ACK for more than one packet ends a train of so many behind the packet of the ACK before. */
CC_INLINE int packet_pair_measure(struct packet_pair *pair, const struct cc_stack *tcp, __u32 packets,
				  __u32 rtt_us)
{
	__u64 gap_us = tcp->now_us - pair->ack_us;
	__s64 sent_apart_us = (__s64)(gap_us + pair->ack_rtt_us - rtt_us);

	if (!packets || !gap_us || sent_apart_us < 0 || (__u64)sent_apart_us > gap_us >> PACKET_PAIR_SHIFT)
		return 0;
	pair->sum_us = (__u32)min_u64((__u64)rtt_us + pair->ack_rtt_us, ~0U);
	pair->bytes_per_s = (__u64)packets * tcp->mss_bytes * USEC_PER_SEC / gap_us;
	return 1;
}

/* After every ACK, with the packets that it acknowledges and the round trip of the last of them (negative:
 * none). True: it ends a pair, of which bytes_per_s and sum_us speak.
 */
CC_INLINE int packet_pair_on_acked(struct packet_pair *pair, const struct cc_stack *tcp, __u32 packets,
				   __s64 sample_us)
{
	__u32 rtt_us;
	int is_pair;

	if (sample_us < 0) {
		pair->ack_us = PACKET_PAIR_NO_ACK;
		return 0;
	}
	rtt_us = (__u32)clamp_u64((__u64)sample_us, 1, STACK_NO_RTT - 1);
	is_pair = pair->ack_us != PACKET_PAIR_NO_ACK && packet_pair_measure(pair, tcp, packets, rtt_us);
	pair->ack_us = tcp->now_us;
	pair->ack_rtt_us = rtt_us;
	return is_pair;
}

#endif /* CLARION_CC_PACKET_PAIR_H */
