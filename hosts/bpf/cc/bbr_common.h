/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What versions 1 and 3 of BBR have in common: constants, and what follows from a rate and a round trip. */
#ifndef CLARION_CC_BBR_COMMON_H
#define CLARION_CC_BBR_COMMON_H

#include "bbr_rate.h"
#include "stack.h"

#define BBR_DRAIN_GAIN	    88U /* ln 2 / 2: Startup's queue is gone after a round trip */
#define BBR_CWND_GAIN	    512U
#define BBR_PROBE_GAIN	    320U
#define BBR_FULL_BW_GAIN    320U
#define BBR_FULL_BW_ROUNDS  3
#define BBR_MIN_PIPE_CWND   4
#define BBR_MIN_RTT_TICKS   (10 * STACK_HZ)
#define BBR_PROBE_RTT_TICKS (STACK_HZ / 5)
#define BBR_INITIAL_RTT_US  1000
#define BBR_PIECE_SHIFT	    10 /* what a sender hands down in one piece: a millisecond */

CC_INLINE __u64 bbr_pacing_rate(const struct cc_stack *tcp, __u32 bw, __u32 gain)
{
	return min_u64(bbr_bytes_per_s(bw, tcp->mss_bytes, gain), tcp->max_pacing_bytes_per_s);
}

/* Packets that a rate and a gain fill the path with, rounded up. */
CC_INLINE __u32 bbr_bdp(__u32 bw, __u32 rtt_us, __u32 gain)
{
	__u64 packets = (__u64)bw * rtt_us * gain / BBR_UNIT;

	return (__u32)((packets + (1ULL << BBR_BW_SHIFT) - 1) >> BBR_BW_SHIFT);
}

#endif /* CLARION_CC_BBR_COMMON_H */
