/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Do headers get through? When a flow sends plain packets instead, and when it takes its headers up again.
 *
 * A path may drop packets with header: a middlebox that does not know the protocol, a peer that has lost its
 * shim, or an MTU that the header exceeds (ICMP about such a packet never reaches TCP). So a segment that
 * does not get through goes without: the first time it is sent again if no header has come through yet, else
 * from its second timeout on. If that gets it through, the flow is plain but for one probe, a packet with
 * header that is at least as long: when it is acknowledged without having been sent again, headers are back;
 * if it is sent again, the next probe waits twice as long.
 */
#ifndef CLARION_FALLBACK_H
#define CLARION_FALLBACK_H

#include <stdbool.h>

#include "flow.h"

#define TIMEOUTS_BEFORE_PLAIN 2	      /* of one segment, once headers have come through */
#define REFUSALS_BEFORE_PLAIN 3	      /* by the device, of one segment */
#define FALLBACKS_MAX	      8	      /* after so many failed probes a flow stays plain */
#define PROBE_WAIT_US	      1000000 /* before the second probe; doubles */

enum flow_passage_state {
	PASSAGE_OPEN = 0,    /* packets carry headers */
	PASSAGE_TRIED = 1,   /* a segment has been sent plain, to see whether it gets through */
	PASSAGE_PROBE = 2,   /* plain; the next packet that is long enough is the probe */
	PASSAGE_PROBING = 3, /* plain, but for the probe, which is on its way */
	PASSAGE_CLOSED = 4,  /* plain until `retry_us` */
};

/* An outgoing packet with payload, and what its socket knows of it. */
struct passage_packet {
	__u32 seq;
	__u32 payload_bytes;
	__u32 una;
	__u32 now_us;
	bool is_again; /* it has been sent before */
};

static __always_inline bool passage_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

static __always_inline void passage_set(struct flow *flow, enum flow_passage_state state)
{
	flow->passage.state = state;
	flow->id.plain = state >= PASSAGE_PROBE;
}

/* A retransmission timeout of the segment at `una`. */
static __always_inline void passage_note_timeout(struct flow *flow, __u32 una)
{
	if (flow->passage.state != PASSAGE_OPEN && flow->passage.state != PASSAGE_TRIED)
		return;
	if (flow->passage.attempt_seq != una)
		flow->passage.attempts = 0;
	flow->passage.attempt_seq = una;
	if (flow->passage.attempts < 0xff)
		flow->passage.attempts++;
}

/* The device refuses packets with header, as a veth does when its peer's MTU is smaller: TCP tries the first
 * segment again and again, with nothing in flight, and without a timeout. Each call is one try.
 */
static __always_inline void passage_note_try(struct flow *flow, const struct passage_packet *packet)
{
	if (flow->passage.state != PASSAGE_OPEN || packet->is_again)
		return;
	if (flow->passage.tried_seq != packet->seq)
		flow->passage.tries = 0;
	flow->passage.tried_seq = packet->seq;
	if (++flow->passage.tries <= REFUSALS_BEFORE_PLAIN)
		return;
	flow->passage.attempt_seq = packet->seq;
	flow->passage.probe_bytes = packet->payload_bytes;
	passage_set(flow, PASSAGE_TRIED);
}

/* Should this segment go plain, to see whether it gets through? */
static __always_inline bool passage_should_try(const struct flow *flow, const struct passage_packet *packet)
{
	const struct flow_passage *passage = &flow->passage;

	if (!packet->is_again || packet->seq != packet->una)
		return false;
	if (!flow->echo.nr_echoes)
		return true;
	return passage->attempts >= TIMEOUTS_BEFORE_PLAIN && passage->attempt_seq == packet->una;
}

static __always_inline bool passage_fail(struct flow *flow, const struct passage_packet *packet)
{
	__u32 wait_us = PROBE_WAIT_US;

	if (flow->id.plain_fallbacks < 0xff)
		flow->id.plain_fallbacks++;
	wait_us <<= flow->id.plain_fallbacks < FALLBACKS_MAX ? flow->id.plain_fallbacks - 1 : FALLBACKS_MAX;
	flow->passage.retry_us = packet->now_us + wait_us;
	passage_set(flow, PASSAGE_CLOSED);
	return false;
}

static __always_inline bool passage_begin_probe(struct flow *flow, const struct passage_packet *packet)
{
	if (packet->is_again || packet->payload_bytes < flow->passage.probe_bytes)
		return false;
	flow->passage.attempt_seq = packet->seq;
	passage_set(flow, PASSAGE_PROBING);
	return true;
}

static __always_inline bool passage_is_through(const struct flow *flow, const struct passage_packet *packet)
{
	return passage_before(flow->passage.attempt_seq, packet->una);
}

/* Does this packet go with a header? To be called once for each packet with payload. */
static __always_inline bool passage_allows(struct flow *flow, const struct passage_packet *packet)
{
	struct flow_passage *passage = &flow->passage;

	if (passage->state == PASSAGE_OPEN && passage_should_try(flow, packet)) {
		passage->attempt_seq = packet->seq;
		passage->probe_bytes = packet->payload_bytes;
		passage_set(flow, PASSAGE_TRIED);
	}
	switch (passage->state) {
	case PASSAGE_TRIED:
		if (!passage_is_through(flow, packet))
			return packet->seq != passage->attempt_seq;
		passage_set(flow, PASSAGE_PROBE);
		return passage_begin_probe(flow, packet);
	case PASSAGE_PROBE:
		return passage_begin_probe(flow, packet);
	case PASSAGE_PROBING:
		if (packet->seq == passage->attempt_seq)
			return passage_fail(flow, packet);
		if (!passage_is_through(flow, packet))
			return false;
		passage->attempts = 0;
		passage_set(flow, PASSAGE_OPEN);
		return true;
	case PASSAGE_CLOSED:
		if (passage_before(packet->now_us, passage->retry_us) ||
		    flow->id.plain_fallbacks >= FALLBACKS_MAX)
			return false;
		return passage_begin_probe(flow, packet);
	default:
		return true;
	}
}

#endif /* CLARION_FALLBACK_H */
