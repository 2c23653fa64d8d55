/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00, whose names these are, with two additions
 * of Linux without which it cannot be held against the kernel's own: the allowance for aggregated ACKs, and
 * pacing at 99 %. Section numbers are the draft's.
 */
#ifndef CLARION_CC_BBR_H
#define CLARION_CC_BBR_H

#include "sample.h"

#define BBR_UNIT	   256U /* gains */
#define BBR_HIGH_GAIN	   739U /* 2 / ln 2: doubles the sending rate per round trip (4.3.2.1) */
#define BBR_DRAIN_GAIN	   88U
#define BBR_CWND_GAIN	   512U
#define BBR_BW_SHIFT	   24 /* rates are packets per us, times 2^24 */
#define BBR_BW_ROUNDS	   10 /* BtlBwFilterLen */
#define BBR_CYCLE_LEN	   8
#define BBR_FULL_BW_ROUNDS 3
#define BBR_MIN_PIPE_CWND  4
#define BBR_MIN_RTT_US	   10000000ULL /* RTpropFilterLen */
#define BBR_PROBE_RTT_US   200000ULL
#define BBR_PACING_PERCENT 99
#define BBR_EXTRA_ROUNDS   5
#define BBR_EXTRA_MAX_US   100000ULL
#define BBR_INITIAL_RTT_US 1000

enum bbr_state {
	BBR_STARTUP,
	BBR_DRAIN,
	BBR_PROBE_BW,
	BBR_PROBE_RTT,
};

/* The largest of the last rounds (the filter of Kathleen Nichols). */
struct bbr_filter {
	__u32 round[3];
	__u64 value[3]; /* falling */
};

struct bbr {
	struct bbr_filter bw;
	__u64 full_bw;
	__u64 min_rtt_stamp_us;
	__u64 probe_rtt_done_us; /* 0: not set */
	__u64 cycle_stamp_us;
	__u64 ack_epoch_us;
	__u64 pacing_bytes_per_s;
	__u64 ack_epoch_acked;
	__u32 min_rtt_us;
	__u32 next_round_delivered;
	__u32 rounds;
	__u32 cwnd;
	__u32 prior_cwnd;
	__u32 random;
	__u32 extra[2]; /* packets acknowledged beyond expectation, most of these and the last rounds */
	__u32 extra_rounds;
	__u32 lost_before; /* total marked lost at the ACK before */
	__u16 pacing_gain;
	__u16 cwnd_gain;
	__u8 state;
	__u8 cycle;
	__u8 full_bw_rounds;
	__u8 is_round_start;
	__u8 is_filled;	  /* the pipe, once */
	__u8 conserves;	  /* packets, in the first round of recovery */
	__u8 in_recovery; /* fast recovery or the recovery from a timeout */
	__u8 idle_restart;
	__u8 probe_rtt_round_done;
	__u8 has_rtt;
};

CC_INLINE void bbr_filter_update(struct bbr_filter *f, __u32 round, __u64 value)
{
	__u32 age;

	if (value >= f->value[0] || round - f->round[2] > BBR_BW_ROUNDS) {
		for (int i = 0; i < 3; i++) {
			f->round[i] = round;
			f->value[i] = value;
		}
		return;
	}
	if (value >= f->value[1]) {
		f->round[1] = f->round[2] = round;
		f->value[1] = f->value[2] = value;
	} else if (value >= f->value[2]) {
		f->round[2] = round;
		f->value[2] = value;
	}
	age = round - f->round[0];
	for (int i = 0; i < 2 && round - f->round[0] > BBR_BW_ROUNDS; i++) {
		f->round[0] = f->round[1];
		f->value[0] = f->value[1];
		f->round[1] = f->round[2];
		f->value[1] = f->value[2];
		f->round[2] = round;
		f->value[2] = value;
	}
	if (age > BBR_BW_ROUNDS)
		return;
	if (f->round[1] == f->round[0] && age > BBR_BW_ROUNDS / 4) {
		f->round[1] = f->round[2] = round;
		f->value[1] = f->value[2] = value;
	} else if (f->round[2] == f->round[1] && age > BBR_BW_ROUNDS / 2) {
		f->round[2] = round;
		f->value[2] = value;
	}
}

/* 4.2.3.2: bytes/s of payload for a rate and a gain. */
CC_INLINE __u64 bbr_rate(const struct cc_sample *s, __u64 bw, __u32 gain)
{
	__u64 rate = bw * s->mss_bytes;

	rate = rate * gain / BBR_UNIT;
	rate = rate * (USEC_PER_SEC / 100) >> BBR_BW_SHIFT;
	return rate * BBR_PACING_PERCENT;
}

