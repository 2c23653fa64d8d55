/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Input of every law at an ACK, and its output. The laws see nothing else of the kernel. */
#ifndef CLARION_CC_SAMPLE_H
#define CLARION_CC_SAMPLE_H

#include <linux/types.h>

#include "arith.h"

/* The rate of a window without a round trip time. */
#define CC_NO_RATE (~0ULL)

struct cc_sample {
	__u64 now_us;
	__u32 mss_bytes;	   /* payload of a full packet */
	__u32 full_len_bytes;	   /* its frame without FCS, with the Clarion header */
	__u32 srtt_us;		   /* 0: no round trip measured yet */
	__u32 min_rtt_us;	   /* of the path without queues (base_rtt.h); 0: none yet */
	__u32 rtt_us;		   /* of the newest packet acknowledged; 0: none, or it was retransmitted */
	__u32 acked_packets;	   /* newly delivered, SACKed ones included */
	__u32 delivered_packets;   /* total delivered so far, modulo 2^32 */
	__u32 prior_delivered;	   /* that total when the newest packet acknowledged was sent */
	__u32 lost_packets;	   /* total marked lost so far, modulo 2^32 */
	__u32 in_flight_packets;   /* now, by the transport's own estimate */
	__u32 outstanding_packets; /* sent and not yet acknowledged before this ACK, lost ones included */
	__u32 ce_packets;	   /* total delivered with a congestion mark so far, modulo 2^32 */
	__u32 local_drops;	   /* total that queues of this host dropped so far, modulo 2^32 */
	__u8 has_delivery;	   /* prior_delivered is valid */
	__u8 is_retransmitted;	   /* the newest packet acknowledged was sent more than once */
	__u8 is_limited;	   /* the application or the receiver's window limits the flow, not its own */
	__u8 is_open;		   /* no loss, no SACK, no recovery outstanding */
	__u8 in_recovery;	   /* fast recovery; not the recovery from a timeout, which grows again */
	__u8 has_to_resend;	   /* fast recovery, and nothing that was lost is under way again */
	__u8 saw_reordering;	   /* this path has reordered packets */
	__u8 has_tags;		   /* loss causes are being echoed and wanted */
	__u8 has_feedback;	   /* rate feedback may be echoed: header-aware on both ends and not plain */
};

/* Output of a law. */
struct cc_control {
	__u32 cwnd_packets;
	__u8 is_paced;	   /* by timers; else ACKs are the clock, and the rate only bounds the local queue */
	__u64 bytes_per_s; /* of payload; CC_NO_RATE: no round trip time yet */
};

/* A round trip, counted in deliveries: it ends at the first ACK of a packet sent after it began. */
struct cc_round {
	__u32 start_delivered;
};

CC_INLINE void round_begin(struct cc_round *round, const struct cc_sample *s)
{
	round->start_delivered = s->delivered_packets;
}

CC_INLINE int round_has_ended(const struct cc_round *round, const struct cc_sample *s)
{
	return s->has_delivery && wrap_diff_u32(s->prior_delivered, round->start_delivered) >= 0;
}

#endif /* CLARION_CC_SAMPLE_H */
