/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What senders to which routers tell a rate have in common (jetmax.h, maxnet.h): the rate, of bytes of frames
 * as routers count them, as window and pacing rate. Pacing keeps to it; the window, of two round trips, only
 * bounds what is in flight when ACKs stay away.
 */
#ifndef CLARION_CC_TOLD_RATE_H
#define CLARION_CC_TOLD_RATE_H

#include "stack.h"

#define TOLD_HEADER_BYTES   82U	    /* of Ethernet, IP, TCP, time stamps and the option for the routers */
#define TOLD_TYPICAL_RTT_US 100000U /* that of a connection without a sample */
#define TOLD_SPARE_PACKETS  4U	    /* of the window: two that an ACK is delayed for, at both ends */

CC_INLINE __u32 told_rtt_us(const struct cc_stack *tcp)
{
	return tcp->srtt_us ? tcp->srtt_us : TOLD_TYPICAL_RTT_US;
}

CC_INLINE __u32 told_frame_bytes(const struct cc_stack *tcp)
{
	return tcp->mss_bytes + TOLD_HEADER_BYTES;
}

/* The initial window in a round trip. */
CC_INLINE __u64 told_first_rate(const struct cc_stack *tcp)
{
	return mul_div_u64((__u64)tcp->cwnd * told_frame_bytes(tcp), USEC_PER_SEC, told_rtt_us(tcp));
}

/* Never less than a packet per second, or nothing would be learnt any more. */
CC_INLINE __u64 told_bounded(__u64 bytes_per_s, const struct cc_stack *tcp)
{
	return max_u64(bytes_per_s, told_frame_bytes(tcp));
}

CC_INLINE void told_apply(__u64 bytes_per_s, struct cc_stack *tcp)
{
	__u64 bytes = mul_div_u64(bytes_per_s, 2ULL * told_rtt_us(tcp), USEC_PER_SEC);
	__u64 packets = div_u64(bytes, told_frame_bytes(tcp)) + TOLD_SPARE_PACKETS;
	__u64 payload = mul_div_u64(bytes_per_s, tcp->mss_bytes, told_frame_bytes(tcp));

	tcp->cwnd = (__u32)min_u64(packets, tcp->cwnd_clamp);
	tcp->pacing_bytes_per_s = min_u64(payload, tcp->max_pacing_bytes_per_s);
}

#endif /* CLARION_CC_TOLD_RATE_H */