/* 4.2.3.2: packets that a rate and a gain fill the path with. */
CC_INLINE __u32 bbr_inflight(const struct bbr *b, const struct cc_sample *s, __u64 bw, __u32 gain)
{
	__u64 packets;

	if (!b->min_rtt_us)
		return 10;
	packets = ((bw * b->min_rtt_us) * gain / BBR_UNIT + (1ULL << BBR_BW_SHIFT) - 1) >> BBR_BW_SHIFT;
	(void)s;
	return (__u32)packets;
}

/* Room for what the host sends in one piece, and even in number (Linux: bbr_quantization_budget). */
CC_INLINE __u32 bbr_with_quantum(const struct bbr *b, const struct cc_sample *s, __u32 packets)
{
	__u64 burst = max_u64(div_u64(b->pacing_bytes_per_s >> 10, s->mss_bytes), 1);

	packets += 3 * (__u32)min_u64(burst, 64);
	packets = (packets + 1) & ~1U;
	if (b->state == BBR_PROBE_BW && b->cycle == 0)
		packets += 2;
	return packets;
}

CC_INLINE void bbr_init(struct bbr *b, const struct cc_sample *s, __u32 cwnd, __u32 random)
{
	__u32 rtt_us = s->srtt_us ? s->srtt_us : BBR_INITIAL_RTT_US;

	__builtin_memset(b, 0, sizeof(*b));
	b->cwnd = cwnd;
	b->random = random | 1;
	b->min_rtt_us = s->min_rtt_us;
	b->min_rtt_stamp_us = s->now_us;
	b->has_rtt = s->srtt_us != 0;
	b->ack_epoch_us = s->now_us;
	b->lost_before = s->lost_packets;
	b->state = BBR_STARTUP;
	b->pacing_gain = b->cwnd_gain = BBR_HIGH_GAIN;
	b->next_round_delivered = s->delivered_packets;
	b->pacing_bytes_per_s = bbr_rate(s, ((__u64)cwnd << BBR_BW_SHIFT) / rtt_us, BBR_HIGH_GAIN);
}

CC_INLINE __u32 bbr_random(struct bbr *b, __u32 below)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 17;
	b->random ^= b->random << 5;
	return b->random % below;
}

/* 4.1.1, 4.1.2 */
CC_INLINE void bbr_update_bw(struct bbr *b, const struct cc_sample *s, __u64 bw, int is_app_limited)
{
	b->is_round_start = 0;
	if (s->has_delivery && wrap_diff_u32(s->prior_delivered, b->next_round_delivered) >= 0) {
		b->next_round_delivered = s->delivered_packets;
		b->rounds++;
		b->is_round_start = 1;
		b->conserves = 0;
	}
	if (bw && (!is_app_limited || bw >= b->bw.value[0]))
		bbr_filter_update(&b->bw, b->rounds, bw);
}

/* Packets acknowledged beyond what the rate explains, most in the last rounds (Linux). */
CC_INLINE void bbr_update_aggregation(struct bbr *b, const struct cc_sample *s)
{
	__u64 expected;
	__u32 extra;

	if (!s->acked_packets)
		return;
	if (b->is_round_start && ++b->extra_rounds >= BBR_EXTRA_ROUNDS) {
		b->extra_rounds = 0;
		b->extra[1] = b->extra[0];
		b->extra[0] = 0;
	}
	expected = b->bw.value[0] * (s->now_us - b->ack_epoch_us) >> BBR_BW_SHIFT;
	if (b->ack_epoch_acked <= expected || b->ack_epoch_acked + s->acked_packets >= 1U << 20) {
		b->ack_epoch_acked = 0;
		b->ack_epoch_us = s->now_us;
		expected = 0;
	}
	b->ack_epoch_acked += s->acked_packets;
	extra = (__u32)min_u64(sub_floor_u64(b->ack_epoch_acked, expected), b->cwnd);
	if (extra > b->extra[0])
		b->extra[0] = extra;
}

CC_INLINE __u32 bbr_aggregation(const struct bbr *b)
{
	__u64 most = b->bw.value[0] * BBR_EXTRA_MAX_US >> BBR_BW_SHIFT;

	if (!b->is_filled)
		return 0;
	return (__u32)min_u64(max_u64(b->extra[0], b->extra[1]), most);
}

CC_INLINE void bbr_enter_probe_bw(struct bbr *b, const struct cc_sample *s)
{
	b->state = BBR_PROBE_BW;
	b->cycle = (__u8)((BBR_CYCLE_LEN - bbr_random(b, BBR_CYCLE_LEN - 1)) % BBR_CYCLE_LEN);
	b->cycle_stamp_us = s->now_us;
}

