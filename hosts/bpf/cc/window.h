/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The window, common to all laws: how it moves, and its form for the kernel: whole packets and a pacing rate.
 */
#ifndef CLARION_CC_WINDOW_H
#define CLARION_CC_WINDOW_H

#include "base_rtt.h"
#include "doubt.h"
#include "guard.h"
#include "loss_rule.h"
#include "params.h"

/* RTT samples in a row above the base that tell of a standing queue, as in HyStart++ (RFC 9406, 4.2). */
#define WINDOW_LATE_SAMPLES 8

/* Head of every law's state. */
struct cc_window {
	__u64 cwnd_q16;	    /* packets */
	__u64 ssthresh_q16; /* below it the window doubles per RTT; UINT64_MAX until the first reduction */
	__u64 undo_q16;	    /* window before the last recovery, timeout or reduction */
	__u64 ceiling_q16; /* under guard or behind a queue: the window that Reno would have, which grants may
			      fill */
	struct loss_rule loss;
	struct cc_doubt doubt;
	struct cc_guard guard;
	struct base_rtt base_rtt;
	struct cc_round round;
	__u32 last_ack_us; /* low 32 bits of the clock at the last ACK, to notice an idle flow */
	__u32 ce_seen;	   /* marks already answered, modulo 2^32 */
	__u8 ca_state;	   /* the kernel's TCP_CA_* as last reported */
	__u8 is_longer;	   /* this ACK has shown that the path became longer */
	__u8 is_new_round; /* this ACK has ended a round trip */
	__u8 late_samples; /* in a row, at most WINDOW_LATE_SAMPLES */
};

CC_INLINE void window_init(struct cc_window *w, const struct cc_params *p, __u32 packets,
			   const struct cc_sample *s)
{
	w->cwnd_q16 = min_u64(packets, p->max_window_packets) << 16;
	w->ssthresh_q16 = ~0ULL;
	w->undo_q16 = w->cwnd_q16;
	w->loss.lost = s->lost_packets;
	w->loss.local_seen = s->local_drops;
	w->ce_seen = s->ce_packets;
	w->last_ack_us = (__u32)s->now_us;
	w->base_rtt.half_began_us = (__u32)s->now_us;
	round_begin(&w->round, s);
	round_begin(&w->doubt.round, s);
}

/* Rounded up: pacing holds the fraction. */
CC_INLINE __u32 window_packets(const struct cc_window *w)
{
	return (__u32)((w->cwnd_q16 + Q16_ONE - 1) >> 16);
}

CC_INLINE void window_set(struct cc_window *w, const struct cc_params *p, __u64 cwnd_q16)
{
	w->cwnd_q16 = clamp_u64(cwnd_q16, Q16_ONE, (__u64)p->max_window_packets << 16);
}

/* Reduces to `cwnd_q16`, at least one packet and never more than now, and remembers the window for an undo.
 */
CC_INLINE void window_reduce(struct cc_window *w, __u64 cwnd_q16)
{
	w->undo_q16 = max_u64(w->undo_q16, w->cwnd_q16);
	w->cwnd_q16 = clamp_u64(cwnd_q16, Q16_ONE, max_u64(w->cwnd_q16, Q16_ONE));
	w->ssthresh_q16 = w->cwnd_q16;
	w->ceiling_q16 = w->cwnd_q16;
}

/* After a timeout: one packet, and `ssthresh_q16` as the end of the slow start that follows. */
CC_INLINE void window_collapse(struct cc_window *w, __u64 ssthresh_q16)
{
	w->undo_q16 = max_u64(w->undo_q16, w->cwnd_q16);
	w->cwnd_q16 = Q16_ONE;
	w->ssthresh_q16 = max_u64(ssthresh_q16, 2 * Q16_ONE);
	w->ceiling_q16 = w->ssthresh_q16;
}

/* A router takes `change_q16` back: from the window, and from what an undo would give back. */
CC_INLINE void window_take_back(struct cc_window *w, const struct cc_params *p, __u64 change_q16)
{
	window_set(w, p, sub_floor_u64(w->cwnd_q16, change_q16));
	w->undo_q16 = sub_floor_u64(w->undo_q16, change_q16);
}

/* The loss turned out not to have been one, or not congestion. */
CC_INLINE void window_restore(struct cc_window *w)
{
	w->cwnd_q16 = max_u64(w->cwnd_q16, w->undo_q16);
	w->ssthresh_q16 = max_u64(w->ssthresh_q16, w->cwnd_q16);
	w->ceiling_q16 = max_u64(w->ceiling_q16, w->cwnd_q16);
}

/* What `acked_packets` add when a whole window acknowledged adds `per_rtt` packets. */
CC_INLINE __u64 window_linear_step_q16(const struct cc_window *w, __u32 acked_packets, __u32 per_rtt)
{
	__u64 step_q32 = ((__u64)acked_packets * per_rtt) << 32; /* < 2^24 * 2^14 * 2^32 only for huge ACKs */

	return div_u64(step_q32, w->cwnd_q16);
}

CC_INLINE void window_grow_linear(struct cc_window *w, const struct cc_params *p, __u32 acked_packets,
				  __u32 per_rtt)
{
	window_set(w, p, w->cwnd_q16 + window_linear_step_q16(w, acked_packets, per_rtt));
}

/* One packet more for each packet acknowledged: doubles per RTT. */
CC_INLINE void window_grow_double(struct cc_window *w, const struct cc_params *p, __u32 acked_packets)
{
	window_set(w, p, w->cwnd_q16 + ((__u64)acked_packets << 16));
}

