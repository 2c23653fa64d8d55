/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Data shared with the agent: one record per flow, one entry per namespace and per device.
 *
 * The agent mirrors these in Rust (agent/src/model/record.rs); one of its unit tests compares both layouts.
 */
#ifndef CLARION_RECORD_H
#define CLARION_RECORD_H

#include <linux/types.h>

#include "flow.h"

#define CLARION_CC_NAME_MAX 16

/* One attached namespace; `next_bucket` is counted up as flows open, the rest is set by the agent. */
struct attachment {
	__u32 next_bucket; /* running number that spreads the flows of one host over the buckets */
	__u8 tags;	   /* new TCP flows want loss causes */
	__u8 pad[3];
};

/* One attached device; counted by its shim, a packet at most once per counter. */
struct device_counters {
	__u64 tx_headers;  /* headers put on */
	__u64 rx_headers;  /* headers taken off */
	__u64 gso_passed;  /* left without header: segmentation was still to come */
	__u64 too_big;	   /* left without header: it would have exceeded the device MTU */
	__u64 no_headroom; /* left as it was: the kernel could not make or close the gap for the header */
	__u64 malformed;   /* header protocol on ingress, but no valid header: left as it came */
	__u64 no_flow;	   /* header taken off, but no socket with a flow: nothing to update */
	__u64 corrupt;	   /* wire losses seen by the ingress check, all buckets together */
	__u64 refused;	   /* header taken off what TCP would not accept, or a guard: not believed */
};

/* What LLDP says of a wire. */
enum wire_judgement {
	WIRE_UNPROVEN = 0,
	WIRE_PROVEN = 1,    /* one neighbour, which stamps */
	WIRE_DISPROVED = 2, /* something is between, or a neighbour that does not stamp */
};

/* The wire in front of a device: its losses are corruption only if nothing on it queues. */
struct wire {
	__u64 until_ns;	  /* CLOCK_MONOTONIC: the judgement holds until then */
	__u8 judgement;	  /* enum wire_judgement, by the agent's LLDP */
	__u8 is_declared; /* by the user: --wire */
	__u8 pad[6];
};

/* State of one socket and its flow; what `clarion-host stats` prints. What only TCP has is 0 for UDP. */
struct flow_record {
	struct flow_identity id;
	struct flow_seen seen;
	struct flow_echo echo;
	struct flow_stats stats;
	__u64 pacing_rate_bytes_per_s;
	__u32 srtt_us;	  /* 0 = no sample yet */
	__u32 min_rtt_us; /* over the kernel's window (net.ipv4.tcp_min_rtt_wlen) */
	__u32 cwnd_packets;
	__u32 delivered; /* packets */
	__u32 lost;	 /* packets */
	__u16 family;	 /* AF_INET or AF_INET6 */
	__u16 sport;	 /* host byte order */
	__u16 dport;	 /* host byte order */
	__u8 state;	 /* TCP state number of the kernel */
	__u8 wanted;	 /* the controller requests rate feedback */
	__u8 src[16];	 /* IPv4 addresses in the first four bytes */
	__u8 dst[16];
	char cc[CLARION_CC_NAME_MAX];
	__u8 protocol; /* IPPROTO_TCP or IPPROTO_UDP */
	__u8 pad[3];
};

/* One reduction of a window. */
struct decision {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 netns_cookie;
	__u64 cookie;	   /* of the socket */
	__u32 cwnd_before; /* packets */
	__u32 cwnd_after;
	__u16 family;
	__u16 sport; /* host byte order */
	__u16 dport;
	__u8 reason;	/* enum flow_reason */
	__u8 is_kernel; /* a congestion control of the kernel's own, seen by its change of state */
	char cc[CLARION_CC_NAME_MAX];
};

#endif /* CLARION_RECORD_H */
