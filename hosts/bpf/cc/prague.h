/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Prague, the scalable sender for queues that mark early (RFC 9331, 9332):
 * draft-briscoe-iccrg-prague-congestion- control-04, and TCP Prague for Linux, version 0.7, from which the
 * details are. It sets window and pacing rate itself. alpha is the share of its packets that come marked,
 * averaged; marks take alpha / 2 of the window, once per round trip, and do not stop its growth, of one
 * packet per round trip for what was not marked. Where the round trip is shorter than a virtual one it grows,
 * reduces and averages as if it had that. It needs a count of marks (RFC 9768). A loss halves.
 */
#ifndef CLARION_CC_PRAGUE_H
#define CLARION_CC_PRAGUE_H

#include "stack.h"

#define PRAGUE_WINDOW_SHIFT 20U /* the window's fixed point */
#define PRAGUE_ALPHA_SHIFT  24U
#define PRAGUE_GAIN_SHIFT   4U	/* alpha moves by a sixteenth */
#define PRAGUE_BURST_SHIFT  12U /* a piece takes 1 / 4096 s, about 250 us, at the sending rate */

#define PRAGUE_PACKET	    (1ULL << PRAGUE_WINDOW_SHIFT)
#define PRAGUE_ALL_MARKED   (1ULL << PRAGUE_ALPHA_SHIFT)
#define PRAGUE_MIN_WINDOW   (2 * PRAGUE_PACKET)
#define PRAGUE_MIN_RATE	    12500ULL /* bytes/s */
#define PRAGUE_HEADER_BYTES 52U	     /* of IP and TCP with time stamps */

struct prague {
	__u64 window_q20;    /* packets; the connection's window moves towards it */
	__u64 alpha_sum_q24; /* alpha times sixteen: of the average no remainder is lost */
	__u64 averaged_us;   /* when alpha was */
	__u64 reduced_us;    /* when marks reduced the window last */
	__u32 reduced_next;  /* `next` then */
	__u32 round_next;    /* `next` when the round trip began, */
	__u32 round_delivered;
	__u32 round_ce;	  /* and how many had been delivered and marked */
	__u32 seen_ce;	  /* marks, up to the last ACK */
	__u32 rounds;	  /* round trips since slow start */
	__u32 prior_cwnd; /* before the last loss */
	__u8 saw_ce;	  /* there is a queue that marks */
	__u8 has_lost;	  /* and recovery is not over */
};

/* Packets, rounded up. */
CC_INLINE __u32 prague_packets(__u64 window_q20)
{
	return (__u32)max_u64((window_q20 + PRAGUE_PACKET - 1) >> PRAGUE_WINDOW_SHIFT, 2);
}

CC_INLINE __u64 prague_virtual_us(const struct cc_params *p)
{
	return p->prague_rtt_ms * 1000ULL;
}

/* Whether it acts by virtual round trips: after some real ones, so that short transfers do not. */
CC_INLINE int prague_is_virtual(const struct prague *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	return !stack_is_slow_start(tcp) && l->rounds >= p->prague_transition_rounds;
}

/* Marks reduce once per round trip, and once per virtual one. */
CC_INLINE int prague_may_reduce(const struct prague *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	if (l->has_lost || wrap_diff_u32(tcp->una, l->reduced_next) < 0)
		return 0;
	return !prague_is_virtual(l, p, tcp) || tcp->now_us - l->reduced_us >= prague_virtual_us(p);
}

/* What marks make of the window; the first ever end slow start, before alpha can say anything. */
CC_INLINE __u64 prague_marked_window(const struct prague *l, const struct cc_params *p,
				     const struct cc_stack *tcp)
{
	__u64 alpha_q24 = l->alpha_sum_q24 >> PRAGUE_GAIN_SHIFT;
	__u64 less;

	if (!prague_may_reduce(l, p, tcp))
		return l->window_q20;
	if (!l->saw_ce)
		return max_u64((l->window_q20 + 1) / 2, PRAGUE_MIN_WINDOW);
	less =
	    add_sat_u64(mul_sat_u64(alpha_q24, l->window_q20), PRAGUE_ALL_MARKED) >> (PRAGUE_ALPHA_SHIFT + 1);
	return max_u64(sub_floor_u64(l->window_q20, less), PRAGUE_MIN_WINDOW);
}

