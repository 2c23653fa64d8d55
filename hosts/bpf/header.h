/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The Clarion header, version 1, and the handshake option: layout and constants (docs/wire-format.md).
 *
 * The header sits between the IP header and the transport header. All fields are in network byte order.
 */
#ifndef CLARION_HEADER_H
#define CLARION_HEADER_H

#include <linux/types.h>

#include "flow.h"

#define CLARION_VERSION		 1
#define CLARION_PROTOCOL_DEFAULT 253 /* RFC 3692 experimental */

#define CLARION_DATA_BYTES 32
#define CLARION_ACK_BYTES  12
#define CLARION_TAG_BYTES  16
#define CLARION_MIN_BYTES  CLARION_ACK_BYTES
#define CLARION_MAX_BYTES  CLARION_DATA_BYTES

/* Flag bits. Routers raise the hop count of DATA and pass the others on unchanged. */
#define CLARION_FLAG_ECHO	0x01 /* the rev_* fields (and reverse_feedback) hold an echo */
#define CLARION_FLAG_HOPS	0x0e /* ports with XCP on that a DATA packet has passed, at most 7 */
#define CLARION_FLAG_REGULATED	0x10 /* echo: the last request received had passed such a port */
#define CLARION_FLAG_REV_FIELD	0xe0 /* echo: the `field` of that request */
#define CLARION_HOPS_SHIFT	1
#define CLARION_REV_FIELD_SHIFT 5

/* The low bits of `rtt` hold `field`, the hop that limits the flow; 0 = unknown. */
#define CLARION_RTT_FIELD 0x07

/* First four bytes of every format. */
struct clarion_prefix {
	__u8 next_protocol; /* protocol of the header that follows */
	__u8 length;	    /* of this header, bytes */
	__u8 version_format;
	__u8 flags;
};

struct clarion_data {
	struct clarion_prefix prefix;
	__be32 rtt;		 /* Q4.28 s, 0 = none yet; its low three bits are `field` */
	__be32 x;		 /* packet size / throughput, Q4.28 s */
	__be32 delta_throughput; /* signed bytes/s: requested, then granted */
	__be32 reverse_feedback; /* running total modulo 2^32, bytes/s */
	__be16 bucket;
	__be16 link_seq;
	__be16 corrupt;
	__be16 congest;
	__be16 rev_corrupt;
	__be16 rev_congest;
};

struct clarion_ack {
	struct clarion_prefix prefix;
	__be32 reverse_feedback;
	__be16 rev_corrupt;
	__be16 rev_congest;
};

struct clarion_tag {
	struct clarion_prefix prefix;
	__be16 bucket;
	__be16 link_seq;
	__be16 corrupt;
	__be16 congest;
	__be16 rev_corrupt;
	__be16 rev_congest;
};

_Static_assert(sizeof(struct clarion_data) == CLARION_DATA_BYTES, "DATA layout");
_Static_assert(sizeof(struct clarion_ack) == CLARION_ACK_BYTES, "ACK layout");
_Static_assert(sizeof(struct clarion_tag) == CLARION_TAG_BYTES, "TAG layout");

static inline __u8 clarion_version_format(enum clarion_format format)
{
	return CLARION_VERSION << 4 | format;
}

/* Length of a header of `format`; 0 if there is no such format. */
static inline __u32 clarion_length(__u8 format)
{
	switch (format) {
	case CLARION_DATA:
		return CLARION_DATA_BYTES;
	case CLARION_ACK:
		return CLARION_ACK_BYTES;
	case CLARION_TAG:
		return CLARION_TAG_BYTES;
	default:
		return 0;
	}
}

/* Handshake: a TCP experimental option (RFC 6994) on SYN and SYN-ACK.
 *
 * A host offers the header in the SYN and accepts it in the SYN-ACK. The two device bits are set by the
 * shims that the segment passes: an offer that left or arrived through a device without a shim is void.
 * CLARION_OPTION_ACCEPT distinguishes an answer from a SYN option that a peer merely reflected.
 */
#define CLARION_OPTION_KIND  254
#define CLARION_OPTION_EXID  0xC1A7
#define CLARION_OPTION_BYTES 5

#define CLARION_OPTION_LEFT    0x01 /* left its host through a shim */
#define CLARION_OPTION_ARRIVED 0x02 /* reached its host through a shim */
#define CLARION_OPTION_ACCEPT  0x80 /* on the SYN-ACK */
#define CLARION_OPTION_THROUGH (CLARION_OPTION_LEFT | CLARION_OPTION_ARRIVED)

struct clarion_option {
	__u8 kind;
	__u8 length;
	__u8 exid[2]; /* network byte order; bytes, because an option need not be aligned */
	__u8 flags;
};

_Static_assert(sizeof(struct clarion_option) == CLARION_OPTION_BYTES, "option layout");

#endif /* CLARION_HEADER_H */
