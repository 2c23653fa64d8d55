/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What is called of one law, in which order, whoever calls: the kernel (ops.h) or the simulator. Included
 * once per law with LAW set to its prefix (xcp, boost, fast), hence no include guard. A law is a struct LAW
 * that begins with a `struct cc_window w`, and the functions LAW_init, _on_ack, _on_enter_recovery,
 * _on_exit_recovery, _on_timeout, _on_tx_start, _control.
 */
#include "ca_state.h"

#define PASTE_(a, b, c)	   a##b##c
#define PASTE(a, b, c)	   PASTE_(a, b, c)
#define LAW_FN(function)   PASTE(LAW, _, function)	/* xcp_init */
#define LAW_CALL(occasion) PASTE(LAW, _call_, occasion) /* xcp_call_start */

CC_INLINE struct cc_control LAW_CALL(start)(struct LAW *law, const struct cc_params *p,
					    const struct cc_sample *s, struct flow *flow)
{
	LAW_FN(init)(law, p, s, flow);
	flow->decision = FLOW_NOT_REDUCED;
	return LAW_FN(control)(law, p, s);
}

CC_INLINE void LAW_CALL(ack)(struct LAW *law, const struct cc_params *p, struct cc_sample *s,
			     struct flow *flow)
{
	window_begin_ack(&law->w, p, s);
	LAW_FN(on_ack)(law, p, s, flow);
	window_end_ack(&law->w, s);
}

/* Before the state changes. CWR (a repaired tail loss, an ECN mark) counts as recovery. */
CC_INLINE void LAW_CALL(state)(struct LAW *law, const struct cc_params *p, struct cc_sample *s,
			       struct flow *flow, __u8 next)
{
	window_adopt(&law->w, s);
	if (next == CA_STATE_LOSS)
		LAW_FN(on_timeout)(law, p, s, flow);
	else if (next >= CA_STATE_CWR && law->w.ca_state < CA_STATE_CWR)
		LAW_FN(on_enter_recovery)(law, p, s, flow);
	else if (next < CA_STATE_CWR && law->w.ca_state >= CA_STATE_CWR)
		LAW_FN(on_exit_recovery)(law);
	law->w.ca_state = next;
}

CC_INLINE struct cc_control LAW_CALL(tx_start)(struct LAW *law, const struct cc_params *p,
					       struct cc_sample *s, struct flow *flow)
{
	window_adopt(&law->w, s);
	LAW_FN(on_tx_start)(law, p, s, flow);
	return LAW_FN(control)(law, p, s);
}

/* The window after a reduction that was a mistake. */
CC_INLINE __u32 LAW_CALL(undo)(struct LAW *law)
{
	window_restore(&law->w);
	return window_packets(&law->w);
}

#undef PASTE_
#undef PASTE
#undef LAW_FN
#undef LAW_CALL