CC_INLINE void prague_take_marks(struct prague *l, const struct cc_params *p, struct cc_stack *tcp)
{
	if (prague_may_reduce(l, p, tcp)) {
		l->window_q20 = prague_marked_window(l, p, tcp);
		l->reduced_us = tcp->now_us;
		l->reduced_next = tcp->next;
		tcp->ssthresh = prague_packets(l->window_q20);
	}
	l->saw_ce = 1;
}

/* A packet per round trip; per virtual round trip, and of a window that is smaller by the same factor. */
CC_INLINE __u64 prague_increase_q20(const struct prague *l, const struct cc_params *p,
				    const struct cc_stack *tcp)
{
	__u64 virtual_us = prague_virtual_us(p);

	if (!prague_is_virtual(l, p, tcp) || !tcp->srtt_us || tcp->srtt_us >= virtual_us)
		return PRAGUE_PACKET;
	return div_u64((__u64)tcp->srtt_us * tcp->srtt_us * PRAGUE_PACKET + virtual_us * virtual_us / 2,
		       virtual_us * virtual_us);
}

/* `acked` packets have come without a mark. */
CC_INLINE void prague_grow(struct prague *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	__u64 increase;

	if (!acked || l->has_lost || !tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		acked = stack_slow_start(tcp, acked);
		l->window_q20 = (__u64)tcp->cwnd << PRAGUE_WINDOW_SHIFT;
		if (!acked)
			return;
	}
	increase = mul_sat_u64(acked * prague_increase_q20(l, p, tcp), PRAGUE_PACKET);
	l->window_q20 += max_u64(div_u64(increase + l->window_q20 / 2, l->window_q20), acked);
	l->window_q20 = min_u64(l->window_q20, (__u64)tcp->cwnd_clamp << PRAGUE_WINDOW_SHIFT);
}

/* The connection's window follows by a packet per ACK, so that a reduction does not stop it from sending. */
CC_INLINE void prague_follow(const struct prague *l, struct cc_stack *tcp)
{
	__u32 window = prague_packets(l->window_q20);

	if (tcp->cwnd > window)
		tcp->ssthresh = --tcp->cwnd;
	else if (tcp->cwnd < window)
		tcp->cwnd++;
}

CC_INLINE void prague_begin_round(struct prague *l, const struct cc_stack *tcp)
{
	l->averaged_us = tcp->now_us;
	l->round_next = tcp->next;
	l->round_delivered = tcp->delivered;
	l->round_ce = tcp->delivered_ce;
}

/* Once per round trip, and once per virtual one, so that all who share a queue average over the same time. */
CC_INLINE void prague_average(struct prague *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 marked = tcp->delivered_ce - l->round_ce;
	__u32 delivered = tcp->delivered - l->round_delivered;

	if (wrap_diff_u32(tcp->una, l->round_next) < 0)
		return;
	if (prague_is_virtual(l, p, tcp) && tcp->now_us - l->averaged_us < prague_virtual_us(p))
		return;
	if (l->saw_ce) {
		l->alpha_sum_q24 -= l->alpha_sum_q24 >> PRAGUE_GAIN_SHIFT;
		l->alpha_sum_q24 += div_u64(marked << PRAGUE_ALPHA_SHIFT, max_u64(delivered, 1));
		l->alpha_sum_q24 = min_u64(l->alpha_sum_q24, PRAGUE_ALL_MARKED << PRAGUE_GAIN_SHIFT);
	}
	if (!stack_is_slow_start(tcp) && l->rounds < p->prague_transition_rounds)
		l->rounds++;
	prague_begin_round(l, tcp);
}

/* The window per round trip, twice that early in slow start. A packet counts with its headers, as in Linux:
 * what is payload goes out a little faster than the window allows, so that the window is what limits.
 */
