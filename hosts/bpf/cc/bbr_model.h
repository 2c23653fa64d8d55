/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What BBR knows of its path, and what follows from that for rate and window. */
#ifndef CLARION_CC_BBR_MODEL_H
#define CLARION_CC_BBR_MODEL_H

#include "bbr_aggregation.h"
#include "bbr_common.h"
#include "bbr_policer.h"
#include "random.h"
#include "windowed_max.h"

#define BBR_HIGH_GAIN	 739U /* 2 / ln 2: doubles the sending rate per round trip (4.3.2.1) */
#define BBR_YIELD_GAIN	 192U
#define BBR_BW_ROUNDS	 10 /* BtlBwFilterLen */
#define BBR_CYCLE_LEN	 8
#define BBR_CYCLE_RANDOM 7U
#define BBR_INITIAL_CWND 10
/* A piece is two packets at least from 1.2 Mbit/s on. */
#define BBR_PAIRS_BYTES_PER_S 150000
#define BBR_MAX_PIECE_PACKETS 127

enum bbr_state {
	BBR_STARTUP,
	BBR_DRAIN,
	BBR_PROBE_BW,
	BBR_PROBE_RTT,
};

struct bbr {
	struct windowed_max bw; /* of rounds */
	struct bbr_aggregation aggregation;
	struct bbr_policer policer;
	__u64 cycle_began_us; /* its phase */
	__u32 min_rtt_us;
	__u32 min_rtt_tick;
	__u32 probe_rtt_done_tick; /* 0: not set */
	__u32 rounds;
	__u32 next_round_delivered;
	__u32 full_bw;
	__u32 prior_cwnd;
	__u32 random;
	__u16 pacing_gain;
	__u16 cwnd_gain;
	__u8 state;
	__u8 cycle;
	__u8 full_bw_rounds;
	__u8 ca_state; /* at the ACK before */
	__u8 is_round_start;
	__u8 is_filled; /* the pipe, once */
	__u8 conserves; /* packets, in the first round of recovery */
	__u8 idle_restart;
	__u8 probe_rtt_round_done;
	__u8 has_rtt;
};

CC_INLINE __u32 bbr_max_bw(const struct bbr *b)
{
	return windowed_max_value(&b->bw);
}

CC_INLINE __u32 bbr_bw(const struct bbr *b)
{
	return b->policer.is_in_use ? b->policer.bw : bbr_max_bw(b);
}

CC_INLINE void bbr_init_pacing(struct bbr *b, struct cc_stack *tcp)
{
	b->has_rtt = tcp->srtt_us != 0;
	tcp->pacing_bytes_per_s = bbr_pacing_rate(
	    tcp, bbr_rate_of(tcp->cwnd, b->has_rtt ? tcp->srtt_us : BBR_INITIAL_RTT_US), BBR_HIGH_GAIN);
}

/* 4.2.1: in Startup it only rises. */
CC_INLINE void bbr_set_pacing(struct bbr *b, struct cc_stack *tcp, __u32 gain)
{
	__u64 rate = bbr_pacing_rate(tcp, bbr_bw(b), gain);

	if (!b->has_rtt && tcp->srtt_us)
		bbr_init_pacing(b, tcp);
	if (b->is_filled || rate > tcp->pacing_bytes_per_s)
		tcp->pacing_bytes_per_s = rate;
}

/* Packets that the host sends in one piece (send_quantum, 4.2.2). */
CC_INLINE __u32 bbr_piece(const struct cc_stack *tcp)
{
	__u64 bytes = min_u64(tcp->pacing_bytes_per_s >> BBR_PIECE_SHIFT, STACK_MAX_PIECE_BYTES);
	__u64 least = tcp->pacing_bytes_per_s < BBR_PAIRS_BYTES_PER_S ? 1 : 2;

	return (__u32)min_u64(max_u64(div_u64(bytes, tcp->mss_bytes), least), BBR_MAX_PIECE_PACKETS);
}

/* 4.2.3.2: packets that a rate and a gain fill the path with, rounded up. */
CC_INLINE __u32 bbr_product(const struct bbr *b, __u32 bw, __u32 gain)
{
	return b->min_rtt_us == STACK_NO_RTT ? BBR_INITIAL_CWND : bbr_bdp(bw, b->min_rtt_us, gain);
}

/* Room for a piece in the sending host, one in its device and one in the receiver; even in number, for
 * delayed ACKs; and so that the phase above raises what is in flight on short paths, too.
 */
CC_INLINE __u32 bbr_with_pieces(const struct bbr *b, const struct cc_stack *tcp, __u32 packets)
{
	packets = (packets + 3 * bbr_piece(tcp) + 1) & ~1U;
	return b->state == BBR_PROBE_BW && b->cycle == 0 ? packets + 2 : packets;
}

CC_INLINE __u32 bbr_target(const struct bbr *b, const struct cc_stack *tcp, __u32 gain)
{
	return bbr_with_pieces(b, tcp, bbr_product(b, bbr_max_bw(b), gain));
}

/* What will be in the network when pacing lets the next piece go: with it while more is to get there. */
CC_INLINE __u32 bbr_in_network(const struct bbr *b, const struct cc_stack *tcp, __u32 in_flight)
{
	if (b->pacing_gain > BBR_UNIT)
		in_flight += bbr_piece(tcp);
	return (__u32)sub_floor_u64(in_flight, bbr_packets_in(bbr_bw(b), tcp->paced_ahead_us));
}

#endif /* CLARION_CC_BBR_MODEL_H */
