/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What BBR version 3 knows of its path, and the rate and the volume that follow from that.
 *
 * Two bounds on the volume in flight: inflight_hi, of the last probes for bandwidth, holds until a later one
 * finds more room; bw_lo and inflight_lo, of losses and marks since the last probe, hold until the next
 * begins.
 */
#ifndef CLARION_CC_BBR3_MODEL_H
#define CLARION_CC_BBR3_MODEL_H

#include "bbr_aggregation.h"
#include "bbr_common.h"

#define BBR3_NO_BOUND ~0U

#define BBR3_STARTUP_GAIN 710U /* 4 ln 2: the smallest that doubles the sending rate per round trip */
#define BBR3_DOWN_GAIN	  232U /* 0.91 */
#define BBR3_UP_CWND_GAIN 576U
#define BBR3_KEEP	  180U /* 1 - beta: what a round with losses leaves, at least; 0.7 */
#define BBR3_INITIAL_MOST 127U
#define BBR3_RTT_PIECE_BYTES                                                                                 \
	65536U /* on paths without length; half as much for every 512 us of round trip                       \
		*/
#define BBR3_RTT_PIECE_SHIFT 9
#define BBR3_MIN_PIECE	     2U

/* From DOWN to UP: ProbeBW. */
enum bbr3_state {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,   /* below the rate, until queues are drained and there is headroom */
	BBR3_CRUISE, /* at the rate */
	BBR3_REFILL, /* at the rate, without headroom, for a round */
	BBR3_UP,     /* above the rate */
	BBR3_PROBE_RTT,
};

/* What ACKs are of. */
enum bbr3_ack_phase {
	BBR3_ACKS_INIT, /* nothing that probed */
	BBR3_ACKS_REFILLING,
	BBR3_ACKS_STARTING, /* the round before the probe */
	BBR3_ACKS_FEEDBACK, /* the probe */
	BBR3_ACKS_STOPPING, /* the probe, which is over */
};

struct bbr3 {
	struct bbr_aggregation aggregation;
	__u64 cycle_began_us; /* its phase DOWN, then UP */
	__u32 random;

	__u32 min_rtt_us; /* of ten seconds */
	__u32 min_rtt_tick;
	__u32 probe_rtt_min_us; /* of five */
	__u32 probe_rtt_min_tick;
	__u32 probe_rtt_done_tick; /* 0: not set */

	__u32 sample_bw; /* of the ACK at hand; 0: none */
	__u32 max_bw[2]; /* of the cycle before, of this one */
	__u32 full_bw;
	__u32 next_round_delivered;

	__u32 loss_round_delivered;
	__u32 bw_latest;       /* most of this round */
	__u32 inflight_latest; /* most packets delivered within a round trip, in this round */
	__u32 bw_lo;
	__u32 inflight_lo;
	__u32 inflight_hi;
	__u32 undo_bw_lo; /* what they were before losses */
	__u32 undo_inflight_lo;
	__u32 undo_inflight_hi;
	__u32 prior_cwnd;

	__u32 probe_wait_us;
	__u32 up_acked_per_packet; /* of growth of inflight_hi */
	__u32 up_acked;

	__u32 marks_delivered; /* total delivered, and with echo, when alpha was computed last */
	__u32 marks_ce;
	__u16 ecn_alpha; /* mean share of marked packets, of 256 */

	__u16 pacing_gain;
	__u16 cwnd_gain;
	__u8 initial_cwnd;
	__u8 state;
	__u8 ack_phase;
	__u8 ca_state; /* at the ACK before */
	__u8 full_bw_rounds;
	__u8 loss_events;   /* ACKs of this round that marked losses, in Startup */
	__u8 marked_rounds; /* in Startup, one after the other */
	__u8 rounds_since_probe;
	__u8 up_rounds;

	__u8 has_rtt;
	__u8 is_round_start;
	__u8 is_loss_round_start;
	__u8 is_full_now;
	__u8 is_filled; /* the pipe, once */
	__u8 idle_restart;
	__u8 probe_rtt_round_done;
	__u8 has_loss_in_round;
	__u8 has_mark_in_round;
	__u8 has_loss_in_cycle;
	__u8 has_mark_in_cycle;
	__u8 is_probe_sample;	 /* rates and losses are of a probe that nothing has been concluded from */
	__u8 probe_was_too_high; /* the last one */
	__u8 probe_was_cautious; /* the last one: it ended at inflight_hi */
	__u8 uses_ecn;
};

CC_INLINE int bbr3_is_in_probe_bw(const struct bbr3 *b)
{
	return b->state >= BBR3_DOWN && b->state <= BBR3_UP;
}

CC_INLINE int bbr3_is_probing_bw(const struct bbr3 *b)
{
	return b->state == BBR3_STARTUP || b->state == BBR3_REFILL || b->state == BBR3_UP;
}

