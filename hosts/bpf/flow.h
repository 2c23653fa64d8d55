/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* State of one flow, shared by the header shim, the handshake, the congestion controllers and the agent. A
 * flow is a TCP connection, or a connected UDP socket whose program asks for headers (`struct flow_ask`).
 *
 * One `struct flow` per socket, in socket storage (map `flows`). Each part writes its own section, reads the
 * others, and tolerates a value that is one packet old. Sending, timeouts and controllers run under the
 * socket lock. Reception does not: packets of one flow may arrive on several CPUs at once, so it takes
 * `lock`.
 *
 * hosts/layout mirrors these in Rust; its tests compare both layouts.
 */
#ifndef CLARION_FLOW_H
#define CLARION_FLOW_H

#include <linux/bpf.h>
#include <linux/types.h>

/* Formats of the Clarion header (docs/wire-format.md). */
enum clarion_format {
	CLARION_NONE = 0,
	CLARION_DATA = 1,
	CLARION_ACK = 2,
	CLARION_TAG = 3,
};

/* Whether pure ACKs carry headers. When payload comes without header from a peer that sent headers before, it
 * may have lost its shim, or its path; so every second ACK goes plain: enough get through in any case.
 */
enum clarion_turn {
	CLARION_TURN_ALWAYS = 0, /* the peer sends headers */
	CLARION_TURN_PLAIN = 1,	 /* the next pure ACK goes without */
	CLARION_TURN_HEADER = 2, /* the next pure ACK goes with */
};

/* Why a law has made its window smaller. */
enum flow_reason {
	FLOW_NOT_REDUCED = 0,
	FLOW_CONGESTION = 1,   /* the congestion total has moved: a queue of the path dropped packets */
	FLOW_UNEXPLAINED = 2,  /* more losses than both totals explain */
	FLOW_LOSS = 3,	       /* any loss: causes are unknown or unused */
	FLOW_TIMEOUT = 4,      /* a retransmission timeout */
	FLOW_DELAY = 5,	       /* a standing queue, seen as delay */
	FLOW_ECN = 6,	       /* a queue marked packets (RFC 3168) */
	FLOW_CONTRADICTED = 7, /* losses tagged as corruption that behave like congestion */
	FLOW_LOCAL = 8,	       /* a queue of this host dropped packets */
	FLOW_REASONS = 9,
};

/* Size of one law's private state in `struct flow`; each law asserts that its state fits. */
#define CLARION_LAW_BYTES 352

/* Written by the handshake and the shim. */
struct flow_identity {
	__u64 netns_cookie;
	__u64 cookie;	      /* socket cookie */
	__u16 bucket;	      /* flow tag that the shim stamps */
	__u8 aware;	      /* both ends offered the header in the handshake */
	__u8 tags;	      /* loss causes are wanted for the packets of this host */
	__u8 plain;	      /* fell back: headers looked black-holed */
	__u8 peer_format;     /* format of the last data-bearing header received; CLARION_NONE before it */
	__u8 plain_fallbacks; /* times `plain` was set */
	__u8 heard;	      /* totals have arrived: there is an echo to send */
	__u8 plain_turn;      /* enum clarion_turn */
	__u8 pad[3];
};

/* Written by the shim on egress and at the handshake's timeouts: do headers get through (fallback.h)? */
struct flow_passage {
	__u32
	    attempt_seq; /* segment that timeouts are counted for, then the one sent plain, then the probe */
	__u32 tried_seq; /* first segment of an idle socket, as last handed to the device */
	__u32 probe_bytes; /* payload from which on a packet with header is in doubt */
	__u32 retry_us;	   /* low 32 bits of the clock from which on a plain flow may probe again */
	__u8 state;	   /* enum flow_passage_state */
	__u8 attempts;	   /* timeouts in a row for the segment at `attempt_seq` */
	__u8 tries;	   /* times that the segment at `tried_seq` was handed to the device */
	__u8 pad;
};

/* Written by the shim on ingress: totals of the packets received, to be echoed. */
struct flow_seen {
	__u32 granted;	/* running total of delta_throughput granted to the peer, bytes/s, modulo 2^32 */
	__u16 corrupt;	/* path total of wire losses, modulo 2^16, own wire check included */
	__u16 congest;	/* path total of queue drops, modulo 2^16 */
	__u8 regulated; /* a hop with XCP on has seen the last packet with a request */
	__u8 field;	/* the hop that limits the peer, as the last packet with a request had it */
	__u8 pad[2];
};

