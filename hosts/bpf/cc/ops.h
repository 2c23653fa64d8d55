/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Callbacks and ops table of one law: included by cc.bpf.c once per law with LAW set to its prefix (xcp,
 * boost, fast), hence no include guard. calls.h says what a law is and in which order it is asked. The
 * callbacks take the raw argument list: cong_control's differs between kernels.
 */
#include "calls.h"

#define PASTE_(a, b, c)	       a##b##c
#define PASTE(a, b, c)	       PASTE_(a, b, c)
#define STRING_(a)	       #a
#define STRING(a)	       STRING_(a)
#define LAW_CONTROL	       PASTE(LAW, _, control)
#define LAW_CALL(occasion)     PASTE(LAW, _call_, occasion)	 /* xcp_call_start */
#define LAW_CALLBACK(callback) PASTE(clarion_, LAW, _##callback) /* clarion_xcp_init */
#define LAW_STATE(flow)	       ((struct LAW *)(flow)->law)

_Static_assert(sizeof(struct LAW) <= CLARION_LAW_BYTES, "the law's state does not fit struct flow");

SEC("struct_ops/init")
void LAW_CALLBACK(init)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_start(sk);
	const struct cc_params *p = params_of(sk);
	struct cc_sample s;

	if (!flow)
		return;
	sample_socket(&s, sk, flow, CA_STATE_OPEN);
	apply_control(sk, LAW_CALL(start)(LAW_STATE(flow), p, &s, flow));
}

SEC("struct_ops/cong_control")
void LAW_CALLBACK(cong_control)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *rs = cong_control_sample(ctx);
	struct flow *flow = flow_of(sk);
	const struct cc_params *p = params_of(sk);
	struct cc_sample s;
	__u32 before_packets;
	struct LAW *law;

	if (!flow)
		return;
	law = LAW_STATE(flow);
	before_packets = window_packets(&law->w);
	sample_ack(&s, sk, rs, flow, law->w.ca_state);
	LAW_CALL(ack)(law, p, &s, flow);
	report_decision(sk, flow, before_packets, window_packets(&law->w));
	apply_control(sk, LAW_CONTROL(law, p, &s));
}

SEC("struct_ops/set_state")
void LAW_CALLBACK(set_state)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	__u8 new_state = (__u8)ctx[1];
	struct flow *flow = flow_of(sk);
	const struct cc_params *p = params_of(sk);
	struct cc_sample s;
	__u32 before_packets;
	struct LAW *law;

	if (!flow)
		return;
	law = LAW_STATE(flow);
	before_packets = window_packets(&law->w);
	sample_socket(&s, sk, flow, law->w.ca_state);
	LAW_CALL(state)(law, p, &s, flow, new_state);
	report_decision(sk, flow, before_packets, window_packets(&law->w));
	apply_control(sk, LAW_CONTROL(law, p, &s));
}

SEC("struct_ops/cwnd_event")
void LAW_CALLBACK(cwnd_event)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int event = (int)ctx[1];
	struct flow *flow = flow_of(sk);
	const struct cc_params *p = params_of(sk);
	struct cc_sample s;

	if (!flow || event != CA_EVENT_TX_START)
		return;
	sample_socket(&s, sk, flow, LAW_STATE(flow)->w.ca_state);
	apply_control(sk, LAW_CALL(tx_start)(LAW_STATE(flow), p, &s, flow));
}

/* The kernel shows the answer in ss(8) and uses it for nothing else while a law has cong_control. */
SEC("struct_ops/ssthresh")
__u32 LAW_CALLBACK(ssthresh)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];

	return (__u32)max_u64(tcp_sk(sk)->snd_cwnd / 2, 2);
}

/* Windows of data that the automatic send buffer holds. A packet lost k times stays k + 1 round trips while a
 * new window is sent in each: the kernel's 2 would make the buffer the limit from a few percent of loss on.
 */
SEC("struct_ops/sndbuf_expand")
__u32 LAW_CALLBACK(sndbuf_expand)(unsigned long long *ctx)
{
	(void)ctx;
	return 8;
}

/* D-SACK or timestamps proved every retransmission needless. */
SEC("struct_ops/undo_cwnd")
__u32 LAW_CALLBACK(undo_cwnd)(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct flow *flow = flow_of(sk);

	if (!flow)
		return tcp_sk(sk)->snd_cwnd;
	return LAW_CALL(undo)(LAW_STATE(flow));
}

/* The socket is closed, or takes another law, perhaps one of the kernel's, which cannot withdraw the request.
 */
SEC("struct_ops/release")
void LAW_CALLBACK(release)(unsigned long long *ctx)
{
	struct flow *flow = flow_of((struct sock *)ctx[0]);

	if (flow)
		flow->request.wanted = 0;
}

SEC(".struct_ops")
struct tcp_congestion_ops PASTE(clarion, _, LAW) = {
    .init = (void *)LAW_CALLBACK(init),
    .release = (void *)LAW_CALLBACK(release),
    .cong_control = (void *)LAW_CALLBACK(cong_control),
    .set_state = (void *)LAW_CALLBACK(set_state),
    .cwnd_event = (void *)LAW_CALLBACK(cwnd_event),
    .ssthresh = (void *)LAW_CALLBACK(ssthresh),
    .sndbuf_expand = (void *)LAW_CALLBACK(sndbuf_expand),
    .undo_cwnd = (void *)LAW_CALLBACK(undo_cwnd),
    .name = "clarion_" STRING(LAW),
    .flags = TCP_CONG_NON_RESTRICTED,
};

#undef PASTE_
#undef PASTE
#undef STRING_
#undef STRING
#undef LAW_CONTROL
#undef LAW_CALL
#undef LAW_CALLBACK
#undef LAW_STATE
