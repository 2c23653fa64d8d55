// SPDX-License-Identifier: Apache-2.0
/* The laws of stack.h that set window and pacing rate themselves. JetMax and MaxNet are not among them, as
 * their routers answer in options that QUIC does not hand on; nor is Prague, which has to know how many
 * packets were marked and to send ECT(1), while noq tells of a mark only that there was one.
 */
#include "connection.h"

#include "cc/bbr.h"
#include "cc/bbr3.h"
#include "cc/keshav.h"
#include "cc/pcc.h"

#define STATE(law_) ((struct law_ *)law->state)

#define RATE_LAW(law_)                                                                                       \
	static void law_##_host_start(struct law *law, struct law_connection *c)                             \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		law_##_init(STATE(law_), &tcp, law->seed);                                                   \
		apply_rate(c, &tcp);                                                                         \
	}                                                                                                    \
	static void law_##_host_ack(struct law *law, struct law_connection *c, const struct law_ack *ack)    \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
		struct stack_ack a = stack_ack_of(ack);                                                      \
                                                                                                             \
		c->counts_as_limited = (__u32)law_##_on_ack(STATE(law_), &tcp, &a);                          \
		apply_rate(c, &tcp);                                                                         \
	}                                                                                                    \
	static void law_##_host_state(struct law *law, struct law_connection *c, __u8 next)                  \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		if (next == CA_STATE_LOSS)                                                                   \
			law_##_on_timeout(STATE(law_), &tcp);                                                \
	}                                                                                                    \
	static void law_##_host_event(struct law *law, struct law_connection *c, __u8 event)                 \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		if (event != STACK_TX_START)                                                                 \
			return;                                                                              \
		law_##_on_tx_start(STATE(law_), &tcp);                                                       \
		apply_rate(c, &tcp);                                                                         \
	}                                                                                                    \
	static __u32 law_##_host_ssthresh(struct law *law, struct law_connection *c)                         \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		return law_##_ssthresh(STATE(law_), &tcp);                                                   \
	}                                                                                                    \
	static __u32 law_##_host_undo(struct law *law, struct law_connection *c)                             \
	{                                                                                                    \
		struct cc_stack tcp = stack_of(c);                                                           \
                                                                                                             \
		return law_##_undo(STATE(law_), &tcp);                                                       \
	}

RATE_LAW(bbr)
RATE_LAW(pcc)

/* BBRv3 asks for the flag that TCP keeps, not for what slow start makes of it. */
static struct cc_stack seen_by_bbr3(const struct law_connection *c)
{
	struct cc_stack tcp = stack_of(c);

	tcp.is_cwnd_limited = c->has_filled_window;
	return tcp;
}

static void bbr3_host_start(struct law *law, struct law_connection *c)
{
	struct cc_stack tcp = seen_by_bbr3(c);

	bbr3_init(STATE(bbr3), &tcp, law->seed);
	apply_rate(c, &tcp);
}

static void bbr3_host_ack(struct law *law, struct law_connection *c, const struct law_ack *ack)
{
	struct cc_stack tcp = seen_by_bbr3(c);
	struct stack_ack a = stack_ack_of(ack);

	c->counts_as_limited = (__u32)bbr3_on_ack(STATE(bbr3), &law->params, &tcp, &a);
	apply_rate(c, &tcp);
}

static void bbr3_host_lost(struct law *law, struct law_connection *c, const struct law_lost *lost)
{
	struct cc_stack tcp = seen_by_bbr3(c);
	struct stack_lost l = {0};

	l.sent_in_flight = lost->sent_in_flight;
	l.lost = lost->lost;
	l.is_app_limited = !!lost->is_app_limited;
	bbr3_on_lost(STATE(bbr3), &law->params, &tcp, &l);
}

static void bbr3_host_state(struct law *law, struct law_connection *c, __u8 next)
{
	struct cc_stack tcp = seen_by_bbr3(c);

	bbr3_on_state(STATE(bbr3), &tcp, next);
	apply_stack(c, &tcp);
}

static void bbr3_host_event(struct law *law, struct law_connection *c, __u8 event)
{
	struct cc_stack tcp = seen_by_bbr3(c);

	if (event != STACK_TX_START)
		return;
	bbr3_on_tx_start(STATE(bbr3), &tcp);
	apply_rate(c, &tcp);
}

static __u32 bbr3_host_ssthresh(struct law *law, struct law_connection *c)
{
	struct cc_stack tcp = seen_by_bbr3(c);

	return bbr3_ssthresh(STATE(bbr3), &tcp);
}

static __u32 bbr3_host_undo(struct law *law, struct law_connection *c)
{
	(void)c;
	return bbr3_undo(STATE(bbr3));
}

/* Until the first pair nothing is known of the rate. Losses say nothing to it. */
static void keshav_host_start(struct law *law, struct law_connection *c)
{
	keshav_init(STATE(keshav));
	c->pacing_bytes_per_s = ~0ULL;
}

static void keshav_host_ack(struct law *law, struct law_connection *c, const struct law_ack *ack)
{
	struct cc_stack tcp = stack_of(c);
	struct stack_ack a = stack_ack_of(ack);

	keshav_on_ack(STATE(keshav), &law->params, &tcp, &a);
	apply_rate(c, &tcp);
}

static void keshav_host_state(struct law *law, struct law_connection *c, __u8 next)
{
	(void)c;
	if (next == CA_STATE_LOSS)
		keshav_on_timeout(STATE(keshav));
}

static __u32 keshav_host_ssthresh(struct law *law, struct law_connection *c)
{
	(void)law;
	return c->ssthresh;
}

static __u32 keshav_host_undo(struct law *law, struct law_connection *c)
{
	(void)law;
	return c->cwnd;
}

#define ENTRY(law_, name)                                                                                    \
	.description = {name, name, #law_, LAW_RATE, sizeof(struct law_)}, .start = law_##_host_start,       \
	.on_ack = law_##_host_ack, .on_state = law_##_host_state, .ssthresh = law_##_host_ssthresh,          \
	.undo = law_##_host_undo

const struct law_calls law_rate_form[] = {
    {ENTRY(bbr, "bbr"), .on_event = bbr_host_event},
    {ENTRY(bbr3, "bbr3"), .on_event = bbr3_host_event, .on_lost = bbr3_host_lost},
    {ENTRY(keshav, "packet_pair")},
    {ENTRY(pcc, "pcc"), .on_event = pcc_host_event},
    {.description = {0}},
};
