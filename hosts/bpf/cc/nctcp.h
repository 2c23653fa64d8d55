/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The window of network-coded TCP (Kim, Cloud, ParandehGheibi, Urbina, Fouli, Leith and Medard, "Network
 * Coded TCP", arXiv:1212.2291, 2012): it grows as Reno's, and a loss leaves RTTmin / RTT of it. Without a
 * queue a loss takes nothing, behind a queue as long as the path it takes half. The coding is not here: TCP
 * repairs the losses.
 */
#ifndef CLARION_CC_NCTCP_H
#define CLARION_CC_NCTCP_H

#include "queued.h"
#include "reno.h"

struct nctcp {
	struct queued queue;
	struct reno reno; /* its part in growth */
};

CC_INLINE void nctcp_init(struct nctcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	queued_begin(&l->queue);
	reno_init(&l->reno, p, tcp);
}

CC_INLINE void nctcp_grow(struct nctcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	reno_grow(&l->reno, p, tcp, acked);
}

/* Before the first sample as Reno. */
CC_INLINE __u32 nctcp_ssthresh(struct nctcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__u32 half = reno_ssthresh(&l->reno, p, tcp);

	if (l->queue.rtt_us == STACK_NO_RTT)
		return half;
	return (__u32)max_u64(mul_div_u64(tcp->cwnd, l->queue.base_us, l->queue.rtt_us), 2);
}

CC_INLINE void nctcp_on_acked(struct nctcp *l, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			      __s64 rtt_us)
{
	(void)p, (void)tcp, (void)packets;
	queued_on_acked(&l->queue, rtt_us);
}

CC_INLINE __u32 nctcp_undo(struct nctcp *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	return reno_undo(&l->reno, p, tcp);
}

STACK_IGNORES_STATES(nctcp)
STACK_IGNORES_EVENTS(nctcp)

#endif /* CLARION_CC_NCTCP_H */
