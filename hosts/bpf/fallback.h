/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* When a flow gives up its headers, because they look black-holed, and when it takes them up again. */
#ifndef CLARION_FALLBACK_H
#define CLARION_FALLBACK_H

#include <stdbool.h>

#include "flow.h"

#define ATTEMPTS_BEFORE_PLAIN 3 /* failed attempts in a row to get one segment through */
#define FALLBACKS_MAX	      8 /* after so many a flow stays plain */

/* Notes an attempt to get the segment at `una` through again; true if the flow is plain from now on. */
static __always_inline bool flow_note_attempt(struct flow *flow, __u32 una)
{
	if (flow->id.attempts_una != una)
		flow->id.attempts = 0;
	flow->id.attempts_una = una;
	if (++flow->id.attempts < ATTEMPTS_BEFORE_PLAIN)
		return false;
	flow->id.attempts = 0;
	flow->id.plain = 1;
	if (flow->id.plain_fallbacks < 0xff)
		flow->id.plain_fallbacks++;
	return true;
}

/* A header has come from the peer: the path carries them, at least that way. */
static __always_inline void flow_note_header(struct flow *flow)
{
	if (flow->id.plain_fallbacks <= FALLBACKS_MAX)
		flow->id.plain = 0;
}

#endif /* CLARION_FALLBACK_H */
