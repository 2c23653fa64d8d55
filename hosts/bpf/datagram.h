/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* UDP flows: what their program asks for, and what a datagram is to the flow.
 *
 * UDP has no handshake, no acknowledgements and no retransmissions that the kernel knows of. So whether
 * headers get through is the program's to find out (hosts/proxy/src/header/passage.rs), and which datagrams
 * are acknowledged is its to say. All that is left here is to believe it.
 */
#ifndef CLARION_DATAGRAM_H
#define CLARION_DATAGRAM_H

#include <stdbool.h>

#include "compose.h"
#include "receive.h"

static __always_inline void datagram_open(struct flow *flow, const struct flow_ask *ask, __u16 bucket)
{
	flow->id.netns_cookie = ask->netns_cookie;
	flow->id.cookie = ask->cookie;
	flow->id.bucket = bucket;
	flow->id.tags = ask->tags;
	flow->id.aware = 1; /* last: a packet on another CPU may look for it */
}

/* Format for the next datagram of a flow, which takes over what its program asks for. Of two packets that
 * leave at once each may take half of the other's request: both are of this moment.
 */
static __always_inline enum clarion_format datagram_format(struct flow *flow, const struct flow_ask *ask)
{
	flow->id.tags = ask->tags;
	flow->id.plain = ask->carries == FLOW_CARRIES_NONE;
	flow->request = ask->request;
	switch (ask->carries) {
	case FLOW_CARRIES_ECHO:
		return compose_ack_format(flow);
	case FLOW_CARRIES_REQUEST:
		return compose_data_format(flow);
	default:
		return CLARION_NONE;
	}
}

/* Is the format of a header that of the peer's datagrams that will be acknowledged? A peer that asks for a
 * rate sends TAG, too, on those that will not; it wants its grants echoed all the same.
 */
static __always_inline bool datagram_shows_format(const struct flow *flow, const struct received *received)
{
	return received->format == CLARION_DATA || flow->id.peer_format != CLARION_DATA;
}

/* Has a datagram the bytes that its program expects at the place of `guard_at`? They stand in for TCP's
 * windows. */
static __always_inline bool datagram_is_guarded(const struct flow_ask *ask, __u64 found)
{
	return ((found ^ ask->guard) & ask->guard_mask) == 0;
}

#endif /* CLARION_DATAGRAM_H */
