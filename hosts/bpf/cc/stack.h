/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The second form of a law: as kernels have theirs (struct tcp_congestion_ops). It sees its connection, and
 * changes what comes first there.
 *
 * Reno and its descendants leave loss recovery to the TCP that they run in: it reduces the window in
 * proportion (RFC 6937) down to what the law says, and the law grows it. Such a law is a struct LAW and the
 * functions below; stack_ops.h calls them for the kernel, sim/laws/stack_law.cpp for the simulator.
 *
 *	LAW_init(law, p, tcp)			    the connection is established
 *	LAW_grow(law, p, tcp, acked)		    packets acknowledged, nothing reduces (cong_avoid)
 *	LAW_on_acked(law, p, tcp, packets, rtt_us)  after every ACK (pkts_acked); rtt_us < 0: no sample
 *	LAW_on_state(law, p, tcp, next)		    before the state changes (set_state)
 *	LAW_on_event(law, p, tcp, event)	    enum stack_event (cwnd_event)
 *	LAW_ssthresh(law, p, tcp)		    what a loss leaves of the window, packets
 *	LAW_undo(law, p, tcp)			    the window after a mistaken reduction, packets
 *
 * A law without use for one of them says so by a macro at the end of this file.
 */
#ifndef CLARION_CC_STACK_H
#define CLARION_CC_STACK_H

#include "arith.h"
#include "ca_state.h"
#include "params.h"

#define STACK_INFINITE_SSTHRESH 0x7fffffffU
#define STACK_NO_RTT		0xffffffffU

/* The coarse clock of Linux, at its usual 250 ticks a second. */
#define STACK_HZ      250
#define STACK_TICK_US (USEC_PER_SEC / STACK_HZ)

/* Bytes that go down to a device in one piece: 64 KiB less the headers that may be put before them. */
#define STACK_MAX_PIECE_BYTES (65536U - 320 - 1)

/* What such a law sees of its connection. It may change the first four, and controlling_link. */
struct cc_stack {
	__u32 cwnd;		  /* packets */
	__u32 ssthresh;		  /* packets */
	__u32 cwnd_count;	  /* packets acknowledged towards the next one of growth */
	__u64 pacing_bytes_per_s; /* of payload; with timers or without */
	__u64 max_pacing_bytes_per_s;
	__u32 cwnd_clamp; /* packets */
	__u32 mss_bytes;  /* payload of a full packet */
	__u64 now_us;
	__u64 last_sent_us;   /* when anything was sent last */
	__u64 delivered_us;   /* when anything was delivered last, or sent after all had been */
	__u32 paced_ahead_us; /* until pacing lets the next packet go */
	__u32 srtt_us;	      /* 0: none yet */
	__u32 min_rtt_us;     /* of the connection's TCP; STACK_NO_RTT: none yet */
	__u32 una;	      /* sequence number up to which all is acknowledged; only to be compared with: */
	__u32 next;	      /* the sequence number of what is sent next */
	__u32 delivered;      /* packets delivered so far, modulo 2^32 */
	__u32 delivered_ce;   /* of these, marked; exact with accurate ECN (RFC 9768) */
	__u32 lost;	      /* packets marked lost so far, modulo 2^32 */
	__u32 in_flight;      /* packets */
	__u8 ca_state;	      /* of the connection's TCP */
	__u8 is_cwnd_limited; /* the window has been used up lately */
	__u8 is_app_limited;  /* the application has been the limit lately */
	__u8 is_paced;	      /* by timers */
	__u8 load_code;	      /* of VCP's routers, in the ACK at hand (vcp.h); 0: none */
	__u16 told_link;      /* of JetMax's or MaxNet's routers, the same; 0: none */
	__u32 told_word;      /* with it */
	__u16 controlling_link; /* as the data tells routers (jetmax.h); 0: none yet */
};

/* enum tcp_ca_event of the kernel. */
enum stack_event {
	STACK_TX_START = 0,	/* sends after all had been acknowledged */
	STACK_CWND_RESTART = 1, /* the window was reset after a pause */
	STACK_COMPLETE_CWR = 2, /* recovery is over, the window is ssthresh */
	STACK_LOSS = 3,		/* a timeout has set ssthresh, the window is about to be one packet */
};

/* What an ACK says of the rate of delivery (struct rate_sample). What only Google's kernel has in it is
 * filled in by the simulator only.
 */
