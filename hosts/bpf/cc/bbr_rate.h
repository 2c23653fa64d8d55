/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The units of BBR: rates are packets per us, times 2^24; gains are fractions of 256. */
#ifndef CLARION_CC_BBR_RATE_H
#define CLARION_CC_BBR_RATE_H

#include "arith.h"

#define BBR_UNIT	   256U
#define BBR_BW_SHIFT	   24
#define BBR_PACING_PERCENT 99 /* so that queues drain, on average */

/* `packets` in `us`, which is not 0. */
CC_INLINE __u32 bbr_rate_of(__u32 packets, __u64 us)
{
	return (__u32)div_u64((__u64)packets << BBR_BW_SHIFT, us);
}

/* Packets that a rate delivers in `us`. */
CC_INLINE __u32 bbr_packets_in(__u32 bw, __u32 us)
{
	return (__u32)((__u64)bw * us >> BBR_BW_SHIFT);
}

/* What to pace at, in bytes/s of payload: 1 % less than the rate (draft, 4.2.3.2; the margin is Linux's). */
CC_INLINE __u64 bbr_bytes_per_s(__u32 bw, __u32 mss_bytes, __u32 gain)
{
	__u64 rate = (__u64)bw * mss_bytes * gain / BBR_UNIT;

	return rate * (USEC_PER_SEC / 100 * BBR_PACING_PERCENT) >> BBR_BW_SHIFT;
}

#endif /* CLARION_CC_BBR_RATE_H */
