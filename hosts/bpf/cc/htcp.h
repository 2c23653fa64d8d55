/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* H-TCP (Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004) in the
 * integers of Linux: the step per round trip is Reno's for a second after a loss and then grows with the
 * time; a loss leaves as much of the window as empties the queue, if the rate before it was the usual one.
 *
 * Steps and shares are counted in 1 / 128, time and round trips in ticks of the coarse clock.
 */
#ifndef CLARION_CC_HTCP_H
#define CLARION_CC_HTCP_H

#include "stack.h"

#define HTCP_SHIFT    7
#define HTCP_ONE      (1U << HTCP_SHIFT)
#define HTCP_BETA_MIN 64  /* a half */
#define HTCP_BETA_MAX 102 /* four fifths */
/* Below this round trip the ratio of two of them says nothing: 10 ms. */
#define HTCP_SHORT_RTT 3
/* One round trip raises the largest one by so much at most: 20 ms. */
#define HTCP_RTT_STEP 5
/* Of what the largest round trip is above the least one a loss keeps so much, so that a new path is noticed.
 */
#define HTCP_MEMORY_PERCENT 95
/* For so many round trips after a loss the rate begins anew. */
#define HTCP_FRESH_RTTS 3
/* Steps are those of a path of 100 ms, within a factor of 2 and of a tenth: eighths. */
#define HTCP_SCALE_RTT (STACK_HZ / 10)
#define HTCP_SCALE_MIN 4
#define HTCP_SCALE_MAX 80
/* So that a step fits; reached after three quarters of an hour without a loss. */
#define HTCP_MAX_STEP (1U << 22)

struct htcp {
	__u32 alpha;	       /* packets per round trip */
	__u32 beta;	       /* what a loss leaves of the window */
	__u32 last_loss;       /* tick */
	__u32 min_rtt;	       /* 0: none yet */
	__u32 max_rtt;	       /* fades */
	__u32 acked;	       /* packets that the newest ACK acknowledged; 1 once it has been counted */
	__u32 sample_began;    /* tick */
	__u32 sample_packets;  /* since then */
	__u32 rate;	       /* smoothed, packets per second */
	__u32 max_rate;	       /* since the last loss */
	__u32 last_max_rate;   /* before it */
	__u32 prior_last_loss; /* of before the last loss, for undo; 0: it holds */
	__u32 prior_max_rtt;
	__u32 prior_last_max_rate;
	__u32 prior_cwnd;
	__u8 is_steady; /* the last loss was at the usual rate */
};

CC_INLINE void htcp_init(struct htcp *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	__builtin_memset(h, 0, sizeof(*h));
	h->alpha = HTCP_ONE;
	h->beta = HTCP_BETA_MIN;
	h->acked = 1;
	h->last_loss = h->sample_began = stack_ticks(tcp->now_us);
	h->prior_cwnd = tcp->cwnd;
}

/* For t seconds since the last loss, of which htcp_low_speed_ms are D: 1, then 1 + 10 (t - D) + ((t - D) /
 * 2)^2. */
CC_INLINE __u64 htcp_step(const struct cc_params *p, __u32 ticks)
{
	__u64 beyond = sub_floor_u64(ticks, stack_ticks_of(p->htcp_low_speed_ms * 1000));

	return 1 + (10 * beyond + (beyond / 2) * (beyond / 2) / STACK_HZ) / STACK_HZ;
}

/* So that flows of different round trips grow as fast in time. */
CC_INLINE __u64 htcp_scaled(const struct htcp *h, __u64 step)
{
	__u64 eighths = div_u64(8 * HTCP_SCALE_RTT, h->min_rtt);

	return max_u64(8 * step / clamp_u64(eighths, HTCP_SCALE_MIN, HTCP_SCALE_MAX), 1);
}

/* Times 2 (1 - beta), which keeps the mean window while beta changes. */
CC_INLINE void htcp_update_alpha(struct htcp *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u64 step = htcp_step(p, stack_ticks(tcp->now_us) - h->last_loss);

	if (p->htcp_rtt_scaling && h->min_rtt)
		step = htcp_scaled(h, step);
	h->alpha = (__u32)(2 * min_u64(step, HTCP_MAX_STEP) * (HTCP_ONE - h->beta));
}

/* An ACK that brings a packet counts for nothing itself. */
CC_INLINE void htcp_grow(struct htcp *h, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (!tcp->is_cwnd_limited)
		return;
	if (stack_is_slow_start(tcp)) {
		stack_slow_start(tcp, acked);
		return;
	}
	if ((__u64)tcp->cwnd_count * h->alpha >> HTCP_SHIFT >= tcp->cwnd) {
		if (tcp->cwnd < tcp->cwnd_clamp)
			tcp->cwnd++;
		tcp->cwnd_count = 0;
		htcp_update_alpha(h, p, tcp);
	} else {
		tcp->cwnd_count += h->acked;
	}
	h->acked = 1;
}