/* Written by the shim on ingress: the peer's echo about the packets of this end. */
struct flow_echo {
	__u32 reverse_feedback; /* running total, bytes/s, modulo 2^32 */
	__u16 rev_corrupt;
	__u16 rev_congest;
	__u32 nr_echoes; /* headers received that carried an echo; 0 = the others mean nothing yet */
	__u8 regulated;	 /* a hop of the path regulates */
	__u8 field;	 /* the hop that limits this end, 0 = unknown */
	__u8 pad[2];
};

/* Written by a controller for the shim: what it wants of its packets. With rate feedback it goes into DATA
 * headers.
 */
struct flow_request {
	__u8 wanted; /* 1: data packets carry DATA headers */
	__u8 field;  /* the hop that limits the flow, as echoed; 0 = unknown */
	__u8 ect1;   /* 1: ECN-capable packets are ECT(1) (RFC 9331) */
	__u8 pad;
	__u32 rtt; /* Q4.28 s, 0 = none yet */
	__u32 x;   /* Q4.28 s, of a packet of `full_len` bytes; the shim scales it for shorter ones */
	__s32 delta_throughput; /* bytes/s requested by a packet of `full_len` bytes, scaled likewise */
	__u32 full_len;		/* frame bytes of a full-sized data packet, header included */
};

/* Counters for `clarion-host stats`, with the part that writes them. */
struct flow_stats {
	__u64 tx_headers;	    /* shim */
	__u64 rx_headers;	    /* shim */
	__u64 gso_passed;	    /* shim: packets left untouched because they were GSO */
	__s64 feedback_bytes_per_s; /* controller: sum of feedback received */
	__u32 local_drops;	    /* tracing: packets with header that a queue of this host dropped */
	__u32 local_corrupt;	    /* controller: of `corrupt`, those that were local drops */
	__u32 refused_segments;	    /* shim: segments that TCP would not accept: their headers are not read */
	__u32 reduced[FLOW_REASONS]; /* controller: reductions by enum flow_reason */
	__u32 rebased;		     /* controller: totals that jumped and became a new base */
	__u32 corrupt;		     /* shim: rev_corrupt unwrapped to 32 bits */
	__u32 congest;		     /* shim: rev_congest unwrapped to 32 bits */
};

struct flow {
	struct flow_identity id;
	struct flow_passage passage;
	struct flow_seen seen;
	struct flow_echo echo;
	struct flow_request request;
	struct flow_stats stats;
	__u8 decision; /* enum flow_reason of a reduction that is not reported yet */
	__u8 pad[7];
	__u64 law[CLARION_LAW_BYTES / 8]; /* private to the controller */
	struct bpf_spin_lock lock;	  /* of what the shim writes on ingress */
};

/* What the next datagrams of a UDP flow carry. */
enum flow_carries {
	FLOW_CARRIES_NONE = 0,	  /* no header */
	FLOW_CARRIES_ECHO = 1,	  /* as a pure ACK of TCP: an echo, if there is something to echo */
	FLOW_CARRIES_REQUEST = 2, /* as TCP's payload: they will be acknowledged, and carry DATA or TAG */
};

/* What the program of a connected UDP socket wants of its datagrams, in socket storage of its own (map
 * `asks`). Written by the program alone, as a whole and with BPF_F_LOCK, so that it never writes where the
 * kernel does; a socket that has one is a flow. The cookies are what SO_NETNS_COOKIE and SO_COOKIE say of the
 * socket.
 */
struct flow_ask {
	__u64 netns_cookie;
	__u64 cookie;
	struct flow_request request;
	__u8 carries;  /* enum flow_carries */
	__u8 tags;     /* loss causes are wanted */
	__u8 guard_at; /* offset in a datagram's payload of eight bytes that the peer knows, a stranger does
			  not */
	__u8 pad[9];
	__u64 guard;	  /* these bytes, in memory order; the headers of other datagrams are not believed */
	__u64 guard_mask; /* the bits of them that count; 0: no such bytes */
	struct bpf_spin_lock lock;
	__u32 tail;
};

/* Counts a reduction; the glue around the laws reports it (decisions.h). */
static inline __attribute__((always_inline, unused)) void flow_decide(struct flow *flow,
								      enum flow_reason reason)
{
	flow->decision = reason;
	if (reason < FLOW_REASONS)
		flow->stats.reduced[reason]++;
}

#endif /* CLARION_FLOW_H */
