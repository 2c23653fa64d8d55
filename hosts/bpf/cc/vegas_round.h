/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Round trips as TCP Vegas looks at them (Brakmo and Peterson, 1995), in the way of Linux: the least sample
 * of the connection stands for the empty path, the least of the last round for its queue. The least, because
 * an ACK that the receiver delayed is late without any queue. Shared by the laws that begin with Vegas.
 */
#ifndef CLARION_CC_VEGAS_ROUND_H
#define CLARION_CC_VEGAS_ROUND_H

#include "stack.h"

/* With one ACK per round all of its samples may be delayed ones; with three, one is likely not to be. */
#define VEGAS_MIN_SAMPLES 3

struct vegas_round {
	__u32 base_us;	/* least of the connection, plus 1 us so that it is never 0 */
	__u32 least_us; /* of this round, plus 1 us */
	__u32 samples;	/* of this round */
	__u32 end;	/* sequence number that was next to send when it began */
	__u8 is_on; /* not while losses are repaired: window and round trips do not belong together then */
};

CC_INLINE void vegas_round_begin(struct vegas_round *r, const struct cc_stack *tcp)
{
	r->end = tcp->next;
	r->least_us = STACK_NO_RTT;
	r->samples = 0;
}

CC_INLINE void vegas_round_init(struct vegas_round *r, const struct cc_stack *tcp)
{
	r->base_us = STACK_NO_RTT;
	r->is_on = 1;
	vegas_round_begin(r, tcp);
}

CC_INLINE void vegas_round_on_acked(struct vegas_round *r, __s64 sample_us)
{
	__u32 rtt_us;

	if (sample_us < 0)
		return;
	rtt_us = (__u32)min_u64((__u64)sample_us + 1, STACK_NO_RTT);
	r->base_us = (__u32)min_u64(r->base_us, rtt_us);
	r->least_us = (__u32)min_u64(r->least_us, rtt_us);
	r->samples++;
}

CC_INLINE void vegas_round_on_state(struct vegas_round *r, const struct cc_stack *tcp, __u8 next)
{
	r->is_on = next == CA_STATE_OPEN;
	if (r->is_on)
		vegas_round_begin(r, tcp);
}

/* After a pause all is measured anew, the path included. */
CC_INLINE void vegas_round_on_event(struct vegas_round *r, const struct cc_stack *tcp, __u8 event)
{
	if (event == STACK_TX_START || event == STACK_CWND_RESTART)
		vegas_round_init(r, tcp);
}

/* All that was sent before the round began is acknowledged, and something of it. */
CC_INLINE int vegas_round_is_over(const struct vegas_round *r, const struct cc_stack *tcp)
{
	return wrap_diff_u32(tcp->una, r->end) > 0;
}

CC_INLINE int vegas_round_is_measured(const struct vegas_round *r)
{
	return r->samples >= VEGAS_MIN_SAMPLES;
}

/* How much later than on the empty path even the earliest ACK of this round was. */
CC_INLINE __u32 vegas_round_delay_us(const struct vegas_round *r)
{
	return r->least_us - r->base_us;
}

/* ACKs, states and events of a law with such a `round`. */
#define VEGAS_ROUNDS(law)                                                                                    \
	CC_INLINE void law##_on_acked(struct law *l, const struct cc_params *p, struct cc_stack *tcp,        \
				      __u32 packets, __s64 rtt_us)                                           \
	{                                                                                                    \
		(void)p, (void)tcp, (void)packets;                                                           \
		vegas_round_on_acked(&l->round, rtt_us);                                                     \
	}                                                                                                    \
	CC_INLINE void law##_on_state(struct law *l, const struct cc_params *p, struct cc_stack *tcp,        \
				      __u8 next)                                                             \
	{                                                                                                    \
		(void)p;                                                                                     \
		vegas_round_on_state(&l->round, tcp, next);                                                  \
	}                                                                                                    \
	CC_INLINE void law##_on_event(struct law *l, const struct cc_params *p, struct cc_stack *tcp,        \
				      __u8 event)                                                            \
	{                                                                                                    \
		(void)p;                                                                                     \
		vegas_round_on_event(&l->round, tcp, event);                                                 \
	}

#endif /* CLARION_CC_VEGAS_ROUND_H */
