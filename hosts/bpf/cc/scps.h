/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The window of SCPS-TP (CCSDS 714.0-B-2; Durst, Miller and Travis, "TCP extensions for space
 * communications", MOBICOM 1996): Van Jacobson's or Vegas', and the cause of losses is an assumption of
 * the operator of the path. What is assumed to be corruption is only sent again: the window stays, at a
 * timeout, too. Marks are congestion, whatever is assumed.
 */
#ifndef CLARION_CC_SCPS_H
#define CLARION_CC_SCPS_H

#include "vegas.h"

enum scps_control {
	SCPS_VAN_JACOBSON = 0,
	SCPS_VEGAS = 1,
};

struct scps {
	struct vegas vegas;  /* and Reno in it, which is Van Jacobson's */
	__u32 kept_cwnd;     /* the window that corruption has not reduced; 0: it is not being repaired */
	__u32 kept_ssthresh; /* and the threshold before it */
};

CC_INLINE void scps_init(struct scps *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	__builtin_memset(l, 0, sizeof(*l));
	vegas_init(&l->vegas, p, tcp);
}

CC_INLINE void scps_grow(struct scps *l, const struct cc_params *p, struct cc_stack *tcp, __u32 acked)
{
	if (p->scps_control == SCPS_VEGAS)
		vegas_grow(&l->vegas, p, tcp, acked);
	else
		reno_grow(&l->vegas.reno, p, tcp, acked);
}

/* TCP takes the value for the window and for the threshold. The window is to stay what it is; the threshold
 * it gets back when TCP needs it no more, or slow start would be over.
 */
CC_INLINE __u32 scps_keep(struct scps *l, const struct cc_stack *tcp)
{
	if (!l->kept_cwnd || tcp->ca_state < CA_STATE_CWR)
		l->kept_ssthresh = tcp->ssthresh;
	l->kept_cwnd = l->vegas.reno.prior_cwnd = tcp->cwnd;
	return tcp->cwnd;
}

CC_INLINE __u32 scps_ssthresh(struct scps *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	if (p->scps_assume_corruption)
		return scps_keep(l, tcp);
	l->kept_cwnd = 0;
	return vegas_ssthresh(&l->vegas, p, tcp);
}

/* It was no loss that TCP had asked for: a mark, or a drop by this host. */
CC_INLINE void scps_answer_mark(struct scps *l, const struct cc_params *p, struct cc_stack *tcp)
{
	l->kept_cwnd = 0;
	tcp->ssthresh = vegas_ssthresh(&l->vegas, p, tcp);
}

/* At a timeout TCP has just set the window to one packet. */
CC_INLINE void scps_on_state(struct scps *l, const struct cc_params *p, struct cc_stack *tcp, __u8 next)
{
	vegas_on_state(&l->vegas, p, tcp, next);
	if (!l->kept_cwnd)
		return;
	if (next == CA_STATE_CWR) {
		scps_answer_mark(l, p, tcp);
	} else if (next == CA_STATE_LOSS) {
		tcp->cwnd = l->kept_cwnd;
		tcp->ssthresh = l->kept_ssthresh;
	}
}

CC_INLINE void scps_on_event(struct scps *l, const struct cc_params *p, struct cc_stack *tcp, __u8 event)
{
	vegas_on_event(&l->vegas, p, tcp, event);
	if (event != STACK_COMPLETE_CWR || !l->kept_cwnd)
		return;
	tcp->ssthresh = l->kept_ssthresh;
	l->kept_cwnd = 0;
}

CC_INLINE void scps_on_acked(struct scps *l, const struct cc_params *p, struct cc_stack *tcp, __u32 packets,
			     __s64 rtt_us)
{
	vegas_on_acked(&l->vegas, p, tcp, packets, rtt_us);
}

CC_INLINE __u32 scps_undo(struct scps *l, const struct cc_params *p, const struct cc_stack *tcp)
{
	return vegas_undo(&l->vegas, p, tcp);
}

#endif /* CLARION_CC_SCPS_H */
