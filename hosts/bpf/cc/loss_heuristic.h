/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Was a loss congestion? An answer from what the end hosts see, for flows without tags.
 *
 * The BoostTCP paper names the evidence (end-to-end delay and its variation, spacing of ACKs and its
 * variation, reordering) but gives no formula. Ours is a count of points, each an integer comparison:
 *   delay       +2  the queueing delay srtt - min_rtt is above boost_judge_delay_percent of min_rtt;
 *   variation   +1  srtt is above its long-run mean by more than the mean deviation: delay is rising;
 *   ACK spacing +1  ACKs come evenly (mean deviation below half the mean): a busy queue sets their pace;
 *   reordering  -1  the path reorders, so the loss may be none.
 * A loss with boost_judge_points or more is congestion.
 */
#ifndef CLARION_CC_LOSS_HEURISTIC_H
#define CLARION_CC_LOSS_HEURISTIC_H

#include "params.h"
#include "sample.h"

struct loss_heuristic {
	__u32 slow_rtt_us; /* mean RTT over about 64 samples */
	__u32 rtt_dev_us;  /* mean deviation of the RTT from it */
	__u32 spacing_ns;  /* mean time between ACKs per packet acknowledged, over about 16 ACKs */
	__u32 spacing_dev_ns;
};

/* Moves a mean by 1/2^shift of its distance to the sample; the first sample is the mean. */
CC_INLINE __u32 ewma_u32(__u32 mean, __u32 sample, __u32 shift)
{
	if (!mean)
		return sample;
	return sample > mean ? mean + ((sample - mean) >> shift) : mean - ((mean - sample) >> shift);
}

CC_INLINE __u32 distance_u32(__u32 a, __u32 b)
{
	return a > b ? a - b : b - a;
}

/* `elapsed_us` since the previous ACK. */
CC_INLINE void loss_heuristic_observe(struct loss_heuristic *h, const struct cc_sample *s, __u32 elapsed_us)
{
	__u32 spacing_ns;

	if (s->rtt_us) {
		h->slow_rtt_us = ewma_u32(h->slow_rtt_us, s->rtt_us, 6);
		h->rtt_dev_us = ewma_u32(h->rtt_dev_us, distance_u32(s->rtt_us, h->slow_rtt_us), 6);
	}
	if (s->acked_packets) {
		spacing_ns = (__u32)min_u64(elapsed_us * 1000ULL / s->acked_packets, 1000000000ULL);
		h->spacing_ns = ewma_u32(h->spacing_ns, spacing_ns, 4);
		h->spacing_dev_ns = ewma_u32(h->spacing_dev_ns, distance_u32(spacing_ns, h->spacing_ns), 4);
	}
}

/* Points for congestion, 0..4. */
CC_INLINE __u32 loss_heuristic_points(const struct loss_heuristic *h, const struct cc_params *p,
				      const struct cc_sample *s)
{
	__u64 queueing_us = sub_floor_u64(s->srtt_us, s->min_rtt_us);
	__u32 points = 0;

	if (queueing_us * 100 > (__u64)s->min_rtt_us * p->boost_judge_delay_percent)
		points += 2;
	if (s->srtt_us > (__u64)h->slow_rtt_us + h->rtt_dev_us)
		points += 1;
	if (h->spacing_dev_ns < h->spacing_ns / 2)
		points += 1;
	if (points && s->saw_reordering)
		points -= 1;
	return points;
}

CC_INLINE int loss_heuristic_is_congestion(const struct loss_heuristic *h, const struct cc_params *p,
					   const struct cc_sample *s)
{
	return loss_heuristic_points(h, p, s) >= p->boost_judge_points;
}

#endif /* CLARION_CC_LOSS_HEURISTIC_H */
