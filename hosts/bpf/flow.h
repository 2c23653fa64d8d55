/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* State of one TCP flow, shared by the header shim, the handshake, the congestion controllers and the agent.
 *
 * One `struct flow` per socket, in socket storage (map `flows`). Each part writes its own section, reads the
 * others, and tolerates a value that is one packet old. Sending, timeouts and controllers run under the
 * socket lock. Reception does not: packets of one flow may arrive on several CPUs at once, so it takes
 * `lock`.
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

/* Size of one law's private state in `struct flow`; each law asserts that its state fits. */
#define CLARION_LAW_BYTES 192

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
	__u8 attempts;	      /* failed attempts in a row, all for the segment at `attempts_una` */
	__u8 pad[2];
	__u32 attempts_una;
};

/* Written by the shim on ingress: totals of the packets received, to be echoed. */
struct flow_seen {
	__u32 granted; /* running total of delta_throughput granted to the peer, bytes/s, modulo 2^32 */
	__u16 corrupt; /* path total of wire losses, modulo 2^16, own wire check included */
	__u16 congest; /* path total of queue drops, modulo 2^16 */
};

/* Written by the shim on ingress: the peer's echo about the packets of this end. */
struct flow_echo {
	__u32 reverse_feedback; /* running total, bytes/s, modulo 2^32 */
	__u16 rev_corrupt;
	__u16 rev_congest;
	__u32 nr_echoes; /* headers received that carried an echo; 0 = the three above mean nothing yet */
};

/* Written by a controller that wants rate feedback; the shim puts it into DATA headers. */
struct flow_request {
	__u8 wanted; /* 1: data packets carry DATA headers */
	__u8 pad[3];
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
	__u32 reduced_congestion;   /* controller: reductions because the congestion total moved */
	__u32 reduced_unexplained;  /* controller: because losses exceeded both totals */
	__u32 reduced_loss;	    /* controller: any loss, causes unknown or unused */
	__u32 reduced_timeout;	    /* controller: retransmission timeout */
	__u32 reduced_delay;	    /* controller: a standing queue, seen as delay */
	__u32 rebased;		    /* controller: totals that jumped and became a new base */
	__u32 corrupt;		    /* shim: rev_corrupt unwrapped to 32 bits */
	__u32 congest;		    /* shim: rev_congest unwrapped to 32 bits */
};

struct flow {
	struct flow_identity id;
	struct flow_seen seen;
	struct flow_echo echo;
	struct flow_request request;
	struct flow_stats stats;
	__u64 law[CLARION_LAW_BYTES / 8]; /* private to the controller */
	struct bpf_spin_lock lock;	  /* of what the shim writes on ingress */
};

#endif /* CLARION_FLOW_H */
