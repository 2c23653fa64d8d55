/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Format and contents of the header of an outgoing packet. */
#ifndef CLARION_COMPOSE_H
#define CLARION_COMPOSE_H

#include "header.h"

#include <linux/in.h>
#include <bpf/bpf_endian.h>

union clarion_header {
	struct clarion_prefix prefix;
	struct clarion_data data;
	struct clarion_ack ack;
	struct clarion_tag tag;
};

static __always_inline enum clarion_format compose_data_format(const struct flow *flow)
{
	if (flow->request.wanted || flow->id.peer_format == CLARION_DATA)
		return CLARION_DATA;
	return flow->id.tags || flow->id.peer_format == CLARION_TAG ? CLARION_TAG : CLARION_NONE;
}

/* A pure ACK (or a FIN without payload) needs a header only to echo totals received. So the ACK that ends the
 * handshake has none, and an end that sends no data never loses its ACKs on a path that drops headers.
 */
static __always_inline enum clarion_format compose_ack_format(const struct flow *flow)
{
	if (!flow->id.heard || flow->id.plain_turn == CLARION_TURN_PLAIN)
		return CLARION_NONE;
	if (flow->id.peer_format == CLARION_DATA)
		return CLARION_ACK;
	if (flow->id.peer_format == CLARION_TAG || (flow->id.tags && !flow->request.wanted))
		return CLARION_TAG;
	return CLARION_NONE;
}

/* Format for a packet of an aware flow; takes turns for pure ACKs. */
static __always_inline enum clarion_format compose_format(struct flow *flow, __u32 payload_bytes)
{
	enum clarion_format format;

	if (payload_bytes)
		return compose_data_format(flow);
	format = compose_ack_format(flow);
	if (flow->id.plain_turn)
		flow->id.plain_turn ^= CLARION_TURN_PLAIN ^ CLARION_TURN_HEADER;
	return format;
}

/* `value * len / full_len`, at most 2^32 - 1: values of a full-sized packet, for one of `len` bytes. */
static __always_inline __u32 compose_scale(__u32 value, __u32 len, __u32 full_len)
{
	__u64 scaled;

	if (full_len == 0)
		return value;
	scaled = (__u64)value * len / full_len;
	return scaled > 0xffffffff ? 0xffffffff : scaled;
}

/* The same for a signed value, rounded towards zero and kept in 32 bits (BPF has no signed division). */
static __always_inline __s32 compose_scale_signed(__s32 value, __u32 len, __u32 full_len)
{
	__u32 magnitude = value < 0 ? -(__u32)value : value;

	magnitude = compose_scale(magnitude, len, full_len);
	if (magnitude > 0x7fffffff)
		magnitude = 0x7fffffff;
	return value < 0 ? -(__s32)magnitude : (__s32)magnitude;
}

/* Only a flow that wants feedback requests a rate; others send rtt 0 and stay out of the routers' sums. */
static __always_inline void compose_request(struct clarion_data *data, const struct flow_request *request,
					    __u32 frame_bytes)
{
	__u32 full_len = request->full_len;

	if (!request->wanted)
		return;
	if (request->rtt & ~(__u32)CLARION_RTT_FIELD)
		data->rtt = bpf_htonl((request->rtt & ~(__u32)CLARION_RTT_FIELD) |
				      (request->field & CLARION_RTT_FIELD));
	data->x = bpf_htonl(compose_scale(request->x, frame_bytes, full_len));
	data->delta_throughput =
	    bpf_htonl(compose_scale_signed(request->delta_throughput, frame_bytes, full_len));
}

/* What the flags say of the packets received. TAG speaks of loss causes only. */
static __always_inline __u8 compose_echo_flags(const struct flow_seen *seen, enum clarion_format format)
{
	__u8 flags = CLARION_FLAG_ECHO;

	if (format == CLARION_TAG)
		return flags;
	if (seen->regulated)
		flags |= CLARION_FLAG_REGULATED;
	return flags | seen->field << CLARION_REV_FIELD_SHIFT;
}

/* Fills `header`, which is zero, for a frame of `frame_bytes` with the header in it; `protocol` follows it.
 */
static __always_inline void compose_header(union clarion_header *header, const struct flow *flow,
					   enum clarion_format format, __u8 protocol, __u32 frame_bytes,
					   __u16 link_seq)
{
	__be16 rev_corrupt = bpf_htons(flow->seen.corrupt);
	__be16 rev_congest = bpf_htons(flow->seen.congest);
	__be32 reverse_feedback = bpf_htonl(flow->seen.granted);
	__be16 bucket = bpf_htons(flow->id.bucket);

	header->prefix.next_protocol = protocol;
	header->prefix.length = clarion_length(format);
	header->prefix.version_format = clarion_version_format(format);
	header->prefix.flags = flow->id.heard ? compose_echo_flags(&flow->seen, format) : 0;
	switch (format) {
	case CLARION_DATA:
		compose_request(&header->data, &flow->request, frame_bytes);
		header->data.reverse_feedback = reverse_feedback;
		header->data.bucket = bucket;
		header->data.link_seq = bpf_htons(link_seq);
		header->data.rev_corrupt = rev_corrupt;
		header->data.rev_congest = rev_congest;
		break;
	case CLARION_ACK:
		header->ack.reverse_feedback = reverse_feedback;
		header->ack.rev_corrupt = rev_corrupt;
		header->ack.rev_congest = rev_congest;
		break;
	case CLARION_TAG:
		header->tag.bucket = bucket;
		header->tag.link_seq = bpf_htons(link_seq);
		header->tag.rev_corrupt = rev_corrupt;
		header->tag.rev_congest = rev_congest;
		break;
	case CLARION_NONE:
		break;
	}
}

#endif /* CLARION_COMPOSE_H */