CC_INLINE void prague_set_pacing(const struct prague *l, struct cc_stack *tcp)
{
	__u64 packets = max_u64(l->window_q20 >> PRAGUE_WINDOW_SHIFT, tcp->in_flight);
	__u64 rate = (tcp->mss_bytes + PRAGUE_HEADER_BYTES) * packets;

	if (!tcp->srtt_us)
		return;
	rate = max_u64(mul_div_u64(rate, USEC_PER_SEC, tcp->srtt_us), PRAGUE_MIN_RATE);
	if (tcp->cwnd < tcp->ssthresh / 2)
		rate *= 2;
	tcp->pacing_bytes_per_s = min_u64(rate, tcp->max_pacing_bytes_per_s);
}

/* How many packets may go down in one piece. */
CC_INLINE __u32 prague_piece_packets(const struct cc_stack *tcp)
{
	__u64 packets = div_u64(tcp->pacing_bytes_per_s, tcp->mss_bytes + PRAGUE_HEADER_BYTES);

	return (__u32)clamp_u64(packets >> PRAGUE_BURST_SHIFT, 1, 0xffff);
}

CC_INLINE void prague_init(struct prague *l, struct cc_stack *tcp)
{
	__builtin_memset(l, 0, sizeof(*l));
	l->window_q20 = (__u64)tcp->cwnd << PRAGUE_WINDOW_SHIFT;
	l->prior_cwnd = tcp->cwnd;
	l->reduced_next = tcp->una;
	l->seen_ce = tcp->delivered_ce;
	prague_begin_round(l, tcp);
	prague_set_pacing(l, tcp);
}

CC_INLINE void prague_on_ack(struct prague *l, const struct cc_params *p, struct cc_stack *tcp,
			     const struct stack_ack *ack)
{
	__u32 marked = tcp->delivered_ce - l->seen_ce;

	l->seen_ce = tcp->delivered_ce;
	if (marked)
		prague_take_marks(l, p, tcp);
	prague_grow(l, p, tcp, (__u32)sub_floor_u64(ack->acked_packets, marked));
	prague_follow(l, tcp);
	prague_average(l, p, tcp);
	prague_set_pacing(l, tcp);
}

CC_INLINE __u64 prague_lost_window(const struct prague *l)
{
	return max_u64(l->window_q20 - l->window_q20 / 2, PRAGUE_MIN_WINDOW);
}

CC_INLINE void prague_lose(struct prague *l, struct cc_stack *tcp)
{
	l->prior_cwnd = tcp->cwnd;
	l->window_q20 = prague_lost_window(l);
	l->has_lost = 1;
	tcp->ssthresh = prague_packets(l->window_q20);
}

/* What is a reduction to TCP without marks that are news is one for a loss: what a probe has repaired, or
 * what the host's own device has dropped.
 */
CC_INLINE void prague_on_state(struct prague *l, struct cc_stack *tcp, __u8 next)
{
	if (next == tcp->ca_state)
		return;
	if (next == CA_STATE_RECOVERY || (next == CA_STATE_CWR && tcp->delivered_ce == l->seen_ce))
		prague_lose(l, tcp);
	else if (next == CA_STATE_OPEN)
		l->has_lost = 0;
}

CC_INLINE void prague_on_event(struct prague *l, struct cc_stack *tcp, __u8 event)
{
	if (event == STACK_LOSS)
		prague_lose(l, tcp);
}

CC_INLINE __u32 prague_ssthresh(const struct prague *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	int is_marked = tcp->delivered_ce != l->seen_ce;

	return prague_packets(is_marked ? prague_marked_window(l, p, tcp) : prague_lost_window(l));
}

/* What was lost was none. */
CC_INLINE __u32 prague_undo(struct prague *l, const struct cc_stack *tcp)
{
	__u32 window = (__u32)max_u64(l->prior_cwnd, tcp->cwnd);

	l->has_lost = 0;
	l->window_q20 = max_u64(l->window_q20, (__u64)window << PRAGUE_WINDOW_SHIFT);
	return window;
}

#endif /* CLARION_CC_PRAGUE_H */
