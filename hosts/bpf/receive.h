/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reading an incoming header, and what it changes in the flow of the socket that it is for. */
#ifndef CLARION_RECEIVE_H
#define CLARION_RECEIVE_H

#include "header.h"
#include "sequence.h"

#include <bpf/bpf_endian.h>

/* A header in host byte order; fields that its format lacks are zero. */
struct received {
	__u8 format;
	__u8 next_protocol;
	__u8 length;
	__u8 flags;
	__u8 field; /* the hop that limits the sender of this packet */
	__u16 bucket;
	__u16 link_seq;
	__u16 corrupt;
	__u16 congest;
	__u16 rev_corrupt;
	__u16 rev_congest;
	__u32 reverse_feedback;
	__u32 rtt; /* without `field` */
	__u32 delta_throughput;
};

static __always_inline void receive_data(struct received *received, const struct clarion_data *data)
{
	received->rtt = bpf_ntohl(data->rtt) & ~(__u32)CLARION_RTT_FIELD;
	received->field = received->rtt ? bpf_ntohl(data->rtt) & CLARION_RTT_FIELD : 0;
	received->delta_throughput = bpf_ntohl(data->delta_throughput);
	received->reverse_feedback = bpf_ntohl(data->reverse_feedback);
	received->bucket = bpf_ntohs(data->bucket);
	received->link_seq = bpf_ntohs(data->link_seq);
	received->corrupt = bpf_ntohs(data->corrupt);
	received->congest = bpf_ntohs(data->congest);
	received->rev_corrupt = bpf_ntohs(data->rev_corrupt);
	received->rev_congest = bpf_ntohs(data->rev_congest);
}

static __always_inline void receive_ack(struct received *received, const struct clarion_ack *ack)
{
	received->reverse_feedback = bpf_ntohl(ack->reverse_feedback);
	received->rev_corrupt = bpf_ntohs(ack->rev_corrupt);
	received->rev_congest = bpf_ntohs(ack->rev_congest);
}

static __always_inline void receive_tag(struct received *received, const struct clarion_tag *tag)
{
	received->bucket = bpf_ntohs(tag->bucket);
	received->link_seq = bpf_ntohs(tag->link_seq);
	received->corrupt = bpf_ntohs(tag->corrupt);
	received->congest = bpf_ntohs(tag->congest);
	received->rev_corrupt = bpf_ntohs(tag->rev_corrupt);
	received->rev_congest = bpf_ntohs(tag->rev_congest);
}

/* Totals and grants are what this end will echo; its own wire check is the last hop of the path. Its total is
 * read here, under the lock of the flow: of two packets that come in at once, the one that gets the lock last
 * must not leave behind the older total.
 */
static __always_inline void receive_totals(struct flow *flow, const struct received *received,
					   const struct clarion_sequence *wire, bool has_payload)
{
	__u8 hops = (received->flags & CLARION_FLAG_HOPS) >> CLARION_HOPS_SHIFT;

	if (received->format == CLARION_ACK)
		return;
	flow->seen.corrupt = received->corrupt;
	if (wire)
		flow->seen.corrupt += *(const volatile __u16 *)&wire->total;
	flow->seen.congest = received->congest;
	if (received->format == CLARION_DATA && received->rtt) {
		flow->seen.granted += received->delta_throughput;
		flow->seen.regulated = hops > 0;
		/* A hop further than the path is long is from before a change of path. */
		flow->seen.field = received->field <= hops ? received->field : 0;
	}
	if (has_payload)
		flow->id.peer_format = received->format;
	flow->id.heard = 1;
}

/* Adds the step of a 16-bit total to its 32-bit count, unless the path has restarted. */
static __always_inline void receive_unwrap(__u32 *count, __u16 from, __u16 to)
{
	__s32 step = (__s16)(__u16)(to - from);

	if (step >= -CLARION_LATE_LIMIT && step < CLARION_GAP_LIMIT)
		*count += step;
}

static __always_inline void receive_echo(struct flow *flow, const struct received *received)
{
	if (!(received->flags & CLARION_FLAG_ECHO))
		return;
	if (flow->echo.nr_echoes) {
		receive_unwrap(&flow->stats.corrupt, flow->echo.rev_corrupt, received->rev_corrupt);
		receive_unwrap(&flow->stats.congest, flow->echo.rev_congest, received->rev_congest);
	}
	flow->echo.rev_corrupt = received->rev_corrupt;
	flow->echo.rev_congest = received->rev_congest;
	if (received->format != CLARION_TAG) {
		flow->echo.reverse_feedback = received->reverse_feedback;
		flow->echo.regulated = !!(received->flags & CLARION_FLAG_REGULATED);
		flow->echo.field = (received->flags & CLARION_FLAG_REV_FIELD) >> CLARION_REV_FIELD_SHIFT;
	}
	flow->echo.nr_echoes++;
}

/* All that a header changes in a flow, under the lock of the flow. `wire` is NULL without check. */
static __always_inline void receive_flow(struct flow *flow, const struct received *received,
					 const struct clarion_sequence *wire, bool has_payload)
{
	receive_totals(flow, received, wire, has_payload);
	if (has_payload)
		flow->id.plain_turn = CLARION_TURN_ALWAYS;
	receive_echo(flow, received);
	flow->stats.rx_headers++;
}

/* Payload came without header. */
static __always_inline void receive_plain(struct flow *flow)
{
	if (flow->id.heard && flow->id.plain_turn == CLARION_TURN_ALWAYS)
		flow->id.plain_turn = CLARION_TURN_PLAIN;
}

#endif /* CLARION_RECEIVE_H */