/* Later than the base by an eighth of it, but by 4 ms at least and 16 ms at most (RFC 9406, 4.3). */
CC_INLINE int window_is_late(__u32 rtt_us, __u32 base_us)
{
	return rtt_us > base_us + clamp_u64(base_us / 8, 4000, 16000);
}

/* Late samples in a row, at most WINDOW_LATE_SAMPLES, after one of `rtt_us`; 0: this ACK has none. */
CC_INLINE __u8 window_count_late(__u8 before, __u32 rtt_us, __u32 base_us)
{
	if (!rtt_us)
		return before;
	if (!window_is_late(rtt_us, base_us))
		return 0;
	return (__u8)(before + (before < WINDOW_LATE_SAMPLES));
}

CC_INLINE void window_sample_rtt(struct cc_window *w, const struct cc_sample *s)
{
	w->late_samples = window_count_late(w->late_samples, s->rtt_us, s->min_rtt_us);
}

/* Does a queue stand? */
CC_INLINE int window_is_queued(const struct cc_window *w)
{
	return w->late_samples >= WINDOW_LATE_SAMPLES;
}

/* Slow start, then one packet per RTT (RFC 5681). */
CC_INLINE __u64 window_reno_step_q16(const struct cc_window *w, __u32 acked_packets)
{
	if (w->cwnd_q16 >= w->ssthresh_q16)
		return window_linear_step_q16(w, acked_packets, 1);
	return min_u64((__u64)acked_packets << 16, w->ssthresh_q16 - w->cwnd_q16);
}

/* Growth under guard, in percent of a packet per round trip. */
CC_INLINE void window_grow_guarded(struct cc_window *w, const struct cc_params *p, __u32 acked_packets,
				   __u32 percent)
{
	window_set(w, p, w->cwnd_q16 + scale_percent(window_linear_step_q16(w, acked_packets, 1), percent));
}

/* What a loss leaves: half, more under guard. */
CC_INLINE __u64 window_after_loss_q16(const struct cc_window *w)
{
	return guard_is_on(&w->guard) ? scale_percent(w->cwnd_q16, GUARD_BETA_PERCENT) : w->cwnd_q16 / 2;
}

CC_INLINE void window_grow_reno(struct cc_window *w, const struct cc_params *p, __u32 acked_packets)
{
	if (window_is_queued(w))
		w->ssthresh_q16 = min_u64(w->ssthresh_q16, w->cwnd_q16);
	window_set(w, p, w->cwnd_q16 + window_reno_step_q16(w, acked_packets));
}

/* One window of packets of `packet_bytes` per srtt, in bytes/s; CC_NO_RATE without a round trip time.
 * cwnd < 2^24 packets of less than 2^14 bytes, times 10^6 < 2^20, fit.
 */
CC_INLINE __u64 window_rate(__u64 cwnd_q16, __u32 packet_bytes, const struct cc_sample *s)
{
	__u64 window_bytes = cwnd_q16 * packet_bytes >> 16;

	return s->srtt_us ? window_bytes * USEC_PER_SEC / s->srtt_us : CC_NO_RATE;
}

/* Window and rate for the kernel. A rate too fast for timers is left to the ACK clock, and then one ACK may
 * not release a burst. Of what was lost one packet may leave whatever is in flight (RFC 6675, 5, step 4.3):
 * after a halving nothing else may for half a round trip, and where that is more than 200 ms the timer ends
 * first.
 */
CC_INLINE struct cc_control window_control(const struct cc_window *w, const struct cc_params *p,
					   const struct cc_sample *s, __u32 pacing_percent)
{
	struct cc_control c = {};
	__u64 rate = window_rate(w->cwnd_q16, s->mss_bytes, s);
	__u64 gap_us = mul_div_u64(s->mss_bytes, USEC_PER_SEC, rate);
	__u64 burst_max;

	c.cwnd_packets = window_packets(w);
	c.bytes_per_s = rate == CC_NO_RATE ? CC_NO_RATE : max_u64(scale_percent(rate, pacing_percent), 1);
	c.is_paced = gap_us >= p->pacing_min_gap_us && rate != CC_NO_RATE;
	burst_max = (__u64)s->in_flight_packets + 2ULL * s->acked_packets + p->burst_packets;
	if (!c.is_paced && p->burst_packets && s->acked_packets)
		c.cwnd_packets = (__u32)clamp_u64(burst_max, 1, c.cwnd_packets);
	if (s->has_to_resend)
		c.cwnd_packets = (__u32)max_u64(c.cwnd_packets, s->in_flight_packets + 1ULL);
	return c;
}

/* Has the flow been silent for so long that its window says nothing about the path any more? */
CC_INLINE int window_is_idle(const struct cc_window *w, const struct cc_sample *s)
{
	__u32 silent_us = (__u32)s->now_us - w->last_ack_us;

	return s->srtt_us && silent_us > 2ULL * s->srtt_us + 200000;
}

/* After an idle time. A test of what the tags say would go on for many round trips: it has few packets now.
 */
CC_INLINE void window_begin_anew(struct cc_window *w, __u32 packets)
{
	w->cwnd_q16 = min_u64(w->cwnd_q16, (__u64)packets << 16);
	if (doubt_is_testing(&w->doubt))
		doubt_end(&w->doubt);
}

#endif /* CLARION_CC_WINDOW_H */