/* 4.3.4.3: when has a phase lasted long enough? */
CC_INLINE int bbr_is_phase_over(const struct bbr *b, const struct cc_sample *s, __u32 prior_in_flight)
{
	int is_full_length = s->now_us - b->cycle_stamp_us > b->min_rtt_us;
	int has_loss = s->lost_packets != b->lost_before;

	if (b->pacing_gain == BBR_UNIT)
		return is_full_length;
	if (b->pacing_gain > BBR_UNIT)
		return is_full_length &&
		       (has_loss ||
			prior_in_flight >=
			    bbr_with_quantum(b, s, bbr_inflight(b, s, b->bw.value[0], b->pacing_gain)));
	return is_full_length ||
	       prior_in_flight <= bbr_with_quantum(b, s, bbr_inflight(b, s, b->bw.value[0], BBR_UNIT));
}

CC_INLINE void bbr_update_cycle(struct bbr *b, const struct cc_sample *s, __u32 prior_in_flight)
{
	if (b->state != BBR_PROBE_BW || !bbr_is_phase_over(b, s, prior_in_flight))
		return;
	b->cycle = (b->cycle + 1) % BBR_CYCLE_LEN;
	b->cycle_stamp_us = s->now_us;
}

/* 4.3.2.2: three rounds without growth of a quarter. */
CC_INLINE void bbr_check_full_pipe(struct bbr *b, int is_app_limited)
{
	if (b->is_filled || !b->is_round_start || is_app_limited)
		return;
	if (b->bw.value[0] >= b->full_bw + b->full_bw / 4) {
		b->full_bw = b->bw.value[0];
		b->full_bw_rounds = 0;
		return;
	}
	b->is_filled = ++b->full_bw_rounds >= BBR_FULL_BW_ROUNDS;
}

/* 4.3.3 */
CC_INLINE void bbr_check_drain(struct bbr *b, const struct cc_sample *s)
{
	if (b->state == BBR_STARTUP && b->is_filled)
		b->state = BBR_DRAIN;
	if (b->state == BBR_DRAIN &&
	    s->in_flight_packets <= bbr_with_quantum(b, s, bbr_inflight(b, s, b->bw.value[0], BBR_UNIT)))
		bbr_enter_probe_bw(b, s);
}

CC_INLINE void bbr_leave_probe_rtt(struct bbr *b, const struct cc_sample *s)
{
	b->min_rtt_stamp_us = s->now_us;
	b->cwnd = (__u32)max_u64(b->cwnd, b->prior_cwnd);
	if (b->is_filled)
		bbr_enter_probe_bw(b, s);
	else
		b->state = BBR_STARTUP;
}

CC_INLINE void bbr_save_cwnd(struct bbr *b)
{
	if (!b->in_recovery && b->state != BBR_PROBE_RTT)
		b->prior_cwnd = b->cwnd;
	else
		b->prior_cwnd = (__u32)max_u64(b->prior_cwnd, b->cwnd);
}

/* 4.1.3, 4.3.5. True while the application counts as the limit, as in ProbeRTT. */
CC_INLINE int bbr_update_min_rtt(struct bbr *b, const struct cc_sample *s)
{
	int is_expired = s->now_us > b->min_rtt_stamp_us + BBR_MIN_RTT_US;

	if (s->rtt_us && (s->rtt_us < b->min_rtt_us || !b->min_rtt_us || is_expired)) {
		b->min_rtt_us = s->rtt_us;
		b->min_rtt_stamp_us = s->now_us;
	}
	if (is_expired && !b->idle_restart && b->state != BBR_PROBE_RTT) {
		b->state = BBR_PROBE_RTT;
		bbr_save_cwnd(b);
		b->probe_rtt_done_us = 0;
	}
	if (b->state == BBR_PROBE_RTT) {
		if (!b->probe_rtt_done_us && s->in_flight_packets <= BBR_MIN_PIPE_CWND) {
			b->probe_rtt_done_us = s->now_us + BBR_PROBE_RTT_US;
			b->probe_rtt_round_done = 0;
			b->next_round_delivered = s->delivered_packets;
		} else if (b->probe_rtt_done_us) {
			if (b->is_round_start)
				b->probe_rtt_round_done = 1;
			if (b->probe_rtt_round_done && s->now_us > b->probe_rtt_done_us)
				bbr_leave_probe_rtt(b, s);
		}
	}
	if (s->acked_packets)
		b->idle_restart = 0;
	return b->state == BBR_PROBE_RTT;
}

CC_INLINE void bbr_update_gains(struct bbr *b)
{
	switch (b->state) {
	case BBR_STARTUP:
		b->pacing_gain = b->cwnd_gain = BBR_HIGH_GAIN;
		break;
	case BBR_DRAIN:
		b->pacing_gain = BBR_DRAIN_GAIN;
		b->cwnd_gain = BBR_HIGH_GAIN;
		break;
	case BBR_PROBE_BW:
		b->pacing_gain = b->cycle == 0	 ? BBR_UNIT * 5 / 4
				 : b->cycle == 1 ? BBR_UNIT * 3 / 4
						 : BBR_UNIT;
		b->cwnd_gain = BBR_CWND_GAIN;
		break;
	default:
		b->pacing_gain = b->cwnd_gain = BBR_UNIT;
	}
}

