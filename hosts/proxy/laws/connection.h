/* SPDX-License-Identifier: Apache-2.0 */
/* What a law of stack.h sees of its connection, and what it changes: what stack_glue.h is for the kernel. */
#ifndef CLARION_PROXY_CONNECTION_H
#define CLARION_PROXY_CONNECTION_H

#include "object.h"

#include "cc/stack.h"

/* noq's pacer is always on, and what it holds back is no packet yet. */
CC_INLINE struct cc_stack stack_of(const struct law_connection *c)
{
	struct cc_stack tcp = {0};

	tcp.cwnd = c->cwnd;
	tcp.ssthresh = c->ssthresh;
	tcp.cwnd_count = c->cwnd_count;
	tcp.pacing_bytes_per_s = c->pacing_bytes_per_s;
	tcp.max_pacing_bytes_per_s = ~0ULL;
	tcp.cwnd_clamp = c->cwnd_clamp;
	tcp.mss_bytes = c->mss_bytes;
	tcp.now_us = c->now_us;
	tcp.last_sent_us = c->last_sent_us;
	tcp.delivered_us = c->delivered_us;
	tcp.srtt_us = c->srtt_us;
	tcp.min_rtt_us = c->min_rtt_us;
	tcp.una = c->una;
	tcp.next = c->next;
	tcp.delivered = c->delivered;
	tcp.delivered_ce = c->delivered_ce;
	tcp.lost = c->lost;
	tcp.in_flight = c->in_flight;
	tcp.ca_state = c->ca_state;
	tcp.is_cwnd_limited = c->is_cwnd_limited;
	tcp.is_app_limited = c->is_app_limited;
	tcp.is_paced = 1;
	return tcp;
}

CC_INLINE void apply_stack(struct law_connection *c, const struct cc_stack *tcp)
{
	c->cwnd = (__u32)clamp_u64(tcp->cwnd, 1, c->cwnd_clamp);
	c->ssthresh = tcp->ssthresh;
	c->cwnd_count = tcp->cwnd_count;
}

/* Of a law that sets the pacing rate itself. */
CC_INLINE void apply_rate(struct law_connection *c, const struct cc_stack *tcp)
{
	apply_stack(c, tcp);
	c->pacing_bytes_per_s = tcp->pacing_bytes_per_s;
}

CC_INLINE struct stack_ack stack_ack_of(const struct law_ack *ack)
{
	struct stack_ack a = {0};

	a.interval_us = ack->interval_us;
	a.rtt_us = ack->rtt_us;
	a.delivered = ack->delivered;
	a.prior_delivered = ack->prior_delivered;
	a.prior_in_flight = ack->prior_in_flight;
	a.losses = ack->losses;
	a.acked_packets = ack->acked_packets;
	a.is_app_limited = ack->is_app_limited;
	a.has_echo = ack->has_echo;
	a.sent_in_flight = ack->sent_in_flight;
	a.lost = ack->lost;
	return a;
}

#endif /* CLARION_PROXY_CONNECTION_H */