CC_INLINE __u32 bbr3_max_bw(const struct bbr3 *b)
{
	return (__u32)max_u64(b->max_bw[0], b->max_bw[1]);
}

CC_INLINE __u32 bbr3_bw(const struct bbr3 *b)
{
	return (__u32)min_u64(bbr3_max_bw(b), b->bw_lo);
}

/* A cycle without a sample is none. */
CC_INLINE void bbr3_next_bw_cycle(struct bbr3 *b)
{
	if (!b->max_bw[1])
		return;
	b->max_bw[0] = b->max_bw[1];
	b->max_bw[1] = 0;
}

CC_INLINE void bbr3_begin_round(struct bbr3 *b, const struct cc_stack *tcp)
{
	b->next_round_delivered = tcp->delivered;
}

/* Looks for a plateau of the rate from `bw` on. */
CC_INLINE void bbr3_reset_full_bw(struct bbr3 *b, __u32 bw)
{
	b->full_bw = bw;
	b->full_bw_rounds = 0;
	b->is_full_now = 0;
}

CC_INLINE __u64 bbr3_pacing_rate(const struct cc_stack *tcp, __u32 bw, __u32 gain)
{
	return max_u64(bbr_pacing_rate(tcp, bw, gain), 1);
}

CC_INLINE void bbr3_init_pacing(struct bbr3 *b, struct cc_stack *tcp)
{
	__u32 rtt_us = tcp->srtt_us ? tcp->srtt_us : BBR_INITIAL_RTT_US;

	b->has_rtt = tcp->srtt_us != 0;
	tcp->pacing_bytes_per_s = bbr3_pacing_rate(tcp, bbr_rate_of(tcp->cwnd, rtt_us), BBR3_STARTUP_GAIN);
}

/* In Startup it only rises. */
CC_INLINE void bbr3_set_pacing(struct bbr3 *b, struct cc_stack *tcp, __u32 gain)
{
	__u64 rate = bbr3_pacing_rate(tcp, bbr3_bw(b), gain);

	if (!b->has_rtt && tcp->srtt_us)
		bbr3_init_pacing(b, tcp);
	if (b->is_filled || rate > tcp->pacing_bytes_per_s)
		tcp->pacing_bytes_per_s = rate;
}

/* Packets that the host sends in one piece. */
CC_INLINE __u32 bbr3_piece(const struct bbr3 *b, const struct cc_stack *tcp)
{
	__u32 halvings = b->min_rtt_us >> BBR3_RTT_PIECE_SHIFT;
	__u64 bytes = tcp->pacing_bytes_per_s >> BBR_PIECE_SHIFT;

	if (halvings < 32)
		bytes += BBR3_RTT_PIECE_BYTES >> halvings;
	bytes = min_u64(bytes, STACK_MAX_PIECE_BYTES);
	return (__u32)max_u64(div_u64(bytes, tcp->mss_bytes), BBR3_MIN_PIECE);
}

CC_INLINE __u32 bbr3_product(const struct bbr3 *b, __u32 bw, __u32 gain)
{
	return b->min_rtt_us == STACK_NO_RTT ? b->initial_cwnd : bbr_bdp(bw, b->min_rtt_us, gain);
}

/* At least a piece in the sending host, one in its device and one in the receiver; and so that UP raises what
 * is in flight on short paths, too.
 */
CC_INLINE __u32 bbr3_with_pieces(const struct bbr3 *b, const struct cc_stack *tcp, __u32 packets)
{
	packets = (__u32)max_u64(packets, max_u64(3 * bbr3_piece(b, tcp), BBR_MIN_PIPE_CWND));
	return b->state == BBR3_UP ? packets + 2 : packets;
}

CC_INLINE __u32 bbr3_inflight(const struct bbr3 *b, const struct cc_stack *tcp, __u32 bw)
{
	return bbr3_with_pieces(b, tcp, bbr3_product(b, bw, BBR_UNIT));
}

/* What will be in the network when pacing lets the next piece go: with it while more is to get there. */
CC_INLINE __u32 bbr3_in_network(const struct bbr3 *b, const struct cc_stack *tcp, __u32 in_flight)
{
	if (b->pacing_gain > BBR_UNIT)
		in_flight += bbr3_piece(b, tcp);
	return (__u32)sub_floor_u64(in_flight, bbr_packets_in(bbr3_bw(b), tcp->paced_ahead_us));
}

/* What is given back after losses and ProbeRTT. */
CC_INLINE void bbr3_save_cwnd(struct bbr3 *b, const struct cc_stack *tcp)
{
	if (b->ca_state < CA_STATE_RECOVERY && b->state != BBR3_PROBE_RTT)
		b->prior_cwnd = tcp->cwnd;
	else
		b->prior_cwnd = (__u32)max_u64(b->prior_cwnd, tcp->cwnd);
}

#endif /* CLARION_CC_BBR3_MODEL_H */