/* 4.2.3.4 */
CC_INLINE void bbr_set_cwnd(struct bbr *b, const struct cc_sample *s)
{
	__u32 target, losses = s->lost_packets - b->lost_before;

	if (!s->acked_packets)
		return;
	if (losses)
		b->cwnd = (__u32)max_u64(sub_floor_u64(b->cwnd, losses), 1);
	if (b->conserves) {
		b->cwnd = (__u32)max_u64(b->cwnd, s->in_flight_packets + s->acked_packets);
	} else {
		target = bbr_inflight(b, s, b->bw.value[0], b->cwnd_gain) + bbr_aggregation(b);
		target = bbr_with_quantum(b, s, target);
		if (b->is_filled)
			b->cwnd = (__u32)min_u64(b->cwnd + s->acked_packets, target);
		else if (b->cwnd < target || s->delivered_packets < 10)
			b->cwnd += s->acked_packets;
		b->cwnd = (__u32)max_u64(b->cwnd, BBR_MIN_PIPE_CWND);
	}
	if (b->state == BBR_PROBE_RTT)
		b->cwnd = (__u32)min_u64(b->cwnd, BBR_MIN_PIPE_CWND);
}

/* 4.2.1 */
CC_INLINE void bbr_set_pacing(struct bbr *b, const struct cc_sample *s)
{
	__u64 rate;

	if (!b->has_rtt && s->srtt_us) {
		b->has_rtt = 1;
		b->pacing_bytes_per_s =
		    bbr_rate(s, ((__u64)b->cwnd << BBR_BW_SHIFT) / s->srtt_us, BBR_HIGH_GAIN);
	}
	rate = bbr_rate(s, b->bw.value[0], b->pacing_gain);
	if (b->is_filled || rate > b->pacing_bytes_per_s)
		b->pacing_bytes_per_s = rate;
}

/* `bw` is the sample of this ACK (packets per us, times 2^24), 0 for none. True: count the flow as limited by
 * its application.
 */
CC_INLINE int bbr_on_ack(struct bbr *b, const struct cc_sample *s, __u64 bw, int is_app_limited,
			 __u32 prior_in_flight)
{
	int is_limited;

	bbr_update_bw(b, s, bw, is_app_limited);
	bbr_update_aggregation(b, s);
	bbr_update_cycle(b, s, prior_in_flight);
	bbr_check_full_pipe(b, is_app_limited);
	bbr_check_drain(b, s);
	is_limited = bbr_update_min_rtt(b, s);
	bbr_update_gains(b);
	bbr_set_pacing(b, s);
	bbr_set_cwnd(b, s);
	b->lost_before = s->lost_packets;
	return is_limited;
}

/* 4.2.3.4: the first round of recovery conserves packets. */
CC_INLINE void bbr_on_enter_recovery(struct bbr *b, const struct cc_sample *s)
{
	bbr_save_cwnd(b);
	b->in_recovery = 1;
	b->conserves = 1;
	b->next_round_delivered = s->delivered_packets;
	b->cwnd = s->in_flight_packets + (__u32)max_u64(s->acked_packets, 1);
}

CC_INLINE void bbr_on_timeout(struct bbr *b)
{
	bbr_save_cwnd(b);
	b->in_recovery = 1;
	b->full_bw = 0;
	b->is_round_start = 1; /* a timeout counts as the end of a round */
	b->cwnd = 1;
}

CC_INLINE void bbr_on_exit_recovery(struct bbr *b)
{
	b->in_recovery = 0;
	b->conserves = 0;
	b->cwnd = (__u32)max_u64(b->cwnd, b->prior_cwnd);
}

/* The loss was none. */
CC_INLINE __u32 bbr_undo(struct bbr *b)
{
	b->full_bw = 0;
	b->full_bw_rounds = 0;
	return b->cwnd;
}

/* Sending starts again after a pause (4.3.4.4). */
CC_INLINE void bbr_on_tx_start(struct bbr *b, const struct cc_sample *s, int is_app_limited)
{
	if (!is_app_limited)
		return;
	b->idle_restart = 1;
	b->ack_epoch_us = s->now_us;
	b->ack_epoch_acked = 0;
	if (b->state == BBR_PROBE_BW)
		b->pacing_bytes_per_s = bbr_rate(s, b->bw.value[0], BBR_UNIT);
	else if (b->state == BBR_PROBE_RTT && b->probe_rtt_done_us && s->now_us > b->probe_rtt_done_us)
		bbr_leave_probe_rtt(b, s);
}

#endif /* CLARION_CC_BBR_H */