CC_INLINE void htcp_see_rtt(struct htcp *h, __u8 ca_state, __u32 rtt)
{
	if (!h->min_rtt || rtt < h->min_rtt)
		h->min_rtt = rtt;
	if (ca_state != CA_STATE_OPEN)
		return;
	h->max_rtt = (__u32)max_u64(h->max_rtt, h->min_rtt);
	if (rtt > h->max_rtt && rtt <= h->max_rtt + HTCP_RTT_STEP)
		h->max_rtt = rtt;
}

CC_INLINE void htcp_see_rate(struct htcp *h, __u32 now, __u32 rate)
{
	if ((now - h->last_loss) / h->min_rtt <= HTCP_FRESH_RTTS) {
		h->rate = h->max_rate = rate;
	} else {
		h->rate = (__u32)((3ULL * h->rate + rate) / 4);
		h->max_rate = (__u32)max_u64(h->max_rate, h->rate);
	}
}

/* The rate of each window of packets. Where a step is larger than the window, none is measured. */
CC_INLINE void htcp_measure_rate(struct htcp *h, const struct cc_stack *tcp, __u32 packets)
{
	__u32 now = stack_ticks(tcp->now_us);
	__u32 took = now - h->sample_began;
	__u32 step = (__u32)max_u64(h->alpha >> HTCP_SHIFT, 1);

	if (tcp->ca_state < CA_STATE_CWR) {
		h->sample_packets += packets;
		if (tcp->cwnd < step || h->sample_packets < tcp->cwnd - step)
			return;
		if (!h->min_rtt || took < h->min_rtt)
			return;
		htcp_see_rate(h, now, (__u32)div_u64((__u64)h->sample_packets * STACK_HZ, took));
	}
	h->sample_packets = 0;
	h->sample_began = now;
}

CC_INLINE void htcp_on_acked(struct htcp *h, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			     __s64 rtt_us)
{
	if (tcp->ca_state == CA_STATE_OPEN)
		h->acked = packets;
	if (rtt_us > 0)
		htcp_see_rtt(h, tcp->ca_state, stack_ticks_of((__u32)rtt_us));
	if (p->htcp_bandwidth_switch)
		htcp_measure_rate(h, tcp, packets);
}

/* Another rate than before the last loss, by more than a fifth: other flows have come or gone. */
CC_INLINE int htcp_is_rate_usual(const struct htcp *h)
{
	__u64 rate = 5ULL * h->max_rate;

	return rate >= 4ULL * h->last_max_rate && rate <= 6ULL * h->last_max_rate;
}

CC_INLINE void htcp_update_beta(struct htcp *h, const struct cc_params *p)
{
	if (p->htcp_bandwidth_switch) {
		int is_usual = htcp_is_rate_usual(h);

		h->last_max_rate = h->max_rate;
		if (!is_usual) {
			h->beta = HTCP_BETA_MIN;
			h->is_steady = 0;
			return;
		}
	}
	if (h->is_steady && h->min_rtt > HTCP_SHORT_RTT && h->max_rtt) {
		h->beta = (__u32)clamp_u64(div_u64((__u64)h->min_rtt << HTCP_SHIFT, h->max_rtt),
					   HTCP_BETA_MIN, HTCP_BETA_MAX);
	} else {
		h->beta = HTCP_BETA_MIN;
		h->is_steady = 1;
	}
}

CC_INLINE __u32 htcp_ssthresh(struct htcp *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	h->prior_cwnd = tcp->cwnd;
	htcp_update_beta(h, p);
	htcp_update_alpha(h, p, tcp);
	if (h->max_rtt > h->min_rtt)
		h->max_rtt =
		    h->min_rtt + (__u32)((__u64)(h->max_rtt - h->min_rtt) * HTCP_MEMORY_PERCENT / 100);
	return (__u32)max_u64((__u64)tcp->cwnd * h->beta >> HTCP_SHIFT, 2);
}

CC_INLINE __u32 htcp_undo(struct htcp *h, const struct cc_params *p, const struct cc_stack *tcp)
{
	(void)p;
	if (h->prior_last_loss) {
		h->last_loss = h->prior_last_loss;
		h->max_rtt = h->prior_max_rtt;
		h->last_max_rate = h->prior_last_max_rate;
		h->prior_last_loss = 0;
	}
	return (__u32)max_u64(tcp->cwnd, h->prior_cwnd);
}

/* The time since a loss is counted from the end of the recovery from it. */
CC_INLINE void htcp_on_state(struct htcp *h, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	__u32 now = stack_ticks(tcp->now_us);

	(void)p;
	if (next == CA_STATE_OPEN && h->prior_last_loss) {
		h->last_loss = now;
		h->prior_last_loss = 0;
	} else if (next >= CA_STATE_CWR) {
		h->prior_last_loss = h->last_loss;
		h->prior_max_rtt = h->max_rtt;
		h->prior_last_max_rate = h->last_max_rate;
		h->last_loss = now;
	}
}

STACK_IGNORES_EVENTS(htcp)

#endif /* CLARION_CC_HTCP_H */
