/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* PCC (Dong, Li, Zarchy, Godfrey, Schapira, "PCC: Re-architecting Congestion Control for Consistent High
 * Performance", NSDI 2015; later called Allegro): sends at a rate for a monitor interval, sees what came of
 * it as a utility (pcc_utility.h), and moves to where the utility is higher.
 *
 * It owns window and pacing rate, as BBR does; the window only keeps out of the way. Packets are told apart
 * by the order of their transmissions: as many as have been delivered, lost or are in flight have been sent,
 * and their fate becomes known in about that order.
 */
#ifndef CLARION_CC_PCC_H
#define CLARION_CC_PCC_H

#include "pcc_utility.h"
#include "random.h"
#include "stack.h"

#define PCC_TRIALS	    4
#define PCC_MIN_EPSILON	    1U /* percent of the rate */
#define PCC_MAX_EPSILON	    5U
#define PCC_MIN_PACKETS	    10U	  /* of an interval */
#define PCC_MIN_PERMILLE    1700U /* of the round trip, its length */
#define PCC_SPREAD_PERMILLE 501U
#define PCC_MIN_WINDOW	    2U /* packets per round trip: the rate at first, and the least */
/* An interval in which less than so much of its rate was sent was limited by something else. */
#define PCC_FULL_PERCENT 75U
/* The window, in products of rate and round trip, and what hosts hold back: pieces of a millisecond each. */
#define PCC_CWND_GAIN	2U
#define PCC_PIECE_SHIFT 10
#define PCC_PIECES	3U
#define PCC_SPARE_CWND	4U

enum pcc_state {
	PCC_STARTING,
	PCC_DECIDING,
	PCC_ADJUSTING,
};

/* A monitor interval. Transmissions are numbered modulo 2^32. */
struct pcc_interval {
	__u64 bytes_per_s; /* of payload */
	__u64 began_us;
	__s64 utility;
	__u32 first;
	__u32 end; /* one past its last */
	__u32 lost_before;
	__u32 delivered_before;
	__u8 is_sending;
	__u8 is_reached; /* the fate of its first is known */
	__u8 is_limited;
};

struct pcc {
	struct pcc_interval intervals[PCC_TRIALS];
	__u64 bytes_per_s;	 /* what it sends at */
	__u64 base_bytes_per_s;	 /* the best rate known */
	__u64 prior_bytes_per_s; /* before the last timeout */
	__u64 interval_end_us;
	__s64 utility; /* at the base */
	__u32 random;
	__u32 begun; /* intervals of this state */
	__u32 judged;
	__u32 step;    /* of the adjusting state */
	__u32 epsilon; /* percent */
	__u8 state;
	__u8 order;	  /* bit k: pair k of trials begins with the higher rate */
	__u8 goes_up;	  /* the adjusting state */
	__u8 has_utility; /* the starting state, of an interval before */
	__u8 is_measuring;
};

CC_INLINE __u32 pcc_resolved(const struct cc_stack *tcp)
{
	return tcp->delivered + tcp->lost;
}

CC_INLINE __u32 pcc_sent(const struct cc_stack *tcp)
{
	return pcc_resolved(tcp) + tcp->in_flight;
}

CC_INLINE __u64 pcc_bounded(const struct cc_stack *tcp, __u64 bytes_per_s)
{
	__u64 least =
	    mul_div_u64((__u64)PCC_MIN_WINDOW * tcp->mss_bytes, USEC_PER_SEC, max_u64(tcp->srtt_us, 1));

	return min_u64(max_u64(bytes_per_s, least), tcp->max_pacing_bytes_per_s);
}

CC_INLINE __u64 pcc_changed(__u64 bytes_per_s, int goes_up, __u32 percent)
{
	return scale_percent(bytes_per_s, goes_up ? 100 + percent : 100 - min_u64(percent, 50));
}

/* At least ten packets, and 1.7 to 2.2 round trips, at random, so that flows do not fall into step. */
CC_INLINE __u64 pcc_interval_us(struct pcc *c, const struct cc_stack *tcp)
{
	__u64 permille = PCC_MIN_PERMILLE + random_below(&c->random, PCC_SPREAD_PERMILLE);
	__u64 packets_us = mul_div_u64((__u64)PCC_MIN_PACKETS * tcp->mss_bytes, USEC_PER_SEC, c->bytes_per_s);

	return max_u64(packets_us, tcp->srtt_us * permille / 1000);
}

CC_INLINE void pcc_reach(struct pcc_interval *i, const struct cc_stack *tcp)
{
	i->lost_before = tcp->lost;
	i->delivered_before = tcp->delivered;
	i->is_reached = 1;
}

CC_INLINE void pcc_begin(struct pcc *c, const struct cc_stack *tcp, __u64 bytes_per_s)
{
	struct pcc_interval *i = &c->intervals[c->begun++ % PCC_TRIALS];

	__builtin_memset(i, 0, sizeof(*i));
	i->bytes_per_s = c->bytes_per_s = pcc_bounded(tcp, bytes_per_s);
	i->began_us = tcp->now_us;
	i->first = pcc_sent(tcp);
	i->is_sending = 1;
	if (!tcp->in_flight)
		pcc_reach(i, tcp);
	c->interval_end_us = tcp->now_us + pcc_interval_us(c, tcp);
	c->is_measuring = 1;
}

/* Does trial number `trial` of the deciding state go up? */
CC_INLINE int pcc_trial_goes_up(const struct pcc *c, __u32 trial)
{
	return (c->order >> (trial / 2) & 1) ^ (trial & 1);
}

/* The next interval, if the state has one before its results are known. While it waits for these, the
 * starting and the adjusting state go on at the rate that they try, the deciding state at the one that it
 * had.
 */
CC_INLINE void pcc_next(struct pcc *c, const struct cc_stack *tcp)
{
	const struct pcc_interval *last = &c->intervals[(c->begun - 1) % PCC_TRIALS];

	switch (c->state) {
	case PCC_STARTING:
		if (c->begun - c->judged < PCC_TRIALS)
			pcc_begin(c, tcp, last->is_limited ? last->bytes_per_s : 2 * last->bytes_per_s);
		break;
	case PCC_DECIDING:
		if (c->begun < PCC_TRIALS)
			pcc_begin(
			    c, tcp,
			    pcc_changed(c->base_bytes_per_s, pcc_trial_goes_up(c, c->begun), c->epsilon));
		else
			c->bytes_per_s = pcc_bounded(tcp, c->base_bytes_per_s);
		break;
	default:
		break;
	}
}

CC_INLINE void pcc_enter(struct pcc *c, __u8 state)
{
	c->state = state;
	c->begun = 0;
	c->judged = 0;
	c->is_measuring = 0;
}

CC_INLINE void pcc_start(struct pcc *c, const struct cc_stack *tcp)
{
	pcc_enter(c, PCC_STARTING);
	c->has_utility = 0;
	pcc_begin(c, tcp, c->base_bytes_per_s);
}

CC_INLINE void pcc_decide_anew(struct pcc *c, const struct cc_stack *tcp, __u32 epsilon)
{
	pcc_enter(c, PCC_DECIDING);
	c->epsilon = (__u32)min_u64(epsilon, PCC_MAX_EPSILON);
	c->order = (__u8)random_below(&c->random, 4);
	pcc_next(c, tcp);
}

CC_INLINE void pcc_adjust(struct pcc *c, const struct cc_stack *tcp)
{
	pcc_enter(c, PCC_ADJUSTING);
	pcc_begin(c, tcp, pcc_changed(c->base_bytes_per_s, c->goes_up, c->step * PCC_MIN_EPSILON));
}

CC_INLINE void pcc_set_control(const struct pcc *c, struct cc_stack *tcp)
{
	__u64 product = mul_div_u64(c->bytes_per_s, (__u64)PCC_CWND_GAIN * tcp->srtt_us, USEC_PER_SEC);
	__u64 pieces = PCC_PIECES * min_u64(c->bytes_per_s >> PCC_PIECE_SHIFT, STACK_MAX_PIECE_BYTES);
	__u64 packets = div_u64(product + pieces, tcp->mss_bytes) + PCC_SPARE_CWND;

	tcp->pacing_bytes_per_s = c->bytes_per_s;
	tcp->cwnd = (__u32)min_u64(packets, tcp->cwnd_clamp);
}

CC_INLINE void pcc_init(struct pcc *c, struct cc_stack *tcp, __u32 seed)
{
	__builtin_memset(c, 0, sizeof(*c));
	c->random = random_seeded(seed);
	tcp->ssthresh = STACK_INFINITE_SSTHRESH;
	pcc_start(c, tcp);
	pcc_set_control(c, tcp);
}

/* Was so much sent as the rate allowed? */
CC_INLINE int pcc_is_full(const struct pcc_interval *i, const struct cc_stack *tcp)
{
	__u64 allowed = mul_div_u64(i->bytes_per_s, tcp->now_us - i->began_us, USEC_PER_SEC);

	return (__u64)(i->end - i->first) * tcp->mss_bytes >= scale_percent(allowed, PCC_FULL_PERCENT);
}

CC_INLINE void pcc_end_interval(struct pcc *c, const struct cc_stack *tcp)
{
	struct pcc_interval *i = &c->intervals[(c->begun - 1) % PCC_TRIALS];

	i->end = pcc_sent(tcp);
	i->is_sending = 0;
	i->is_limited = !pcc_is_full(i, tcp);
	c->is_measuring = 0;
	pcc_next(c, tcp);
}

/* 2.1: doubling ends where the utility falls. */
CC_INLINE void pcc_judge_start(struct pcc *c, const struct cc_stack *tcp, const struct pcc_interval *i)
{
	if (!i->is_limited && c->has_utility && i->utility < c->utility) {
		pcc_decide_anew(c, tcp, PCC_MIN_EPSILON);
		return;
	}
	if (!i->is_limited) {
		c->utility = i->utility;
		c->base_bytes_per_s = i->bytes_per_s;
		c->has_utility = 1;
	}
	if (!c->is_measuring)
		pcc_next(c, tcp);
}

/* What a pair of trials says: 1 up, -1 down, 0 nothing. */
CC_INLINE int pcc_vote(const struct pcc *c, __u32 pair)
{
	const struct pcc_interval *first = &c->intervals[2 * pair], *second = first + 1;
	int first_is_better = first->utility > second->utility ? 1 : -1;

	if (first->is_limited || second->is_limited || first->utility == second->utility)
		return 0;
	return pcc_trial_goes_up(c, 2 * pair) ? first_is_better : -first_is_better;
}

/* Mean of the trials in the direction that has won. */
CC_INLINE __s64 pcc_won_utility(const struct pcc *c)
{
	__u32 first = pcc_trial_goes_up(c, 0) == c->goes_up ? 0 : 1;
	__u32 second = pcc_trial_goes_up(c, 2) == c->goes_up ? 2 : 3;

	return (c->intervals[first].utility >> 1) + (c->intervals[second].utility >> 1);
}

CC_INLINE int pcc_was_limited(const struct pcc *c)
{
	return c->intervals[0].is_limited || c->intervals[1].is_limited || c->intervals[2].is_limited ||
	       c->intervals[3].is_limited;
}

/* Both pairs have to agree; else the trials are repeated further apart. */
CC_INLINE void pcc_judge_trials(struct pcc *c, const struct cc_stack *tcp)
{
	int votes = pcc_vote(c, 0) + pcc_vote(c, 1);

	if (c->judged < PCC_TRIALS)
		return;
	if (votes != 2 && votes != -2) {
		pcc_decide_anew(c, tcp, pcc_was_limited(c) ? c->epsilon : c->epsilon + PCC_MIN_EPSILON);
		return;
	}
	c->goes_up = votes > 0;
	c->utility = pcc_won_utility(c);
	c->base_bytes_per_s = pcc_changed(c->base_bytes_per_s, c->goes_up, c->epsilon);
	c->step = 1;
	pcc_adjust(c, tcp);
}

/* Faster and faster in the same direction, until the utility falls. */
CC_INLINE void pcc_judge_step(struct pcc *c, const struct cc_stack *tcp, const struct pcc_interval *i)
{
	if (i->is_limited) {
		pcc_adjust(c, tcp);
		return;
	}
	if (i->utility < c->utility) {
		pcc_decide_anew(c, tcp, PCC_MIN_EPSILON);
		return;
	}
	c->utility = i->utility;
	c->base_bytes_per_s = i->bytes_per_s;
	c->step++;
	pcc_adjust(c, tcp);
}

CC_INLINE void pcc_judge(struct pcc *c, const struct cc_stack *tcp, struct pcc_interval *i)
{
	i->utility =
	    pcc_utility(i->bytes_per_s, tcp->lost - i->lost_before, tcp->delivered - i->delivered_before);
	c->judged++;
	if (c->state == PCC_STARTING)
		pcc_judge_start(c, tcp, i);
	else if (c->state == PCC_DECIDING)
		pcc_judge_trials(c, tcp);
	else
		pcc_judge_step(c, tcp, i);
}

/* Is the fate of all of the oldest interval known? */
CC_INLINE int pcc_is_known(const struct pcc *c, const struct cc_stack *tcp, const struct pcc_interval *i)
{
	return c->judged != c->begun && i->is_reached && !i->is_sending &&
	       wrap_diff_u32(pcc_resolved(tcp), i->end) >= 0;
}

CC_INLINE void pcc_count(struct pcc *c, const struct cc_stack *tcp)
{
	for (__u32 k = 0; k < PCC_TRIALS; k++) {
		struct pcc_interval *i = &c->intervals[(c->judged + k) % PCC_TRIALS];

		if (c->judged + k < c->begun && !i->is_reached &&
		    wrap_diff_u32(pcc_resolved(tcp), i->first) >= 0)
			pcc_reach(i, tcp);
	}
}

/* One result at most per ACK: the next is there at the next. The application never counts as the limit: 0. */
CC_INLINE int pcc_on_ack(struct pcc *c, struct cc_stack *tcp, const struct stack_ack *ack)
{
	struct pcc_interval *oldest = &c->intervals[c->judged % PCC_TRIALS];

	(void)ack;
	if (tcp->ca_state == CA_STATE_OPEN)
		c->prior_bytes_per_s = 0;
	pcc_count(c, tcp);
	if (c->is_measuring && tcp->now_us >= c->interval_end_us)
		pcc_end_interval(c, tcp);
	if (pcc_is_known(c, tcp, oldest))
		pcc_judge(c, tcp, oldest);
	pcc_set_control(c, tcp);
	return 0;
}

/* Ours. What was tried says nothing any more, and half of the rate is left. TCP has set the window. */
CC_INLINE void pcc_on_timeout(struct pcc *c, const struct cc_stack *tcp)
{
	c->prior_bytes_per_s = max_u64(c->prior_bytes_per_s, c->base_bytes_per_s);
	c->base_bytes_per_s = pcc_bounded(tcp, c->base_bytes_per_s / 2);
	pcc_decide_anew(c, tcp, PCC_MIN_EPSILON);
}

/* Losses alone do not reduce the window. */
CC_INLINE __u32 pcc_ssthresh(struct pcc *c, const struct cc_stack *tcp)
{
	(void)c;
	return tcp->ssthresh;
}

/* The timeout was none. */
CC_INLINE __u32 pcc_undo(struct pcc *c, const struct cc_stack *tcp)
{
	if (c->prior_bytes_per_s) {
		c->base_bytes_per_s = max_u64(c->base_bytes_per_s, c->prior_bytes_per_s);
		pcc_decide_anew(c, tcp, PCC_MIN_EPSILON);
	}
	return tcp->cwnd;
}

/* Sending starts again after a pause, in which intervals went on. */
CC_INLINE void pcc_on_tx_start(struct pcc *c, struct cc_stack *tcp)
{
	if (!tcp->is_app_limited)
		return;
	if (c->state == PCC_STARTING)
		pcc_start(c, tcp);
	else
		pcc_decide_anew(c, tcp, PCC_MIN_EPSILON);
	pcc_set_control(c, tcp);
}

#endif /* CLARION_CC_PCC_H */