struct stack_ack {
	__s64 interval_us; /* 0 or less: no sample */
	__s64 rtt_us;	   /* of the newest packet acknowledged that was sent once; negative: none */
	__s32 delivered;   /* packets over the interval; negative: no sample */
	__u32 prior_delivered;
	__u32 prior_in_flight;
	__u32 losses;	     /* packets that it marked lost */
	__u32 acked_packets; /* newly delivered, SACKed ones included */
	__u8 is_app_limited;
	__u8 has_echo;	      /* of a congestion mark; Google's, as is all below */
	__u8 is_of_probe;     /* of a packet that a loss probe has sent once more, or of its first copy */
	__u32 sent_in_flight; /* packets, with it, when the packet was sent that the sample is of */
	__u32 lost;	      /* packets marked since then */
	__u32 delivered_ce;   /* of `delivered`, with an echo */
};

/* A packet that has been marked lost (skb_marked_lost of Google's kernel). */
struct stack_lost {
	__u32 sent_in_flight; /* packets, with it, when it was sent */
	__u32 lost;	      /* packets marked since then, with it */
	__u8 is_app_limited;
};

/* Never 0, which stands for no time. */
CC_INLINE __u32 stack_ticks(__u64 us)
{
	return (__u32)(us / STACK_TICK_US + 1);
}

/* Rounded up. */
CC_INLINE __u32 stack_ticks_of(__u32 us)
{
	return (__u32)(((__u64)us + STACK_TICK_US - 1) / STACK_TICK_US);
}

CC_INLINE int stack_is_slow_start(const struct cc_stack *tcp)
{
	return tcp->cwnd < tcp->ssthresh;
}

/* Slow start up to ssthresh (RFC 5681, 3.1, with L = all that is acknowledged); returns what is left. */
CC_INLINE __u32 stack_slow_start(struct cc_stack *tcp, __u32 acked)
{
	__u32 cwnd = (__u32)min_u64((__u64)tcp->cwnd + acked, tcp->ssthresh);

	acked -= cwnd - tcp->cwnd;
	tcp->cwnd = (__u32)min_u64(cwnd, tcp->cwnd_clamp);
	return acked;
}

/* How growth begins in all of these laws: not at all while the window is not used up, else with slow start.
 * False: that was all; else `acked` is what slow start left.
 */
CC_INLINE int stack_is_past_slow_start(struct cc_stack *tcp, __u32 *acked)
{
	if (!tcp->is_cwnd_limited)
		return 0;
	if (!stack_is_slow_start(tcp))
		return 1;
	*acked = stack_slow_start(tcp, *acked);
	return *acked > 0;
}

/* One packet for every `per` that are acknowledged. An ACK of what had been SACKed before acknowledges none,
 * and may still bring the packet that a smaller `per` allows.
 */
CC_INLINE void stack_grow(struct cc_stack *tcp, __u32 per, __u32 acked)
{
	__u32 more;

	per = (__u32)max_u64(per, 1);
	if (tcp->cwnd_count >= per) { /* `per` has become smaller */
		tcp->cwnd_count = 0;
		tcp->cwnd++;
	}
	tcp->cwnd_count += acked;
	more = tcp->cwnd_count / per;
	tcp->cwnd_count -= more * per;
	tcp->cwnd = (__u32)min_u64((__u64)tcp->cwnd + more, tcp->cwnd_clamp);
}

/* For a law that keeps the window before a reduction in `prior_cwnd`. */
#define STACK_UNDO_TO_PRIOR(law)                                                                             \
	CC_INLINE __u32 law##_undo(struct law *l, const struct cc_params *p, const struct cc_stack *tcp)     \
	{                                                                                                    \
		(void)p;                                                                                     \
		return (__u32)max_u64(tcp->cwnd, l->prior_cwnd);                                             \
	}

/* For a law to which ACKs, states or events say nothing. Their type says so, so that a caller need not
 * collect what they would see.
 */
enum stack_ignored { STACK_IGNORED };

#define STACK_IGNORES_ACKED(law)                                                                             \
	CC_INLINE enum stack_ignored law##_on_acked(struct law *l, const struct cc_params *p,                \
						    struct cc_stack *tcp, __u32 packets, __s64 rtt_us)       \
	{                                                                                                    \
		(void)l, (void)p, (void)tcp, (void)packets, (void)rtt_us;                                    \
		return STACK_IGNORED;                                                                        \
	}

#define STACK_IGNORES_STATES(law)                                                                            \
	CC_INLINE enum stack_ignored law##_on_state(struct law *l, const struct cc_params *p,                \
						    struct cc_stack *tcp, __u8 next)                         \
	{                                                                                                    \
		(void)l, (void)p, (void)tcp, (void)next;                                                     \
		return STACK_IGNORED;                                                                        \
	}

#define STACK_IGNORES_EVENTS(law)                                                                            \
	CC_INLINE enum stack_ignored law##_on_event(struct law *l, const struct cc_params *p,                \
						    struct cc_stack *tcp, __u8 event)                        \
	{                                                                                                    \
		(void)l, (void)p, (void)tcp, (void)event;                                                    \
		return STACK_IGNORED;                                                                        \
	}

#endif /* CLARION_CC_STACK_H */
