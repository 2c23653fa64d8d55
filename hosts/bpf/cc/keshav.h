/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Keshav's flow control by packet pairs ("A control-theoretic approach to flow control", SIGCOMM 1991), for
 * links that serve flows in turns: pairs tell the rate at which the flow is served, and its own rate is what
 * keeps B of its packets queued there. Losses are only sent again. It owns window and pacing rate, and needs
 * packets that are sent in trains; so it is a law of the simulator.
 */
#ifndef CLARION_CC_KESHAV_H
#define CLARION_CC_KESHAV_H

#include "packet_pair.h"
#include "queued.h"

/* Packets sent at once. A receiver acknowledges every second: four bring two ACKs, whichever it begins with.
 */
#define KESHAV_TRAIN 4

struct keshav {
	struct packet_pair pair;
	struct queued queue;
	__u64 mu_bytes_per_s; /* rate of service, in payload; 0: not known yet */
};

CC_INLINE void keshav_init(struct keshav *k)
{
	packet_pair_init(&k->pair);
	queued_begin(&k->queue);
	k->mu_bytes_per_s = 0;
}

CC_INLINE void keshav_filter(struct keshav *k, const struct cc_params *p)
{
	__u64 q16 = p->keshav_new_q16;

	if (!k->mu_bytes_per_s)
		k->mu_bytes_per_s = k->pair.bytes_per_s;
	else
		k->mu_bytes_per_s =
		    scale_q16(k->mu_bytes_per_s, Q16_ONE - q16) + scale_q16(k->pair.bytes_per_s, q16);
}

CC_INLINE __u64 keshav_bytes_in(const struct keshav *k, __u64 us)
{
	return mul_div_u64(k->mu_bytes_per_s, us, USEC_PER_SEC);
}

/* B */
CC_INLINE __u64 keshav_setpoint_bytes(const struct cc_params *p, const struct cc_stack *tcp)
{
	return (__u64)p->keshav_setpoint_packets * tcp->mss_bytes;
}

/* x: what is in flight and not on the path itself. */
CC_INLINE __u64 keshav_queued_bytes(const struct keshav *k, const struct cc_stack *tcp)
{
	return sub_floor_u64((__u64)tcp->in_flight * tcp->mss_bytes, keshav_bytes_in(k, k->queue.base_us));
}

/* lambda = mu + (B - x) / RTT, and not less than a train per round trip, or it would learn nothing any more.
 */
CC_INLINE __u64 keshav_rate(const struct keshav *k, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 per_rtt = keshav_bytes_in(k, k->queue.rtt_us) + keshav_setpoint_bytes(p, tcp);
	__u64 least = KESHAV_TRAIN * tcp->mss_bytes;

	per_rtt = max_u64(sub_floor_u64(per_rtt, keshav_queued_bytes(k, tcp)), least);
	return mul_div_u64(per_rtt, USEC_PER_SEC, k->queue.rtt_us);
}

/* What is in flight when lambda is 0, which bounds it between two ACKs. */
CC_INLINE __u32 keshav_window(const struct keshav *k, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 bytes = keshav_bytes_in(k, (__u64)k->queue.base_us + k->queue.rtt_us);
	__u64 packets = div_u64(bytes, tcp->mss_bytes) + p->keshav_setpoint_packets + 1;

	return (__u32)min_u64(max_u64(packets, KESHAV_TRAIN), tcp->cwnd_clamp);
}

/* After every ACK. Before the first pair TCP's initial window goes, unpaced. */
CC_INLINE void keshav_on_ack(struct keshav *k, const struct cc_params *p, struct cc_stack *tcp,
			     const struct stack_ack *ack)
{
	queued_on_acked(&k->queue, ack->rtt_us);
	if (packet_pair_on_acked(&k->pair, tcp, ack->acked_packets, ack->rtt_us))
		keshav_filter(k, p);
	if (!k->mu_bytes_per_s)
		return;
	tcp->cwnd = keshav_window(k, p, tcp);
	tcp->pacing_bytes_per_s = min_u64(keshav_rate(k, p, tcp), tcp->max_pacing_bytes_per_s);
}

/* Nothing has come for long: what is known of the path is old. */
CC_INLINE void keshav_on_timeout(struct keshav *k)
{
	k->mu_bytes_per_s /= 2;
}

#endif /* CLARION_CC_KESHAV_H */
