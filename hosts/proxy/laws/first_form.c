// SPDX-License-Identifier: Apache-2.0
/* The laws of calls.h: what ops.h and glue.h are for the kernel. */
#include "object.h"

#include "cc/boost.h"
#include "cc/fast.h"
#include "cc/stack.h"
#include "cc/xcp.h"

#define LAW xcp
#include "cc/calls.h"
#undef LAW
#define LAW boost
#include "cc/calls.h"
#undef LAW
#define LAW fast
#include "cc/calls.h"
#undef LAW

/* sample_socket() of glue.h */
static struct cc_sample sample_of(const struct law *law, const struct law_connection *c)
{
	const struct flow *flow = &law->flow;
	struct cc_sample s = {0};

	s.now_us = c->now_us;
	s.mss_bytes = c->mss_bytes;
	s.full_len_bytes = c->full_len_bytes;
	s.srtt_us = c->srtt_us;
	s.min_rtt_us = c->min_rtt_us == STACK_NO_RTT ? c->srtt_us : c->min_rtt_us;
	s.delivered_packets = c->delivered;
	s.lost_packets = c->lost;
	s.in_flight_packets = c->in_flight;
	s.outstanding_packets = c->outstanding;
	s.ce_packets = c->delivered_ce;
	s.local_drops = flow->stats.local_drops;
	s.is_open = c->is_open;
	s.in_recovery = c->in_recovery;
	s.saw_reordering = c->saw_reordering;
	s.has_feedback = flow->id.aware;
	s.has_tags = flow->id.aware && flow->id.tags && flow->echo.nr_echoes;
	return s;
}

/* sample_ack(). QUIC sends no packet twice, and what the receiver's window holds back noq counts as a limit
 * of the application.
 */
static struct cc_sample sample_ack(const struct law *law, const struct law_connection *c,
				   const struct law_ack *ack)
{
	struct cc_sample s = sample_of(law, c);

	s.acked_packets = ack->acked_packets;
	s.outstanding_packets += ack->acked_packets;
	s.has_delivery = ack->delivered > 0;
	s.prior_delivered = ack->prior_delivered;
	s.rtt_us = ack->rtt_us > 0 ? (__u32)ack->rtt_us : 0;
	s.is_limited = ack->is_app_limited && !c->has_filled_window;
	return s;
}

/* A rate that is not for timers counts as well: QUIC's pacer sends small bursts, it does not time packets. */
static void apply(struct law_connection *c, struct cc_control control)
{
	c->cwnd = (__u32)clamp_u64(control.cwnd_packets, 1, c->cwnd_clamp);
	c->pacing_bytes_per_s = control.bytes_per_s;
}

#define FIRST_FORM(law_)                                                                                     \
	static struct law_ *law_##_of(struct law *law)                                                       \
	{                                                                                                    \
		return (struct law_ *)law->state;                                                            \
	}                                                                                                    \
	static void law_##_start(struct law *law, struct law_connection *c)                                  \
	{                                                                                                    \
		struct cc_sample s = sample_of(law, c);                                                      \
                                                                                                             \
		apply(c, law_##_call_start(law_##_of(law), &law->params, &s, &law->flow));                   \
	}                                                                                                    \
	static void law_##_ack(struct law *law, struct law_connection *c, const struct law_ack *ack)         \
	{                                                                                                    \
		struct cc_sample s = sample_ack(law, c, ack);                                                \
                                                                                                             \
		law_##_call_ack(law_##_of(law), &law->params, &s, &law->flow);                               \
		apply(c, law_##_control(law_##_of(law), &law->params, &s));                                  \
	}                                                                                                    \
	static void law_##_state(struct law *law, struct law_connection *c, __u8 next)                       \
	{                                                                                                    \
		struct cc_sample s = sample_of(law, c);                                                      \
                                                                                                             \
		law_##_call_state(law_##_of(law), &law->params, &s, &law->flow, next);                       \
		apply(c, law_##_control(law_##_of(law), &law->params, &s));                                  \
	}                                                                                                    \
	static void law_##_event(struct law *law, struct law_connection *c, __u8 event)                      \
	{                                                                                                    \
		struct cc_sample s = sample_of(law, c);                                                      \
                                                                                                             \
		if (event == STACK_TX_START)                                                                 \
			apply(c, law_##_call_tx_start(law_##_of(law), &law->params, &s, &law->flow));        \
	}                                                                                                    \
	static __u32 law_##_half(struct law *law, struct law_connection *c)                                  \
	{                                                                                                    \
		(void)law;                                                                                   \
		return (__u32)max_u64(c->cwnd / 2, 2);                                                       \
	}                                                                                                    \
	static __u32 law_##_give_back(struct law *law, struct law_connection *c)                             \
	{                                                                                                    \
		(void)c;                                                                                     \
		return law_##_call_undo(law_##_of(law));                                                     \
	}

#define FIRST_FORM_ENTRY(law_)                                                                               \
	{                                                                                                    \
	    .description = {#law_, "clarion_" #law_, #law_, LAW_FIRST, sizeof(struct law_)},                 \
	    .start = law_##_start,                                                                           \
	    .on_ack = law_##_ack,                                                                            \
	    .on_state = law_##_state,                                                                        \
	    .on_event = law_##_event,                                                                        \
	    .ssthresh = law_##_half,                                                                         \
	    .undo = law_##_give_back,                                                                        \
	}

FIRST_FORM(boost)
FIRST_FORM(fast)
FIRST_FORM(xcp)

const struct law_calls law_first_form[] = {
    FIRST_FORM_ENTRY(boost),
    FIRST_FORM_ENTRY(fast),
    FIRST_FORM_ENTRY(xcp),
    {.description = {0}},
};
